// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package gates_test

import (
	"strings"
	"testing"

	"github.com/callvet/callvet/panel"
	"github.com/callvet/callvet/panel/gates"
	"github.com/callvet/callvet/stats"
	"github.com/callvet/callvet/stats/gate"
)

// TestFewShowLittle: what was seen in no task, or alike in all of them, passes no gate
// that the tasks do not bear out.
func TestFewShowLittle(t *testing.T) {
	t.Parallel()
	each := func(cases int, events float64) stats.Interval {
		var c stats.Counts
		for range cases {
			c.Add(events, 1, true)
		}
		return c.Interval(0.95)
	}
	var cost stats.Ratio
	for range 60 {
		cost.Add(0.01, 1)
	}
	for name, tc := range map[string]struct {
		metric   string
		unit     panel.Unit
		iv       stats.Interval
		bound    float64
		want     gate.Verdict
		sentence string
	}{
		"no event in 60": {
			"unneeded_calls_per_attempt", panel.UnitCount, each(60, 0), 0.02, gate.Inconclusive,
			"unneeded_calls_per_attempt 0.00 [0.00, 0.12], by 60 attempts of 60 tasks (n_eff 30): the bound 0.02 lies within the interval",
		},
		"one call in each attempt": {
			"calls_per_attempt", panel.UnitCount, each(60, 1), 2, gate.Inconclusive,
			"calls_per_attempt 1.00, by 60 attempts of 60 tasks: every task has the same, so that nothing shows how far another may be from it",
		},
		"no event in 400": {
			"unneeded_calls_per_attempt", panel.UnitCount, each(400, 0), 0.02, gate.Pass,
			"the upper end 0.018 is not above the bound 0.020",
		},
		"one cost for all": {
			"cost_per_attempt", panel.UnitUSD, cost.Interval(0.95), 0.02, gate.Inconclusive,
			"every task has the same, so that nothing shows how far another may be from it",
		},
	} {
		p := &panel.Panels{
			Confidence: 0.95,
			Targets: []panel.TargetPanel{{Overall: panel.Slice{Cases: 60, Metrics: []panel.Metric{{
				Name: tc.metric, Unit: tc.unit, Of: "attempts", LowerIsBetter: true, Interval: tc.iv,
			}}}}},
		}
		r, problems := gates.Evaluate(gates.Input{Panels: p, Task: "task"},
			[]gates.Gate{{Metric: tc.metric, Direction: gate.AtMost, Bound: tc.bound}})
		if len(problems) > 0 {
			t.Fatal(problems)
		}
		if v := r.Verdicts[0]; v.Verdict != tc.want || !strings.Contains(v.Sentence, tc.sentence) {
			t.Errorf("%s: %s %s", name, v.Verdict, v.Sentence)
		}
	}
}

// TestRareEventsAgainstABaseline: one event that came back in no task is no fall that a
// gate could pass on, and what never changed passes with tasks enough.
func TestRareEventsAgainstABaseline(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		metric   string
		cases    int
		value    func(i int) (before, after panel.Observation)
		want     gate.Verdict
		sentence string
	}{
		"an event less": {
			"unneeded_calls_per_attempt", 100,
			func(i int) (a, b panel.Observation) { return amounts(float64(i / 99)), amounts(0) }, gate.Pass,
			"changed by -0.01 [-0.06, +0.04]",
		},
		"ten less": {
			"unneeded_calls_per_attempt", 100,
			func(i int) (a, b panel.Observation) { return amounts(float64(i / 90)), amounts(0) }, gate.Pass,
			"changed by -0.10 [-0.18, -0.04]",
		},
		"all as before": {
			"calls_per_attempt", 100,
			func(int) (a, b panel.Observation) { return amounts(3), amounts(3) }, gate.Inconclusive,
			"changed by +0.00 [-0.11, +0.11]",
		},
		"some as before": {
			"tokens_per_attempt", 40,
			func(i int) (a, b panel.Observation) { return amounts(100 + float64(i)), amounts(100 + float64(i)) },
			gate.Inconclusive, "changed by +0.0 % [-10.2 %, +10.2 %]",
		},
		"all dearer alike": {
			"cost_per_attempt", 100, func(i int) (a, b panel.Observation) {
				return amounts(1 + float64(i%5)), amounts(1.25 * (1 + float64(i%5)))
			},
			gate.Inconclusive, "every task has the same",
		},
		"few dearer": {
			"cost_per_attempt", 100,
			func(i int) (a, b panel.Observation) { return amounts(1), amounts(1 + float64(i/98)) },
			gate.Inconclusive, "changed by +2.0 % [-3.6 %, +7.3 %]",
		},
	} {
		c := compared(tc.metric, tc.cases, tc.value)
		p := &panel.Panels{
			Confidence: 0.95,
			Targets: []panel.TargetPanel{{
				Name:    "agent",
				Overall: panel.Slice{Cases: tc.cases, Metrics: []panel.Metric{{Name: tc.metric}}},
			}},
		}
		r, problems := gates.Evaluate(gates.Input{Panels: p, Comparison: c, Task: "task"},
			[]gates.Gate{{Metric: tc.metric, Kind: gates.Regression}})
		if len(problems) > 0 {
			t.Fatal(problems)
		}
		if v := r.Verdicts[0]; v.Verdict != tc.want || !strings.Contains(v.Sentence, tc.sentence) {
			t.Errorf("%s: %s %s", name, v.Verdict, v.Sentence)
		}
	}
}
