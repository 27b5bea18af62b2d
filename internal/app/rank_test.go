// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package app_test

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/callvet/callvet/internal/app"
	"github.com/callvet/callvet/panel"
)

// TestRank: a run that cannot be read leaves its target any place, and the others have theirs.
func TestRank(t *testing.T) {
	t.Parallel()
	d := newDamaged(t, 6)
	of := []app.Contender{{Run: d.runs[0], Target: "offline/lexical"}, {Run: d.runs[1], Target: "offline/lexical"}, {Run: "gone", Target: "x"}, {Run: "gone", Target: "y"}}
	got, err := d.Rank(t.Context(), of)
	if err != nil {
		t.Fatal(err)
	}
	any4 := panel.Rank{Best: 1, Worst: 4}
	want := &app.Ranking{Metric: panel.MetricPass, Ranks: []panel.Rank{any4, any4, any4, any4}, Unread: []string{"gone"}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// TestRanksOfARun: two targets of a run have ranks, one has none.
func TestRanksOfARun(t *testing.T) {
	t.Parallel()
	a, files := server(t, app.Permit{})
	startedRun(t, a, files, 1)
	const one, other = `{"target": "offline/lexical", "name": "one"}`, `{"target": "offline/lexical", "name": "other", "tool_choice": "none"}`
	for targets, ranked := range map[string]bool{one: false, one + "," + other: true} {
		s, err := a.StartRun(t.Context(), as[app.RunRequest](t, `{"suite": "weather", "targets": [`+targets+`]}`), nil)
		if err != nil {
			t.Fatal(err)
		}
		out, err := s.Do(t.Context())
		if err = errors.Join(err, s.Close()); err != nil {
			t.Fatal(err)
		}
		v, err := a.ViewRun(t.Context(), app.ViewRequest{Run: out.Stored.ID}, nil)
		if err != nil {
			t.Fatal(err)
		}
		p := v.View.Panels
		for i := range p.Targets {
			if at := &p.Targets[i]; (at.Rank != nil) != ranked {
				t.Errorf("%s of %d: rank %v", at.Name, len(p.Targets), at.Rank)
			}
		}
		if (p.RankedBy == panel.MetricPass) != ranked {
			t.Errorf("ranked by %q", p.RankedBy)
		}
	}
}

// TestFirst: one alone is the first only where its rank is certain.
func TestFirst(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		ranks []panel.Rank
		want  []int
	}{
		"none":      {nil, nil},
		"one":       {[]panel.Rank{{Best: 1, Worst: 1}}, []int{0}},
		"certain":   {[]panel.Rank{{Best: 2, Worst: 3}, {Best: 1, Worst: 1}, {Best: 2, Worst: 3}}, []int{1}},
		"two alike": {[]panel.Rank{{Best: 1, Worst: 2}, {Best: 3, Worst: 3}, {Best: 1, Worst: 2}}, []int{0, 2}},
		"no other may be the first, and its rank is not certain": {
			[]panel.Rank{{Best: 1, Worst: 2}, {Best: 2, Worst: 3}, {Best: 3, Worst: 3}}, []int{0, 1},
		},
	} {
		if d := cmp.Diff(tt.want, (&app.Ranking{Ranks: tt.ranks}).First()); d != "" {
			t.Errorf("%s: %s", name, d)
		}
	}
}
