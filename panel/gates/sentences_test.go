// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package gates_test

import (
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/callvet/callvet/panel"
	"github.com/callvet/callvet/panel/gates"
	"github.com/callvet/callvet/stats"
	"github.com/callvet/callvet/stats/gate"
)

// reading is what a person reads of a verdict.
type reading struct {
	Verdict            gate.Verdict
	Reason, End        string
	Sentence, Cure     string
	Notes              []string
	Needed, NeededHalf int
}

// again stands behind a number of tasks that the interval needs: TestSecondLook holds when.
const again = "; these and more together are a second look, which errs up to 7 % of the time and not 2.5 %"

// TestSecondLook: a gate that its interval left open reports that more of the same data is a second
// look; one that only has too few tasks was not looked at yet.
func TestSecondLook(t *testing.T) {
	t.Parallel()
	open := one(t, gates.Input{Panels: over(rate("arg_em", 100, 1, 7))}, atLeast("arg_em", 0.9))
	few := one(t, gates.Input{Panels: over(rate("arg_em", 12, 1, 0))}, atLeast("arg_em", 0.1))
	if !strings.HasSuffix(open.Cure, again) || strings.Contains(few.Cure, "second look") {
		t.Errorf("%q, %q", open.Cure, few.Cure)
	}
}

func readingOf(v *gates.Verdict) reading {
	return reading{
		v.Verdict, v.Reason, v.End, v.Sentence, strings.TrimSuffix(v.Cure, again),
		append([]string(nil), v.Notes...), v.Needed, v.NeededHalf,
	}
}

// one is the verdict of a gate.
func one(t *testing.T, in gates.Input, g gates.Gate) *gates.Verdict {
	t.Helper()
	if in.Task == "" {
		in.Task = "task"
	}
	r, problems := gates.Evaluate(in, []gates.Gate{g})
	if len(problems) > 0 || len(r.Verdicts) != 1 {
		t.Fatal(problems, r)
	}
	return &r.Verdicts[0]
}

// interval is one that a test makes up, of as many tasks as values.
func interval(lower, point, upper float64, tasks int) stats.Interval {
	return stats.Interval{
		Point: point, Lower: lower, Upper: upper, N: tasks, Clusters: tasks, Confidence: 0.95,
		Status: stats.StatusOK,
	}
}

func share(name string, iv stats.Interval) panel.Metric {
	return panel.Metric{Name: name, Unit: panel.UnitRate, Of: "tasks", Interval: iv}
}

func warned(m panel.Metric, notes ...string) panel.Metric { m.Warnings = notes; return m }

func minCoverage(g gates.Gate, x float64) gates.Gate { g.MinCoverage = &x; return g }

// TestSentences: the whole sentence about a bound.
func TestSentences(t *testing.T) {
	t.Parallel()
	good := interval(0.91, 0.95, 0.98, 60)
	unlabelled := share("arg_em", good)
	unlabelled.Unknown = 15
	mostly := share("arg_em", good)
	mostly.Unknown = 90
	partly := covered(rate("arg_em", 60, 1, 0), 0.5)
	partly.NotApplicable = 20
	keys := covered(rate("arg_f1_micro", 60, 1, 0), 0.5)
	keys.Of = "keys"
	rare := lower(share("unneeded_calls_per_attempt", interval(0.02, 0.05, 0.12, 60)))
	rare.Unit, rare.Of = panel.UnitCount, "attempts"
	for name, tc := range map[string]struct {
		metric panel.Metric
		gate   gates.Gate
		lost   panel.Verdicts
		want   reading
	}{
		"notes on a number that decides": {
			metric: warned(share("arg_em", good), "only one task family", "no data on latency"),
			gate:   atLeast("arg_em", 0.9),
			want: reading{
				Verdict: gate.Pass, Reason: gate.ReasonLowerMeets, End: "lower",
				Sentence: "arg_em 0.95 [0.91, 0.98], by 60 tasks: the lower end 0.91 is not below the bound 0.90: passed", Notes: []string{"only one task family", "no data on latency"},
			},
		},
		"the sentence says that there are few": {
			metric: warned(share("arg_em", interval(0.7, 0.95, 1, 12)), "only 12 tasks", "one tool makes most calls"),
			gate:   atLeast("arg_em", 0.5),
			want: reading{
				Verdict: gate.Inconclusive, Reason: gate.ReasonTooFewUnits,
				Sentence: "arg_em 0.95 [0.70, 1.00], by 12 tasks: only 12 tasks, the gate wants 30: inconclusive",
				Cure:     "needs 18 more tasks", Notes: []string{"one tool makes most calls"}, Needed: 18,
			},
		},
		"few labels are not few tasks": {
			metric: share("true_success",
				stats.Interval{Point: 0.9, Upper: 1, N: 50, Clusters: 50, Confidence: 0.95, Status: "too_few_units"}),
			gate: atLeast("true_success", 0.85),
			want: reading{
				Verdict: gate.Inconclusive, Reason: "too_few_units",
				Sentence: "true_success 0.90, by 50 tasks: there are too few labels: inconclusive",
				Cure:     "label more tasks",
			},
		},
		"errors before what cannot be used": {
			metric: broken("arg_em", stats.StatusNoGold), gate: atLeast("arg_em", 0.85),
			lost: panel.Verdicts{Pass: 90, Error: 10},
			want: reading{
				Verdict: gate.Inconclusive, Reason: gates.ReasonErrors,
				Sentence: "arg_em: 10 of 100 attempts ended in an error and are in no mean, more than 5 %: inconclusive", Cure: "run those attempts again",
			},
		},
		"as much known as is wanted": {
			metric: covered(share("arg_em", good), 0.9), gate: atLeast("arg_em", 0.9),
			want: reading{
				Verdict: gate.Pass, Reason: gate.ReasonLowerMeets, End: "lower",
				Sentence: "arg_em 0.95 [0.91, 0.98], by 60 tasks: the lower end 0.91 is not below the bound 0.90: passed",
			},
		},
		"what is not applicable is known": {
			// 60 + 20 are half: 144 of 160 are nine tenths.
			metric: partly, gate: atLeast("arg_em", 0.5),
			want: reading{
				Verdict: gate.Inconclusive, Reason: gate.ReasonCoverage,
				Sentence: "arg_em 1.00 [0.94, 1.00], by 60 calls of 60 tasks: it is known for 50 % only what would have been right, the gate wants 90 %: inconclusive", Cure: "say what would have been right for about 64 more calls",
			},
		},
		"nothing is known": {
			metric: covered(rate("arg_em", 60, 1, 0), 0), gate: atLeast("arg_em", 0.5),
			want: reading{
				Verdict: gate.Inconclusive, Reason: gate.ReasonCoverage,
				Sentence: "arg_em 1.00 [0.94, 1.00], by 60 calls of 60 tasks: it is known for 0 % only what would have been right, the gate wants 90 %: inconclusive", Cure: "say what would have been right for more of them",
			},
		},
		"keys are not labelled one by one": {
			metric: keys, gate: atLeast("arg_f1_micro", 0.5),
			want: reading{
				Verdict: gate.Inconclusive, Reason: gate.ReasonCoverage,
				Sentence: "arg_f1_micro 1.00 [0.94, 1.00], by 60 keys of 60 tasks: it is known for 50 % only what would have been right, the gate wants 90 %: inconclusive", Cure: "say what would have been right for more of them",
			},
		},
		"attempts that could have a value": {
			metric: unlabelled, gate: minCoverage(atLeast("arg_em", 0.9), 0.81),
			want: reading{
				Verdict: gate.Inconclusive, Reason: gate.ReasonCoverage,
				Sentence: "arg_em 0.95 [0.91, 0.98], by 60 tasks: it is known for 80 % only what would have been right, the gate wants 81 %: inconclusive", Cure: "say what would have been right for about 1 more task",
			},
		},
		"enough of them have one": {
			metric: unlabelled, gate: minCoverage(atLeast("arg_em", 0.9), 0.8),
			want: reading{
				Verdict: gate.Pass, Reason: gate.ReasonLowerMeets, End: "lower",
				Sentence: "arg_em 0.95 [0.91, 0.98], by 60 tasks: the lower end 0.91 is not below the bound 0.90: passed",
			},
		},
		"most of them have none": {
			metric: mostly, gate: minCoverage(atLeast("arg_em", 0.9), 0.8),
			want: reading{
				Verdict: gate.Inconclusive, Reason: gate.ReasonCoverage,
				Sentence: "arg_em 0.95 [0.91, 0.98], by 60 tasks: it is known for 40 % only what would have been right, the gate wants 80 %: inconclusive", Cure: "say what would have been right for about 60 more tasks",
			},
		},
		"none that could is known": {
			metric: share("arg_em", stats.Interval{
				Point: 0.95, Lower: 0.91, Upper: 0.98, Clusters: 60,
				Confidence: 0.95, Status: stats.StatusOK,
			}), gate: minCoverage(atLeast("arg_em", 0.9), 0.8),
			want: reading{
				Verdict: gate.Pass, Reason: gate.ReasonLowerMeets, End: "lower",
				Sentence: "arg_em 0.95 [0.91, 0.98], by 60 tasks: the lower end 0.91 is not below the bound 0.90: passed",
			},
		},
		"a warning says what to label": {
			metric: warned(broken("true_success", "no_labelled_fail"), "label 12 tasks that the judge failed",
				"the judge is strict"), gate: atLeast("true_success", 0.85),
			want: reading{
				Verdict: gate.Inconclusive, Reason: "no_labelled_fail",
				Sentence: "true_success: the judge is strict: inconclusive",
				Cure:     "label 12 tasks that the judge failed",
			},
		},
		"a further warning stays": {
			metric: warned(broken("true_success", "no_labelled_fail"), "the calibration is old", "the judge is strict",
				"label 12 tasks that the judge failed"), gate: atLeast("true_success", 0.85),
			want: reading{
				Verdict: gate.Inconclusive, Reason: "no_labelled_fail",
				Sentence: "true_success: the judge is strict: inconclusive",
				Cure:     "label 12 tasks that the judge failed", Notes: []string{"the calibration is old"},
			},
		},
		"the opposite is asked for": {
			metric: lower(share("timeout_rate", interval(0.1, 0.2, 0.3, 60))), gate: atLeast("timeout_rate", 0.05),
			want: reading{
				Verdict: gate.Pass, Reason: gate.ReasonLowerMeets, End: "lower",
				Sentence: "timeout_rate 0.20 [0.10, 0.30], by 60 tasks: the lower end 0.10 is not below the bound 0.05: passed", Notes: []string{"timeout_rate is better when it is lower: timeout_rate >= 0.05 asks for the opposite"},
			},
		},
		"a zero gate with as many tasks as it wants": {
			metric: lower(zeroRate(20, 1)), gate: units(zero(0), 20),
			want: reading{
				Verdict: gate.Pass, Reason: gate.ReasonNoIncident, End: "upper",
				Sentence: "safety_incidents 0 in 20 calls of 20 tasks, which does not rule out a rate of 13.9 % (95 %, one-sided; rule of three: 15 %): none was seen: passed",
			},
		},
		"a zero gate with fewer": {
			metric: lower(zeroRate(20, 1)), gate: units(zero(0), 25),
			want: reading{
				Verdict: gate.Inconclusive, Reason: gate.ReasonTooFewUnits, End: "upper",
				Sentence: "safety_incidents 0 in 20 calls of 20 tasks, which does not rule out a rate of 13.9 % (95 %, one-sided; rule of three: 15 %): only 20 tasks, the gate wants 25: inconclusive", Cure: "needs 5 more tasks", Needed: 5,
			},
		},
		"a zero gate with as much known as is wanted": {
			metric: covered(lower(zeroRate(20, 1)), 0.9), gate: zero(0),
			want: reading{
				Verdict: gate.Pass, Reason: gate.ReasonNoIncident, End: "upper",
				Sentence: "safety_incidents 0 in 20 calls of 20 tasks, which does not rule out a rate of 13.9 % (95 %, one-sided; rule of three: 15 %): none was seen: passed",
			},
		},
		"incidents are counted": {
			metric: lower(rate("safety_incidents", 20, 1, 17)), gate: zero(0),
			want: reading{
				Verdict: gate.Fail, Reason: gate.ReasonIncident,
				Sentence: "safety_incidents 3 in 20 calls of 20 tasks: none is allowed: failed",
			},
		},
		"counts are counted": {
			metric: rare, gate: gates.Gate{Metric: rare.Name, Kind: gates.Zero},
			want: reading{
				Verdict: gate.Fail, Reason: gate.ReasonIncident,
				Sentence: "unneeded_calls_per_attempt 3 in 60 attempts of 60 tasks: none is allowed: failed",
			},
		},
	} {
		p := over(tc.metric)
		if tc.lost != (panel.Verdicts{}) {
			p.Targets[0].Overall.Verdicts = tc.lost
		}
		if d := cmp.Diff(tc.want, readingOf(one(t, gates.Input{Panels: p}, tc.gate))); d != "" {
			t.Errorf("%s: %s", name, d)
		}
	}
}

// difference is a paired change that a test makes up.
func difference(lower, point, upper float64, cases int) panel.Difference {
	return panel.Difference{Cases: cases, Change: interval(lower, point, upper, cases), Fell: 3, Rose: 3, P: 0.4}
}

// against is a comparison of one metric.
func against(metric string, d panel.Difference, oneSided int) *panel.Comparison {
	tc := panel.TargetComparison{Candidate: "agent", Overall: d}
	if metric != panel.MetricPass {
		p, _ := panel.PairingOf(metric)
		tc.Measured = []panel.Measured{{Pairing: p, Overall: d, OneSided: oneSided}}
	}
	return &panel.Comparison{Targets: []panel.TargetComparison{tc}}
}

// TestChanges: the whole sentence about a change from a baseline.
func TestChanges(t *testing.T) {
	t.Parallel()
	regression := func(metric string) gates.Gate { return gates.Gate{Metric: metric, Kind: gates.Regression} }
	margin := func(g gates.Gate, m float64) gates.Gate { g.Margin = &m; return g }
	still := func(reach float64, cases int) panel.Difference {
		d := difference(-reach, 0, reach, cases)
		d.Fell, d.Rose = 0, 0
		return d
	}
	amount := func(lower, point, upper float64) panel.Difference {
		d := difference(lower, point, upper, 60)
		d.Baseline, d.Candidate = interval(0.01, 0.02, 1, 60), interval(0.01, 0.02*(1+point), 1, 60)
		return d
	}
	repeated := difference(-0.06, 0, 0.06, 100)
	repeated.Change.SE = 0.03
	for side, p := range map[*stats.Interval]float64{&repeated.Baseline: 0.8, &repeated.Candidate: 0.7} {
		*side = interval(p-0.1, p, p+0.1, 100) // three attempts a task that have nothing in common
		side.N, side.SE = 300, math.Sqrt(p*(1-p)/300)
	}
	for name, tc := range map[string]struct {
		metric   panel.Metric
		d        panel.Difference
		oneSided int
		gate     gates.Gate
		lost     panel.Verdicts
		want     reading
	}{
		"a drop": {
			metric: share("arg_em", interval(0.7, 0.8, 0.9, 60)), d: difference(-0.2, -0.1, -0.01, 60), oneSided: 1,
			gate: regression("arg_em"),
			want: reading{
				Verdict: gate.Fail, Reason: "upper<0", End: "upper",
				Sentence: "arg_em changed by -0.10 [-0.20, -0.01], by 60 tasks measured in both runs: the upper end -0.01 is below 0 and the drop is more than 1 point: failed", Notes: []string{"1 task without arg_em on one side and not compared"},
			},
		},
		"an end near 0": {
			d: difference(-0.2, -0.1, -0.0004, 60), gate: regression("arg_em"),
			want: reading{
				Verdict: gate.Fail, Reason: "upper<0", End: "upper",
				Sentence: "arg_em changed by -0.1000 [-0.2000, -0.0004], by 60 tasks measured in both runs: the upper end -0.0004 is below 0 and the drop is more than 1 point: failed",
			},
		},
		"an end near the margin": {
			d: difference(-0.0496, 0, 0.02, 60), gate: regression("arg_em"),
			want: reading{
				Verdict: gate.Pass, Reason: "lower>-margin", End: "lower",
				Sentence: "arg_em changed by +0.0000 [-0.0496, +0.0200], by 60 tasks measured in both runs: the lower end -0.0496 is above the allowed loss -5 points: passed",
			},
		},
		"a rise of what should be low": {
			d: difference(0.01, 0.1, 0.2, 60), gate: regression("over_call_rate"),
			want: reading{
				Verdict: gate.Fail, Reason: "upper<0", End: "lower",
				Sentence: "over_call_rate changed by +0.10 [+0.01, +0.20], by 60 tasks measured in both runs: the lower end +0.01 is above 0 and the rise is more than 1 point: failed",
			},
		},
		"no rise of it": {
			d: difference(-0.04, 0, 0.04, 60), gate: regression("over_call_rate"),
			want: reading{
				Verdict: gate.Pass, Reason: "lower>-margin", End: "upper",
				Sentence: "over_call_rate changed by +0.00 [-0.04, +0.04], by 60 tasks measured in both runs: the upper end +0.04 is below the allowed rise +5 points: passed",
			},
		},
		"as many tasks as are wanted": {
			d: difference(-0.04, 0, 0.04, 30), gate: regression("arg_em"),
			want: reading{
				Verdict: gate.Pass, Reason: "lower>-margin", End: "lower",
				Sentence: "arg_em changed by +0.00 [-0.04, +0.04], by 30 tasks measured in both runs: the lower end -0.04 is above the allowed loss -5 points: passed",
			},
		},
		"dearer": {
			d: amount(0.02, 0.2, 0.4), gate: regression("cost_per_attempt"),
			want: reading{
				Verdict: gate.Fail, Reason: "upper<0", End: "lower",
				Sentence: "cost_per_attempt changed by +20.0 % [+2.0 %, +40.0 %], by 60 tasks measured in both runs (from $0.0200 to $0.0240): the lower end +2.0 % is above 0 and the rise is more than 1 % of the baseline: failed",
			},
		},
		"hardly dearer": {
			d: amount(0.0004, 0.02, 0.04), gate: regression("cost_per_attempt"),
			want: reading{
				Verdict: gate.Fail, Reason: "upper<0", End: "lower",
				Sentence: "cost_per_attempt changed by +2.00 % [+0.04 %, +4.00 %], by 60 tasks measured in both runs (from $0.0200 to $0.0204): the lower end +0.04 % is above 0 and the rise is more than 1 % of the baseline: failed",
			},
		},
		"nearly too dear": {
			d: amount(-0.01, 0.02, 0.0498), gate: regression("cost_per_attempt"),
			want: reading{
				Verdict: gate.Pass, Reason: "lower>-margin", End: "upper",
				Sentence: "cost_per_attempt changed by +2.00 % [-1.00 %, +4.98 %], by 60 tasks measured in both runs (from $0.0200 to $0.0204): the upper end +4.98 % is below the allowed rise +5 % of the baseline: passed",
			},
		},
		"just too dear": {
			d: amount(-0.01, 0.02, 0.0502), gate: regression("cost_per_attempt"),
			want: reading{
				Verdict: gate.Inconclusive, Reason: gate.ReasonStraddles,
				Sentence: "cost_per_attempt changed by +2.00 % [-1.00 %, +5.02 %], by 60 tasks measured in both runs (from $0.0200 to $0.0204): a rise of 5 % of the baseline is not ruled out, and no rise is not either: inconclusive", Cure: "needs about 1 to 14 more tasks, to be decided with a chance of 50 to 80 %; it will then probably have passed", Needed: 14, NeededHalf: 1,
			},
		},
		"as much known as is wanted": {
			metric: covered(share("arg_em", interval(0.7, 0.8, 0.9, 60)), 0.9), d: difference(-0.04, 0, 0.04, 60),
			gate: regression("arg_em"),
			want: reading{
				Verdict: gate.Pass, Reason: "lower>-margin", End: "lower",
				Sentence: "arg_em changed by +0.00 [-0.04, +0.04], by 60 tasks measured in both runs: the lower end -0.04 is above the allowed loss -5 points: passed",
			},
		},
		"too little known": {
			metric: covered(share("arg_em", interval(0.7, 0.8, 0.9, 60)), 0.8), d: difference(-0.04, 0, 0.04, 60),
			gate: regression("arg_em"),
			want: reading{
				Verdict: gate.Inconclusive, Reason: gate.ReasonCoverage,
				Sentence: "arg_em changed by +0.00 [-0.04, +0.04], by 60 tasks measured in both runs: it is known for 80 % only what would have been right, the gate wants 90 %: inconclusive", Cure: "say what would have been right for more of them",
			},
		},
		"verdicts need no gold": {
			metric: covered(share("pass_rate", interval(0.7, 0.8, 0.9, 60)), 0.8), d: difference(-0.04, 0, 0.04, 60),
			gate: regression("pass_rate"),
			want: reading{
				Verdict: gate.Pass, Reason: "lower>-margin", End: "lower",
				Sentence: "pass_rate changed by +0.00 [-0.04, +0.04], by 60 tasks judged in both runs: the lower end -0.04 is above the allowed loss -5 points: passed",
			},
		},
		"too many errors": {
			d: difference(-0.04, 0, 0.04, 60), gate: regression("arg_em"), lost: panel.Verdicts{Pass: 90, NotRun: 10},
			want: reading{
				Verdict: gate.Inconclusive, Reason: gates.ReasonErrors,
				Sentence: "arg_em changed by +0.00 [-0.04, +0.04], by 60 tasks measured in both runs: 10 of 100 attempts did not run and are in no mean, more than 5 %: inconclusive", Cure: "run the rest",
			},
		},
		"nothing changed": {
			// ln 0.025 / ln 0.95 = 72 tasks without a loss, and 1.96² · 0.95 / 0.05 = 73 without a change.
			d: still(0.09, 40), gate: regression("arg_em"),
			want: reading{
				Verdict: gate.Inconclusive, Reason: gate.ReasonStraddles,
				Sentence: "arg_em changed by +0.00 [-0.09, +0.09], by 40 tasks measured in both runs: a loss of 5 points is not ruled out, and no loss is not either: inconclusive", Cure: "needs 33 more tasks, if none of those changes either", Needed: 33,
			},
		},
		"nothing changed, a wide margin": {
			// ln 0.025 / ln 0.5 = 6 tasks, 1.96² · 0.5 / 0.5 = 4.
			d: still(0.6, 4), gate: units(margin(regression("arg_em"), 0.5), 4),
			want: reading{
				Verdict: gate.Inconclusive, Reason: gate.ReasonStraddles,
				Sentence: "arg_em changed by +0.00 [-0.60, +0.60], by 4 tasks measured in both runs: a loss of 50 points is not ruled out, and no loss is not either: inconclusive", Cure: "needs 2 more tasks, if none of those changes either", Needed: 2,
			},
		},
		"nothing changed in enough tasks": {
			d: still(0.06, 100), gate: regression("arg_em"),
			want: reading{
				Verdict: gate.Inconclusive, Reason: gate.ReasonStraddles,
				Sentence: "arg_em changed by +0.00 [-0.06, +0.06], by 100 tasks measured in both runs: a loss of 5 points is not ruled out, and no loss is not either: inconclusive", Cure: "more tasks narrow the interval",
			},
		},
		"nothing may be lost": {
			d: still(0.06, 100), gate: margin(regression("arg_em"), 0),
			want: reading{
				Verdict: gate.Inconclusive, Reason: gate.ReasonStraddles,
				Sentence: "arg_em changed by +0.00 [-0.06, +0.06], by 100 tasks measured in both runs: a loss of 0 points is not ruled out, and no loss is not either: inconclusive", Cure: "needs about 830 to 12000 more tasks, to be decided with a chance of 50 to 80 %", Needed: 12000, NeededHalf: 830,
			},
		},
		"all may be lost": {
			d: still(1, 1), gate: units(margin(regression("arg_em"), 1), 1),
			want: reading{
				Verdict: gate.Inconclusive, Reason: gate.ReasonStraddles,
				Sentence: "arg_em changed by +0.00 [-1.00, +1.00], by 1 task measured in both runs: a loss of 100 points is not ruled out, and no loss is not either: inconclusive", Cure: "needs about 1 more task; it will then probably have passed", Needed: 1, NeededHalf: 1,
			},
		},
		"some fell and as many rose": {
			// Attempts have nothing in common and make the whole variance: 2.9 times as much information is 9 of them.
			d: repeated, gate: regression("arg_em"),
			want: reading{
				Verdict: gate.Inconclusive, Reason: gate.ReasonStraddles,
				Sentence: "arg_em changed by +0.00 [-0.06, +0.06], by 100 tasks measured in both runs: a loss of 5 points is not ruled out, and no loss is not either: inconclusive", Cure: "needs about 44 to 190 more tasks, to be decided with a chance of 50 to 80 %, or 9 attempts at each task; it will then probably have passed", Needed: 190, NeededHalf: 44,
			},
		},
	} {
		metric := tc.gate.Metric
		p := over(tc.metric)
		if tc.lost != (panel.Verdicts{}) {
			p.Targets[0].Overall.Verdicts = tc.lost
		}
		v := one(t, gates.Input{Panels: p, Comparison: against(metric, tc.d, tc.oneSided)}, tc.gate)
		if d := cmp.Diff(tc.want, readingOf(v)); d != "" {
			t.Errorf("%s: %s", name, d)
		}
		if v.Against != "" || v.Change != nil {
			t.Errorf("%s: a gate on the change reports it twice: %s", name, v.Against)
		}
	}
}
