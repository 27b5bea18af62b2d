// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package catalog

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/report/plain"
	"github.com/callvet/callvet/internal/suite"
	"github.com/callvet/callvet/retrieve"
	"github.com/callvet/callvet/retrieve/learn"
)

// chosen are the edits of a file with the requested states.
type chosen struct {
	*suite.EditFile
	left int // of another state
	// sorted: some edits were rejected by the same questions that measured the others.
	sorted bool
}

// Misread is the error of an unusable file of edits, with all its mistakes.
type Misread struct {
	Problems []callvet.Problem
	File     string
}

func (m *Misread) Error() string {
	return fmt.Sprintf("read edits %s: %v: %s", m.File, callvet.ErrInvalid,
		plain.Count(len(m.Problems), "problem", "problems"))
}

// Unwrap gives callvet.ErrInvalid.
func (m *Misread) Unwrap() error { return callvet.ErrInvalid }

// edits reads a file of edits, and keeps the edits with the requested states, or else with the
// usual ones.
func edits(e *Env, name string, asked []string, usual ...learn.Status) (chosen, error) {
	states, err := states(asked, usual)
	if err != nil {
		return chosen{}, err
	}
	if name == "" {
		return chosen{}, Invalid("edits", "{edits} EDITS", "which edits? invalid: no file")
	}
	b, err := e.Files.Read(name, suite.MaxEditsBytes)
	if err != nil {
		return chosen{}, fmt.Errorf("read edits: %w", err)
	}
	read, problems := suite.ReadEdits(name, b)
	f := chosen{EditFile: read}
	if len(problems) > 0 {
		return f, &Misread{problems, name}
	}
	strangers(e, f.Edits)
	all := len(f.Edits)
	f.sorted = slices.ContainsFunc(f.Edits,
		func(d learn.Edit) bool { return d.State() == learn.Rejected && d.Measured != nil })
	f.Edits = slices.DeleteFunc(f.Edits, func(d learn.Edit) bool { return !slices.Contains(states, d.State()) })
	f.left = all - len(f.Edits)
	if len(f.Edits) == 0 {
		return f, Invalid("status", "write status: accepted at those that you want, or choose with {status}",
			"read edits %s: invalid: none of its %s is %s", name, plain.Count(all, "edit", "edits"), either(states))
	}
	return f, nil
}

// strangers warns about invisible characters in the edits.
func strangers(e *Env, edits []learn.Edit) {
	for i := range edits {
		for _, text := range edits[i].Texts() {
			if at := strings.IndexFunc(text, plain.Hidden); at >= 0 {
				r, _ := utf8.DecodeRuneInString(text[at:])
				p := edits[i].Position
				e.Notice("hidden-character", "%s:%d:%d: the edit of %s has a character that is not shown (U+%04X)",
					p.File, p.Line, p.Column, edits[i].Tool, r)
				break
			}
		}
	}
}

func either(states []learn.Status) string {
	var names []string
	for _, s := range states {
		names = append(names, string(s))
	}
	return strings.Join(names, " or ")
}

// states reads the states of edits that a request asks for; without any it is about the usual.
func states(list []string, usual []learn.Status) ([]learn.Status, error) {
	if len(list) == 0 {
		return usual, nil
	}
	var out []learn.Status
	for _, s := range list {
		switch st := learn.Status(s); st {
		case learn.Proposed, learn.Accepted, learn.Rejected:
			out = append(out, st)
		default:
			return nil, Invalid("status", "", "read {status} %s: invalid: proposed, accepted, rejected", s)
		}
	}
	return out, nil
}

// bench is a catalog with its questions, the settings of a search and the retriever.
type bench struct {
	env       *Env
	settings  Settings
	catalogue *retrieve.Catalogue
	suite     *callvet.Suite
	qs        []Question
	left      int // cases without a question
}

// open reads the catalog and the settings of a search, and the questions of a suite.
func open(ctx context.Context, e *Env, f *Search, suite string) (*bench, error) {
	if suite == "" {
		return nil, Invalid("suite", "{suite} SUITE", "which questions? invalid: no suite")
	}
	c, err := settled(ctx, e, f, suite)
	if err != nil {
		return nil, err
	}
	b := &bench{env: e, settings: f.Settings, catalogue: c}
	if b.suite, err = e.Suite(ctx, suite, Tools(c)); err != nil {
		return nil, err
	}
	if b.qs, b.left = QuestionsOf(b.suite.Cases, Positions(c)); len(b.qs) == 0 {
		err = fmt.Errorf("read suite %s: %w: no case expects a tool that the catalogue has", suite, callvet.ErrInvalid)
	}
	return b, err
}

// settled reads a catalog, and settings under which both sides are asked: with one confidence,
// from the unchanged catalog.
func settled(ctx context.Context, e *Env, f *Search, suite string) (*retrieve.Catalogue, error) {
	if f.Via != "" {
		return nil, Invalid("via", "", "search a catalogue: invalid: the texts of a service cannot be edited")
	}
	if f.Tools == "" {
		return nil, NoCatalogue()
	}
	if _, err := e.Ready(ctx, f, suite); err != nil {
		return nil, err
	}
	c, _, err := e.Catalogue(f.Tools)
	if err != nil {
		return nil, err
	}
	return c, e.Settle(ctx, &f.Settings, c)
}

// search asks the retriever every question. Errors are those of settings, of models and
// of the context.
func (b *bench) search(ctx context.Context, c *retrieve.Catalogue, set Settings,
	qs []Question,
) ([]SearchAnswer, error) {
	r, _, err := b.env.Over(ctx, c, set, "catalogue")
	if err != nil {
		return nil, err
	}
	out := make([]SearchAnswer, len(qs))
	for i := range qs {
		d, err := r.Decide(ctx, qs[i].Text)
		if err = cmp.Or(err, ctx.Err()); err != nil {
			return nil, err
		}
		out[i] = AnswerOf(&qs[i], d, set.Depth())
	}
	return out, nil
}
