// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package panel

import (
	"fmt"
	"testing"

	"github.com/callvet/callvet"
)

// judgedLedger has cases with so many passes of so many attempts, each in a slice of its own kind.
func judgedLedger(name string, targets []string, cases, n int, cached bool, passes func(target, i int) int) *Ledger {
	l := NewLedger(name, targets, []string{"kind"})
	for target := range targets {
		for i := range cases {
			c := callvet.Case{ID: fmt.Sprint("c", i), Fields: map[string]string{"kind": fmt.Sprint(i % 10)}}
			for k := range n {
				cell := callvet.Cell{Target: target, Repeat: k, Trace: callvet.Trace{Outcome: callvet.OutcomeCalled, Cached: cached}, Result: callvet.Result{Verdict: callvet.VerdictFail}}
				if k < passes(target, i) {
					cell.Result.Verdict = callvet.VerdictPass
				}
				l.Add(&c, &cell)
			}
		}
	}
	return l
}

// TestClaims: a change is claimed only where it holds among all that were compared beside it.
func TestClaims(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		n, mixed  int // attempts; cases of which some attempts fail on both sides
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
		c := Diff(judgedLedger("a", []string{"m"}, 120, tt.n, tt.cached, side(tt.before)), judgedLedger("b", []string{"m"}, 120, tt.n, tt.cached, side(tt.after)), 0)
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
		c := Diff(judgedLedger("a", tt.targets, 120, 1, false, good), judgedLedger("b", tt.targets, 120, 1, false, func(target, i int) int {
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
			if s := &d.Slices[i]; s.Value == "0" && s.Verdict != tt.slice || s.Value != "0" && s.Verdict != ChangeUnclear {
				t.Errorf("%s: slice %s: %s, p %v, adjusted %v", name, s.Value, s.Verdict, s.P, *s.PHolm)
			}
		}
	}
}
