// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package results

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/report"
	"github.com/callvet/callvet/internal/trace"
	"github.com/callvet/callvet/panel"
	"github.com/callvet/callvet/score"
)

// confusedAt reports for each attempt of an outline whether it called one tool where the other was
// right. It returns nil if neither tool is named.
func (o *outline) confusedAt(ctx context.Context, r *Run, expected, called string) ([]bool, error) {
	if expected == "" && called == "" {
		return nil, nil
	}
	wanted := func(p trace.Confused) bool {
		return strings.EqualFold(p.Expected, expected) && strings.EqualFold(p.Called, called)
	}
	return wantedAt(ctx, o, r, wanted, r.pairsOf, func(d *details) map[trace.Confused][]int32 { return d.confused })
}

// pairsOf lists the called tools of an attempt with the right ones.
func (r *Run) pairsOf(row *report.Row) (out []trace.Confused) {
	t := &row.Cell.Trace
	if t.Outcome == callvet.OutcomeError || t.Outcome == callvet.OutcomeNotRun {
		return nil
	}
	if t.Decision != nil {
		a := trace.OfCell(row.Case, &r.Manifest.Targets[row.Cell.Target], row.Cell, &r.Suite.Defaults.Scoring)
		if a.Scored == nil {
			return nil
		}
		for _, p := range a.Scored.Tools {
			out = append(out,
				trace.Confused{Expected: cmp.Or(p.Expected, panel.None), Called: cmp.Or(p.Called, panel.None)})
		}
		return out
	}
	labels, needed, known := score.Labels(row.Case, t, &row.Cell.Result)
	if !known {
		return nil
	}
	missed := make([]string, len(needed))
	for i := range needed {
		missed[i] = needed[i].Tool
	}
	for i, name := range score.Counted(t, &row.Cell.Result) {
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

// knows reports whether the suite or the case has a tool.
func (r *Run) knows(c *callvet.Case, name string) bool {
	same := func(t callvet.Tool) bool { return strings.EqualFold(t.Name, name) }
	return slices.ContainsFunc(r.Suite.Tools, same) || slices.ContainsFunc(c.Tools, same)
}
