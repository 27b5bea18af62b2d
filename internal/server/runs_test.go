// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package server_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/app"
	"github.com/callvet/callvet/internal/app/results"
	"github.com/callvet/callvet/internal/app/runs"
	"github.com/callvet/callvet/internal/report"
	"github.com/callvet/callvet/internal/server"
	"github.com/callvet/callvet/internal/server/api"
	"github.com/callvet/callvet/internal/store/rows"
	"github.com/callvet/callvet/internal/suite"
	"github.com/callvet/callvet/panel"
)

// ran carries out the example suite about weather for a user, offline.
func (s *site) ran(t *testing.T, user, experiment string, repeats int, specs ...app.TargetSpec) string {
	t.Helper()
	made, problems, err := suite.Load(filepath.Join("..", "..", "examples", "weather.yaml"), suite.Options{})
	if err != nil {
		t.Fatal(err, problems)
	}
	if specs == nil {
		specs = []app.TargetSpec{{Target: "offline/lexical"}}
	}
	ses, err := runs.Start(t.Context(), s.app,
		app.RunRequest{
			SuiteRequest: app.SuiteRequest{Suite: "weather"}, Made: made, Targets: specs, Repeats: repeats,
			NoCache: true,
		}, nil)
	if err != nil {
		t.Fatal(err)
	}
	out, err := ses.Do(t.Context())
	if err = errors.Join(err, ses.Close()); err != nil {
		t.Fatal(err)
	}
	err = s.db.Change(t.Context(), "add run", func(q *rows.Queries) error {
		return q.AddRunEntry(t.Context(),
			rows.AddRunEntryParams{
				RunID: out.Stored.ID, UserID: "user_" + user, SuiteID: "suite_1", SuiteVersion: 1,
				ExperimentID: experiment, Created: out.Stored.Created.UnixMilli(),
			})
	})
	if err != nil {
		t.Fatal(err)
	}
	return out.Stored.ID
}

// stored asks for something and reads the answer.
func stored[T any](t *testing.T, s *site, as, method, path, body string) (out T) {
	t.Helper()
	code, answer := s.ask(t, as, method, path, body)
	if code >= 300 {
		t.Fatalf("%s %s as %s: %d %s", method, path, as, code, answer)
	}
	if err := json.Unmarshal([]byte(answer), &out); err != nil {
		t.Fatalf("%s %s: %v\n%s", method, path, err, answer)
	}
	return out
}

// TestDiffTargets: targets of one run are compared, and wrong names are reported.
func TestDiffTargets(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	run := s.ran(t, "ana", "", 1, app.TargetSpec{Target: "offline/lexical", Name: "one"},
		app.TargetSpec{Target: "offline/lexical", Name: "two"},
		app.TargetSpec{Target: "offline/lexical", Name: "mute", ToolChoice: "none"})
	other := s.ran(t, "ana", "", 1)
	for query, want := range map[string][]string{
		"base_target=one":                             {"one two", "one mute"},
		"base_target=one&candidate_target=mute":       {"one mute"},
		"base_target=mute&candidate=" + run:           {"mute one", "mute two"},
		"base_target=one&candidate=" + other:          {"one offline/lexical"},
		"target=one&candidate=" + other:               {"one offline/lexical"},
		"base_target=two&metrics=overall&slices=tier": {"two one", "two mute"},
	} {
		c := stored[panel.Comparison](t, s, "ana", "GET", "/api/diff?base="+run+"&"+query, "")
		var got []string
		for _, p := range c.Targets {
			got = append(got, p.Baseline+" "+p.Candidate)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", query, got, want)
		}
	}
	for query, want := range map[string]int{"": 0, "&unchanged=true": 14} {
		c := stored[panel.Comparison](t, s, "ana", "GET",
			"/api/diff?base="+run+"&base_target=one&candidate_target=two"+query, "")
		if p := c.Targets[0]; len(p.Unchanged) != want || p.UnchangedCases != want || len(p.Changes) != 0 {
			t.Errorf("%q: %d of %d unchanged cases", query, len(p.Unchanged), p.UnchangedCases)
		}
	}
	for query, says := range map[string]string{
		"":                                      "base_target",
		"base_target=three":                     "one, two, mute",
		"base_target=one&candidate_target=one":  "the same target",
		"base_target=one&candidate_target=four": "one, two, mute",
	} {
		if code, body := s.ask(t, "ana", "GET", "/api/diff?base="+run+"&"+query, ""); code != 422 ||
			!strings.Contains(body, says) {
			t.Errorf("%s: %d %s", query, code, body)
		}
	}
	if code, body := s.ask(t, "bo", "GET", "/api/diff?base_target=one&base="+run, ""); code != 404 {
		t.Errorf("the run of another user: %d %s", code, body)
	}
}

func TestRuns(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	first := s.ran(t, "ana", "", 1)
	second := s.ran(t, "ana", "", 2)
	foreign := s.ran(t, "bo", "", 1)

	list := stored[api.Page[server.EvalRun]](t, s, "ana", "GET", "/api/tool-eval/history?limit=1", "")
	if len(list.Items) != 1 || list.Items[0].ID != second || list.Next == "" {
		t.Fatalf("first page: %+v", list)
	}
	rest := stored[api.Page[server.EvalRun]](t, s, "ana", "GET", "/api/v1/tool-eval/history?cursor="+list.Next, "")
	if len(rest.Items) != 1 || rest.Items[0].ID != first || rest.Next != "" {
		t.Fatalf("second page: %+v", rest)
	}
	run := rest.Items[0]
	if run.Passed != 8 || run.Total != 14 || run.Status != "done" || run.AvgScore == nil || len(run.Targets) != 1 ||
		run.Targets[0].Score.Interval.Point != *run.AvgScore || run.AvgInterval == nil ||
		*run.AvgInterval != run.Targets[0].Score.Interval || run.AvgInterval.N == 0 || run.SuiteID != "suite_1" {
		t.Errorf("line: %+v", run)
	}
	doc := stored[map[string]any](t, s, "ana", "GET", "/api/runs/"+second, "")
	if again := stored[map[string]any](t, s, "ana", "GET", "/api/runs/"+second,
		""); doc["summary"] != "12 of 28 judged attempts failed." || again["summary"] != doc["summary"] {
		t.Errorf("document: %v", doc["summary"])
	}
	if code, badge := s.ask(t, "ana", "GET", "/api/runs/"+second+"/badge.svg", ""); code != 200 ||
		!strings.HasPrefix(badge, "<svg") || !strings.Contains(badge, ">57.1 % [28.9–82.3] pass<") ||
		!strings.Contains(badge, "#b3261e") {
		t.Errorf("badge: %d %s", code, badge)
	}
	page := stored[results.AttemptsPage](t, s, "ana", "GET",
		"/api/runs/"+second+"/cells?verdict=fail,error&sort=score&limit=5", "")
	if page.Total != 12 || page.All != 28 || len(page.Items) != 5 || page.Next == "" {
		t.Errorf("cells: %+v", page)
	}
	c := stored[server.CaseAttempts](t, s, "ana", "GET",
		"/api/runs/"+second+"/case?case="+url.QueryEscape(page.Items[0].Case), "")
	if len(c.Attempts) != 2 || !strings.Contains(string(c.Attempts[0].Trace), `"turns"`) ||
		c.Attempts[0].Result.Verdict != callvet.VerdictFail {
		t.Errorf("case: %+v", c)
	}
	text := stored[server.CaseText](t, s, "ana", "GET",
		"/api/runs/"+second+"/case/text?case="+url.QueryEscape(page.Items[0].Case), "")
	if code, answer := s.ask(t, "ana", "POST", "/api/tool-eval/import", text.YAML); code >= 300 ||
		!strings.Contains(text.YAML, "get_weather") || strings.Count(text.YAML, "- id:") != 1 {
		t.Errorf("what is told of a case is imported: %d %s\n%s", code, answer, text.YAML)
	}
	for format, says := range map[string]string{
		"html": "<html", "md": "#", "xml": "<testsuite",
		"json": "callvet.report", "jsonl": "task_id", "csv": "case,", "txt": "weather",
	} {
		if code, body := s.ask(t, "ana", "GET", "/api/runs/"+second+"/export?format="+format, ""); code != 200 ||
			!strings.Contains(body, says) {
			t.Errorf("export as %s: %d %.100s", format, code, body)
		}
	}
	diff := stored[map[string]any](t, s, "ana", "GET", "/api/diff?metrics=overall&base="+first+"&candidate="+second, "")
	if targets, ok := diff["targets"].([]any); !ok || len(targets) != 1 {
		t.Errorf("diff: %v", diff)
	}
	if want := panel.TasksLikeThese.Sentence(); diff["estimates"] != want {
		t.Errorf("a comparison is about %v, want %q", diff["estimates"], want)
	}
	details := stored[server.EvalDetails](t, s, "ana", "GET", "/api/tool-eval/history/"+first, "")
	if len(details.Results) != 14 || details.ID != first || details.Next != "" {
		t.Errorf("details: %+v", details)
	}
	if line := stored[server.EvalDetails](t, s, "ana", "GET", "/api/tool-eval/history/"+first+"?limit=0",
		""); len(line.Results) != 0 || line.Next != "" || line.Total != 14 || line.AvgScore == nil ||
		line.SuiteName != run.SuiteName {
		t.Errorf("without attempts: %+v", line)
	}
	if some := stored[server.EvalDetails](t, s, "ana", "GET", "/api/tool-eval/history/"+first+"?limit=3",
		""); len(some.Results) != 3 || some.Next == "" {
		t.Errorf("three attempts: %+v", some)
	}

	// Runs of another user are not there, until he shares them.
	for _, path := range []string{
		"/api/runs/" + foreign, "/api/tool-eval/history/" + foreign,
		"/api/diff?base=" + first + "&candidate=" + foreign,
	} {
		if code, body := s.ask(t, "ana", "GET", path, ""); code != 404 {
			t.Errorf("GET %s of another user: %d %s", path, code, body)
		}
	}
	if code, body := s.ask(t, "bo", "PATCH", "/api/runs/"+foreign, `{"shared": true}`); code != 204 {
		t.Errorf("share: %d %s", code, body)
	}
	for _, as := range []string{"ana", "vera"} {
		if code, _ := s.ask(t, as, "GET", "/api/runs/"+foreign, ""); code != 200 {
			t.Errorf("%s reads a shared run: %d", as, code)
		}
		if code, _ := s.ask(t, as, "DELETE", "/api/tool-eval/history/"+foreign, ""); code != 403 {
			t.Errorf("%s deletes a shared run: %d", as, code)
		}
	}
	if all := stored[api.Page[server.EvalRun]](t, s, "root", "GET", "/api/tool-eval/history",
		""); len(all.Items) != 3 {
		t.Errorf("an admin sees %d runs", len(all.Items))
	}
	if code, body := s.ask(t, "ana", "DELETE", "/api/tool-eval/history/"+first, ""); code != 204 {
		t.Errorf("delete: %d %s", code, body)
	}
	if code, _ := s.ask(t, "ana", "GET", "/api/runs/"+first, ""); code != 404 {
		t.Errorf("a deleted run: %d", code)
	}
	for path, want := range map[string]int{
		"/api/tool-eval/history?cursor=x": 422,
		"/api/tool-eval/history?limit=0":  422, "/api/tool-eval/history?page=2": 422,
		"/api/runs/" + second + "/cells?verdict=good": 422,
	} {
		if code, body := s.ask(t, "ana", "GET", path, ""); code != want {
			t.Errorf("GET %s: %d %s", path, code, body)
		}
	}
}

// damage changes stored data without the server.
func (s *site) damage(t *testing.T, query string, args ...any) {
	t.Helper()
	if _, err := s.db.Handle().ExecContext(t.Context(), query, args...); err != nil {
		t.Fatal(err)
	}
}

// TestDamagedRun: every route of a run answers with its readable parts, and names the others; the
// lists of all users still work.
func TestDamagedRun(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.work(t)
	bad, whole := s.ran(t, "ana", "", 1), s.ran(t, "ana", "", 1)
	give[any](t, s, "ana", "GET", "/api/runs/"+bad, "") // which is kept
	s.damage(t, "UPDATE runs SET manifest='{\"version\": 1, ' WHERE id=?", bad)
	s.damage(t, "UPDATE cells SET target_ix='x' WHERE run=(SELECT num FROM runs WHERE id=?) AND case_ix=0", bad)
	s.damage(t, "UPDATE cells SET trace='x' WHERE run=(SELECT num FROM runs WHERE id=?) AND case_ix=1", bad)
	type told struct {
		ID, Problem string
		Models      []string
		Results     []report.Record
		Panels      panel.Panels
	}
	const broken = "read manifest of run "
	doc := give[told](t, s, "ana", "GET", "/api/runs/"+bad, "")
	for _, part := range []string{broken + bad, "1 attempt cannot be read", "1 record is lost: an attempt at case"} {
		if !strings.Contains(doc.Problem, part) {
			t.Errorf("problem %q, want %q in it", doc.Problem, part)
		}
	}
	if doc.Panels.Lost.Records() != 1 {
		t.Errorf("lost: %+v", doc.Panels.Lost)
	}
	own := give[told](t, s, "ana", "GET", "/api/tool-eval/history/"+bad, "")
	page := give[results.AttemptsPage](t, s, "ana", "GET", "/api/runs/"+bad+"/cells", "")
	if own.Problem != doc.Problem || len(own.Results) != page.Total || page.Total == 0 {
		t.Errorf("%q: %d results, %d attempts", own.Problem, len(own.Results), page.Total)
	}
	for path, want := range map[string]int{
		"/grid": 200, "/case?case=" + page.Items[0].Case: 200, "/export?format=html": 200, "/export?format=jsonl": 200,
		"/export?format=xml": 200, "/incidents": 200, "/recordings": 200, "/verdicts": 200, "/judgings": 200,
		"/drill": 409,
	} {
		if code, text := s.ask(t, "ana", "GET", "/api/runs/"+bad+path, ""); code != want || code == 409 &&
			!strings.Contains(text, broken+bad) {
			t.Errorf("%s: %d, want %d: %.300s", path, code, want, text)
		}
	}
	if code, text := s.ask(t, "ana", "GET", "/api/diff?base="+bad+"&candidate="+whole, ""); code != 409 ||
		!strings.Contains(text, broken+bad) {
		t.Errorf("compared: %d %s", code, text)
	}
	for _, who := range []string{"ana", "root"} {
		list := give[struct{ Items []told }](t, s, who, "GET", "/api/tool-eval/history", "")
		if len(list.Items) != 2 || list.Items[0].Problem != "" || list.Items[1].Problem != doc.Problem ||
			len(list.Items[1].Models) != 1 {
			t.Errorf("%s: %+v", who, list)
		}
	}
}

// TestGates: a run is checked with the gates in a request, and with a baseline.
func TestGates(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	base, run := s.ran(t, "ana", "", 1), s.ran(t, "ana", "", 2)
	foreign := s.ran(t, "bo", "", 1)
	path := "/api/runs/" + run + "/gate"
	for body, want := range map[string]string{
		`{"gates": "gates: [{metric: pass_rate, at_least: 0.99, min_n: 5}]"}`: "FAIL",
		`{"gates": "gates: [{metric: pass_rate, at_least: 0.05, min_n: 5}]"}`: "PASS",
		`{"gates": "gates: [{metric: pass_rate, at_least: 0.5}]"}`:            "INCONCLUSIVE",
		`{"gates": "gates: [{metric: pass_rate, baseline: {margin: 0.9}, min_n: 5}]", "baseline_eval_id": "` + base +
			`"}`: "PASS",
	} {
		code, answer := s.ask(t, "ana", "POST", path, body)
		if code != 200 || !strings.Contains(answer, `"verdict":"`+want+`"`) {
			t.Errorf("%s: %d %.600s", body, code, answer)
		}
	}
	for body, want := range map[string]int{
		`{"gates": "gates: [{metric: pass_rate, mim: 0.9}]"}`: 422,
		`{"gates": "}{"}`:                         422,
		`{"baseline_eval_id": "` + foreign + `"}`: 404,
	} {
		if code, answer := s.ask(t, "ana", "POST", path, body); code != want {
			t.Errorf("%s: %d, want %d: %s", body, code, want, answer)
		}
	}
	if code, answer := s.ask(t, "vera", "POST", path, `{}`); code != 404 {
		t.Errorf("a run of another user: %d %s", code, answer)
	}
}

// TestEstimate: the estimate for a run is computed from runs that the user may read, and nothing is
// stored.
func TestEstimate(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.ran(t, "bo", "", 1)
	made := give[suiteAnswer](t, s, "ana", "POST", suites, weatherSuite)
	ask := fmt.Sprintf(`{"suite_id":%q,"models":["offline/lexical"],"repeats":2}`, made.ID)
	d := stored[runs.DryRun](t, s, "ana", "POST", "/api/tool-eval/estimate", ask)
	if d.Attempts != d.Cases*2 || d.Attempts == 0 || d.RequestsLeast != d.Attempts || d.RequestsMost == nil ||
		*d.RequestsMost < d.RequestsLeast || d.CostUSD.Value == nil || *d.CostUSD.Value != 0 {
		t.Errorf("%+v", d)
	}
	if d.Seconds.Value != nil || !strings.Contains(d.Seconds.Reason, "offline/lexical") {
		t.Errorf("from a run of another user: %+v", d.Seconds)
	}
	mine := s.ran(t, "ana", "", 1)
	if d = stored[runs.DryRun](t, s, "ana", "POST", "/api/tool-eval/estimate", ask); d.Seconds.Value == nil ||
		!strings.Contains(d.Seconds.Basis, mine) {
		t.Errorf("from a run of one's own: %+v", d.Seconds)
	}
	forced := fmt.Sprintf(`{"suite_id":%q,"models":["offline/lexical"],"tool_choice":"required"}`, made.ID)
	if d = stored[runs.DryRun](t, s, "ana", "POST", "/api/tool-eval/estimate", forced); !slices.ContainsFunc(d.Warnings,
		func(n callvet.Notice) bool { return n.Code == "required-abstention" }) {
		t.Errorf("%+v", d.Warnings)
	}
	keyless := fmt.Sprintf(
		`{"suite_id":%q,"models":["openai/m"],"judge":{"judge":["task"],"judge_model":["openai/j"]}}`, made.ID)
	d = stored[runs.DryRun](t, s, "ana", "POST", "/api/tool-eval/estimate", keyless)
	if d.OfJudges == nil || d.OfJudges.RequestsLeast != d.Attempts || d.RequestsLeast != 2*d.Attempts ||
		d.CostUSD.Value != nil || !strings.Contains(d.OfJudges.CostUSD.Reason, "judge task by openai/j") {
		t.Errorf("of judges: %+v", d)
	}
	if len(d.Unkeyed) != 2 ||
		d.Unkeyed[0] != (runs.Unkeyed{Target: "openai/j", Judge: true, Variable: "OPENAI_API_KEY"}) ||
		d.Unkeyed[1] != (runs.Unkeyed{Target: "openai/m", Variable: "OPENAI_API_KEY"}) {
		t.Errorf("%+v", d.Unkeyed)
	}
	if !slices.ContainsFunc(d.Warnings, func(n callvet.Notice) bool {
		return n.Code == "no-key" && strings.Contains(n.Text, "OPENAI_API_KEY is missing")
	}) {
		t.Errorf("%+v", d.Warnings)
	}
	if list := stored[api.Page[server.EvalRun]](t, s, "ana", "GET", "/api/tool-eval/history",
		""); len(list.Items) != 1 {
		t.Errorf("%+v", list)
	}
}
