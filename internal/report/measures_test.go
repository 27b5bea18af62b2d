// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package report

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/callvet/callvet/panel"
	"github.com/callvet/callvet/stats"
)

// TestShortMeasures: ten measures are shown, and each that may not be hidden.
func TestShortMeasures(t *testing.T) {
	t.Parallel()
	ok := func(name string) panel.Metric {
		m := panel.Describe(name)
		m.Interval = stats.Interval{Status: stats.StatusOK, Point: 1, N: 40, Clusters: 40}
		if m.LowerIsBetter {
			m.Interval.Point = 0
		}
		return m
	}
	with := func(name string, point float64, warnings ...string) panel.Metric {
		m := ok(name)
		m.Interval.Point, m.Warnings = point, warnings
		return m
	}
	main := []string{
		"pass_rate", "overall", "tool_selection", "arg_accuracy", "abstention_accuracy", "safety_incidents",
		"latency_p50", "latency_p90", "cost_per_attempt", "tokens_per_attempt",
	}
	var full []panel.Metric // in another order than that of importance
	for i := range 20 {
		full = append(full, ok(fmt.Sprintf("own_%d", i)))
	}
	full = append(full, ok("error_rate"), ok("tool_selection_by_task"), ok("arg_em"))
	for _, name := range slices.Backward(main) {
		full = append(full, ok(name))
	}
	add := func(extra ...panel.Metric) []panel.Metric { return append(slices.Clone(full), extra...) }
	for _, c := range []struct {
		name    string
		metrics []panel.Metric
		more    []string // than the main ones
		missing []string // of them
	}{
		{"all there", full, nil, nil},
		{"an error", add(with("error_rate", 0.01)), []string{"error_rate"}, nil},
		{"calls that failed", add(with("execution_success", 0.99)), []string{"execution_success"}, nil},
		{"unsafe calls", add(with("safe_calls", 0.99)), []string{"safe_calls"}, nil},
		{"a warning about it", add(with("grounded", 1, "half of it is unknown")), []string{"grounded"}, nil},
		{"a warning about few cases", add(with("grounded", 0.5, "only 8 cases")), nil, nil},
		{
			"a judge", add(ok("judged_pass:ann"), ok("true_success:ann")),
			[]string{"judged_pass:ann", "true_success:ann"},
			nil,
		},
		{"a judge of calls", add(ok("judged_calls:ann")), []string{"judged_calls:ann"}, nil},
		{
			"others for those that are missing",
			slices.DeleteFunc(add(ok("schema_valid")),
				func(m panel.Metric) bool { return m.Name == "safety_incidents" || m.Name == "overall" }),
			[]string{"schema_valid", "own_0"},
			[]string{"safety_incidents", "overall"},
		},
		{
			"calls instead of attempts", add(ok("tool_selection_by_call")),
			[]string{"tool_selection_by_call"},
			[]string{"tool_selection"},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			want := slices.DeleteFunc(append(slices.Clone(main), c.more...),
				func(n string) bool { return slices.Contains(c.missing, n) })
			var got []string
			for n := range shortMeasures(&panel.Slice{Metrics: c.metrics}) {
				got = append(got, n)
			}
			slices.Sort(want)
			slices.Sort(got)
			if !slices.Equal(got, want) {
				t.Errorf("shown are\n%s, not\n%s", strings.Join(got, " "), strings.Join(want, " "))
			}
		})
	}
	if got := shortMeasures(&panel.Slice{Metrics: full[20:]}); len(got) != 12 {
		t.Errorf("of 12 measures %d are shown: hiding two saves no line", len(got))
	}
	one, two := panel.Slice{Metrics: full}, panel.Slice{Metrics: add(with("error_rate", 0.5))}
	if !shortMeasures(&one, &two)["error_rate"] {
		t.Error("the errors of the second target are hidden")
	}
}

func TestHiddenMeasures(t *testing.T) {
	t.Parallel()
	known := panel.Metric{Name: "a", Interval: stats.Interval{Status: stats.StatusOK}}
	for want, ms := range map[string][]panel.Metric{
		"1 more measure": {known},
		"2 more measures, 1 of them without data": {known, {Name: "b"}},
		"1 more measure, 1 of them without data":  {{Name: "b"}, {Name: "b"}},
	} {
		h := hiddenMeasures{}
		for i := range ms {
			h.add(&ms[i])
		}
		if got := h.String(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
