// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package plain_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/callvet/callvet/internal/report/plain"
	"github.com/callvet/callvet/panel"
	"github.com/callvet/callvet/stats"
)

func TestSharedNotes(t *testing.T) {
	t.Parallel()
	boundary := stats.Interval{Status: stats.StatusBoundary}
	const own, lost = "an own one", "what is lost"
	ms := []*panel.Metric{
		{Title: "a, p50", Warnings: []string{"only 8 cases", lost}, Interval: stats.Interval{Status: stats.StatusOK, Clusters: 8}},
		{Title: "b", Warnings: []string{"only 3 cases", own, lost}, Interval: stats.Interval{Status: stats.StatusOK, Clusters: 3}},
		nil,
		{Title: "c", Interval: boundary, Warnings: []string{"none of 8, but a rate of 36.9 % is possible", lost}},
		{Title: "d", Interval: boundary, Warnings: []string{"none in 4 tasks"}},
	}
	below := plain.SharedNotes(ms)
	if d := cmp.Diff([]plain.Shared{
		{Text: "few cases: 3 (b), 8 (a p50): wide intervals"}, {Text: lost, N: 3, Rows: 4},
	}, below); d != "" {
		t.Error(d)
	}
	var rest [][]string
	for _, m := range ms {
		if m != nil {
			rest = append(rest, plain.OwnNotes(m, below))
		}
	}
	if d := cmp.Diff([][]string{nil, {own}, nil, {"none in 4 tasks"}}, rest); d != "" {
		t.Error(d)
	}
	if got := below[1].String(); got != "3 of 4 values: what is lost" {
		t.Error(got)
	}
	if got := plain.SharedNotes(ms[3:]); len(got) != 0 {
		t.Errorf("a warning of one metric is shared: %v", got)
	}
}

// TestFewCases: all metrics with few cases are in one sentence, by how few they are.
func TestFewCases(t *testing.T) {
	t.Parallel()
	of := func(title string, status stats.Status, cases int) *panel.Metric {
		m := &panel.Metric{Title: title, Interval: stats.Interval{Status: status, Point: 0.5, Clusters: cases, N: cases}}
		m.Warnings = panel.RateWarnings(m, 0)
		return m
	}
	for _, c := range []struct {
		name, want string
		ms         []*panel.Metric
	}{
		{"enough", "", []*panel.Metric{of("a", stats.StatusOK, 30)}},
		{"one", "few cases: 1 (a): no interval", []*panel.Metric{of("a", stats.StatusSingleCluster, 1)}},
		{"many alike", "few cases: 8 (5 measures): wide intervals", []*panel.Metric{
			of("a", stats.StatusOK, 8), of("b", stats.StatusCapped, 8), of("c", stats.StatusOK, 8),
			of("d", stats.StatusOK, 8), of("e", stats.StatusOK, 8),
		}},
		{"of two targets", "few cases: 8 (a): wide intervals", []*panel.Metric{
			of("a", stats.StatusOK, 8), of("a", stats.StatusOK, 8),
		}},
		{
			"few informative", "few cases: fewer than 5 informative (a): intervals widened",
			[]*panel.Metric{of("a", stats.StatusCapped, 300)},
		},
	} {
		got := ""
		for _, s := range plain.SharedNotes(c.ms) {
			got += s.String()
		}
		if got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}
