// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package panel

import (
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// TestRatchet: a case fell where it passed all its attempts before and passes none now. Only those that
// passed all of them are compared, and it is not known of one without a verdict now, or with lost attempts
// and no pass.
func TestRatchet(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		before, now []string
		want        Ratchet
	}{
		"nothing fell": {[]string{"pp", "ppp"}, []string{"pf", "p"}, Ratchet{Compared: 2, Baseline: 2, Candidate: 1}},
		"the fewest attempts are of the case in the middle": {
			[]string{"ppp", "pp", "pppp"},
			[]string{"pppp", "ppp", "ppppp"},
			Ratchet{Compared: 3, Baseline: 2, Candidate: 3},
		},
		"one fell": {
			[]string{"pp", "pp"},
			[]string{"ff", "pp"},
			Ratchet{Cases: []string{"c0"}, Compared: 2, Baseline: 2, Candidate: 2},
		},
		"it did not pass all before": {[]string{"pf", "ff"}, []string{"ff", "ff"}, Ratchet{}},
		"it has no verdict before": {
			[]string{"ee", "p"},
			[]string{"ff", "f"},
			Ratchet{Cases: []string{"c1"}, Compared: 1, Baseline: 1, Candidate: 1},
		},
		"an error may have been the pass": {[]string{"pp"}, []string{"fe"}, Ratchet{Unknown: []string{"c0"}}},
		"a lost attempt may have been it": {[]string{"pp"}, []string{"fl"}, Ratchet{Unknown: []string{"c0"}}},
		"an error and a lost attempt":     {[]string{"pp"}, []string{"fel"}, Ratchet{Unknown: []string{"c0"}}},
		"errors only":                     {[]string{"pp"}, []string{"ee"}, Ratchet{Unknown: []string{"c0"}}},
		"a pass is a pass, whatever is lost": {
			[]string{"pp"},
			[]string{"pel"},
			Ratchet{Compared: 1, Baseline: 2, Candidate: 1},
		},
	} {
		if c.want.Cases == nil {
			c.want.Cases = []string{}
		}
		d := Diff(attemptsAt(c.before...), attemptsAt(c.now...), 0)
		if diff := cmp.Diff(&c.want, d.Targets[0].Ratchet, cmpopts.IgnoreFields(Ratchet{}, "FalseAlarm")); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

// TestRatchetFalseAlarm: the chance that some case falls although none changed is that of the cases with a
// verdict on both sides, by what all cases of the baseline show of the chances to pass. The number was
// computed apart, by the formulas of the specification.
func TestRatchetFalseAlarm(t *testing.T) {
	t.Parallel()
	before := attemptsAt("pp", "pf", "p")
	d := Diff(before, attemptsAt("p", "pf", "e"), 0)
	if got := d.Targets[0].Ratchet.FalseAlarm; math.Abs(got-0.09087256549797285) > 1e-9 {
		t.Errorf("%v", got)
	}
	none := Diff(attemptsAt("ee"), attemptsAt("p"), 0)
	if got := none.Targets[0].Ratchet.FalseAlarm; got != 0 {
		t.Errorf("without a verdict in the baseline: %v", got)
	}
}

// TestComparisonWorse: a comparison is worse where the pass rate of a target is, or another metric.
func TestComparisonWorse(t *testing.T) {
	t.Parallel()
	target := func(overall, measured Change) TargetComparison {
		return TargetComparison{
			Overall:  Difference{Verdict: overall},
			Measured: []Measured{{Overall: Difference{Verdict: measured}}},
		}
	}
	unclear, worse, better := ChangeUnclear, ChangeWorse, ChangeBetter
	for name, c := range map[string]struct {
		targets []TargetComparison
		want    bool
	}{
		"no target":           {nil, false},
		"nothing is clear":    {[]TargetComparison{target(unclear, unclear)}, false},
		"better":              {[]TargetComparison{target(better, better)}, false},
		"the pass rate":       {[]TargetComparison{target(worse, unclear)}, true},
		"another metric":      {[]TargetComparison{target(better, worse)}, true},
		"the second target":   {[]TargetComparison{target(better, better), target(worse, better)}, true},
		"its metric, as well": {[]TargetComparison{target(unclear, better), target(unclear, worse)}, true},
	} {
		d := Comparison{Targets: c.targets}
		if got := d.Worse(); got != c.want {
			t.Errorf("%s: %t", name, got)
		}
	}
}
