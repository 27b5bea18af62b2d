// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package panel

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/callvet/callvet"
)

// TestBudgets: what tools' contracts promise is compared with what the attempts of a run show.
func TestBudgets(t *testing.T) {
	t.Parallel()
	mid, budget := 100.0, 500.0
	tools := []callvet.Tool{
		{Name: "Weather", LatencyP50MS: &mid, LatencyBudgetMS: &budget},
		{Name: "pay", RateLimit: &callvet.RateLimit{Calls: 2, PerSeconds: 60}},
	}
	var cases []callvet.Case
	var cells []*callvet.Cell
	for i := range 60 {
		cases = append(cases, oneCall(fmt.Sprint(i), "weather"))
		c := attempt(i, 0, callvet.VerdictPass)
		c.Trace.Turns = []callvet.Turn{{Role: callvet.RoleAssistant, Calls: []callvet.Call{
			{Tool: "weather", Status: callvet.StatusOK, ExecMS: float64(20 * (i + 1))},
			{Tool: "weather"}, // not executed
			{Tool: "pay", Status: callvet.StatusExecErr, Result: []byte(`{"error":{"status":429}}`), ExecMS: 1},
			{Tool: "pay", Status: callvet.StatusOK, ExecMS: 1},
		}}}
		if i == 59 {
			c.Trace.Turns[0].Calls[0] = callvet.Call{Tool: "weather", Status: callvet.StatusTimeout}
		}
		cells = append(cells, c)
	}
	s := &collect(Config{Targets: []callvet.Target{{Name: "m"}}, Tools: tools}, cases, cells...).Targets[0].Overall
	got := rates(s)
	want := map[string]string{MetricInBudget: "0.417 of 60 in 60", MetricInP50: "0.083 of 60 in 60", MetricRateLimited: "0.500 of 120 in 60"}
	for name, rate := range want {
		if d := cmp.Diff(rate, got[name]); d != "" {
			t.Errorf("%s: %s", name, d)
		}
	}
	for name, says := range map[string]string{MetricInBudget: "budget exceeded: it is for 90 % of the executions", MetricInP50: "budget exceeded: it is for 50 %"} {
		if w := strings.Join(s.Metric(name).Warnings, "; "); !strings.Contains(w, says) {
			t.Errorf("%s: %q", name, w)
		}
	}
	notes := BudgetNotes(tools, &cases[39], &cells[39].Trace)
	if d := cmp.Diff([]string{
		"Weather: 1 execution took longer than the latency budget of 500 ms", "Weather: 1 execution took longer than the 100 ms of which half should be below",
		"pay: 1 call was refused because of the rate limit of 2 in 60 s",
	}, notes); d != "" {
		t.Error(d)
	}
	// A case with tools of its own has no contracts of the suite's.
	cases[0].Tools = []callvet.Tool{{Name: "weather"}}
	if m := collect(Config{Targets: []callvet.Target{{Name: "m"}}, Tools: tools}, cases[:1], cells[0]).Targets[0].Overall.Metric(MetricInBudget); m != nil {
		t.Errorf("%+v", m)
	}
}

func TestAllowedCalls(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		calls   int
		per, ms float64
		want    int
	}{{2, 60, 1000, 2}, {2, 60, 59_999, 2}, {2, 60, 60_000, 4}, {10, 1, 2500, 30}, {5, 1e-300, 1e300, 1<<31 - 1}} {
		if got := AllowedCalls(&callvet.RateLimit{Calls: c.calls, PerSeconds: c.per}, c.ms); got != c.want {
			t.Errorf("%+v: %d", c, got)
		}
	}
}
