// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package app_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
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
	"github.com/callvet/callvet/internal/app/traces"
	"github.com/callvet/callvet/internal/store"
	"github.com/callvet/callvet/panel"
)

// startedRun carries out the example suite about weather by an offline target, and gives the run.
func startedRun(t *testing.T, a *app.App, files *uploads, repeats int) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("..", "..", "examples", "weather.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(files.dir, "weather.yaml"), b, 0o600); err != nil {
		t.Fatal(err)
	}
	files.known["weather"] = "weather.yaml"
	s, err := runs.Start(t.Context(), a,
		as[app.RunRequest](t,
			fmt.Sprintf(`{"suite": "weather", "repeats": %d, "targets": [{"target": "offline/lexical"}]}`, repeats)),
		nil)
	if err != nil {
		t.Fatal(err)
	}
	out, err := s.Do(t.Context())
	if err = errors.Join(err, s.Close()); err != nil {
		t.Fatal(err)
	}
	return out.Stored.ID
}

// attemptNames walks all pages and gives the attempts as "case/repeat verdict".
func attemptNames(t *testing.T, a *app.App, q results.AttemptsRequest) (names []string, page *results.AttemptsPage) {
	t.Helper()
	for {
		var err error
		if page, err = results.Attempts(t.Context(), a, q); err != nil {
			t.Fatal(err)
		}
		for _, r := range page.Items {
			names = append(names, fmt.Sprintf("%s/%d %s", r.Case, r.Repeat, r.Verdict))
		}
		if page.Next == "" {
			return names, page
		}
		if q.After = page.Next; len(names) > 1000 {
			t.Fatal("pages without an end")
		}
	}
}

func TestAttempts(t *testing.T) {
	t.Parallel()
	a, files := server(t, app.Permit{})
	id := startedRun(t, a, files, 2)
	all, page := attemptNames(t, a, results.AttemptsRequest{Run: id, Limit: 1000})
	if len(all) != 28 || page.Total != 28 || page.All != 28 ||
		!strings.HasSuffix(all[1], "/1 "+strings.Fields(all[1])[1]) {
		t.Fatalf("%d attempts, total %d of %d: %v", len(all), page.Total, page.All, all)
	}
	for _, sort := range []string{"", "case", "score", "cost", "class"} {
		for _, down := range []bool{false, true} {
			whole, _ := attemptNames(t, a, results.AttemptsRequest{Run: id, Sort: sort, Descending: down, Limit: 1000})
			paged, _ := attemptNames(t, a, results.AttemptsRequest{Run: id, Sort: sort, Descending: down, Limit: 5})
			if d := cmp.Diff(whole, paged); d != "" {
				t.Errorf("sorted by %q, %v: pages of 5 differ from one page:\n%s", sort, down, d)
			}
			if d := cmp.Diff(slices.Sorted(slices.Values(all)), slices.Sorted(slices.Values(whole))); d != "" {
				t.Errorf("sorted by %q, %v: not all attempts:\n%s", sort, down, d)
			}
		}
	}
	best, _ := attemptNames(t, a, results.AttemptsRequest{Run: id, Sort: "score", Descending: true, Limit: 1})
	worst, _ := attemptNames(t, a, results.AttemptsRequest{Run: id, Sort: "score", Limit: 1000})
	if !strings.HasSuffix(best[0], "pass") || !strings.HasSuffix(worst[0], "fail") {
		t.Errorf("the best is %s, the worst %s", best[0], worst[0])
	}
	failed, page := attemptNames(t, a,
		results.AttemptsRequest{Run: id, Verdicts: []callvet.Verdict{callvet.VerdictFail}, Limit: 3})
	if len(failed) != 12 || page.Total != 12 || page.All != 28 {
		t.Errorf("%d failed, total %d of %d", len(failed), page.Total, page.All)
	}
	for name, q := range map[string]results.AttemptsRequest{
		"by case":   {Case: "PARIS"},
		"by text":   {Search: "FAHRENHEIT"},
		"by tag":    {Tags: []string{"units"}},
		"by class":  {Classes: []callvet.Class{"missed_call"}},
		"by target": {Targets: []string{"offline/lexical"}, Outcomes: []callvet.Outcome{callvet.OutcomeAbstained}},
	} {
		q.Run = id
		if got, _ := attemptNames(t, a, q); len(got) == 0 || len(got) == 28 {
			t.Errorf("%s: %d attempts: the filter does nothing", name, len(got))
		}
	}
	v, err := runs.View(t.Context(), a, results.ViewRequest{Run: id}, nil)
	if err != nil {
		t.Fatal(err)
	}
	counted := 0
	for _, c := range v.View.Panels.Targets[0].Confusion { // with at most one call of a kind in an attempt
		if _, page := attemptNames(t, a,
			results.AttemptsRequest{Run: id, Expected: c.Expected, Called: c.Called}); page.Total == 0 ||
			page.Total > c.N {
			t.Errorf("expected %s, called %s: %d attempts of %d calls", c.Expected, c.Called, page.Total, c.N)
		}
		counted++
	}
	if counted < 4 {
		t.Errorf("the matrix has %d pairs", counted)
	}
	if got, _ := attemptNames(t, a, results.AttemptsRequest{Run: id, Disagree: true}); len(got) != 0 {
		t.Errorf("one target disagrees with itself: %v", got)
	}
	first, err := results.Attempts(t.Context(), a, results.AttemptsRequest{Run: id, Limit: 2})
	if err != nil {
		t.Fatal(err)
	}
	for name, q := range map[string]results.AttemptsRequest{
		"verdicts": {Run: id, Verdicts: []callvet.Verdict{"passed"}},
		"targets":  {Run: id, Targets: []string{"gpt"}},
		"sort":     {Run: id, Sort: "name"},
		"limit":    {Run: id, Limit: 100_000},
		"after":    {Run: id, After: first.Next, Sort: "score"},
		"run":      {},
	} {
		var field *callvet.FieldError
		if _, err := results.Attempts(t.Context(), a, q); !errors.As(err, &field) || field.Field != name {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestShowCaseKnown: the attempts at a case are the same before and after the run was listed.
func TestShowCaseKnown(t *testing.T) {
	t.Parallel()
	a, files := server(t, app.Permit{})
	id := startedRun(t, a, files, 2)
	show := func(name string) (at []string, err error) {
		v, err := results.ShowCase(t.Context(), a, results.CaseRequest{Run: id, Case: name})
		if err != nil {
			return nil, err
		}
		for _, r := range v.Rows {
			at = append(at, fmt.Sprint(r.Case.ID, r.Cell.Target, r.Cell.Repeat, len(r.Cell.Trace.Turns)))
		}
		return at, nil
	}
	names := []string{"tokyo-fahrenheit", "smog", "no such case", ""}
	before := map[string][]string{}
	for _, name := range names {
		before[name], _ = show(name)
	}
	if len(before["smog"]) != 2 {
		t.Fatalf("%v", before)
	}
	if _, err := results.Attempts(t.Context(), a, results.AttemptsRequest{Run: id}); err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		got, err := show(name)
		if d := cmp.Diff(before[name], got); d != "" || (len(got) == 0) != errors.Is(err, callvet.ErrNotFound) {
			t.Errorf("%s: %v %s", name, err, d)
		}
	}
}

// TestConfusedIsKept: the pairs of a run that is over are read once. The test changes the stored
// data, so that a second read would return something else.
func TestConfusedIsKept(t *testing.T) {
	t.Parallel()
	a, files := server(t, app.Permit{})
	id := startedRun(t, a, files, 2)
	confused := func(a *app.App, expected, called string) int {
		_, page := attemptNames(t, a, results.AttemptsRequest{Run: id, Expected: expected, Called: called})
		return page.Total
	}
	v, err := runs.View(t.Context(), a, results.ViewRequest{Run: id}, nil)
	if err != nil {
		t.Fatal(err)
	}
	first := map[panel.Confused]int{}
	for _, c := range v.View.Panels.Targets[0].Confusion {
		first[panel.Confused{Expected: c.Expected, Called: c.Called}] = confused(a, c.Expected, c.Called)
	}
	path := filepath.Join(files.dir, "runs.db")
	raw, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	defer raw.Close()
	if _, err := raw.ExecContext(t.Context(),
		`UPDATE cells SET trace=CAST('{"outcome":"error"}' AS BLOB)`); err != nil {
		t.Fatal(err)
	}
	db, err := store.Open(t.Context(), path, store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	again := app.New(app.Config{
		Store: func(context.Context) (*store.DB, error) { return db, nil }, Files: files,
		Version: "test",
	})
	for c, n := range first {
		if got := confused(a, strings.ToUpper(c.Expected), c.Called); got != n || n == 0 {
			t.Errorf("%s, %s: %d attempts, at first %d", c.Expected, c.Called, got, n)
		}
		if got := confused(again, c.Expected, c.Called); got != 0 {
			t.Errorf("%s, %s: %d attempts with a pair, and all are silent", c.Expected, c.Called, got)
		}
	}
}

// TestDiffByTarget: targets without a namesake are compared with the target that is named, in the
// metrics that are asked for.
func TestDiffByTarget(t *testing.T) {
	t.Parallel()
	a, files := server(t, app.Permit{})
	base := startedRun(t, a, files, 1)
	s, err := runs.Start(t.Context(), a,
		as[app.RunRequest](t,
			`{"suite": "weather", "targets": [{"target": "offline/lexical", "name": "one"}, {"target": "offline/lexical", "name": "other", "tool_choice": "none"}]}`), nil)
	if err != nil {
		t.Fatal(err)
	}
	out, err := s.Do(t.Context())
	if err = errors.Join(err, s.Close()); err != nil {
		t.Fatal(err)
	}
	req := traces.DiffRequest{
		Base: app.Side{Run: base}, Candidate: app.Side{Run: out.Stored.ID},
		Metrics: []string{"overall"},
	}
	d, err := traces.Diff(t.Context(), a, req, nil)
	if err != nil || len(d.Targets) != 0 || len(d.UnpairedCandidate) != 2 {
		t.Fatalf("without a target: %v, %+v", err, d)
	}
	req.Target = "offline/lexical"
	d, err = traces.Diff(t.Context(), a, req, nil)
	if err != nil || len(d.Targets) != 2 || len(d.UnpairedCandidate)+len(d.UnpairedBaseline) != 0 {
		t.Fatalf("with a target: %v, %+v", err, d)
	}
	same, none := d.Targets[0], d.Targets[1]
	if same.Candidate != "one" || same.Overall.Change.Point != 0 || len(same.Measured) != 1 ||
		none.Measured[0].Overall.Change.Point >= 0 || none.Measured[0].Metric != "overall" {
		t.Errorf("compared: %+v\n%+v", same, none)
	}
	for name, q := range map[string]traces.DiffRequest{
		"target":  {Base: req.Base, Candidate: req.Candidate, Target: "gpt"},
		"metrics": {Base: req.Base, Candidate: req.Candidate, Metrics: []string{"latency_p50"}},
	} {
		var field *callvet.FieldError
		if _, err := traces.Diff(t.Context(), a, q, nil); !errors.As(err, &field) || field.Field != name {
			t.Errorf("%s: %v", name, err)
		}
	}
}
