// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package panel

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/stats"
)

// judgedLedger has cases with so many passes of so many attempts, each in a slice of its own kind.
func judgedLedger(name string, targets []string, cases, n int, cached bool, passes func(target, i int) int) *Ledger {
	l := NewLedger(name, targets, []string{"kind"})
	for target := range targets {
		for i := range cases {
			c := callvet.Case{ID: fmt.Sprint("c", i), Fields: map[string]string{"kind": fmt.Sprint(i % 10)}}
			for k := range n {
				cell := callvet.Cell{
					Target: target, Repeat: k,
					Trace:  callvet.Trace{Outcome: callvet.OutcomeCalled, Cached: cached},
					Result: callvet.Result{Verdict: callvet.VerdictFail},
				}
				if k < passes(target, i) {
					cell.Result.Verdict = callvet.VerdictPass
				}
				l.Add(&c, &cell)
			}
		}
	}
	return l
}

// TestClaims: a change is claimed only where it is significant among all compared changes.
func TestClaims(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		n, mixed  int // attempts; cases where some attempts fail on both sides
		before    int
		after     int // passes of the first case
		cached    bool
		stability string
	}{
		"one case of one that could change":             {5, 1, 5, 1, false, "stable"},
		"one of many that could":                        {5, 100, 5, 1, false, "flaky"},
		"a large change among many":                     {20, 100, 20, 1, false, "stable"},
		"copies of one answer":                          {5, 1, 5, 0, true, ""},
		"the others have too few failures to be tested": {6, 1, 6, 0, false, "stable"},
	} {
		side := func(first int) func(int, int) int {
			return func(_, i int) int {
				switch {
				case i == 0:
					return first
				case i < tt.mixed:
					return tt.n / 2
				}
				return tt.n
			}
		}
		c := Diff(judgedLedger("a", []string{"m"}, 120, tt.n, tt.cached, side(tt.before)),
			judgedLedger("b", []string{"m"}, 120, tt.n, tt.cached, side(tt.after)), 0)
		if got := c.Targets[0].Changes; len(got) != 1 || got[0].Stability != tt.stability {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

// TestClaimsOfFamilies: a slice of ten, or one of three targets, is worse only where the corrected p
// value is below the level.
func TestClaimsOfFamilies(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		fails   int // of the 12 cases of the first slice
		targets []string
		slice   Change
		target  Change // of the first
		holm    bool
	}{
		"a chance slice":              {5, []string{"m"}, ChangeUnclear, ChangeWorse, false},
		"a slice that broke":          {12, []string{"m"}, ChangeWorse, ChangeWorse, false},
		"a chance target among three": {5, []string{"m", "n", "o"}, ChangeUnclear, ChangeUnclear, true},
		"a target that broke":         {9, []string{"m", "n", "o"}, ChangeWorse, ChangeWorse, true},
	} {
		good := func(int, int) int { return 1 }
		c := Diff(judgedLedger("a", tt.targets, 120, 1, false, good),
			judgedLedger("b", tt.targets, 120, 1, false, func(target, i int) int {
				if target == 0 && i%10 == 0 && i/10 < tt.fails {
					return 0
				}
				return 1
			}), 0)
		d := &c.Targets[0]
		if d.Overall.Verdict != tt.target || (d.Overall.PHolm != nil) != tt.holm {
			t.Errorf("%s: %+v", name, d.Overall)
		}
		for i := range d.Slices {
			if s := &d.Slices[i]; s.Value == "0" && s.Verdict != tt.slice || s.Value != "0" &&
				s.Verdict != ChangeUnclear {
				t.Errorf("%s: slice %s: %s, p %v, adjusted %v", name, s.Value, s.Verdict, s.P, *s.PHolm)
			}
		}
	}
}

// TestFamily: differences of one family are better or worse only where that holds for all of them, and
// one of no cases is of no family.
func TestFamily(t *testing.T) {
	t.Parallel()
	of := func(cases int, p float64, v Change) *Difference {
		return &Difference{Cases: cases, P: p, Verdict: v, Change: stats.Interval{Confidence: 0.75}}
	}
	type claim struct {
		Verdict Change
		Holm    float64 // 0: none
	}
	for name, c := range map[string]struct {
		of   []*Difference
		want []claim
	}{
		"one alone": {[]*Difference{of(9, 0.125, ChangeWorse)}, []claim{{ChangeWorse, 0}}},
		"one, the other of none": {
			[]*Difference{of(9, 0.125, ChangeWorse), of(0, 1, ChangeNone)},
			[]claim{{ChangeWorse, 0}, {ChangeNone, 0}},
		},
		"both at the level": {
			[]*Difference{of(9, 0.125, ChangeWorse), of(9, 0.125, ChangeBetter)},
			[]claim{{ChangeUnclear, 0.25}, {ChangeUnclear, 0.25}},
		},
		"both below it": {
			[]*Difference{of(9, 0.0625, ChangeWorse), of(9, 0.125, ChangeBetter)},
			[]claim{{ChangeWorse, 0.125}, {ChangeBetter, 0.125}},
		},
		"not clear by itself": {
			[]*Difference{of(9, 0.0625, ChangeUnclear), of(9, 0.5, ChangeUnclear)},
			[]claim{{ChangeUnclear, 0.125}, {ChangeUnclear, 0.5}},
		},
	} {
		Family(c.of)
		var got []claim
		for _, d := range c.of {
			one := claim{Verdict: d.Verdict}
			if d.PHolm != nil {
				one.Holm = *d.PHolm
			}
			got = append(got, one)
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

// TestClaimsAtTheLevel: with a confidence of 75 % a p value has to be below 0.25, and a case counts in the
// family where its attempts could have one of at most 0.25 by the size of the family (Tarone). One pass of
// one attempt, then none of three, has a p value of just 0.25; none of four then has 0.2.
func TestClaimsAtTheLevel(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		now  []int // failed attempts of each case now; all passed their one attempt before
		want []string
	}{
		"just the level is not below it":           {[]int{3}, []string{""}},
		"below it":                                 {[]int{4}, []string{"stable"}},
		"two that could, and neither could of two": {[]int{3, 4}, []string{"", ""}},
		"two that could, and three others":         {[]int{9, 9, 2, 2, 2}, []string{"stable", "stable", "", "", ""}},
		"one attempt could never":                  {[]int{1, 4}, []string{"", "stable"}},
	} {
		var sides [2]*Ledger
		for side := range sides {
			sides[side] = NewLedger("r", []string{"m"}, nil)
			for i, n := range c.now {
				attempts, verdict := 1, callvet.VerdictPass
				if side == 1 {
					attempts, verdict = n, callvet.VerdictFail
				}
				for k := range attempts {
					sides[side].Add(&callvet.Case{ID: fmt.Sprint("c", i)},
						&callvet.Cell{Repeat: k, Result: callvet.Result{Verdict: verdict}})
				}
			}
		}
		var got []string
		for _, x := range Diff(sides[0], sides[1], 0.75).Targets[0].Changes {
			got = append(got, x.Stability)
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

// TestCasesOfLedger: what became of the attempts of a target at its cases. Cached attempts that agree are
// copies of one; a case that was left out on purpose, or that another target has, is not there.
func TestCasesOfLedger(t *testing.T) {
	t.Parallel()
	l := NewLedger("r", []string{"m", "n"}, nil)
	for _, c := range []struct{ id, attempts string }{
		{"fresh", "ppf"},
		{"copies", "PPP"},
		{"failed copies", "FFf"},
		{"copies and a fresh one", "PPp"},
		{"mixed copies", "PPF"},
		{"one copy", "Pf"},
		{"lost", "pell"},
		{"lost only", "el"},
		{"skipped", "s"},
		{"not judged", "u"},
	} {
		for k := range c.attempts {
			cell := callvet.Cell{Repeat: k, Target: 1}
			one := callvet.Case{ID: c.id, Skip: letter(c.attempts[k], &cell)}
			l.Add(&one, &cell)
		}
	}
	want := []CaseAttempts{
		{Case: "fresh", Passed: 2, Judged: 3},
		{Case: "copies", Passed: 1, Judged: 1, Facts: true},
		{Case: "failed copies", Passed: 0, Judged: 2},
		{Case: "copies and a fresh one", Passed: 2, Judged: 2},
		{Case: "mixed copies", Passed: 2, Judged: 3, Facts: true},
		{Case: "one copy", Passed: 1, Judged: 2},
		{Case: "lost", Passed: 1, Judged: 1, Lost: 3},
		{Case: "lost only", Lost: 2},
	}
	if diff := cmp.Diff(want, l.Cases("n")); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]CaseAttempts{{Case: "c0", Passed: 1, Judged: 2}}, attemptsAt("pf").Cases("m")); diff != "" {
		t.Errorf("of the first target: %s", diff)
	}
	if got := append(l.Cases("m"), l.Cases("nobody")...); len(got) > 0 {
		t.Errorf("of a target without attempts, and of none: %+v", got)
	}
}
