// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package panel

import (
	"fmt"

	"github.com/callvet/callvet/stats"
)

// Ratchet lists the cases that passed all their attempts in the baseline and pass none now. Source:
// Statistics specification, section 16.7.
type Ratchet struct {
	// Cases are these cases, in the order of the baseline; Compared is how many cases passed all
	// their attempts in the baseline and have a verdict now.
	Cases    []string `json:"cases"`
	Compared int      `json:"compared"`
	// Unknown are cases that passed all their attempts in the baseline and pass none of their
	// recorded attempts now, but have lost attempts that may have passed.
	Unknown []string `json:"unknown,omitempty"`
	// Baseline and Candidate are the fewest attempts with a verdict at a case that was compared.
	Baseline  int `json:"baseline_attempts"`
	Candidate int `json:"candidate_attempts"`
	// FalseAlarm is the probability, in [0,1], that some case is listed although none changed.
	FalseAlarm float64 `json:"false_alarm"`
}

// Worse reports whether a target is clearly worse than its baseline, in its pass rate or in another
// metric that was compared.
func (d *Comparison) Worse() bool {
	for i := range d.Targets {
		t := &d.Targets[i]
		if t.Overall.Verdict == ChangeWorse {
			return true
		}
		for j := range t.Measured {
			if t.Measured[j].Overall.Verdict == ChangeWorse {
				return true
			}
		}
	}
	return false
}

// NewlyFailing counts the cases that passed at least half of their attempts in the baseline and pass
// fewer now, of all targets.
func (d *Comparison) NewlyFailing() (n int) {
	for i := range d.Targets {
		n += d.Targets[i].Overall.NewlyFailing
	}
	return n
}

// WhyUndecided is why it is not known whether something is worse; "" where each pair of targets has
// cases that both sides judged. With newly it is about newly failing cases: cases that passed in
// the baseline must have no lost attempts that could hide a failure.
func (d *Comparison) WhyUndecided(newly bool) string {
	if newly && d.Unpaired {
		return "no case is paired, so that it is not known which cases are newly failing"
	}
	for i := range d.Targets {
		t := &d.Targets[i]
		switch {
		case t.Overall.Cases == 0:
			return t.Candidate + ": no case has a verdict on both sides"
		case newly && t.Ratchet != nil && len(t.Ratchet.Unknown) > 0:
			return fmt.Sprintf("%s: it is not known whether %s newly failing, because of lost attempts",
				t.Candidate, plural(len(t.Ratchet.Unknown), "case is", "cases are"))
		}
	}
	if len(d.Targets) == 0 {
		return "no target is on both sides"
	}
	return ""
}

// ratchet compares the cases that both runs have.
func ratchet(base, cand *Ledger, t [2]int, common [][2]int) Ratchet {
	out := Ratchet{Cases: []string{}}
	var seen []stats.Count
	var sides [][2]int
	for _, p := range common {
		a, b := base.at(t[0], p[0]), cand.at(t[1], p[1])
		if a.judged == 0 {
			continue
		}
		seen = append(seen, stats.Count{Passed: float64(a.passes), N: float64(a.judged)})
		if b.judged > 0 {
			sides = append(sides, [2]int{int(a.judged), int(b.judged)})
		}
		id := base.cases[p[0]].id
		switch lost := b.errors + b.lost; {
		case a.passes < a.judged:
		case b.passes > 0:
			out.count(a, b)
		case lost > 0 || b.judged == 0:
			out.Unknown = append(out.Unknown, id)
		default:
			out.count(a, b)
			out.Cases = append(out.Cases, id)
		}
	}
	none, population := 1.0, stats.PopulationOf(seen)
	known := map[[2]int]float64{}
	for _, s := range sides {
		chance, ok := known[s]
		if !ok {
			chance = population.Chance(stats.Count{Passed: float64(s[0]), N: float64(s[0] + s[1])})
			known[s] = chance
		}
		none *= 1 - chance
	}
	out.FalseAlarm = 1 - none
	return out
}

// count counts a case that passed all its attempts in the baseline.
func (r *Ratchet) count(a, b attempts) {
	before, now := int(a.judged), int(b.judged)
	if r.Compared > 0 {
		before, now = min(before, r.Baseline), min(now, r.Candidate)
	}
	r.Baseline, r.Candidate, r.Compared = before, now, r.Compared+1
}
