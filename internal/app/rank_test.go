// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package app_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/app"
	"github.com/callvet/callvet/internal/app/results"
	"github.com/callvet/callvet/internal/app/runs"
	"github.com/callvet/callvet/panel"
)

// TestRank: a run that cannot be read leaves its target any place, and the others have theirs.
func TestRank(t *testing.T) {
	t.Parallel()
	d := newDamaged(t, 6)
	of := []results.Contender{
		{Run: d.runs[0], Target: "offline/lexical"},
		{Run: d.runs[1], Target: "offline/lexical"},
		{Run: "gone", Target: "x"},
		{Run: "gone", Target: "y"},
	}
	got, err := results.Rank(t.Context(), d.App, of)
	if err != nil {
		t.Fatal(err)
	}
	any4 := panel.Rank{Best: 1, Worst: 4}
	want := &results.Ranking{
		Metric: panel.MetricPass, Ranks: []panel.Rank{any4, any4, any4, any4},
		Unread: []string{"gone"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// TestRanksOfARun: two targets of a run have ranks, one has none.
func TestRanksOfARun(t *testing.T) {
	t.Parallel()
	a, files := server(t, app.Permit{})
	startedRun(t, a, files, 1)
	const one, other = `{"target": "offline/lexical", "name": "one"}`,
		`{"target": "offline/lexical", "name": "other", "tool_choice": "none"}`
	for targets, ranked := range map[string]bool{one: false, one + "," + other: true} {
		s, err := runs.Start(t.Context(), a,
			as[app.RunRequest](t, `{"suite": "weather", "targets": [`+targets+`]}`), nil)
		if err != nil {
			t.Fatal(err)
		}
		out, err := s.Do(t.Context())
		if err = errors.Join(err, s.Close()); err != nil {
			t.Fatal(err)
		}
		v, err := runs.View(t.Context(), a, results.ViewRequest{Run: out.Stored.ID}, nil)
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
		if d := cmp.Diff(tt.want, (&results.Ranking{Ranks: tt.ranks}).First()); d != "" {
			t.Errorf("%s: %s", name, d)
		}
	}
}

// TestRankedByGate: targets of a run are ranked by the metric of the first hard gate of the suite on everything.
func TestRankedByGate(t *testing.T) {
	t.Parallel()
	a, files := server(t, app.Permit{})
	startedRun(t, a, files, 1)
	weather, err := os.ReadFile(filepath.Join(files.dir, "weather.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	for list, want := range map[string]string{
		`{metric: tool_selection, at_least: 0.1}`:                                                                          "tool_selection",
		`{metric: f1, at_least: 0.1, severity: soft}, {metric: tool_selection, at_least: 0.1}`:                             "tool_selection",
		`{metric: param_exact, slice: difficulty=easy, at_least: 0.1}`:                                                     panel.MetricPass,
		`{metric: param_exact, slice: difficulty=easy, at_least: 0.1}, {metric: f1, at_least: 0.1}`:                        "f1",
		`{metric: param_exact, at_least: 0.1, target: one}, {metric: tool_selection, at_least: 0.1}`:                       "tool_selection",
		`{newly_failing: 0}, {metric: tool_selection, at_least: 0.1}`:                                                      "tool_selection",
		`{metric: latency_p50_ms, at_most: 1000000}, {metric: tool_selection, at_least: 0.1}, {metric: f1, at_least: 0.1}`: "tool_selection",
	} {
		if err := os.WriteFile(filepath.Join(files.dir, "gated.yaml"),
			append(slices.Clone(weather), "\ngates: ["+list+"]\n"...), 0o600); err != nil {
			t.Fatal(err)
		}
		files.known["gated"] = "gated.yaml"
		s, err := runs.Start(t.Context(), a, as[app.RunRequest](t,
			`{"suite": "gated", "targets": [{"target": "offline/lexical", "name": "one"}, {"target": "offline/lexical", "name": "other", "tool_choice": "none"}]}`), nil)
		if err != nil {
			t.Errorf("%s: %v", list, err)
			continue
		}
		out, err := s.Do(t.Context())
		if err = errors.Join(err, s.Close()); err != nil {
			t.Fatal(err)
		}
		v, err := runs.View(t.Context(), a, results.ViewRequest{Run: out.Stored.ID}, nil)
		if err != nil {
			t.Fatal(err)
		}
		if got := v.View.Panels.RankedBy; got != want {
			t.Errorf("%s: ranked by %q, want %q", list, got, want)
		}
	}
}

// TestToolChoices: each target's tool choice is a rule or a tool of the suite, that of the last one too.
func TestToolChoices(t *testing.T) {
	t.Parallel()
	a, files := server(t, app.Permit{})
	startedRun(t, a, files, 1)
	_, err := runs.Start(t.Context(), a,
		as[app.RunRequest](t,
			`{"suite": "weather", "targets": [{"target": "offline/lexical", "name": "one", "tool_choice": "get_weather"},
		{"target": "offline/lexical", "name": "other", "tool_choice": "get_wether"}]}`), nil)
	var hinted *callvet.Hinted
	if !errors.As(err, &hinted) || !strings.Contains(err.Error(), "target other") ||
		hinted.Hint != "did you mean get_weather?" {
		t.Errorf("%v", err)
	}
}
