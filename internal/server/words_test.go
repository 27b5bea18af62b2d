// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package server_test

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/callvet/callvet/internal/app"
	"github.com/callvet/callvet/internal/app/runs"
	"github.com/callvet/callvet/internal/report"
	"github.com/callvet/callvet/internal/server"
	"github.com/callvet/callvet/internal/server/api"
	"github.com/callvet/callvet/internal/store"
	"github.com/callvet/callvet/internal/suite"
	"github.com/callvet/callvet/panel"
)

// TestWordsOfRuns: a run has the name, the notes and the tags that its owner gave it, everywhere; a
// name is unique, and a refusal mentions no other run.
func TestWordsOfRuns(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.private(t)
	s.work(t)
	m := newMoody(t, func(int) string { return "" })
	ours, theirs := s.keepSuite(t, "ana", 2), s.keepSuite(t, "bo", 2)
	const words = `,"name":"nightly","notes":"before the\nnew prompt","run_tags":["smoke","a b","smoke"]`
	first := s.eval(t, "ana", ours, m.URL, words).ResultRef
	second := s.eval(t, "ana", ours, m.URL, words)
	foreign := s.eval(t, "bo", theirs, m.URL, words).ResultRef // others may call a run so
	s.awaitJob(t, "ana", second.JobID, "done")

	type said struct {
		Name, Notes string
		Tags        []string `json:"run_tags"`
	}
	want := said{"nightly", "before the\nnew prompt", []string{"a b", "smoke"}}
	seen := func(run string) said {
		t.Helper()
		one := give[said](t, s, "ana", "GET", "/api/tool-eval/history/"+run+"?limit=0", "")
		for _, r := range give[api.Page[server.EvalRun]](t, s, "ana", "GET", "/api/tool-eval/history", "").Items {
			if r.ID == run {
				if d := cmp.Diff(one, said{r.Name, r.Notes, r.Tags}); d != "" {
					t.Errorf("the list is another than the run itself: %s", d)
				}
			}
		}
		return one
	}
	if d := cmp.Diff(want, seen(first)); d != "" {
		t.Errorf("as sent (-want +got):\n%s", d)
	}
	names := func() string {
		t.Helper()
		c := give[panel.Comparison](t, s, "ana", "GET", "/api/diff?base="+first+"&candidate="+second.ResultRef, "")
		return c.BaselineName + " " + c.CandidateName
	}
	exp := give[server.ExperimentDetails](t, s, "ana", "POST", "/api/experiments",
		fmt.Sprintf(`{"name":"e","suite_id":%q,"baseline_eval_id":%q}`, ours, first))
	give[any](t, s, "ana", "PATCH", "/api/runs/"+second.ResultRef,
		fmt.Sprintf(`{"experiment_id":%q,"name":"after"}`, exp.ID))
	if got := names(); got != "nightly after" {
		t.Errorf("compared: %s", got)
	}
	give[any](t, s, "ana", "PATCH", "/api/runs/"+second.ResultRef, `{"name":"later","notes":"","run_tags":[]}`)
	if got := names(); got != "nightly later" {
		t.Errorf("compared after the change: %s", got)
	}
	if d := cmp.Diff(said{Name: "later"}, seen(second.ResultRef)); d != "" {
		t.Errorf("changed (-want +got):\n%s", d)
	}
	line := give[server.Timeline](t, s, "ana", "GET", "/api/experiments/"+exp.ID+"/timeline", "")
	if len(line.Entries) != 1 || line.Entries[0].Name != "later" {
		t.Errorf("timeline: %+v", line.Entries)
	}

	other := s.ran(t, "bo", "", 1)
	for body, want := range map[string]int{
		`{"name":"` + other + `"}`: 204, `{"name":"nightly"}`: 204, `{"name":"latest"}`: 204, // it finds nothing here
		`{"name":"a\u0007b"}`: 422, `{"name":"` + strings.Repeat("x", 257) + `"}`: 422, `{"run_tags":["a,b"]}`: 422,
		`{"run_tags":[" "]}`: 422,
		`{"notes":"the key is sk-proj-` + strings.Repeat("aB3dE6gH9", 5) + `"}`: 422,
	} {
		code, answer := s.ask(t, "ana", "PATCH", "/api/runs/"+first, body)
		if code != want || want == 422 &&
			(strings.Contains(answer, other) || strings.Contains(answer, foreign) ||
				strings.Contains(answer, "user_bo") || strings.Contains(answer, ".db")) {
			t.Errorf("%s: %d, want %d: %s", body, code, want, answer)
		}
	}
	for as, want := range map[string]int{"bo": 404, "root": 204} {
		if code, answer := s.ask(t, as, "PATCH", "/api/runs/"+first, `{"name":"x"}`); code != want {
			t.Errorf("%s changes the run of ana: %d %s", as, code, answer)
		}
	}
	// A run of the command line is found by its name, whatever users call theirs.
	give[any](t, s, "root", "PATCH", "/api/runs/"+second.ResultRef, `{"name":"own"}`)
	made, problems, err := suite.Load(filepath.Join("..", "..", "examples", "weather.yaml"), suite.Options{})
	if err != nil {
		t.Fatal(err, problems)
	}
	here, err := runs.Start(t.Context(), s.app,
		app.RunRequest{
			Words: store.Words{Name: "own"}, SuiteRequest: app.SuiteRequest{Suite: "weather"}, Made: made,
			Targets: []app.TargetSpec{{Target: "offline/lexical"}},
		}, nil)
	if err != nil {
		t.Fatal(err)
	}
	cli := here.Stored.ID
	if err := here.Close(); err != nil {
		t.Fatal(err)
	}
	if r, err := s.db.Run(t.Context(), "own"); err != nil || r.ID != cli {
		t.Errorf("own is %s, %v; want %s", r.ID, err, cli)
	}
}

// TestCancelledRun: the description and the size of a run are the same in its events, its job, its
// line in the list, and its report. They are the same before it begins, while it runs, and after it
// was cancelled.
func TestCancelledRun(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.private(t)
	m := newMoody(t, func(city int) string {
		if city < 3 && city >= 0 {
			return ""
		}
		return "wait"
	})
	cities := s.keepSuite(t, "ana", 10)
	sent := s.eval(t, "ana", cities, m.URL, `,"repeats":2,"concurrency":4`)
	type count struct {
		Job, Run, Report   string
		Cases, All, Passed int
	}
	now := func() count {
		t.Helper()
		j := give[jobAnswer](t, s, "ana", "GET", "/api/jobs/"+sent.JobID, "")
		r := give[server.EvalDetails](t, s, "ana", "GET", "/api/tool-eval/history/"+sent.ResultRef, "")
		d := give[report.Document](t, s, "ana", "GET", "/api/runs/"+sent.ResultRef, "")
		o := &d.Panels.Targets[0].Overall
		if o.Cases != r.Cases || o.Cells != r.Total || o.Verdicts.Pass != r.Passed || j.Total != r.Total ||
			j.Done != r.Judged || r.Requests < r.Judged {
			t.Errorf("job %+v, run %+v, report %+v", j, r.EvalRun, o)
		}
		return count{j.Status, r.Status, d.Status, r.Cases, r.Total, r.Passed}
	}
	if d := cmp.Diff(count{"queued", "queued", "queued", 10, 20, 0}, now()); d != "" {
		t.Errorf("before (-want +got):\n%s", d)
	}
	s.work(t)
	for deadline := time.Now().Add(60 * time.Second); give[jobAnswer](t, s, "ana", "GET", "/api/jobs/"+sent.JobID,
		"").Done < 6; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("it does not begin")
		}
	}
	if d := cmp.Diff(count{"running", "running", "running", 10, 20, 6}, now()); d != "" {
		t.Errorf("meanwhile (-want +got):\n%s", d)
	}
	give[any](t, s, "ana", "POST", "/api/jobs/"+sent.JobID+"/cancel", "")
	s.awaitJob(t, "ana", sent.JobID, "cancelled")
	if d := cmp.Diff(count{"cancelled", "cancelled", "cancelled", 10, 20, 6}, now()); d != "" {
		t.Errorf("afterwards (-want +got):\n%s", d)
	}
	for _, e := range s.events(t, "ana") {
		if e["type"] == "tool_eval_init" && (e["cases"] != 10.0 || e["total_cases"] != 20.0 || e["total"] != 20.0) {
			t.Errorf("begun with %v", e)
		}
	}
	last := s.eval(t, "ana", cities, m.URL, "")
	give[any](t, s, "ana", "POST", "/api/jobs/"+last.JobID+"/cancel", "")
	s.awaitJob(t, "ana", last.JobID, "cancelled")
}

// TestSystemPromptOfRun: the system prompt of a run joins that of the suite, or replaces it if the
// request asks for that. _global is that of all targets without one of their own. The configuration
// and the experiment show the prompts that were used.
func TestSystemPromptOfRun(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.private(t)
	var mu sync.Mutex
	got := map[string]string{} // by model
	m := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var q struct {
			Model    string
			Messages []struct{ Role, Content string }
		}
		if err := json.NewDecoder(r.Body).Decode(&q); err != nil || len(q.Messages) == 0 {
			http.Error(w, "bad", http.StatusBadRequest)
			return
		}
		mu.Lock()
		if got[q.Model] = ""; q.Messages[0].Role == "system" {
			got[q.Model] = q.Messages[0].Content
		}
		mu.Unlock()
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprint(w,
			`{"model":"m","choices":[{"finish_reason":"stop","message":{"role":"assistant","content":"no"}}]}`)
	}))
	t.Cleanup(m.Close)
	s.work(t)
	cities := s.keepSuite(t, "ana", 1)
	give[any](t, s, "ana", "PATCH", suites+"/"+cities, `{"system_prompt":"Of the suite."}`)
	exp := give[server.ExperimentDetails](t, s, "ana", "POST", "/api/experiments",
		fmt.Sprintf(`{"name":"e","suite_id":%q}`, cities))
	ask := func(more string) string {
		t.Helper()
		code, body := s.ask(t, "ana", "POST", "/api/tool-eval",
			fmt.Sprintf(
				`{"suite_id":%q,"experiment_id":%q,"no_cache":true,"targets":[{"provider_key":"openai","model_id":"a","base_url":%q},{"provider_key":"openai","model_id":"b","base_url":%q}]%s}`, cities, exp.ID, m.URL, m.URL, more))
		sent := decode[jobAnswer](t, code, 202, body)
		s.awaitJob(t, "ana", sent.JobID, "done")
		return sent.ResultRef
	}
	var last string
	defer func() {
		for _, e := range s.events(t, "ana") {
			if e["type"] == "tool_eval_init" && (e["cases"] != 1.0 || e["total_cases"] != 2.0 || e["total"] != 2.0) {
				t.Errorf("begun with %v", e)
			}
		}
	}()
	for _, test := range []struct{ more, a, b string }{
		{``, "Of the suite.", "Of the suite."},
		{`,"system_prompt":"Mine."`, "Mine.\n\nOf the suite.", "Mine.\n\nOf the suite."},
		{`,"system_prompt":"Mine.","replace_system":true`, "Mine.", "Mine."},
		{`,"system_prompt":{"openai::b":"Of b."}`, "Of the suite.", "Of b.\n\nOf the suite."},
		{`,"system_prompt":{"_global":"All.","openai::b":""}`, "All.\n\nOf the suite.", "Of the suite."},
		{`,"system_prompt":{"_global":"All.","openai::b":"Of b."},"replace_system":true,"provider_params":{"top_p":0.5}`, "All.", "Of b."},
	} {
		last = ask(test.more)
		mu.Lock()
		if d := cmp.Diff(map[string]string{"a": test.a, "b": test.b}, got); d != "" {
			t.Errorf("%s (-want +got):\n%s", test.more, d)
		}
		mu.Unlock()
	}
	sum := sha256.Sum256([]byte("Of b."))
	brief := hex.EncodeToString(sum[:])[:12] + " “Of b.”"
	line := give[server.Timeline](t, s, "ana", "GET", "/api/experiments/"+exp.ID+"/timeline", "")
	summary := line.Entries[len(line.Entries)-1].Summary
	for _, part := range []string{"top_p 0.5", "system prompt in place of the suite's " + brief} {
		if !strings.Contains(summary, part) {
			t.Errorf("config_summary %q, want %q in it", summary, part)
		}
	}
	doc := give[report.Document](t, s, "ana", "GET", "/api/runs/"+last, "")
	if !slices.Contains(doc.Manifest,
		report.Field{Name: "openai/b system prompt in place of the suite's", Value: brief}) {
		t.Errorf("manifest: %+v", doc.Manifest)
	}
}
