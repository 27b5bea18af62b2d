// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package app

import (
	"iter"
	"slices"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/report"
)

// planned yields the rows of a run, which come case by case, and for each attempt that was planned and
// is not stored a cell that did not run: a run that was killed, cancelled or out of budget is no whole.
// Source: Statistics specification, section 16.2.
func (r *Run) planned(rows iter.Seq2[report.Row, error]) iter.Seq2[report.Row, error] {
	return func(yield func(report.Row, error) bool) {
		g := &grid{run: r, yield: yield}
		g.cases = r.Manifest.Cases
		if g.cases == nil {
			g.cases = make([]int, r.cases.Len())
			for i := range g.cases {
				g.cases[i] = i
			}
		} else {
			g.cases = slices.Compact(slices.Sorted(slices.Values(g.cases)))
		}
		for row, err := range rows {
			if err == nil && !g.upTo(row.Cell) {
				return
			}
			if !yield(row, err) {
				return
			}
		}
		g.upTo(nil)
	}
}

// grid is the attempts of a run in the order of their cases, targets and repeats.
type grid struct {
	run   *Run
	cases []int
	next  int // attempts that were passed
	yield func(report.Row, error) bool
}

// upTo yields the attempts before a cell that are not stored, all that are left for nil, and passes the
// cell. It returns false where the reader wants no more.
func (g *grid) upTo(c *callvet.Cell) bool {
	targets, repeats := len(g.run.Manifest.Targets), g.run.Manifest.Repeats
	each := targets * repeats
	end := len(g.cases) * each
	if c != nil {
		at, found := slices.BinarySearch(g.cases, c.Case)
		if !found || c.Repeat < 0 || c.Repeat >= repeats {
			return true // it is beyond what was planned
		}
		end = at*each + c.Target*repeats + c.Repeat
	}
	for ; g.next < end; g.next++ {
		cell := &callvet.Cell{Case: g.cases[g.next/each], Target: g.next % each / repeats, Repeat: g.next % repeats}
		cell.Trace.Outcome, cell.Trace.Repeat = callvet.OutcomeNotRun, cell.Repeat
		cell.Result = callvet.Result{Verdict: callvet.VerdictNotRun, Reason: "it is not stored"}
		of, err := g.run.cases.Case(cell.Case)
		if err != nil {
			g.yield(report.Row{}, err)
			return false
		}
		cell.Trace.CaseID = of.ID
		if !g.yield(report.Row{Case: of, Cell: cell}, nil) {
			return false
		}
	}
	if c != nil && g.next == end {
		g.next++
	}
	return true
}
