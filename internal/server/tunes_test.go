// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package server_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/callvet/callvet/internal/account"
	"github.com/callvet/callvet/internal/app/tunes"
	"github.com/callvet/callvet/internal/job"
	"github.com/callvet/callvet/internal/server"
	"github.com/callvet/callvet/internal/server/api"
	"github.com/callvet/callvet/internal/store"
)

// familySuite keeps a suite of n cases, each a family of its own.
func (s *site) familySuite(t *testing.T, user string, n int) string {
	t.Helper()
	cases := make([]map[string]any, n)
	for i := range cases {
		cases[i] = map[string]any{
			"id": fmt.Sprintf("c%d", i), "family": fmt.Sprintf("f%d", i),
			"prompt": fmt.Sprintf("How is the weather in city%d?", i), "expected_tool": "weather_now",
			"expected_params": map[string]any{"city": fmt.Sprintf("city%d", i)},
		}
	}
	text, err := json.Marshal(map[string]any{
		"callvet": 1, "name": "cities", "system_prompt": "Help.", "cases": cases,
		"tools": []any{map[string]any{
			"name": "weather_now", "description": "Current weather of a city.",
			"parameters": json.RawMessage(
				`{"type":"object","properties":{"city":{"type":"string"}},"required":["city"]}`),
		}},
	})
	if err != nil {
		t.Fatal(err)
	}
	return give[struct {
		ID string `json:"suite_id"`
	}](t, s, user, "POST", "/api/tool-eval/import", string(text)).ID
}

// tunableModel is a model that is right about the cities that good accepts, by the number of the city and the request.
func tunableModel(t *testing.T, good func(city int, body string) bool) (url string, asked *atomic.Int64) {
	t.Helper()
	asked = new(atomic.Int64)
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		b, _ := io.ReadAll(r.Body)
		body := string(b)
		asked.Add(1)
		w.Header().Set("Content-Type", "application/json")
		found := askedCity.FindStringSubmatch(body)
		if found == nil { // a question to the model that writes prompts
			text, _ := json.Marshal(fmt.Sprintf(`{"prompt":"Name the city exactly, variant %d.","note":"be exact"}`,
				asked.Load()))
			fmt.Fprintf(w,
				`{"model":"m","choices":[{"finish_reason":"stop","message":{"role":"assistant","content":%s}}],"usage":{"prompt_tokens":9,"completion_tokens":9}}`, text)
			return
		}
		var city int
		_, _ = fmt.Sscan(found[1], &city)
		name := "nowhere"
		if good(city, body) {
			name = "city" + found[1]
		}
		fmt.Fprintf(w,
			`{"model":"m","choices":[{"finish_reason":"tool_calls","message":{"role":"assistant","tool_calls":[{"id":"1","type":"function","function":{"name":"weather_now","arguments":"{\"city\":\"%s\"}"}}]}}],"usage":{"prompt_tokens":50,"completion_tokens":10}}`, name)
	}))
	t.Cleanup(srv.Close)
	return srv.URL, asked
}

func startTune(t *testing.T, s *site, path, body string) jobAnswer {
	t.Helper()
	code, answer := s.ask(t, "ana", "POST", "/api/tool-eval/"+path, body)
	return decode[jobAnswer](t, code, 202, answer)
}

// TestParamTune: a search is estimated, carried out as a job, confirmed, promoted to a run of its
// experiment, and deleted.
func TestParamTune(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.private(t)
	s.work(t)
	url, asked := tunableModel(t, func(city int, body string) bool {
		return city%4 == 0 || strings.Contains(body, `"temperature":0.5`)
	})
	suite := s.familySuite(t, "ana", 60)
	exp := stored[server.ExperimentDetails](t, s, "ana", "POST", "/api/experiments",
		fmt.Sprintf(`{"name":"tuned","suite_id":%q}`, suite))
	body := fmt.Sprintf(
		`{"suite_id":%q,"experiment_id":%q,"targets":[{"provider_key":"openai","model_id":"m1","base_url":%q}],
		"search_space":{"temperature":[0,0.5,1]},"max_calls":1000}`, suite, exp.ID, url)

	estimate := give[struct {
		Models []struct{ Candidates int }
		Calls  int `json:"calls_most"`
	}](t, s, "ana", "POST", "/api/tool-eval/param-tune/estimate", body)
	if len(estimate.Models) != 1 || estimate.Models[0].Candidates != 3 || estimate.Calls != 3*30+2*30 ||
		asked.Load() != 0 {
		t.Errorf("estimate %+v, %d asked", estimate, asked.Load())
	}

	sent := startTune(t, s, "param-tune", body)
	done := s.awaitJob(t, "ana", sent.JobID, "done")
	got := give[server.TuneView](t, s, "ana", "GET", "/api/tool-eval/param-tune/history/"+sent.ResultRef, "")
	if len(got.Models) != 1 || got.Models[0].Winner() == nil || !strings.Contains(got.Models[0].Winner().Name, "0.5") ||
		got.State != "done" || got.Use != 1 || got.Job != sent.JobID || got.Experiment != exp.ID || got.Promoted == "" {
		t.Fatalf("%+v", got)
	}
	if done.Detail["promoted_eval_id"] != got.Promoted {
		t.Errorf("detail %v", done.Detail)
	}
	run := give[struct {
		JobID string `json:"job_id"`
	}](t, s, "ana", "GET", "/api/tool-eval/history/"+got.Promoted, "")
	s.awaitJob(t, "ana", run.JobID, "done")

	// Events, in their order, each once.
	var kinds []string
	for _, e := range s.events(t, "ana") {
		if e["job_id"] == sent.JobID && !strings.HasPrefix(fmt.Sprint(e["type"]), "job_") &&
			e["type"] != "eval_warning" {
			kinds = append(kinds, fmt.Sprint(e["type"]))
		}
	}
	for _, kind := range []string{"tune_start", "combo_result", "confirm_start", "tune_complete", "eval_promoted"} {
		if !slices.Contains(kinds, kind) {
			t.Errorf("no event %s in %v", kind, kinds)
		}
	}
	if kinds[0] != "tune_start" || slices.Index(kinds, "eval_promoted") != len(kinds)-1 {
		t.Errorf("events %v", kinds)
	}

	// Its parts are in no list of runs; the promoted run is, and it is the best configuration.
	history := give[struct{ Items []struct{ ID string } }](t, s, "ana", "GET", "/api/tool-eval/history", "")
	if len(history.Items) != 1 || history.Items[0].ID != got.Promoted {
		t.Errorf("history %+v", history)
	}
	line := stored[server.Timeline](t, s, "ana", "GET", "/api/experiments/"+exp.ID+"/timeline", "").Entries
	if len(line) != 2 || line[0].Type != "param_tune" || line[0].Score == nil || *line[0].Score != 1 ||
		line[0].Gain == nil ||
		*line[0].Delta != line[0].Gain.Point || line[0].Gain.Lower <= 0 || line[0].Run != got.Promoted ||
		line[1].ID != got.Promoted ||
		len(line[0].Targets) != 1 || *line[0].Targets[0].Config.Params.Temperature != 0.5 {
		t.Errorf("timeline %+v", line)
	}
	if code, answer := s.ask(t, "ana", "POST", "/api/experiments/"+exp.ID+"/run-best", ""); code != 202 {
		t.Errorf("run-best: %d %s", code, answer)
	}

	// The winner is kept as a profile, and is the base of another search.
	kept := give[server.TuneApplied](t, s, "ana", "POST",
		"/api/tool-eval/param-tune/history/"+sent.ResultRef+"/apply", `{"profile":"temperature=0.5"}`).Profile
	if kept == nil || *kept.Params.Temperature != 0.5 || kept.SystemPrompt != "" || kept.Source != sent.ResultRef {
		t.Errorf("profile %+v", kept)
	}
	if text := s.answers(t, http.StatusUnprocessableEntity, "ana", "POST", "/api/tool-eval/param-tune/estimate",
		fmt.Sprintf(
			`{"suite_id":%q,"models":["openai/m1"],"profiles":{"m1":%q},"search_space":{"temperature":[0.5]}}`, suite,
			kept.ID)); !strings.Contains(text, "differs from what openai/m1 gets now") {
		t.Errorf("the base has the profile: %s", text)
	}

	// Another user sees nothing of it, and his own searches are his. Its parts are no runs of anybody.
	for _, of := range []struct{ as, method, path, body string }{
		{"bo", "GET", "/api/tool-eval/param-tune/history/" + sent.ResultRef, ""},
		{"bo", "DELETE", "/api/tool-eval/param-tune/history/" + sent.ResultRef, ""},
		{"bo", "POST", "/api/tool-eval/param-tune/history/" + sent.ResultRef + "/apply", "{}"},
		{"bo", "POST", "/api/tool-eval/param-tune/cancel", `{"job_id":"` + sent.JobID + `"}`},
		{"bo", "GET", "/api/runs/" + got.Runs[1], ""},
		{"ana", "GET", "/api/runs/" + got.Runs[1], ""},
		{"ana", "GET", "/api/runs/" + got.Runs[1] + "/export?format=json", ""},
		{"root", "GET", "/api/tool-eval/history/" + got.Runs[1], ""},
		{"root", "DELETE", "/api/tool-eval/history/" + got.Runs[1], ""},
	} {
		if code, answer := s.ask(t, of.as, of.method, of.path, of.body); code != 404 {
			t.Errorf("%s: %s %s: %d %s", of.as, of.method, of.path, code, answer)
		}
	}
	if prompts := give[struct{ Items []server.TuneLine }](t, s, "ana", "GET", "/api/tool-eval/prompt-tune/history",
		""); len(prompts.Items) != 0 {
		t.Errorf("%+v", prompts)
	}
	list := give[struct{ Items []server.TuneLine }](t, s, "ana", "GET", "/api/tool-eval/param-tune/history", "")
	if len(list.Items) != 1 || list.Items[0].Models[0].Gain == nil || list.Items[0].Status != "done" {
		t.Errorf("%+v", list)
	}

	held := func() (n int64) {
		n, err := s.db.Rows().AttemptBytesHeld(t.Context(), "user_ana")
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	before := held()
	if code, answer := s.ask(t, "ana", "DELETE", "/api/tool-eval/param-tune/history/"+sent.ResultRef, ""); code != 204 {
		t.Fatal(code, answer)
	}
	if after := held(); after >= before || after == 0 {
		t.Errorf("%d bytes held before, %d after the search was deleted", before, after)
	}
	if code, _ := s.ask(t, "ana", "GET", "/api/tool-eval/param-tune/history/"+sent.ResultRef, ""); code != 404 {
		t.Errorf("deleted: %d", code)
	}

	// Its split and its use of the held-out cases stay.
	// What is searched from a profile is none, except for the base.
	base := stored[tunes.Profile](t, s, "ana", "POST", "/api/profiles",
		`{"name":"base","model":"openai/m1","params":{"top_p":0.9}}`)
	again := startTune(t, s, "param-tune", strings.TrimSuffix(body, "}")+fmt.Sprintf(`,"profiles":{"m1":%q}}`, base.ID))
	s.awaitJob(t, "ana", again.JobID, "done")
	from := give[server.TuneView](t, s, "ana", "GET", "/api/tool-eval/param-tune/history/"+again.ResultRef, "")
	for _, c := range from.Models[0].Candidates {
		if (c.Spec.Profile != "") != (c.N == 0) || *c.Spec.Params.TopP != 0.9 {
			t.Errorf("candidate %d: %+v", c.N, c.Spec)
		}
	}
	if v := give[server.TuneView](t, s, "ana", "GET", "/api/tool-eval/param-tune/history/"+again.ResultRef,
		""); v.Use != 2 {
		t.Errorf("use %d: %s", v.Use, v.Models[0].Sentence)
	}
}

// TestPromptTune: a prompt is written, confirmed, kept in the library and promoted.
func TestPromptTune(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.private(t)
	s.work(t)
	url, _ := tunableModel(t, func(city int, body string) bool {
		return city%4 == 0 || strings.Contains(body, "exactly")
	})
	suite := s.familySuite(t, "ana", 60)
	sent := startTune(t, s, "prompt-tune", fmt.Sprintf(
		`{"suite_id":%q,"targets":[{"provider_key":"openai","model_id":"m1","base_url":%q}],
		"meta_target":{"provider_key":"openai","model_id":"writer","base_url":%q},"config":{"population":3}}`, suite, url, url))
	s.awaitJob(t, "ana", sent.JobID, "done")
	got := give[server.TuneView](t, s, "ana", "GET", "/api/tool-eval/prompt-tune/history/"+sent.ResultRef, "")
	if len(got.Models) != 1 || got.Models[0].Winner() == nil ||
		!strings.Contains(got.Models[0].Winner().Prompt, "exactly") ||
		got.Promoted == "" || !strings.Contains(strings.Join(got.Notes, " "), "the prompt is kept as cities@1") {
		t.Errorf("%+v", got)
	}
	path := "/api/tool-eval/prompt-tune/history/" + sent.ResultRef + "/apply"
	runs := strings.TrimPrefix(
		s.grant(t, "user_ana", []account.Scope{account.ScopeRead, account.ScopeRun}, time.Hour).token,
		account.TokenPrefix)
	if code, answer := s.ask(t, runs, "POST", path, fmt.Sprintf(`{"suite_id":%q}`, suite)); code != 403 {
		t.Errorf("a token for runs changes a suite: %d %s", code, answer)
	}
	applied := give[server.TuneApplied](t, s, "ana", "POST", path, fmt.Sprintf(`{"suite_id":%q}`, suite))
	now := give[struct {
		Version int64
		Prompt  string `json:"system_prompt"`
	}](t, s, "ana", "GET", suites+"/"+suite, "")
	if !applied.Confirmed || applied.Version != 2 || now.Version != 2 || now.Prompt != got.Models[0].Winner().Prompt {
		t.Errorf("applied %+v, suite %+v", applied, now)
	}
	kept := give[server.TuneApplied](t, s, "ana", "POST", path, `{"profile":"exact"}`).Profile
	if kept == nil || kept.SystemPrompt != now.Prompt || !kept.ReplaceSystem || kept.Model != "openai/m1" ||
		kept.Name != "exact" || kept.Source != sent.ResultRef {
		t.Errorf("profile %+v", kept)
	}
	if code, answer := s.ask(t, "ana", "POST", path, `{"candidate":0}`); code != 409 ||
		!strings.Contains(answer, "anyway") {
		t.Errorf("the base is no winner: %d %s", code, answer)
	}
}

// TestPromotedOnce: a server that ends between the promotion of a winner and its record finds the run again.
func TestPromotedOnce(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.private(t)
	stop := s.work(t)
	url, _ := tunableModel(t,
		func(city int, body string) bool { return city%4 == 0 || strings.Contains(body, "exactly") })
	sent := startTune(t, s, "prompt-tune", fmt.Sprintf(
		`{"suite_id":%q,"targets":[{"provider_key":"openai","model_id":"m1","base_url":%q}],
		"meta_target":{"provider_key":"openai","model_id":"writer","base_url":%q},"config":{"population":3}}`,
		s.familySuite(t, "ana", 60), url, url))
	s.awaitJob(t, "ana", sent.JobID, "done")
	path := "/api/tool-eval/prompt-tune/history/" + sent.ResultRef
	first := give[server.TuneView](t, s, "ana", "GET", path, "")
	if first.Promoted == "" {
		t.Fatalf("%+v", first)
	}
	stop()
	s.damage(t,
		`UPDATE tunes SET content = CAST(replace(CAST(content AS TEXT), '"promoted_eval_id"', '"lost"') AS BLOB) WHERE id = $1`,
		sent.ResultRef)
	s.damage(t, "UPDATE jobs SET state = 'running' WHERE id = $1", sent.JobID)
	s = s.restart(t)
	if lost := give[server.TuneView](t, s, "ana", "GET", path, ""); lost.Promoted != "" || lost.Kind != first.Kind {
		t.Fatalf("%+v", lost)
	}
	s.work(t)
	s.awaitJob(t, "ana", sent.JobID, "done")
	again := give[server.TuneView](t, s, "ana", "GET", path, "")
	history := give[struct{ Items []struct{ ID string } }](t, s, "ana", "GET", "/api/tool-eval/history", "")
	prompts := give[struct{ Items []struct{ ID, Source string } }](t, s, "ana", "GET", "/api/prompts", "")
	if again.Promoted != first.Promoted || len(history.Items) != 1 || len(prompts.Items) != 1 ||
		prompts.Items[0].Source != sent.ResultRef {
		t.Errorf("promoted %s, then %s; runs %+v, prompts %+v", first.Promoted, again.Promoted, history, prompts)
	}
}

// TestPromotedPromptQuota: the prompt of a winner counts for the quota, as any other; the run is made all the same.
func TestPromotedPromptQuota(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.private(t)
	suite := s.familySuite(t, "ana", 60)
	held, err := s.db.Rows().BytesHeld(t.Context(), "user_ana")
	if err != nil {
		t.Fatal(err)
	}
	s = s.restart(t, func(c *api.Config) { c.Quota = store.Quota{Bytes: held + 20} })
	s.private(t)
	s.work(t)
	url, _ := tunableModel(t,
		func(city int, body string) bool { return city%4 == 0 || strings.Contains(body, "exactly") })
	sent := startTune(t, s, "prompt-tune", fmt.Sprintf(
		`{"suite_id":%q,"targets":[{"provider_key":"openai","model_id":"m1","base_url":%q}],
		"meta_target":{"provider_key":"openai","model_id":"writer","base_url":%q},"config":{"population":3}}`, suite, url, url))
	s.awaitJob(t, "ana", sent.JobID, "done")
	got := give[server.TuneView](t, s, "ana", "GET", "/api/tool-eval/prompt-tune/history/"+sent.ResultRef, "")
	if now, err := s.db.Rows().BytesHeld(t.Context(), "user_ana"); err != nil || now != held || got.Promoted == "" ||
		!strings.Contains(strings.Join(got.Notes, " "), "the prompt was not kept") {
		t.Errorf("%d bytes, then %d (%v): %+v", held, now, err, got)
	}
}

// TestTuneResumed: a search that its limits ended goes on with larger ones, once, and only for those who may.
func TestTuneResumed(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.private(t)
	s.work(t)
	url, asked := tunableModel(t, func(city int, body string) bool {
		return city%4 == 0 || strings.Contains(body, `"temperature":0.5`)
	})
	sent := startTune(t, s, "param-tune", fmt.Sprintf(
		`{"suite_id":%q,"targets":[{"provider_key":"openai","model_id":"m1","base_url":%q}],
		"search_space":{"temperature":[0,0.5,1]},"max_calls":70}`, s.familySuite(t, "ana", 60), url))
	s.awaitJob(t, "ana", sent.JobID, "done")
	path := "/api/tool-eval/param-tune/history/" + sent.ResultRef
	first := give[server.TuneView](t, s, "ana", "GET", path, "")
	if first.Models[0].Ended == "" || first.Models[0].Outcome != tunes.Unconfirmed || !first.Resumable ||
		asked.Load() != 0 { // a round and the confirmation need 75
		t.Fatalf("%d asked, %+v", asked.Load(), first)
	}
	if code, answer := s.ask(t, "ana", "POST", path+"/resume", "{}"); code != 409 ||
		!strings.Contains(answer, "its limits ended it") {
		t.Errorf("with the same limits: %d %s", code, answer)
	}
	for as, want := range map[string]int{"bo": 404, "root": 403} { // root's keys do not go where ana's address leads
		if code, answer := s.ask(t, as, "POST", path+"/resume", `{"max_calls":1000}`); code != want {
			t.Errorf("%s: %d %s", as, code, answer)
		}
	}
	code, answer := s.ask(t, "ana", "POST", path+"/resume", `{"max_calls":1000}`)
	again := decode[jobAnswer](t, code, 202, answer)
	if again.ResultRef != sent.ResultRef || again.JobID == sent.JobID {
		t.Fatalf("%+v", again)
	}
	s.awaitJob(t, "ana", again.JobID, "done")
	got := give[server.TuneView](t, s, "ana", "GET", path, "")
	if w := got.Models[0].Winner(); w == nil || !strings.Contains(w.Name, "0.5") || got.Promoted == "" ||
		got.Resumable || got.Use != 1 || got.Job != again.JobID || got.Request.Run.MaxCalls != 1000 {
		t.Errorf("%+v", got)
	}
	if code, answer := s.ask(t, "ana", "POST", path+"/resume", "{}"); code != 409 ||
		!strings.Contains(answer, "it is over") {
		t.Errorf("a search that is over: %d %s", code, answer)
	}
}

// TestTuneCancelled: a cancelled search keeps its results.
func TestTuneCancelled(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.private(t)
	s.work(t)
	hold := make(chan struct{})
	url, asked := tunableModel(t, func(city int, _ string) bool { return city%4 == 0 })
	slow := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		b, _ := io.ReadAll(r.Body)
		if asked.Load() >= 40 {
			select {
			case <-hold:
			case <-r.Context().Done():
			}
			return
		}
		resp, err := http.Post(url, "application/json", bytes.NewReader(b)) //nolint:noctx // a test server on this machine
		if err != nil {
			return
		}
		defer resp.Body.Close()
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.Copy(w, resp.Body)
	}))
	t.Cleanup(slow.Close)
	t.Cleanup(func() { close(hold) }) // before the server closes
	suite := s.familySuite(t, "ana", 60)
	body := fmt.Sprintf(`{"suite_id":%q,"targets":[{"provider_key":"openai","model_id":"m1","base_url":%q}],
		"search_space":{"temperature":[0,0.25,0.5,0.75,1]}}`, suite, slow.URL)
	sent := startTune(t, s, "param-tune", body)
	deadline := time.Now().Add(30 * time.Second)
	for asked.Load() < 40 {
		if time.Now().After(deadline) {
			t.Fatalf("%d asked", asked.Load())
		}
		time.Sleep(5 * time.Millisecond)
	}
	path := "/api/tool-eval/param-tune/history/" + sent.ResultRef
	if code, answer := s.ask(t, "ana", "DELETE", path, ""); code != 409 ||
		!strings.Contains(answer, "cancel it first") {
		t.Errorf("delete while it runs: %d %s", code, answer)
	}
	if code, answer := s.ask(t, "ana", "POST", "/api/tool-eval/param-tune/cancel",
		`{"job_id":"`+sent.JobID+`"}`); code >= 300 {
		t.Fatal(code, answer)
	}
	s.awaitJob(t, "ana", sent.JobID, "cancelled")
	got := give[server.TuneView](t, s, "ana", "GET", path, "")
	if got.State != "cancelled" || len(got.Models[0].Candidates) == 0 || got.Use != 0 {
		t.Errorf("%+v", got)
	}
}

// TestTuneRefused: each bad request has one clear error, and keeps nothing.
func TestTuneRefused(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.private(t)
	suite := s.familySuite(t, "ana", 60)
	target := `"targets":[{"provider_key":"openai","model_id":"m1","base_url":"http://127.0.0.1:1"}]`
	for _, tt := range []struct{ path, more, want string }{
		{"param-tune", target, "which values are tried"},
		{"param-tune", target + `,"search_space":{"params":{"temprature":[0,1]}}`, "temperature"},
		{"param-tune", target + `,"preset":"none such"`, "it is not known"},
		{
			"param-tune", target + `,"search_space":{"temperature":[0,1]},"optimization_mode":"swarm"`,
			"optimization_mode",
		},
		{"param-tune", target + `,"search_space":{"temperature":[0,1]},"holdout":1.5`, "holdout"},
		{"param-tune", target + `,"search_space":{"temperature":[0,1]},"metric":"cost_per_attempt"`, "metric"},
		{"param-tune", target + `,"search_space":{"temperature":[0,1]},"priority":5`, "admins"},
		{"param-tune", `"search_space":{"temperature":[0,1]}`, "models"},
		{"prompt-tune", target, "which model writes the prompts"},
		{
			"prompt-tune", target + `,"meta_model":"a/b","meta_target":{"provider_key":"a","model_id":"b"}`,
			"give one of them",
		},
		{"prompt-tune", target + `,"meta_model":"openai/m","config":{"selection_ratio":0.95}`, "selection_ratio"},
	} {
		code, answer := s.ask(t, "ana", "POST", "/api/tool-eval/"+tt.path,
			fmt.Sprintf(`{"suite_id":%q,%s}`, suite, tt.more))
		if code/100 != 4 || !strings.Contains(answer, tt.want) {
			t.Errorf("%s %s: %d %s", tt.path, tt.more, code, answer)
		}
	}
	for _, kind := range []string{"param", "prompt"} {
		if list := give[struct{ Items []server.TuneLine }](t, s, "ana", "GET", "/api/tool-eval/"+kind+"-tune/history",
			""); len(list.Items) != 0 {
			t.Errorf("kept: %+v", list)
		}
	}
}

// TestTuneRestarted: a restarted server resumes a search: only requests in flight are repeated, and
// each event is stored once.
func TestTuneRestarted(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.private(t)
	stop := s.work(t)
	url, asked := tunableModel(t, func(city int, body string) bool {
		return city%4 == 0 || strings.Contains(body, `"temperature":0.5`)
	})
	suite := s.familySuite(t, "ana", 60)
	sent := startTune(t, s, "param-tune", fmt.Sprintf(
		`{"suite_id":%q,"targets":[{"provider_key":"openai","model_id":"m1","base_url":%q}],"concurrency":1,
		"search_space":{"temperature":[0,0.5,1]},"no_race":true,"max_calls":150}`, suite, url))
	for _, after := range []int64{5, 30, 70, 100} {
		deadline := time.Now().Add(30 * time.Second)
		for asked.Load() < after {
			if time.Now().After(deadline) {
				t.Fatalf("%d asked, wanted %d", asked.Load(), after)
			}
			time.Sleep(time.Millisecond)
		}
		stop()
		s = s.restart(t)
		stop = s.work(t)
	}
	s.awaitJob(t, "ana", sent.JobID, "done")
	got := give[server.TuneView](t, s, "ana", "GET", "/api/tool-eval/param-tune/history/"+sent.ResultRef, "")
	if got.State != "done" || got.Models[0].Winner() == nil || got.Use != 1 {
		t.Errorf("%+v", got)
	}
	// 30 training cases of 3 candidates and 30 held-out cases of 2; at each end one request was in flight.
	if n := asked.Load(); n < 150 || n > 150+4 {
		t.Errorf("%d asked, want 150", n)
	}
	count := map[string]int{}
	for _, e := range s.events(t, "ana") {
		if e["job_id"] == sent.JobID {
			count[fmt.Sprint(e["type"])]++
		}
	}
	if count["tune_start"] != 1 || count["tune_complete"] != 1 || count["confirm_start"] != 1 {
		t.Errorf("events %v", count)
	}
	rounds := count["round_complete"]
	if count["combo_result"] != 3*rounds || rounds == 0 {
		t.Errorf("%d results in %d rounds of 3", count["combo_result"], rounds)
	}
	if !strings.Contains(strings.Join(got.Notes, " "), "was not promoted") {
		t.Errorf("its limit left no room for a run: %v", got.Notes)
	}
}

// TestTuneGivesWay: a search lets another job go first between two rounds, and goes on afterwards.
func TestTuneGivesWay(t *testing.T) {
	t.Parallel()
	s := newSite(t, func(c *api.Config) { c.Workers, c.JobShift = 1, time.Nanosecond })
	s.private(t)
	url, asked := tunableModel(t,
		func(city int, body string) bool { return city%4 == 0 || strings.Contains(body, `"temperature":0.5`) })
	suite := s.familySuite(t, "ana", 60)
	search := startTune(t, s, "param-tune", fmt.Sprintf(
		`{"suite_id":%q,"targets":[{"provider_key":"openai","model_id":"m1","base_url":%q}],
		"search_space":{"temperature":[0,0.5,1]},"no_race":true,"max_calls":150}`, suite, url))
	other := s.eval(t, "root", s.keepSuite(t, "root", 2), url, "")
	s.work(t)
	s.awaitJob(t, "ana", search.JobID, "done")
	s.awaitJob(t, "root", other.JobID, "done")
	of := func(as, id string) job.Job { return give[job.Job](t, s, as, "GET", "/api/jobs/"+id, "") }
	tuned, run := of("ana", search.JobID), of("root", other.JobID)
	// A run that began twice was interrupted by the search, and began before its end.
	if tuned.Attempt < 2 || run.Attempt < 2 && run.Started.After(tuned.Finished) {
		t.Errorf("the search ended at %s after %d starts, the run began at %s, start %d", tuned.Finished, tuned.Attempt,
			run.Started, run.Attempt)
	}
	if n := asked.Load(); n > 150+2 {
		t.Errorf("%d asked, want 152 at most", n)
	}
}

// TestTunePresets: a user's search spaces are found by their names, and not by others.
func TestTunePresets(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.private(t)
	suite := s.familySuite(t, "ana", 60)
	names := func(user string) (out []string) {
		list := give[server.PresetList](t, s, user, "GET", "/api/tool-eval/param-tune/presets", "")
		for i := range list.Items {
			if list.Items[i].Own {
				out = append(out, list.Items[i].Name)
			}
		}
		return out
	}
	body := `{"name":"mine","search_space":{"params":{"temperature":[0,0.5,1]}}}`
	if code, answer := s.ask(t, "ana", "POST", "/api/tool-eval/param-tune/presets", body); code != 201 {
		t.Fatalf("%d %s", code, answer)
	}
	if mine, others := names("ana"), names("bo"); len(mine) != 1 || mine[0] != "mine" || len(others) != 0 {
		t.Errorf("ana has %v, bo has %v", mine, others)
	}
	search := fmt.Sprintf(
		`{"suite_id":%q,"targets":[{"provider_key":"openai","model_id":"m1","base_url":"http://127.0.0.1:1"}],"preset":"mine"}`, suite)
	estimate := give[struct {
		Models []struct{ Combinations int }
	}](t, s, "ana", "POST", "/api/tool-eval/param-tune/estimate", search)
	if len(estimate.Models) != 1 || estimate.Models[0].Combinations != 3 {
		t.Errorf("%+v", estimate)
	}
	if code, answer := s.ask(t, "bo", "DELETE", "/api/tool-eval/param-tune/presets/mine", ""); code != 404 {
		t.Errorf("bo deletes: %d %s", code, answer)
	}
	if code, _ := s.ask(t, "ana", "DELETE", "/api/tool-eval/param-tune/presets/mine", ""); code != 204 ||
		len(names("ana")) != 0 {
		t.Errorf("%d, %v", code, names("ana"))
	}
	if code, answer := s.ask(t, "ana", "POST", "/api/tool-eval/param-tune/presets",
		`{"name":"bad","search_space":{"params":{"temprature":[0,1]}}}`); code != 422 ||
		!strings.Contains(answer, "temperature") {
		t.Errorf("%d %s", code, answer)
	}
}
