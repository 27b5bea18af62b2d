// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package app_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/app"
	"github.com/callvet/callvet/internal/app/results"
	"github.com/callvet/callvet/internal/app/runs"
)

// gridCases walks all pages, and gives each case with the verdicts of its cells.
func gridCases(t *testing.T, a *app.App, q results.GridRequest) (names []string, page *results.Grid) {
	t.Helper()
	for {
		var err error
		if page, err = results.NewGrid(t.Context(), a, q); err != nil {
			t.Fatal(err)
		}
		for _, r := range page.Items {
			line := r.Case
			for _, c := range r.Cells {
				line += fmt.Sprintf(" %d/%d/%d/%d", c.Pass, c.Fail, c.Error, c.NotRun)
			}
			names = append(names, line)
		}
		if page.Next == "" {
			return names, page
		}
		if q.After = page.Next; len(names) > 1000 {
			t.Fatal("pages without an end")
		}
	}
}

// TestGrid: the grid equals the single attempts for each case and target.
func TestGrid(t *testing.T) {
	t.Parallel()
	a, files := server(t, app.Permit{})
	startedRun(t, a, files, 1)
	files.known["weather"] = "weather.yaml"
	s, err := runs.Start(t.Context(), a,
		as[app.RunRequest](t,
			`{"suite": "weather", "repeats": 2, "targets": [{"target": "offline/lexical", "name": "one"}, {"target": "offline/lexical", "name": "two"}]}`), nil)
	if err != nil {
		t.Fatal(err)
	}
	out, err := s.Do(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	run := out.Stored.ID
	all, err := results.Attempts(t.Context(), a, results.AttemptsRequest{Run: run, Limit: results.MaxAttempts})
	if err != nil || len(all.Items) != all.All || all.All == 0 {
		t.Fatalf("%+v, %v", all, err)
	}
	var want []string
	cells := map[string]map[string][4]int{}
	for _, r := range all.Items {
		if cells[r.Case] == nil {
			cells[r.Case] = map[string][4]int{}
			want = append(want, r.Case)
		}
		n := cells[r.Case][r.Target]
		n[slices.Index([]callvet.Verdict{
			callvet.VerdictPass, callvet.VerdictFail, callvet.VerdictError,
			callvet.VerdictNotRun,
		}, r.Verdict)]++
		cells[r.Case][r.Target] = n
	}
	failed := 0
	for i, c := range want {
		if cells[c]["one"][1]+cells[c]["two"][1] > 0 {
			failed++
		}
		for _, target := range []string{"one", "two"} {
			n := cells[c][target]
			want[i] += fmt.Sprintf(" %d/%d/%d/%d", n[0], n[1], n[2], n[3])
		}
	}
	got, page := gridCases(t, a, results.GridRequest{Run: run, Limit: 3})
	if d := cmp.Diff(want, got); d != "" || page.Total != len(want) || page.All != len(want) || page.Repeats != 2 {
		t.Errorf("%s %+v", d, page)
	}
	if got, page := gridCases(t, a,
		results.GridRequest{Run: run, Verdicts: []callvet.Verdict{callvet.VerdictFail}}); len(got) != failed ||
		failed == 0 || page.Total != failed || page.All != len(want) {
		t.Errorf("%d of %d: %v", len(got), failed, page)
	}
	if got, _ := gridCases(t, a, results.GridRequest{Run: run, Disagree: true}); len(got) != 0 {
		t.Errorf("the same target twice: %v", got)
	}
	if got, page := gridCases(t, a,
		results.GridRequest{Run: run, Search: "PARIS", Targets: []string{"two"}}); len(got) == 0 ||
		len(got) == len(want) ||
		len(page.Items[0].Cells) != 1 || page.Targets[0].Name != "two" {
		t.Errorf("%v %+v", got, page)
	}
	if got, _ := gridCases(t, a, results.GridRequest{Run: run, Tags: []string{"no such tag"}}); len(got) != 0 {
		t.Errorf("%v", got)
	}
	for _, r := range page.Items {
		for _, c := range r.Cells {
			if c.Score == nil != (c.Scored == 0) || c.Score != nil && !(*c.Score >= 0 && *c.Score <= 1) {
				t.Errorf("%s: %+v", r.Case, c)
			}
		}
	}
	for field, q := range map[string]results.GridRequest{
		"run": {}, "limit": {Run: run, Limit: 201},
		"after": {Run: run, After: "x"}, "verdicts": {Run: run, Verdicts: []callvet.Verdict{"good"}},
		"targets": {Run: run, Targets: []string{"three"}},
	} {
		if _, err := results.NewGrid(t.Context(), a, q); err == nil || !strings.HasPrefix(err.Error(), field) {
			t.Errorf("%s: %v", field, err)
		}
	}
}
