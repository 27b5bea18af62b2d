// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package app

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/catalog"
	"github.com/callvet/callvet/internal/suite"
)

// StaleRequest asks whether what cases were made for, or what a run was made with, has changed
// since.
type StaleRequest struct {
	// SuiteRequest is the suite, or with Run what is now in place of the suite of the run; ""
	// with Run: the file that it was read from.
	SuiteRequest
	Run string `json:"run,omitempty"`
	// Models are the targets that are asked now; nil: nothing is said of models.
	Models []string `json:"models,omitempty"`
}

// StaleResult is what has changed.
type StaleResult struct {
	Format  string `json:"format"`
	Version int    `json:"version"`
	// Stale: there is a warning.
	Stale bool `json:"stale"`
	// Groups are cases that were made in one state, in their order.
	Groups []StaleGroup `json:"groups"`
}

// StaleGroup is what has changed for the cases that were made in one state.
type StaleGroup struct {
	// From is the file of the cases, or the run.
	From string `json:"from"`
	// Made is when the cases were made, where that is known.
	Made  string   `json:"made,omitempty"`
	Cases []string `json:"cases"`
	// Tools are those that the cases expect.
	Tools    []string             `json:"tools"`
	Warnings []suite.StaleWarning `json:"warnings"`
	// Unknown is what was not recorded, so that changes cannot be detected.
	Unknown []string `json:"unknown,omitempty"`
}

// madeGroup gathers the cases that were made in one state.
type madeGroup struct {
	StaleGroup
	state suite.StaleState
}

// makers gathers, case by case, what was recorded when cases were made.
type makers struct {
	files  map[string]*suite.File
	groups []*madeGroup
	at     map[string]*madeGroup
	tool   map[string]string // of the envelope of a file
}

func newMakers(files []suite.File) *makers {
	m := &makers{files: map[string]*suite.File{}, at: map[string]*madeGroup{}, tool: map[string]string{}}
	for i := range files {
		m.files[files[i].Name] = &files[i]
	}
	return m
}

// recorded reports whether anything is known of any file.
func (m *makers) recorded() bool {
	for _, f := range m.files {
		if f.Metadata != nil || f.Lock != nil && len(f.Lock.States) > 0 {
			return true
		}
	}
	return false
}

// add takes a case.
func (m *makers) add(c *callvet.Case) error {
	f := m.files[c.Position.File]
	if f == nil || c.Skip != "" {
		return nil
	}
	g, err := m.group(f, c.ID)
	if err != nil {
		return err
	}
	g.Cases = append(g.Cases, c.ID)
	names := expectedTools(&c.Expect)
	if tool := m.tool[f.Name]; tool != "" && len(names) == 0 {
		names = []string{tool}
	}
	for _, name := range names {
		if !slices.Contains(g.Tools, name) {
			g.Tools = append(g.Tools, name)
		}
	}
	return nil
}

// group is the group of the state when a case was made.
func (m *makers) group(f *suite.File, id string) (*madeGroup, error) {
	raw := f.Lock.StateOf(id)
	key := f.Name + "\x00" + string(raw)
	if g := m.at[key]; g != nil {
		return g, nil
	}
	g := &madeGroup{StaleGroup: StaleGroup{
		From: f.Name, Cases: []string{}, Tools: []string{},
		Warnings: []suite.StaleWarning{},
	}}
	switch {
	case raw != nil:
		var err error
		if g.state, err = suite.ReadStaleState(raw); err != nil {
			return nil, fmt.Errorf("%s: %w", suite.LockPath(f.Name), err)
		}
		e := f.Lock.Find(id)
		g.state.At = cmp.Or(e.Reviewed, e.Locked)
	case f.Metadata != nil:
		g.state, m.tool[f.Name] = suite.StaleEnvelope(f.Metadata)
	}
	g.Made = g.state.At
	m.at[key], m.groups = g, append(m.groups, g)
	return g, nil
}

// expectedTools are the tools that a case expects, each once.
func expectedTools(e *callvet.Expect) (out []string) {
	add := func(names []string) {
		for _, name := range names {
			if name != callvet.NoTools && !callvet.NamePattern(name) && !slices.Contains(out, name) {
				out = append(out, name)
			}
		}
	}
	add(e.ToolsCalled)
	for _, set := range e.ToolsAcceptable {
		add(set)
	}
	for i := range e.Plans {
		for j := range e.Plans[i].Calls {
			add(e.Plans[i].Calls[j].Tools)
		}
	}
	return out
}

// compare compares each group with the present state. It computes the overlapping tools once, and
// only if needed.
func (m *makers) compare(ctx context.Context, s *callvet.Suite, now *suite.StaleState) ([]StaleGroup, error) {
	return compareGroups(ctx, m.groups, s, now)
}

func compareGroups(ctx context.Context, groups []*madeGroup, s *callvet.Suite,
	now *suite.StaleState,
) ([]StaleGroup, error) {
	var failed error
	alike := sync.OnceValue(func() func(a, b string) bool {
		like, err := catalog.Overlap(ctx, s.Tools)
		if err != nil {
			failed = err
			return func(string, string) bool { return false }
		}
		return like
	})
	out := []StaleGroup{}
	for _, g := range groups {
		if !g.state.Empty() {
			w, unknown := suite.CompareStale(&g.state, now,
				suite.StaleAbout{Tools: g.Tools, Alike: func(a, b string) bool { return alike()(a, b) }})
			g.Warnings, g.Unknown = append(g.Warnings, w...), unknown
		} else {
			g.Unknown = []string{nothingRecorded}
		}
		out = append(out, g.StaleGroup)
	}
	return out, failed
}

// Stale says what has changed since cases were made, or since a run.
func (a *App) Stale(ctx context.Context, req StaleRequest, events Events) (*StaleResult, error) {
	var groups []StaleGroup
	var err error
	if req.Run != "" {
		groups, err = a.staleRun(ctx, req, events)
	} else {
		groups, err = a.staleSuite(ctx, req, events)
	}
	if err != nil {
		return nil, err
	}
	out := &StaleResult{Format: "callvet.stale", Version: 1, Groups: groups}
	for i := range groups {
		out.Stale = out.Stale || len(groups[i].Warnings) > 0
	}
	return out, nil
}

func (a *App) staleSuite(ctx context.Context, req StaleRequest, events Events) ([]StaleGroup, error) {
	read, err := a.OpenSuite(ctx, req.SuiteRequest, events)
	if err != nil {
		return nil, err
	}
	m := newMakers(read.Files())
	for c := range read.Cases(ctx) {
		if err := m.add(c); err != nil {
			return nil, err
		}
	}
	now := suite.StaleStateOf(read.Suite, req.Models, "")
	return m.compare(ctx, read.Suite, &now)
}

// staleRun holds what a run was made with against what is now in its place.
func (a *App) staleRun(ctx context.Context, req StaleRequest, events Events) ([]StaleGroup, error) {
	r, err := a.Run(ctx, req.Run)
	if err != nil {
		return nil, err
	}
	g := &madeGroup{StaleGroup: StaleGroup{
		From: "run " + r.Stored.ID,
		Made: r.Stored.Created.UTC().Format(time.RFC3339), Cases: []string{}, Tools: []string{},
		Warnings: []suite.StaleWarning{},
	}}
	g.state = suite.StaleStateOf(r.Suite, models(r.Manifest.Specs), g.Made)
	var bad error
	for c := range r.Chosen(&bad) {
		g.Cases = append(g.Cases, c.ID)
		for _, name := range expectedTools(&c.Expect) {
			if !slices.Contains(g.Tools, name) {
				g.Tools = append(g.Tools, name)
			}
		}
	}
	if bad != nil {
		return nil, bad
	}
	if req.Suite == "" {
		req.Suite = r.Manifest.Path
		if a.cfg.Files.Kind(req.Suite) == KindNone {
			return nil, &callvet.Hinted{
				Err:  wrong("suite", req.Suite, "the run read it, and it is not there"),
				Hint: "name what is there now",
			}
		}
	}
	read, err := a.OpenSuite(ctx, req.SuiteRequest, events)
	if err != nil {
		return nil, err
	}
	now := suite.StaleStateOf(read.Suite, req.Models, "")
	return compareGroups(ctx, []*madeGroup{g}, read.Suite, &now)
}

// models are the models of targets, by what was typed.
func models(specs []TargetSpec) []string {
	var out []string
	for _, name := range TargetNames(specs) {
		if !strings.HasPrefix(name, "offline/") && !slices.Contains(out, name) {
			out = append(out, name)
		}
	}
	return out
}

// staleProblems are the warnings in the form of lint.
func staleProblems(groups []StaleGroup, files []suite.File) []callvet.Problem {
	var out []callvet.Problem
	for i := range groups {
		g := &groups[i]
		for _, w := range g.Warnings {
			out = append(out, callvet.Problem{
				Position: callvet.Position{File: g.From}, Code: w.Code, Warning: true, Message: w.Text,
				Fix: "look at the cases, then callvet case lock --reviewed",
			})
		}
	}
	for i := range files {
		f := &files[i]
		if f.Metadata == nil && f.Lock == nil {
			continue
		}
		if slices.ContainsFunc(groups, func(g StaleGroup) bool {
			return g.From == f.Name && len(g.Unknown) == 1 && g.Unknown[0] == nothingRecorded
		}) {
			out = append(out, callvet.Problem{
				Position: callvet.Position{File: f.Name}, Code: "stale-unknown", Warning: true,
				Fix:     "callvet case lock records it",
				Message: "nothing was recorded of how some of the cases were made, so that staleness cannot be detected",
			})
		}
	}
	return out
}

const nothingRecorded = "how the cases were made"

// stateNow is what surrounds the cases of a suite now, to be recorded with them; nil where the
// suite has no tools.
func stateNow(s *callvet.Suite, models []string) (json.RawMessage, error) {
	if len(s.Tools) == 0 {
		return nil, nil
	}
	now := suite.StaleStateOf(s, models, "")
	return now.Bytes()
}
