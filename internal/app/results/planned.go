// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package results

import (
	"context"
	"iter"
	"slices"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/report"
	"github.com/callvet/callvet/internal/store"
)

// whole streams the attempts that match a filter of verdicts, including planned attempts that are
// not stored.
func (r *Run) whole(ctx context.Context, f store.Filter) iter.Seq2[report.Row, error] {
	some := len(f.Verdicts) > 0 &&
		(r.Stored.Status == store.StatusDone || !slices.Contains(f.Verdicts, callvet.VerdictNotRun))
	if some || r.damage != nil { // a finished run has all its attempts, and need not be read whole for a few
		return r.Rows(ctx, f)
	}
	verdicts := f.Verdicts
	f.Verdicts = nil
	return func(yield func(report.Row, error) bool) {
		for row, err := range r.Planned(r.Rows(ctx, f), f.Order) {
			if err == nil && verdicts != nil && !slices.Contains(verdicts, row.Cell.Result.Verdict) {
				continue
			}
			if !yield(row, err) {
				return
			}
		}
	}
}

// Planned yields the rows of a run, and a cell that did not run for each planned attempt that is
// not stored. A run that was killed, cancelled or out of budget is incomplete. Source: Statistics
// specification, section 16.2.
func (r *Run) Planned(rows iter.Seq2[report.Row, error], order store.Order) iter.Seq2[report.Row, error] {
	return func(yield func(report.Row, error) bool) {
		g := &PlannedGrid{Run: r, yield: yield, ByCase: order == store.ByCase, Cases: slices.Clone(r.Manifest.Cases)}
		if g.Cases == nil {
			g.Cases = make([]int, r.CaseLines.Len())
			for i := range g.Cases {
				g.Cases[i] = i
			}
		}
		g.Plan()
		for row, err := range rows {
			if err == nil && !g.upTo(row.Cell) || !yield(row, err) {
				return
			}
		}
		g.upTo(nil)
	}
}

// PlannedGrid has the planned attempts of a run in the order of its rows.
type PlannedGrid struct {
	Run    *Run
	Cases  []int // sorted
	before []int // attempts of a target at the cases before each one, and at all
	ByCase bool  // else target by target
	next   int   // attempts that were passed
	// leftOut are the targets that ran until their gates were decided: their missing attempts were
	// left out on purpose.
	leftOut []bool
	yield   func(report.Row, error) bool
}

// Plan puts the cases in order and counts their attempts.
func (g *PlannedGrid) Plan() {
	slices.Sort(g.Cases)
	g.Cases = slices.Compact(g.Cases)
	g.leftOut = make([]bool, len(g.Run.Manifest.Targets))
	for i, t := range g.Run.early() {
		g.leftOut[i] = t.LeftOut > 0
	}
	g.before = make([]int, len(g.Cases)+1)
	for i, at := range g.Cases {
		g.before[i+1] = g.before[i] + g.Run.Manifest.RepeatsOf(at)
	}
}

// At returns the attempt at a position.
func (g *PlannedGrid) At(i int) *callvet.Cell {
	targets, all := 1, g.before[len(g.Cases)]
	c := &callvet.Cell{}
	if g.ByCase {
		targets = len(g.Run.Manifest.Targets)
	} else {
		c.Target, i = i/all, i%all
	}
	at, found := slices.BinarySearch(g.before, i/targets)
	if !found {
		at--
	}
	c.Case = g.Cases[at]
	i -= g.before[at] * targets
	repeats := g.before[at+1] - g.before[at]
	c.Target, c.Repeat = c.Target+i/repeats, i%repeats
	return c
}

// Position returns the position of an attempt; false for one that was not planned.
func (g *PlannedGrid) Position(c *callvet.Cell) (int, bool) {
	targets, all := len(g.Run.Manifest.Targets), g.before[len(g.Cases)]
	at, found := slices.BinarySearch(g.Cases, c.Case)
	if !found || c.Repeat < 0 || c.Repeat >= g.Run.Manifest.RepeatsOf(c.Case) || c.Target < 0 || c.Target >= targets {
		return 0, false
	}
	if g.ByCase {
		return g.before[at]*targets + c.Target*(g.before[at+1]-g.before[at]) + c.Repeat, true
	}
	return c.Target*all + g.before[at] + c.Repeat, true
}

// upTo yields the missing attempts before a cell (for nil all that are left), and skips the cell.
// It returns false if the reader stops.
func (g *PlannedGrid) upTo(c *callvet.Cell) bool {
	end := g.before[len(g.Cases)] * len(g.Run.Manifest.Targets)
	if c != nil {
		at, planned := g.Position(c)
		if !planned {
			return true
		}
		end = at
	}
	for ; g.next < end; g.next++ {
		cell := g.At(g.next)
		if g.leftOut[cell.Target] {
			continue
		}
		of, err := g.Run.CaseLines.Case(cell.Case)
		if err != nil {
			g.yield(report.Row{}, err)
			return false
		}
		cell.Trace.CaseID, cell.Trace.Outcome, cell.Trace.Repeat = of.ID, callvet.OutcomeNotRun, cell.Repeat
		cell.Result = callvet.Result{
			Verdict: callvet.VerdictNotRun, Reason: "it did not run before the run ended",
			Rules: g.Run.Manifest.RulesVersion(),
		}
		if !g.yield(report.Row{Case: of, Cell: cell}, nil) {
			return false
		}
	}
	if c != nil && g.next == end {
		g.next++
	}
	return true
}
