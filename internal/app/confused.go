// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package app

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/report"
	"github.com/callvet/callvet/internal/store"
	"github.com/callvet/callvet/internal/trace"
	"github.com/callvet/callvet/panel"
	"github.com/callvet/callvet/score"
)

// confusedAt are the places of attempts in which a call that should have gone to one tool went to another, with
// the names of the confusion matrix. It reads all attempts of the targets, as nothing is kept of pairs; none: of all.
// It is nil where neither tool is named.
func (r *Run) confusedAt(ctx context.Context, expected, called string, targets map[int]bool) (map[place]bool, error) {
	if expected == "" && called == "" {
		return nil, nil
	}
	f := store.Filter{}
	if len(targets) == 1 {
		for i := range targets {
			f.Target = &i
		}
	}
	out := map[place]bool{}
	for row, err := range r.attempted(ctx, f) {
		if err != nil {
			return nil, err
		}
		c := row.Cell
		if len(targets) > 0 && !targets[c.Target] || c.Target >= len(r.Manifest.Targets) {
			continue
		}
		for _, p := range r.pairsOf(&row) {
			if strings.EqualFold(p.Expected, expected) && strings.EqualFold(p.Called, called) {
				out[place{int32(c.Case), int32(c.Target), int32(c.Repeat)}] = true //nolint:gosec // a suite has fewer cases
			}
		}
	}
	return out, nil
}

// pairsOf tells which tools an attempt called for which that were right.
func (r *Run) pairsOf(row *report.Row) (out []trace.Confused) {
	t := &row.Cell.Trace
	if t.Outcome == callvet.OutcomeError || t.Outcome == callvet.OutcomeNotRun {
		return nil
	}
	if t.Decision != nil {
		a := trace.OfCell(row.Case, &r.Manifest.Targets[row.Cell.Target], row.Cell)
		if a.Scored == nil {
			return nil
		}
		for _, p := range a.Scored.Tools {
			out = append(out, trace.Confused{Expected: cmp.Or(p.Expected, panel.None), Called: cmp.Or(p.Called, panel.None)})
		}
		return out
	}
	labels, needed, known := score.Labels(row.Case, t, &row.Cell.Result)
	if !known {
		return nil
	}
	missed := slices.Clone(needed)
	for i, call := range t.Calls() {
		name := call.Tool
		if !r.knows(row.Case, name) {
			name = panel.Unknown
		}
		right := cmp.Or(labels[i].Tool, panel.None)
		out = append(out, trace.Confused{Expected: right, Called: name})
		if at := slices.IndexFunc(missed, func(n string) bool { return strings.EqualFold(n, right) }); at >= 0 {
			missed = slices.Delete(missed, at, at+1)
		}
	}
	nothing := panel.None
	if t.Outcome == callvet.OutcomeUnparseable {
		nothing = panel.Unreadable
	}
	for _, name := range missed {
		out = append(out, trace.Confused{Expected: name, Called: nothing})
	}
	if len(out) == 0 {
		out = append(out, trace.Confused{Expected: panel.None, Called: nothing})
	}
	return out
}

// knows reports whether the suite or a case has a tool.
func (r *Run) knows(c *callvet.Case, name string) bool {
	same := func(t callvet.Tool) bool { return strings.EqualFold(t.Name, name) }
	return slices.ContainsFunc(r.Suite.Tools, same) || slices.ContainsFunc(c.Tools, same)
}
