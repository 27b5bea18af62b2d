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

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/catalog"
	"github.com/callvet/callvet/internal/suite"
)

// StaleGroup lists the changes for the cases that were made in one state.
type StaleGroup struct {
	// From is the file of the cases, or the run.
	From string `json:"from"`
	// Made is when the cases were made, if known.
	Made  string   `json:"made,omitempty"`
	Cases []string `json:"cases"`
	// Tools are the tools that the cases expect.
	Tools    []string             `json:"tools"`
	Warnings []suite.StaleWarning `json:"warnings"`
	// Unknown lists data that was not recorded, so that changes of it cannot be detected.
	Unknown []string `json:"unknown,omitempty"`
}

// MadeGroup collects the cases that were made in one state.
type MadeGroup struct {
	StaleGroup
	State suite.StaleState
}

// Makers collects, case by case, the state that was recorded when cases were made.
type Makers struct {
	files  map[string]*suite.File
	groups []*MadeGroup
	at     map[string]*MadeGroup
	tool   map[string]string // of the envelope of a file
}

// NewMakers starts with the files of a suite and no case.
func NewMakers(files []suite.File) *Makers {
	m := &Makers{files: map[string]*suite.File{}, at: map[string]*MadeGroup{}, tool: map[string]string{}}
	for i := range files {
		m.files[files[i].Name] = &files[i]
	}
	return m
}

// Recorded reports whether a state was recorded in any file.
func (m *Makers) Recorded() bool {
	for _, f := range m.files {
		if f.Metadata != nil || f.Lock != nil && len(f.Lock.States) > 0 {
			return true
		}
	}
	return false
}

// Add adds a case.
func (m *Makers) Add(c *callvet.Case) error {
	f := m.files[c.Position.File]
	if f == nil || c.Skip != "" {
		return nil
	}
	g, err := m.group(f, c.ID)
	if err != nil {
		return err
	}
	g.Cases = append(g.Cases, c.ID)
	names := ExpectedTools(&c.Expect)
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

// group returns the group for the state when a case was made.
func (m *Makers) group(f *suite.File, id string) (*MadeGroup, error) {
	raw := f.Lock.StateOf(id)
	key := f.Name + "\x00" + string(raw)
	if g := m.at[key]; g != nil {
		return g, nil
	}
	g := &MadeGroup{StaleGroup: StaleGroup{
		From: f.Name, Cases: []string{}, Tools: []string{},
		Warnings: []suite.StaleWarning{},
	}}
	switch {
	case raw != nil:
		var err error
		if g.State, err = suite.ReadStaleState(raw); err != nil {
			return nil, fmt.Errorf("%s: %w", suite.LockPath(f.Name), err)
		}
		e := f.Lock.Find(id)
		g.State.At = cmp.Or(e.Reviewed, e.Locked)
	case f.Metadata != nil:
		g.State, m.tool[f.Name] = suite.StaleEnvelope(f.Metadata)
	}
	g.Made = g.State.At
	m.at[key], m.groups = g, append(m.groups, g)
	return g, nil
}

// ExpectedTools returns the tools that a case expects, each once.
func ExpectedTools(e *callvet.Expect) (out []string) {
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

// Compare compares each group with the present state. It computes the overlapping tools once, and
// only if needed.
func (m *Makers) Compare(ctx context.Context, s *callvet.Suite, now *suite.StaleState) ([]StaleGroup, error) {
	return CompareGroups(ctx, m.groups, s, now)
}

// CompareGroups compares the state when cases were made with the present state; the result has
// the groups that differ.
func CompareGroups(ctx context.Context, groups []*MadeGroup, s *callvet.Suite,
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
		if !g.State.Empty() {
			w, unknown := suite.CompareStale(&g.State, now,
				suite.StaleAbout{Tools: g.Tools, Alike: func(a, b string) bool { return alike()(a, b) }})
			g.Warnings, g.Unknown = append(g.Warnings, w...), unknown
		} else {
			g.Unknown = []string{nothingRecorded}
		}
		out = append(out, g.StaleGroup)
	}
	return out, failed
}

// Models returns the models of targets, as they were typed.
func Models(specs []TargetSpec) []string {
	var out []string
	for _, name := range TargetNames(specs) {
		if !strings.HasPrefix(name, "offline/") && !slices.Contains(out, name) {
			out = append(out, name)
		}
	}
	return out
}

// staleProblems returns the warnings in the form of lint.
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

// StateNow returns the present state of a suite's tools, prompt and models, to be recorded with its
// cases; nil if the suite has no tools.
func StateNow(s *callvet.Suite, models []string) (json.RawMessage, error) {
	if len(s.Tools) == 0 {
		return nil, nil
	}
	now := suite.StaleStateOf(s, models, "")
	return now.Bytes()
}
