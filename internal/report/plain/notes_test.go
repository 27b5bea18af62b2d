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
	ms := []*panel.Metric{
		{Warnings: []string{"only 8 cases"}},
		{Warnings: []string{"only 3 cases", "an own one"}},
		nil,
		{Interval: boundary, Warnings: []string{"none of 8, but a rate of 36.9 % is possible"}},
		{Interval: boundary, Warnings: []string{"none in 4 tasks", "only 8 cases"}},
	}
	below := plain.SharedNotes(ms)
	if d := cmp.Diff([]plain.Shared{{Text: "few cases, so that intervals are wide", N: 3, Rows: 4}}, below); d != "" {
		t.Error(d)
	}
	var own [][]string
	for _, m := range ms {
		if m != nil {
			own = append(own, plain.OwnNotes(m, below))
		}
	}
	if d := cmp.Diff([][]string{nil, {"an own one"}, nil, {"none in 4 tasks"}}, own); d != "" {
		t.Error(d)
	}
	if got := plain.SharedNotes(ms[:1]); len(got) != 0 {
		t.Errorf("a warning of one metric is shared: %v", got)
	}
	if got := below[0].String(); got != "3 of 4 values: few cases, so that intervals are wide" {
		t.Error(got)
	}
}
