// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package panel

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/callvet/callvet/stats"
)

// TestPercent: a share that is neither 0 nor 1 is not written as 0 or 100 %.
func TestPercent(t *testing.T) {
	t.Parallel()
	for share, want := range map[float64]string{
		0: "0.0", 1: "100.0", 0.5: "50.0", 0.9999: "99.99",
		0.99996311: "99.996", 0.0000369: "0.004", 0.0004: "0.04", 1e-12: "0.000000",
	} {
		if got := percent(share); got != want {
			t.Errorf("%v: %s, not %s", share, got, want)
		}
	}
}

// TestRateWarnings: the notes of a table on a rate.
func TestRateWarnings(t *testing.T) {
	t.Parallel()
	of := func(status stats.Status, point, lower, upper float64, n, cases int) stats.Interval {
		return stats.Interval{Status: status, Point: point, Lower: lower, Upper: upper, N: n, Clusters: cases}
	}
	const widened = "fewer than 5 cases carry information: interval widened"
	for name, c := range map[string]struct {
		iv               stats.Interval
		excluded, judged int
		want             []string
	}{
		"nothing to note":     {of(stats.StatusOK, 0.5, 0.4, 0.6, 100, 30), 0, 100, nil},
		"29 cases":            {of(stats.StatusOK, 0.5, 0.4, 0.6, 100, 29), 0, 100, []string{"only 29 cases"}},
		"5 % without a value": {of(stats.StatusOK, 0.5, 0.4, 0.6, 95, 95), 5, 100, nil},
		"more without a value": {
			of(stats.StatusOK, 0.5, 0.4, 0.6, 94, 94), 6, 100,
			[]string{"6 of 100 judged attempts have no value and are left out"},
		},
		"that is no question": {of(stats.StatusOK, 0.5, 0.4, 0.6, 94, 94), 6, 0, nil},
		"none has a value":    {of(stats.StatusNoData, 0, 0, 1, 0, 0), 6, 6, []string{"no data"}},
		"one case": {
			of(stats.StatusSingleCluster, 0.5, 0, 1, 2, 1), 0, 2,
			[]string{"one case only: no interval"},
		},
		"all pass": {
			of(stats.StatusBoundary, 1, 0.884, 1, 40, 40), 0, 40,
			[]string{"none of 40 is below 100 %, but a rate of 88.4 % is possible"},
		},
		"none passes": {
			of(stats.StatusBoundary, 0, 0, 0.116, 40, 40), 0, 40,
			[]string{"none of 40, but a rate of 11.6 % is possible"},
		},
		"few carry information": {of(stats.StatusCapped, 0.9, 0.7, 0.99, 40, 40), 0, 40, []string{widened}},
		"few of few": {
			of(stats.StatusCapped, 0.9, 0.7, 0.99, 10, 10), 0, 10,
			[]string{widened, "only 10 cases"},
		},
		"half of a sample of four": {
			of(stats.StatusOK, 0.5, 0.1, 0.9, 4, 4), 1, 5,
			[]string{"1 of 5 judged attempts have no value and are left out", "only 4 cases"},
		},
	} {
		m := Metric{Name: "arg_em", Unit: UnitRate, Interval: c.iv, Excluded: c.excluded}
		if d := cmp.Diff(c.want, RateWarnings(&m, c.judged)); d != "" {
			t.Errorf("%s: %s", name, d)
		}
		for _, w := range c.want {
			if !Routine(w) {
				t.Errorf("%s: %q counts as something that went wrong", name, w)
			}
		}
	}
}

// TestSliceWarnings: what a table notes of the attempts that are in no mean.
func TestSliceWarnings(t *testing.T) {
	t.Parallel()
	const errors, usage = " ended in an error and are in no mean", " have no plausible usage: "
	for name, c := range map[string]struct {
		verdicts Verdicts
		open     Unevaluated
		usage    Usage
		recorded bool
		want     []string
	}{
		"nothing to note": {Verdicts{Pass: 60, Fail: 40}, Unevaluated{}, Usage{}, true, nil},
		"no attempt":      {Verdicts{}, Unevaluated{}, Usage{}, true, nil},
		"5 % errors": {
			Verdicts{Pass: 60, Fail: 35, Error: 5},
			Unevaluated{},
			Usage{},
			true,
			[]string{"5 of 100 attempts (5.0 %)" + errors},
		},
		"more errors": {
			Verdicts{Pass: 60, Fail: 34, Error: 6},
			Unevaluated{},
			Usage{},
			true,
			[]string{"6 of 100 attempts (6.0 %)" + errors + ": above 5 %, the result is inconclusive"},
		},
		"some did not run": {
			Verdicts{Pass: 60, Fail: 30, NotRun: 10},
			Unevaluated{},
			Usage{},
			true,
			[]string{"10 of 100 attempts (10.0 %) did not run"},
		},
		"some were not judged": {
			Verdicts{Pass: 60, Fail: 30, NotRun: 10},
			Unevaluated{Unjudged: 10},
			Usage{},
			true,
			[]string{"10 of 100 attempts (10.0 %) ran and could not be judged"},
		},
		"both": {Verdicts{Pass: 60, Fail: 30, NotRun: 10}, Unevaluated{Unjudged: 4}, Usage{}, true, []string{
			"6 of 100 attempts (6.0 %) did not run", "4 of 100 attempts (4.0 %) ran and could not be judged",
		}},
		"passes of a part": {
			Verdicts{Pass: 60, Fail: 40},
			Unevaluated{Passed: 3},
			Usage{},
			true,
			[]string{"3 of 100 attempts (3.0 %) passed with assertions that were not evaluated: they passed the others only"},
		},
		"no usage": {
			Verdicts{Pass: 60, Fail: 40},
			Unevaluated{},
			Usage{UsageUnknown: 2, CostUnknown: 2},
			true,
			[]string{"2 of 100 attempts (2.0 %)" + usage + "they are in neither tokens nor cost"},
		},
		"no usage, known cost": {
			Verdicts{Pass: 60, Fail: 40},
			Unevaluated{},
			Usage{UsageUnknown: 2},
			true,
			[]string{"2 of 100 attempts (2.0 %)" + usage + "they are not in the tokens"},
		},
		"no cost": {
			Verdicts{Pass: 60, Fail: 40},
			Unevaluated{},
			Usage{CostUnknown: 3},
			true,
			[]string{"3 of 100 attempts (3.0 %) have no known cost: they are not in the cost"},
		},
		"no usage, and of more no cost": {
			Verdicts{Pass: 60, Fail: 40},
			Unevaluated{},
			Usage{UsageUnknown: 2, CostUnknown: 3},
			true,
			[]string{
				"2 of 100 attempts (2.0 %)" + usage + "they are not in the tokens",
				"3 of 100 attempts (3.0 %) have no known cost: they are not in the cost",
			},
		},
		"attempts without usage to report": {
			Verdicts{Pass: 60, Fail: 40},
			Unevaluated{},
			Usage{UsageUnknown: 2, CostUnknown: 3},
			false, nil,
		},
	} {
		s := Slice{Verdicts: c.verdicts, NotEvaluated: c.open, Usage: c.usage}
		if d := cmp.Diff(c.want, SliceWarnings(&s, c.recorded)); d != "" {
			t.Errorf("%s: %s", name, d)
		}
	}
}

// TestRoutine: what went wrong is distinguished from how many cases there are.
func TestRoutine(t *testing.T) {
	t.Parallel()
	amount := func(s stats.Status) string {
		return AmountWarnings(&Metric{Interval: stats.Interval{Status: s, N: 4}}, "task")[0]
	}
	for warning, want := range map[string][2]bool{
		"only 1 case":                      {true, true},
		amount(stats.StatusSingleCluster):  {true, true},
		amount(stats.StatusCapped):         {true, true},
		amount(stats.StatusNoSpread):       {false, true},
		amount(stats.StatusBoundary):       {false, true},
		"from 12 labels made elsewhere":    {false, true},
		"only half of it is known":         {false, false},
		"lies among the timeouts: a limit": {false, false},
		"budget kept: it is for 90 %":      {false, true},
		"budget exceeded: it is for 90 %":  {false, false},
		"":                                 {false, false},
	} {
		if got := [2]bool{FewCases(warning), Routine(warning)}; got != want {
			t.Errorf("%q: %t, want %t", warning, got, want)
		}
	}
}

// TestSharesOfAllAttempts: attempts without a verdict are in the denominator too, and attempts that
// were left out on purpose are not.
func TestSharesOfAllAttempts(t *testing.T) {
	t.Parallel()
	out := Slice{Cells: 12, Verdicts: Verdicts{Error: 3, NotRun: 3, Skipped: 2}}
	got := SliceWarnings(&out, false)
	want := []string{
		"3 of 9 attempts (33.3 %) ended in an error and are in no mean: above 5 %, the result is inconclusive",
		"1 of 10 attempts (10.0 %) did not run",
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}
