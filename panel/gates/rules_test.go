// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package gates

import (
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/callvet/callvet/panel"
	"github.com/callvet/callvet/stats"
	"github.com/callvet/callvet/stats/gate"
)

// TestLabels: a gate without a name is called by its metric and its bound, a share and
// money with at least two digits, everything with at most four.
func TestLabels(t *testing.T) {
	t.Parallel()
	for want, g := range map[string]Gate{
		"arguments":                   {Name: "arguments", Metric: "arg_em", Direction: gate.AtLeast, Bound: 0.9},
		"safety_incidents = 0":        {Metric: "safety_incidents", Kind: Zero},
		"arg_f1 against the baseline": {Metric: "arg_f1", Kind: Regression},
		"arg_em >= 0.90":              {Metric: "arg_em", Direction: gate.AtLeast, Bound: 0.9, Unit: panel.UnitRate},
		"arg_em >= 0.985":             {Metric: "arg_em", Direction: gate.AtLeast, Bound: 0.985, Unit: panel.UnitRate},
		"arg_em >= 0.9877": {
			Metric: "arg_em", Direction: gate.AtLeast, Bound: 0.98766,
			Unit: panel.UnitRate,
		},
		"arg_em >= 0.999": {
			Metric: "arg_em", Direction: gate.AtLeast, Bound: 0.9990000000000001,
			Unit: panel.UnitRate,
		},
		"arg_em >= 0.999999": {
			Metric: "arg_em", Direction: gate.AtLeast, Bound: 0.999999,
			Unit: panel.UnitRate,
		},
		"arg_em >= 0.00":    {Metric: "arg_em", Direction: gate.AtLeast, Bound: 0, Unit: panel.UnitRate},
		"cost_p90 <= $0.50": {Metric: "cost_p90", Direction: gate.AtMost, Bound: 0.5, Unit: panel.UnitUSD},
		"cost_p90 <= $2.00": {Metric: "cost_p90", Direction: gate.AtMost, Bound: 2, Unit: panel.UnitUSD},
		"overall >= 1.00":   {Metric: "overall", Direction: gate.AtLeast, Bound: 1},
		"overall >= 2":      {Metric: "overall", Direction: gate.AtLeast, Bound: 2},
		"overall >= 1.5":    {Metric: "overall", Direction: gate.AtLeast, Bound: 1.5},
		"calls_per_attempt <= 3": {
			Metric: "calls_per_attempt", Direction: gate.AtMost, Bound: 3,
			Unit: panel.UnitCount,
		},
		"latency_p90 <= 500 ms": {Metric: "latency_p90", Direction: gate.AtMost, Bound: 500, Unit: panel.UnitMS},
		"latency_p90 <= 0.5 ms": {Metric: "latency_p90", Direction: gate.AtMost, Bound: 0.5, Unit: panel.UnitMS},
		"latency_p90 <= none": {
			Metric: "latency_p90", Direction: gate.AtMost, Bound: math.Inf(1),
			Unit: panel.UnitMS,
		},
	} {
		if got := g.Label(); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

// TestDigits: two numbers that differ are written differently, with as few digits as that
// takes and at most nine, and a rounded 0 has no sign.
func TestDigits(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		unit       panel.Unit
		end, bound float64
		want       [2]string
	}{
		{panel.UnitRate, 0.85, 0.9, [2]string{"0.85", "0.90"}},
		{panel.UnitRate, 0.9, 0.9, [2]string{"0.90", "0.90"}},
		{panel.UnitRate, 0.8999, 0.9, [2]string{"0.8999", "0.9000"}},
		{panel.UnitRate, 0.97, 0.985, [2]string{"0.970", "0.985"}},
		{panel.UnitRate, -0.001, 0, [2]string{"-0.001", "0.000"}},
		{panel.UnitRate, 0.9 - 1e-12, 0.9, [2]string{"0.900000000", "0.900000000"}},
		{panel.UnitRate, math.Inf(1), 0.9, [2]string{"+Inf", "0.90"}},
		{panel.UnitUSD, 0.5, 0.02, [2]string{"0.5000", "0.0200"}},
		{panel.UnitCount, 3, 2, [2]string{"3.00", "2.00"}},
		{panel.UnitMS, 140.6, 99, [2]string{"140.60", "99.00"}},
		{panel.UnitMS, 140.6, 100, [2]string{"141", "100"}},
		{panel.UnitMS, 100.3, 100, [2]string{"100.3", "100.0"}},
		{panel.UnitMS, 140, 100.5, [2]string{"140.0", "100.5"}},
	} {
		n := digitsFor(tc.unit, tc.end, tc.bound)
		if got := [2]string{trimmed(tc.end, n), trimmed(tc.bound, n)}; got != tc.want {
			t.Errorf("%v next to %v: %q, want %q", tc.end, tc.bound, got, tc.want)
		}
	}
	if n := digitsFor(panel.UnitRate, 0.9-1e-12, 0.9); n != 9 {
		t.Errorf("%d digits", n)
	}
}

// TestSharesDoNotReadAsWhole: a share that is not 0 or 1 is not written like one, up to one
// in a million; other numbers are rounded.
func TestSharesDoNotReadAsWhole(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		unit panel.Unit
		x    float64
		want string
	}{
		{panel.UnitRate, 0.5, "0.50"},
		{panel.UnitRate, 0.996, "0.996"},
		{panel.UnitRate, 0.00001, "0.00001"},
		{panel.UnitRate, 0.000001, "0.000001"},
		{panel.UnitRate, 0.999999, "0.999999"},
		{panel.UnitRate, 0.0000001, "0.00"},
		{panel.UnitRate, 0, "0.00"},
		{panel.UnitRate, 1, "1.00"},
		{panel.UnitCount, 0.996, "1.00"},
		{panel.UnitMS, 0.001, "0.00 ms"},
		{panel.UnitUSD, 0.996, "$1.00"},
		{panel.UnitTokens, 12, "12.00 tokens"},
	} {
		if got := number(tc.unit, tc.x, 2); got != tc.want {
			t.Errorf("%v as %s: %q, want %q", tc.x, tc.unit, got, tc.want)
		}
	}
}

// TestSettle: the report on a number of further tasks, given how many the interval needs with
// either chance, how many are needed whatever they say, and how many attempts do as well.
func TestSettle(t *testing.T) {
	t.Parallel()
	type settled struct {
		Cure                   string
		Half, Needed, Attempts int
	}
	for name, tc := range map[string]struct {
		n               gate.Needed
		least, attempts int
		want            settled
	}{
		"no number":             {gate.Needed{}, 0, 0, settled{Cure: "label more"}},
		"enough already":        {gate.Needed{}, -5, 0, settled{Cure: "label more"}},
		"one that is asked for": {gate.Needed{}, 1, 0, settled{"needs 1 more task", 0, 1, 0}},
		"both chances": {
			gate.Needed{Half: 20, Most: 90, Toward: gate.Pass},
			0, 0,
			settled{"needs about 20 to 90 more tasks, to be decided with a chance of 50 to 80 %; it will then probably have passed", 20, 90, 0},
		},
		"it is unknown which way": {
			gate.Needed{Half: 20, Most: 90, Toward: gate.Inconclusive},
			0, 0,
			settled{"needs about 20 to 90 more tasks, to be decided with a chance of 50 to 80 %", 20, 90, 0},
		},
		"one and the same": {
			gate.Needed{Half: 1, Most: 1, Toward: gate.Fail},
			0, 0,
			settled{"needs about 1 more task; it will then probably have failed", 1, 1, 0},
		},
		"half is below the least": {
			gate.Needed{Half: 20, Most: 90, Toward: gate.Fail},
			30, 0,
			settled{"needs about 30 to 90 more tasks, to be decided with a chance of 50 to 80 %; it will then probably have failed", 30, 90, 0},
		},
		"the least is as many": {
			gate.Needed{Half: 20, Most: 90, Toward: gate.Fail},
			90, 4,
			settled{"needs 90 more tasks; it will then probably have failed", 0, 90, 0},
		},
		"the least is more": {
			gate.Needed{Half: 20, Most: 90, Toward: gate.Fail},
			91, 4,
			settled{"needs 91 more tasks", 0, 91, 0},
		},
		"half alone": {
			gate.Needed{Half: 500, Toward: gate.Inconclusive},
			0, 0,
			settled{"needs about 500 more tasks, to be decided with a chance of 50 %; it may be too near to the bound for any number", 500, 500, 0},
		},
		"half is the least": {
			gate.Needed{Half: 500, Toward: gate.Inconclusive},
			500, 0,
			settled{"needs 500 more tasks", 0, 500, 0},
		},
		"attempts do as well": {
			gate.Needed{Half: 20, Most: 90, Toward: gate.Inconclusive},
			0, 6,
			settled{"needs about 20 to 90 more tasks, to be decided with a chance of 50 to 80 %, or 6 attempts at each task", 20, 90, 6},
		},
	} {
		c := claim{v: &Verdict{}, task: "task"}
		c.settle(tc.n, tc.least, tc.attempts, "label more")
		if tc.want.Needed > max(0, tc.least) {
			tc.want.Cure += lookAgain
		}
		if d := cmp.Diff(tc.want, settled{c.v.Cure, c.v.NeededHalf, c.v.Needed, c.v.NeededAttempts}); d != "" {
			t.Errorf("%s: %s", name, d)
		}
	}
}

// TestAttemptsForARate: K attempts at each task are worth K/(1+(K-1)r) tasks, and the wanted number
// is the smallest with a worth that has grown enough. r is what the design effect shows,
// (effect-1)/(k-1), and its standard error (1-r)(1+(k-1)r) √(2/(k(k-1)tasks)) more.
func TestAttemptsForARate(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		point, effect float64
		n, tasks      int
		growth        float64
		want          int
	}{
		{0.5, 1.2, 100, 50, 1.5, 7},  // r = 0.336
		{0.5, 1.3, 400, 100, 1.2, 6}, // r = 0.148
		{0.9, 1.3, 400, 100, 1.2, 6},
		{0.5, 1.3, 400, 100, 2, 0},     // beyond what any number of attempts is worth
		{0.5, 1, 400, 100, 3, 19},      // r = 0.041
		{0.8, 1, 1000, 200, 3.2, 0},    // 23 attempts are too many to ask for
		{0.8, 1.4, 1000, 200, 1.01, 6}, // r = 0.128
		{0.8, 1.4, 1000, 200, 1.4, 10},
		{0.8, 1.4, 1000, 200, 1, 0}, // nothing more is needed
		{0.8, 1.4, 1000, 200, 0, 0}, // it is unknown how much more
		{0.5, 1, 200, 200, 1.5, 0},  // one attempt a task does not show how alike attempts are
	} {
		iv := stats.Interval{
			Point: tc.point, SE: math.Sqrt(tc.effect * tc.point * (1 - tc.point) / float64(tc.n)),
			N: tc.n, Clusters: tc.tasks, Status: stats.StatusOK,
		}
		if got := attemptsForRate(iv, tc.growth); got != tc.want {
			t.Errorf("%+v: %d attempts", tc, got)
		}
	}
}

// TestAttemptsForAChange: of the variance of a task's difference what varies within tasks,
// Σ p(1-p)(1-r)/k over both sides, gets less by k/K with K attempts, the rest does not.
func TestAttemptsForAChange(t *testing.T) {
	t.Parallel()
	side := func(point, effect float64, n int) stats.Interval {
		return stats.Interval{
			Point: point, SE: math.Sqrt(effect * point * (1 - point) / float64(n)), N: n,
			Clusters: 100, Status: stats.StatusOK,
		}
	}
	before := side(0.8, 1.4, 300)
	for name, tc := range map[string]struct {
		after      stats.Interval
		se, growth float64
		relative   bool
		want       int
	}{
		"0.106 of 0.16 within":    {side(0.7, 1.2, 300), 0.04, 1.3, false, 5},
		"much more":               {side(0.7, 1.2, 300), 0.04, 1.8, false, 10},
		"fewer attempts after":    {side(0.7, 1.2, 200), 0.05, 1.3, false, 6},
		"all of it within":        {side(0.7, 1.2, 200), 0.03, 2.9, false, 9},
		"more than attempts give": {side(0.7, 1.2, 300), 0.04, 4, false, 0},
		"nothing more is needed":  {side(0.7, 1.2, 300), 0.04, 1, false, 0},
		"nothing varies":          {side(0.7, 1.2, 300), 0, 1.3, false, 0},
		"one attempt a task":      {side(0.7, 1, 100), 0.04, 1.3, false, 0},
		"amounts do not show it":  {side(0.7, 1.2, 300), 0.04, 1.3, true, 0},
	} {
		d := change{&panel.Difference{
			Baseline: before, Candidate: tc.after, Cases: 100,
			Change: stats.Interval{SE: tc.se},
		}, panel.Pairing{Relative: tc.relative}, 0}
		if got := attemptsForChange(&d, tc.growth); got != tc.want {
			t.Errorf("%s: %d attempts, want %d", name, got, tc.want)
		}
	}
	for x, want := range map[float64]int{
		-3: 0, 0: 0, 0.2: 1, 19.5: 20, 20: 20, 20.5: 0, math.Inf(1): 0,
		math.Inf(-1): 0,
	} {
		if got := attemptsOf(x); got != want {
			t.Errorf("%v attempts become %d, want %d", x, got, want)
		}
	}
}

// TestNoNumberOfTasks: where no number is reported, the reason is.
func TestNoNumberOfTasks(t *testing.T) {
	t.Parallel()
	const (
		exactly = "no number of tasks shows a rate of exactly "
		at      = "the estimate lies at the bound: no affordable number of tasks separates them; fix the failures, or move the bound"
		narrow  = "more tasks narrow the interval"
	)
	for name, tc := range map[string]struct {
		metric    string
		unit      panel.Unit
		direction gate.Direction
		bound     float64
		point     float64
		want      string
	}{
		"never fails": {
			"arg_em", panel.UnitRate, gate.AtLeast, 1, 0.99,
			exactly + "1: give a bound that a few failures keep, or zero: true",
		},
		"never happens": {
			"timeout_rate", panel.UnitRate, gate.AtMost, 0, 0.01,
			exactly + "0: give a bound that a few failures keep, or zero: true",
		},
		"at most 1":              {"timeout_rate", panel.UnitRate, gate.AtMost, 1, 0.5, narrow},
		"at least 0":             {"arg_em", panel.UnitRate, gate.AtLeast, 0, 0.5, narrow},
		"at the bound":           {"arg_em", panel.UnitRate, gate.AtLeast, 0.9, 0.9009, at},
		"just below the bound":   {"arg_em", panel.UnitRate, gate.AtLeast, 0.9, 0.8991, at},
		"a thousandth off":       {"arg_em", panel.UnitRate, gate.AtLeast, 0, 0.001, narrow},
		"far from the bound":     {"arg_em", panel.UnitRate, gate.AtLeast, 0.9, 0.92, narrow},
		"a count at its bound":   {"calls_per_attempt", panel.UnitCount, gate.AtMost, 3, 3, narrow},
		"a count that must be 0": {"unneeded_calls_per_attempt", panel.UnitCount, gate.AtMost, 0, 0.5, narrow},
		"labels and tasks": {
			"true_success", panel.UnitRate, gate.AtLeast, 0.9, 0.92,
			"more labels narrow the interval, and more tasks: callvet plan --metric true_success says how many of each",
		},
	} {
		c := claim{g: &Gate{Direction: tc.direction, Bound: tc.bound}, task: "task"}
		if got := c.noNumber(&panel.Metric{
			Name: tc.metric, Unit: tc.unit,
			Interval: stats.Interval{Point: tc.point},
		}); got != tc.want {
			t.Errorf("%s: %q, want %q", name, got, tc.want)
		}
	}
}

// TestSymptoms: which finding of the playbook explains a metric that is bad.
// Source: Evaluating Tool Calling, section 7.
func TestSymptoms(t *testing.T) {
	t.Parallel()
	got := map[string]string{}
	for _, m := range append(Metrics(), "arg_em_by_task") {
		if s := symptom(m); s != "" {
			got[m] = s
		}
	}
	want := map[string]string{
		"schema_valid_by_call": "S1", "repaired_rate_by_call": "S1", "tool_selection_by_call": "S2",
		"arg_em_by_call": "S3", "arg_em_keys_by_call": "S3", "arg_precision_by_call": "S3", "arg_recall_by_call": "S3",
		"arg_f1_by_call": "S3",
		"schema_valid":   "S1", "schema_valid_by_task": "S1", "rejected_rate": "S1", "repaired_rate": "S1",
		"tool_selection": "S2", "tool_selection_by_task": "S2", "unknown_tool_rate": "S2",
		"arg_em": "S3", "arg_em_by_task": "S3", "arg_em_keys": "S3", "arg_precision": "S3", "arg_recall": "S3",
		"arg_f1": "S3", "arg_f1_micro": "S3", "arg_accuracy": "S3",
		"execution_success": "S4", "execution_success_by_task": "S4", "timeout_rate": "S4", "rate_limited_rate": "S4",
		"tool_latency_p50": "S4", "tool_latency_p90": "S4", "tool_latency_mean": "S4",
		"over_call_rate": "S5", "over_call_rate_by_task": "S5", "unneeded_calls_per_attempt": "S5",
		"safe_calls": "S6", "safe_calls_by_task": "S6", "safety_incidents": "S6", "blocked_incidents": "S6",
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}
