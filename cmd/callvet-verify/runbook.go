// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package main

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/panel"
	"github.com/callvet/callvet/stats"
)

// runBook collects the verdicts of several runs over the same cases: callvet's
// in ledgers, the recorded ones beside them.
type runBook struct {
	ledgers  map[string]*panel.Ledger
	scores   map[string]map[string]*official // by run, then category, as callvet judges
	recorded map[string]map[string]bool      // by run, then case
	category map[string]string               // of a case
}

// official is the score of a category as the leaderboard publishes it.
type official struct {
	Accuracy       float64
	Correct, Total int
}

func newRunBook() *runBook {
	return &runBook{map[string]*panel.Ledger{}, map[string]map[string]*official{}, map[string]map[string]bool{}, map[string]string{}}
}

// add takes a verdict. The error tells of a case that a run has twice.
func (b *runBook) add(run string, row *officialRow, passed bool) error {
	led := b.ledgers[run]
	if led == nil {
		_, model, _ := strings.Cut(run, "__")
		led = panel.NewLedger(run, []string{model}, []string{"category"})
		b.ledgers[run], b.scores[run], b.recorded[run] = led, map[string]*official{}, map[string]bool{}
	}
	if _, twice := b.recorded[run][row.ID]; twice {
		return fmt.Errorf("read %s: case %s stands there twice: %w", run, row.ID, callvet.ErrInvalid)
	}
	b.recorded[run][row.ID], b.category[row.ID] = row.Valid, row.Category
	verdict := callvet.VerdictFail
	s := b.scores[run][row.Category]
	if s == nil {
		s = &official{}
		b.scores[run][row.Category] = s
	}
	if s.Total++; passed {
		s.Correct++
		verdict = callvet.VerdictPass
	}
	led.Add(&callvet.Case{ID: row.ID, Fields: map[string]string{"category": row.Category}}, &callvet.Cell{Result: callvet.Result{Verdict: verdict}})
	return nil
}

// report holds every run against its published scores and compares the runs of
// each model with its baseline.
func (b *runBook) report(out io.Writer, half string) (bool, error) {
	published, err := readScores(filepath.Join(half, "official_scores.json"))
	if err != nil {
		return false, err
	}
	ok := true
	models := map[string][]string{}
	for _, run := range slices.Sorted(maps.Keys(b.ledgers)) {
		t := b.accuracies(out, run, published[run])
		fmt.Fprintf(out, "%-8s %-75s %s categories as published\n", filepath.Base(half), run, t)
		ok = ok && t.all()
		_, model, _ := strings.Cut(run, "__")
		models[model] = append(models[model], run)
	}
	for _, model := range slices.Sorted(maps.Keys(models)) {
		runs := models[model]
		base := max(0, slices.IndexFunc(runs, func(r string) bool { return strings.HasSuffix(r, "-main__"+model) }))
		for i, run := range runs {
			if i != base {
				ok = b.compare(out, runs[base], run, published) && ok
			}
		}
	}
	return ok, nil
}

func (b *runBook) accuracies(out io.Writer, run string, published map[string]official) (t tally) {
	for _, c := range slices.Sorted(maps.Keys(b.scores[run])) {
		got, want := b.scores[run][c], published[c]
		got.Accuracy = float64(got.Correct) / float64(got.Total)
		if !t.count(*got == want) {
			fmt.Fprintf(out, "differs: %s %s: published %v, callvet %v\n", run, c, want, *got)
		}
	}
	return t
}

// compare prints the paired differences of two runs, and checks them: cases lost
// and won against the recorded verdicts, their balance against the published totals.
func (b *runBook) compare(out io.Writer, base, cand string, published map[string]map[string]official) bool {
	d := panel.Diff(b.ledgers[base], b.ledgers[cand], 0)
	if len(d.Targets) != 1 {
		fmt.Fprintf(out, "differs: %s and %s: nothing to compare\n", base, cand)
		return false
	}
	fmt.Fprintf(out, "paired: %s (A) → %s (B)\n", base, cand)
	fmt.Fprintf(out, "  %-26s %6s %6s %6s %5s %5s %9s  %-19s %7s %7s\n", "category", "cases", "A", "B", "lost", "won", "B - A", "95 % interval", "mid-p", "Holm")
	rows := append(slices.Clone(d.Targets[0].Slices), d.Targets[0].Overall)
	var t tally
	for i := range rows {
		r := &rows[i]
		printDifference(out, r)
		lost, won := b.changes(base, cand, r.Value)
		balance := r.NewlyPassing - r.NewlyFailing
		right := r.NewlyFailing == lost && r.NewlyPassing == won && r.Test == "mcnemar_midp" && r.P == stats.McNemar(lost, won)
		if r.Value != "" {
			right = right && balance == published[cand][r.Value].Correct-published[base][r.Value].Correct
		}
		if !t.count(right) {
			fmt.Fprintf(out, "differs: %s: recorded %d lost, %d won\n", r.Value, lost, won)
		}
	}
	categories := len(b.scores[cand]) // a single one is the same as all, and has no row of its own
	complete := (categories == 1 || len(rows) == categories+1) && len(d.OnlyBaseline)+len(d.OnlyCandidate)+len(d.Changed) == 0
	fmt.Fprintf(out, "  %s rows as the recorded verdicts and the published totals have them\n", t)
	return t.all() && complete
}

func printDifference(out io.Writer, d *panel.Difference) {
	name, holm := d.Value, ""
	if name == "" {
		name = "all"
	}
	if d.PHolm != nil {
		holm = fmt.Sprintf("%7.4f", *d.PHolm)
	}
	iv := &d.Change
	fmt.Fprintf(out, "  %-26s %6d %5.1f%% %5.1f%% %5d %5d %+8.2f%%  [%+6.2f%%, %+6.2f%%]  %7.4f %7s\n", name, d.Cases, 100*d.Baseline.Point, 100*d.Candidate.Point,
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

func readScores(path string) (map[string]map[string]official, error) {
	raw, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("read published scores: %w", err)
	}
	var file map[string]map[string]json.RawMessage
	if err := json.Unmarshal(raw, &file); err != nil {
		return nil, fmt.Errorf("read %s: %w", path, err)
	}
	out := map[string]map[string]official{}
	for run, categories := range file {
		out[run] = map[string]official{}
		for c, raw := range categories {
			var o official
			if json.Unmarshal(raw, &o) == nil && o.Total > 0 { // the leaderboard's own row has texts
				out[run][c] = o
			}
		}
	}
	return out, nil
}
