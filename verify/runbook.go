// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/panel"
	"github.com/callvet/callvet/stats"
	"github.com/callvet/callvet/verify/proof"
)

// runBook collects the verdicts of several runs over the same cases: callvet's verdicts in ledgers, and
// the recorded ones.
type runBook struct {
	ledgers  map[string]*panel.Ledger
	scores   map[string]map[string]*counted // by run, then category, as callvet judges
	recorded map[string]map[string]bool     // by run, then case
	category map[string]string              // of a case
}

func newRunBook() *runBook {
	return &runBook{
		map[string]*panel.Ledger{},
		map[string]map[string]*counted{},
		map[string]map[string]bool{},
		map[string]string{},
	}
}

// modelOf is the model of a run, "build__model".
func modelOf(run string) string {
	_, model, _ := strings.Cut(run, "__")
	return model
}

// add adds a verdict. It returns an error for a case that a run has twice.
func (b *runBook) add(run string, row *officialRow, passed bool) error {
	led := b.ledgers[run]
	if led == nil {
		led = panel.NewLedger(run, []string{modelOf(run)}, []string{"category"})
		b.ledgers[run], b.scores[run], b.recorded[run] = led, map[string]*counted{}, map[string]bool{}
	}
	if _, twice := b.recorded[run][row.ID]; twice {
		return fmt.Errorf("read %s: case %s stands there twice: %w", run, row.ID, callvet.ErrInvalid)
	}
	b.recorded[run][row.ID], b.category[row.ID] = row.Valid, row.Category
	verdict := callvet.VerdictFail
	if passed {
		verdict = callvet.VerdictPass
	}
	if b.scores[run][row.Category] == nil {
		b.scores[run][row.Category] = &counted{}
	}
	b.scores[run][row.Category].add(passed)
	led.Add(&callvet.Case{ID: row.ID, Fields: map[string]string{"category": row.Category}},
		&callvet.Cell{Result: callvet.Result{Verdict: verdict}})
	return nil
}

// report compares every run with its published scores, and the runs of each model with its first published
// run.
func (b *runBook) report(c *proof.Check, o *official) {
	first := map[string]string{}
	for _, run := range o.figures.Keys() {
		right, all := 0, 0
		for _, category := range slices.Sorted(maps.Keys(b.scores[run])) {
			if all++; b.scores[run][category].figures(c, o, run, category) {
				right++
			}
		}
		c.Printf("%-75s %d of %d categories as published\n", run, right, all)
		base, known := first[modelOf(run)]
		if !known {
			first[modelOf(run)] = run
			continue
		}
		rows := len(o.categories(run)) + 1
		if rows == 2 { // a single category is the same as all, and has no row
			rows = 1
		}
		c.Due("paired "+base+" "+run, rows, o.figures.Source)
		b.compare(c, o, base, run)
	}
}

// compare prints the paired differences of two runs, and checks them: cases lost
// and won against the recorded verdicts, their balance against the published totals.
func (b *runBook) compare(c *proof.Check, o *official, base, cand string) {
	if b.ledgers[base] == nil || b.ledgers[cand] == nil {
		return // the missing runs are already reported
	}
	d := panel.Diff(b.ledgers[base], b.ledgers[cand], 0)
	if len(d.Targets) != 1 {
		c.Problem(fmt.Errorf("compare %s and %s: %w: nothing to compare", base, cand, callvet.ErrInvalid))
		return
	}
	if left := len(d.OnlyBaseline) + len(d.OnlyCandidate) + len(d.Changed); left > 0 {
		c.Problem(fmt.Errorf("compare %s and %s: %w: %d cases are not in both, or not the same", base, cand,
			callvet.ErrInvalid, left))
	}
	c.Printf("paired: %s (A) → %s (B)\n", base, cand)
	c.Printf("  %-26s %6s %6s %6s %5s %5s %9s  %-19s %7s %7s\n", "category", "cases", "A", "B", "lost", "won", "B - A",
		"95 % interval", "mid-p", "Holm")
	rows := append(slices.Clone(d.Targets[0].Slices), d.Targets[0].Overall)
	for i := range rows {
		r := &rows[i]
		printDifference(c, r)
		lost, won := b.changes(base, cand, r.Value)
		right := r.NewlyFailing == lost && r.NewlyPassing == won && r.Test == "mcnemar_midp" &&
			r.P == stats.McNemar(lost, won)
		if r.Value != "" {
			before, errBefore := o.figures.Count(base, r.Value, "correct")
			after, errAfter := o.figures.Count(cand, r.Value, "correct")
			right = right && errBefore == nil && errAfter == nil && r.NewlyPassing-r.NewlyFailing == after-before
		}
		c.Compare("paired "+base+" "+cand, orAll(r.Value), right, "%d lost, %d won, recorded %d and %d", r.NewlyFailing,
			r.NewlyPassing, lost, won)
	}
}

func orAll(category string) string { return orElse(category, "all") }

func printDifference(c *proof.Check, d *panel.Difference) {
	holm := ""
	if d.PHolm != nil {
		holm = fmt.Sprintf("%7.4f", *d.PHolm)
	}
	iv := &d.Change
	c.Printf("  %-26s %6d %5.1f%% %5.1f%% %5d %5d %+8.2f%%  [%+6.2f%%, %+6.2f%%]  %7.4f %7s\n", orAll(d.Value), d.Cases,
		100*d.Baseline.Point, 100*d.Candidate.Point,
		d.NewlyFailing, d.NewlyPassing, 100*iv.Point, 100*iv.Lower, 100*iv.Upper, d.P, holm)
}

// changes counts, by the recorded verdicts, cases of a category ("": of all)
// that only one of two runs passes.
func (b *runBook) changes(base, cand, category string) (lost, won int) {
	for id, was := range b.recorded[base] {
		is, both := b.recorded[cand][id]
		if !both || category != "" && b.category[id] != category {
			continue
		}
		switch {
		case was && !is:
			lost++
		case is && !was:
			won++
		}
	}
	return lost, won
}
