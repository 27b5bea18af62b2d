// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package revision

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/cmd/callvet/selector"
	"github.com/callvet/callvet/internal/editfile"
	"github.com/callvet/callvet/internal/report/plain"
	"github.com/callvet/callvet/retrieve"
	"github.com/callvet/callvet/retrieve/revise"
)

// Env is what the commands need of the program.
type Env struct {
	selector.Env
	// Err is where notes and problems of files are told.
	Err    io.Writer
	opened *selector.Models // while a command runs
}

// ToolsCommand is `callvet tools` with the commands that change texts.
func ToolsCommand(e Env) *cobra.Command {
	cmd := selector.ToolsCommand(e.Env)
	cmd.AddCommand(whatIfCommand(&e), suggestCommand(&e), applyCommand(&e))
	return cmd
}

// told is something that is written as JSON or for people.
type told interface {
	JSON(w io.Writer) error
	Text(w io.Writer) error
}

func (e *Env) tell(t told) error {
	if e.JSON() {
		return t.JSON(e.Out)
	}
	return t.Text(e.Out)
}

// settingFlags registers the flags that say how a catalog is searched; the catalog
// itself is an argument of these commands.
func settingFlags(to *pflag.FlagSet) *selector.Flags {
	f := &selector.Flags{}
	own := pflag.NewFlagSet("", pflag.ContinueOnError)
	f.Register(own)
	addBut(to, own, "tools")
	return f
}

// addBut adds flags but those named.
func addBut(to, from *pflag.FlagSet, names ...string) {
	from.VisitAll(func(f *pflag.Flag) {
		if !slices.Contains(names, f.Name) {
			to.AddFlag(f)
		}
	})
}

// load reads a catalog and its settings, for the questions of a suite.
func (e *Env) load(ctx context.Context, name string, f *selector.Flags, suite string) (*retrieve.Catalogue, error) {
	if _, err := f.Ready(e.Read); err != nil {
		return nil, err
	}
	c, _, err := selector.Load(name, e.Read)
	if err != nil {
		return nil, err
	}
	if suite != "" {
		if err := f.FromSuite(suite, e.Read, e.Err); err != nil {
			return nil, err
		}
	}
	of := *f
	of.Tools = name
	if err := of.Calibrate(ctx, &e.Env, e.Err, suite); err != nil {
		return nil, err
	}
	f.Settings = of.Settings // both sides are asked under one confidence, that of the catalog as it is
	return c, f.Settings.Settle(ctx, c, e.Err)
}

// chosen are the edits of a file that have the states asked for.
type chosen struct {
	*editfile.File
	left int // of another state
	// sorted tells that some were rejected by the very questions that measured the others.
	sorted bool
}

// edits reads a file of edits, and keeps those of the states asked for.
func (e *Env) edits(name string, states []revise.Status) (chosen, error) {
	b, err := e.Read(name)
	if err != nil {
		return chosen{}, fmt.Errorf("read edits: %w", err)
	}
	read, problems := editfile.Read(name, b)
	f := chosen{File: read}
	for _, p := range problems {
		fmt.Fprintf(e.Err, "error: %s: %s\n", p.Code, plain.Line(p.Error()))
	}
	if len(problems) > 0 {
		return f, fmt.Errorf("read edits %s: %w: %s", name, callvet.ErrInvalid, plain.Count(len(problems), "problem", "problems"))
	}
	e.strangers(f.Edits)
	all := len(f.Edits)
	f.sorted = slices.ContainsFunc(f.Edits, func(d revise.Edit) bool { return d.State() == revise.Rejected && d.Measured != nil })
	f.Edits = slices.DeleteFunc(f.Edits, func(d revise.Edit) bool { return !slices.Contains(states, d.State()) })
	f.left = all - len(f.Edits)
	if len(f.Edits) == 0 {
		return f, &callvet.Hinted{
			Err:  fmt.Errorf("read edits %s: %w: none of its %s is %s", name, callvet.ErrInvalid, plain.Count(all, "edit", "edits"), either(states)),
			Hint: "write status: accepted at those that you want, or choose with --status",
		}
	}
	return f, nil
}

// strangers warns of characters that nobody sees who reads the edits.
func (e *Env) strangers(edits []revise.Edit) {
	for i := range edits {
		for _, text := range edits[i].Texts() {
			if at := strings.IndexFunc(text, plain.Hidden); at >= 0 {
				r, _ := utf8.DecodeRuneInString(text[at:])
				p := edits[i].Position
				fmt.Fprintf(e.Err, "warning: hidden-character: %s:%d:%d: the edit of %s has a character that is not shown (U+%04X)\n", plain.Line(p.File), p.Line, p.Column, plain.Line(edits[i].Tool), r)
				break
			}
		}
	}
}

func either(states []revise.Status) string {
	var names []string
	for _, s := range states {
		names = append(names, string(s))
	}
	return strings.Join(names, " or ")
}

// states reads --status.
func states(list []string) ([]revise.Status, error) {
	var out []revise.Status
	for _, s := range list {
		switch st := revise.Status(s); st {
		case revise.Proposed, revise.Accepted, revise.Rejected:
			out = append(out, st)
		default:
			return nil, fmt.Errorf("read --status %s: %w: proposed, accepted, rejected", plain.Line(s), callvet.ErrInvalid)
		}
	}
	return out, nil
}

// questions reads a suite, its questions over a catalog, and how many cases ask none.
func (e *Env) questions(ctx context.Context, suite string, c *retrieve.Catalogue) (*callvet.Suite, []question, int, error) {
	if suite == "" {
		return nil, nil, 0, &callvet.Hinted{Err: fmt.Errorf("which questions? %w: no suite", callvet.ErrInvalid), Hint: "--suite SUITE"}
	}
	s, err := e.Suite(ctx, suite, selector.Tools(c))
	if err != nil {
		return nil, nil, 0, err
	}
	qs, left := questionsOf(s, c)
	if len(qs) == 0 {
		err = fmt.Errorf("read suite %s: %w: no case expects a tool that the catalogue has", suite, callvet.ErrInvalid)
	}
	return s, qs, left, err
}
