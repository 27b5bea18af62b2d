// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package server_test

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/app"
	"github.com/callvet/callvet/internal/server"
	"github.com/callvet/callvet/internal/server/api"
	"github.com/callvet/callvet/panel"
)

// suiteOf makes an entry of a suite for a user.
func (s *site) suiteOf(t *testing.T, user, id string) {
	t.Helper()
	_, err := s.db.Handle().ExecContext(t.Context(),
		"INSERT INTO suite_entries(id,user_id,name,folded,last_case,version,hash,shared,created,updated,deleted) VALUES($1,$2,'weather','weather',0,1,'h',FALSE,1,1,0)", id, "user_"+user)
	if err != nil {
		t.Fatal(err)
	}
}

func TestExperiments(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.suiteOf(t, "ana", "suite_1")
	made := stored[server.ExperimentDetails](t, s, "ana", "POST", "/api/experiments",
		`{"name": "prompts", "description": "which one?", "suite_id": "suite_1"}`)
	if made.ID == "" || made.State != "active" || made.Best != nil || made.BaselineScore != nil {
		t.Fatalf("made: %+v", made)
	}
	path := "/api/experiments/" + made.ID
	good := app.TargetSpec{Target: "offline/lexical", Name: "good"}
	bad := app.TargetSpec{Target: "offline/lexical", Name: "bad", ToolChoice: "none"}
	base := s.ran(t, "ana", "", 1, bad)
	both := s.ran(t, "ana", "", 2, good, bad)
	for _, id := range []string{base, both} {
		if code, body := s.ask(t, "ana", "PATCH", "/api/runs/"+id,
			fmt.Sprintf(`{"experiment_id": %q}`, made.ID)); code != 204 {
			t.Fatalf("link: %d %s", code, body)
		}
	}
	pinned := stored[server.ExperimentDetails](t, s, "ana", "PUT", path+"/baseline",
		fmt.Sprintf(`{"eval_id": %q, "target": "bad"}`, base))
	if i := pinned.BaselineInterval; i == nil || i.Point != *pinned.BaselineScore || i.N == 0 || !(i.Lower < i.Upper) {
		t.Errorf("the score of the baseline has the interval %+v", i)
	}
	if pinned.Baseline != base || pinned.BaselineScore == nil || pinned.Runs != 2 {
		t.Fatalf("pinned: %+v", pinned)
	}
	line := stored[server.Timeline](t, s, "ana", "GET", path+"/timeline", "")
	if len(line.Entries) != 2 || !line.Entries[0].Baseline || *line.Entries[0].Delta != 0 ||
		line.Entries[0].Targets[0].Change != nil {
		t.Fatalf("timeline: %+v", line)
	}
	second := line.Entries[1]
	if second.ID != both || math.Abs(*second.Delta-(*second.Score-*line.BaselineScore)) > 1e-12 {
		t.Errorf("second entry: %+v", second)
	}
	up, same := second.Targets[0], second.Targets[1]
	if up.Against != "bad" || up.Change == nil || up.Change.Point <= 0 || up.Change.Lower >= up.Change.Point ||
		up.P == nil || same.Change == nil || same.Change.Point != 0 || up.Hash == same.Hash {
		t.Errorf("changes: %+v, %+v", up, same)
	}
	if again := stored[server.Timeline](t, s, "ana", "GET", path+"/timeline", ""); fmt.Sprintf("%+v",
		*again.Entries[1].Targets[0].Change) != fmt.Sprintf("%+v", *up.Change) {
		t.Error("the timeline has other numbers the second time")
	}

	// Floors are never the best: offline/lexical is one, so that nothing is.
	if pinned.Best != nil {
		t.Errorf("best of floors: %+v", pinned.Best)
	}

	changed := stored[server.ExperimentDetails](t, s, "ana", "PUT", path,
		`{"name": "more prompts", "state": "archived", "shared": true}`)
	if changed.Name != "more prompts" || changed.State != "archived" || !changed.Shared {
		t.Errorf("changed: %+v", changed)
	}
	if list := stored[api.Page[server.Experiment]](t, s, "bo", "GET", "/api/experiments", ""); len(list.Items) != 1 {
		t.Errorf("a shared experiment: %+v", list)
	}

	foreign := s.ran(t, "bo", "", 1)
	for _, tt := range []struct {
		as, method, path, body string
		code                   int
	}{
		{"bo", "PUT", path, `{"name": "mine"}`, 403},
		{"bo", "DELETE", path, "", 403},
		{"ana", "PUT", path + "/baseline", fmt.Sprintf(`{"eval_id": %q}`, foreign), 404},
		{"ana", "PUT", path + "/baseline", fmt.Sprintf(`{"eval_id": %q, "target": "nobody"}`, base), 422},
		{"bo", "POST", "/api/experiments", `{"name": "x", "suite_id": "suite_1"}`, 404},
		{"vera", "POST", "/api/experiments", `{"name": "x", "suite_id": "suite_1"}`, 403},
		{"ana", "POST", "/api/experiments", `{"name": "", "suite_id": "suite_1"}`, 422},
		{"bo", "PATCH", "/api/runs/" + foreign, fmt.Sprintf(`{"experiment_id": %q}`, made.ID), 403},
		{"ana", "GET", "/api/experiments/exp_nothing", "", 404},
	} {
		if code, body := s.ask(t, tt.as, tt.method, tt.path, tt.body); code != tt.code {
			t.Errorf("%s %s as %s: %d, want %d: %s", tt.method, tt.path, tt.as, code, tt.code, body)
		}
	}
	if code, _ := s.ask(t, "ana", "DELETE", path, ""); code != 204 {
		t.Errorf("delete: %d", code)
	}
	if code, _ := s.ask(t, "ana", "GET", path, ""); code != 404 {
		t.Errorf("a deleted experiment: %d", code)
	}
	if code, body := s.ask(t, "ana", "GET", "/api/runs/"+both, ""); code != 200 || !strings.Contains(body, "good") {
		t.Errorf("a run of a deleted experiment: %d", code)
	}
}

func TestRunBest(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.private(t)
	s.work(t)
	m := newModel(t, nil)
	suite := s.keepSuite(t, "ana", 20)
	made := stored[server.ExperimentDetails](t, s, "ana", "POST", "/api/experiments",
		fmt.Sprintf(`{"name": "prompts", "suite_id": %q}`, suite))
	path := "/api/experiments/" + made.ID
	if code, body := s.ask(t, "ana", "POST", path+"/run-best", ""); code != 409 ||
		!strings.Contains(body, "no run of the experiment has a score") {
		t.Errorf("without a run: %d %s", code, body)
	}
	ask := func(repeats int, more string) string {
		return fmt.Sprintf(
			`{"suite_id": %q, "experiment_id": %q, "repeats": %d, "tool_choice": "required", "targets": [{"provider_key": "openai", "model_id": "m1", "base_url": %q}]%s}`,
			suite, made.ID, repeats, m.URL, more)
	}
	done := func(j jobAnswer) string {
		return s.awaitJob(t, "ana", j.JobID, "done").ResultRef
	}
	plain := done(stored[jobAnswer](t, s, "ana", "POST", "/api/tool-eval", ask(2, "")))
	kept := stored[server.ExperimentDetails](t, s, "ana", "PUT", path+"/baseline", fmt.Sprintf(`{"eval_id": %q}`, plain))
	other := done(stored[jobAnswer](t, s, "ana", "POST", "/api/tool-eval",
		ask(3, `, "system_prompt": "Use tools.", "provider_params": {"top_k": 3}`)))
	before := stored[server.ExperimentDetails](t, s, "ana", "GET", path, "")
	if before.Best == nil || before.Among == nil || kept.BaselineScore == nil {
		t.Fatalf("two configurations that pass alike: the best is %+v, among %+v", before.Best, before.Among)
	}
	for _, b := range before.Among.Items {
		if b.Metric != panel.MetricPass || b.Pass == nil || b.Pass.N == 0 || b.Pass.Point > b.Score.Point {
			t.Errorf("the pass rate that it is ranked by: %+v, and its score %+v", b.Pass, b.Score)
		}
	}
	ranks := func(list []server.BestConfig, confirmed bool, run string) {
		t.Helper()
		for _, b := range list {
			if b.Rank != 1 || b.Worst != 2 || b.Of != 2 || b.Metric != panel.MetricPass || b.Confirmed != confirmed ||
				run != "" && b.Run != run {
				t.Errorf("one of several that may be the best: %+v", b)
			}
		}
		if len(list) != 2 {
			t.Errorf("%d may be the best, want 2", len(list))
		}
	}
	ranks(before.Among.Items, false, "")

	changed := func(n callvet.Notice) bool { return n.Code == "suite-changed" }
	asked := m.asked.Load()
	sent := stored[jobAnswer](t, s, "ana", "POST", path+"/run-best", "")
	run := done(sent)
	repeats := map[string]int64{plain: 2, other: 3}[before.Best.Run]
	if got := m.asked.Load() - asked; got != 20*repeats {
		t.Errorf("the model was asked %d times: a fresh run of 20 cases asks as often as the best run, %d times each",
			got, repeats)
	}
	after := stored[server.ExperimentDetails](t, s, "ana", "GET", path, "")
	if after.Best == nil || !after.Best.Confirmed || after.Best.Run != run || after.Among == nil ||
		slices.ContainsFunc(sent.Warnings, changed) {
		t.Fatalf("the best after a run of both: %+v, among %+v; warnings %v", after.Best, after.Among, sent.Warnings)
	}
	line := stored[server.Timeline](t, s, "ana", "GET", path+"/timeline", "")
	last := line.Entries[len(line.Entries)-1]
	var complete map[string]any
	for _, e := range s.events(t, "ana") {
		if e["type"] == "tool_eval_complete" && e["eval_id"] == run {
			complete = e
		}
	}
	if complete["avg_score"] != *last.Score || complete["baseline_score"] != *line.BaselineScore ||
		complete["delta"] != *last.Delta {
		t.Errorf("the last event says %v, the timeline %v, %v, %v", complete, *last.Score, *line.BaselineScore,
			*last.Delta)
	}

	// A different suite is refused, and an edited one is reported.
	if code, body := s.ask(t, "ana", "POST", "/api/tool-eval",
		fmt.Sprintf(`{"suite_id": %q, "experiment_id": %q, "models": ["offline/lexical"]}`, s.keepSuite(t, "ana", 2),
			made.ID)); code != 422 || !strings.Contains(body, "body.experiment_id") {
		t.Errorf("an experiment about another suite: %d %s", code, body)
	}
	give[any](t, s, "ana", "POST", "/api/tool-suites/"+suite+"/cases",
		`{"prompt": "How is the weather in cityY?", "expected_tool": "weather_now"}`)
	sent = stored[jobAnswer](t, s, "ana", "POST", path+"/run-best", `{"repeats": 1}`)
	done(sent)
	if !slices.ContainsFunc(sent.Warnings, changed) {
		t.Errorf("an edited suite: %v", sent.Warnings)
	}
}
