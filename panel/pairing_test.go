// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package panel

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestWhatIsPaired: the direction, the unit and the kind of change of metrics.
func TestWhatIsPaired(t *testing.T) {
	t.Parallel()
	for _, want := range []Pairing{
		{Metric: MetricPass, Unit: UnitRate},
		{Metric: MetricError, Unit: UnitRate, LowerIsBetter: true},
		{Metric: "calls_per_attempt", Unit: UnitCount, LowerIsBetter: true},
		{Metric: MetricCost, Unit: UnitUSD, LowerIsBetter: true, Relative: true},
		{Metric: MetricTokens, Unit: UnitTokens, LowerIsBetter: true, Relative: true},
		{Metric: MetricToolTimeMean, Unit: UnitMS, LowerIsBetter: true, Relative: true},
	} {
		got, why := PairingOf(want.Metric)
		if d := cmp.Diff(want, got); d != "" || why != "" {
			t.Errorf("%s: %s %s", want.Metric, d, why)
		}
	}
	for name, of := range map[string]string{
		"judged_calls:ann": "calls", "true_turns:ann": "turns",
		"judged_pass:ann": "attempts", MetricCost: "cases",
	} {
		if got := Describe(name).Of; got != of {
			t.Errorf("%s is of %s, want %s", name, got, of)
		}
	}
	for name, want := range map[string]bool{
		"judged_pass": true, "judged_pass:ann": true, "true_success": true,
		"true_success:ann": true, MetricPass: false, "judged_calls:ann": false,
	} {
		if got := OfJudge(name); got != want {
			t.Errorf("%s: of a judge %t", name, got)
		}
	}
}

// TestTaskMeans: which metrics have a mean of each task, and what the reason of the others names.
func TestTaskMeans(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		MetricPass: "", "judged_pass:ann": "", "schema_valid": "", MetricOverCallByTask: "", MetricAbstention: "",
		"scorer_of_a_user": "", MetricMiss: "it is a rate of calls",
		MetricOverCall:         "it is a rate of calls; over_call_rate_by_task can be decided early",
		"schema_valid_by_call": "it is a rate of calls; schema_valid_by_task can be decided early",
		"arg_f1_by_call":       "it is a rate of calls", "timeout_rate": "it is a rate of calls",
		MetricCost: "it is an amount", "latency_p90": "it has no mean of each task in [0,1]",
		"true_success": "it has no mean of each task in [0,1]",
	} {
		if p, why := TaskMeans(name); why != want || p.Metric != name {
			t.Errorf("%s: %q of %+v, want %q", name, why, p, want)
		}
	}
}
