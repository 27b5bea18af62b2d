// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package server_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/callvet/callvet/internal/server"
	"github.com/callvet/callvet/panel"
)

// TestAgain: a run with lost attempts is resumed as a job of its own and keeps its attempts. Then
// its failures run again as another run, without stored answers.
func TestAgain(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.private(t)
	s.work(t)
	var mended, right atomic.Bool
	m := newMoody(t, func(city int) string {
		switch {
		case city%3 == 0 && !mended.Load():
			return "500"
		case city%4 == 1 && !right.Load():
			return "elsewhere"
		}
		return ""
	})
	suite := s.keepSuite(t, "ana", 10)
	sent := s.eval(t, "ana", suite, m.URL, `,"retries":0`)
	s.awaitJob(t, "ana", sent.JobID, "done")
	run := "/api/runs/" + sent.ResultRef
	line := stored[server.EvalDetails](t, s, "ana", "GET", "/api/tool-eval/history/"+sent.ResultRef, "")
	if line.Total != 10 {
		t.Errorf("%d attempts, and 10 were planned, those that were lost among them", line.Total)
	}
	if line.Lost == 0 || line.UserName != "ana" || line.Resume == nil {
		t.Fatalf("lost %d of %d, made by %q", line.Lost, line.Planned, line.UserName)
	}
	if code, answer := s.ask(t, "bo", "POST", run+"/resume", "{}"); code != 404 {
		t.Errorf("another user: %d %s", code, answer)
	}

	vain := stored[server.Submitted](t, s, "ana", "POST", run+"/resume", "")
	s.awaitJob(t, "ana", vain.JobID, "done")
	mended.Store(true)
	calls := stored[server.EvalDetails](t, s, "ana", "GET", "/api/tool-eval/history/"+sent.ResultRef, "").Requests
	less := stored[server.Submitted](t, s, "ana", "POST", run+"/resume", fmt.Sprintf(`{"max_calls":%d}`, calls+1))
	s.awaitJob(t, "ana", less.JobID, "failed")
	some := stored[server.EvalDetails](t, s, "ana", "GET", "/api/tool-eval/history/"+sent.ResultRef, "")
	if some.Lost != line.Lost-1 {
		t.Errorf("with one call more %d are lost, and %d were", some.Lost, line.Lost)
	}
	again := stored[server.Submitted](t, s, "ana", "POST", run+"/resume", `{"max_calls":1000}`)
	if again.ResultRef != sent.ResultRef || again.JobID == sent.JobID {
		t.Fatalf("resumed: %+v", again)
	}
	if j := s.awaitJob(t, "ana", again.JobID, "done"); j.Done != j.Total || j.Total == 0 {
		t.Errorf("the job: %+v", j)
	}
	whole := stored[server.EvalDetails](t, s, "ana", "GET", "/api/tool-eval/history/"+sent.ResultRef, "")
	if whole.Lost != 0 || whole.Resume != nil || whole.Judged != line.Planned || whole.Job != again.JobID ||
		whole.Verdicts.Fail != line.Verdicts.Fail {
		t.Errorf("afterwards: %+v, before: %+v", whole.Verdicts, line.Verdicts)
	}
	if code, answer := s.ask(t, "ana", "POST", run+"/resume", "{}"); code != 409 ||
		!strings.Contains(answer, "lost no attempt") {
		t.Errorf("nothing is lost: %d %s", code, answer)
	}

	right.Store(true)
	other := stored[server.Submitted](t, s, "ana", "POST", run+"/failed", `{"name":"mended"}`)
	s.awaitJob(t, "ana", other.JobID, "done")
	got := stored[server.EvalDetails](t, s, "ana", "GET", "/api/tool-eval/history/"+other.ResultRef, "")
	if want := (panel.Verdicts{Pass: whole.Verdicts.Fail}); got.Name != "mended" ||
		got.Verdicts.Pass+got.Verdicts.Fail != want.Pass || got.Verdicts.Pass == 0 {
		t.Errorf("the failures again: %+v, of %d", got.Verdicts, whole.Verdicts.Fail)
	}
	exp := stored[server.ExperimentDetails](t, s, "ana", "POST", "/api/experiments",
		fmt.Sprintf(`{"name":"e","suite_id":%q}`, suite))
	s.answers(t, 204, "ana", "PATCH", run, fmt.Sprintf(`{"experiment_id":%q}`, exp.ID))
	for _, gone := range []bool{false, true} {
		want := exp.ID
		if gone {
			want = ""
			s.damage(t, "UPDATE experiments SET user_id = 'user_bo'")
		}
		sent := stored[server.Submitted](t, s, "ana", "POST", run+"/failed", "{}")
		s.awaitJob(t, "ana", sent.JobID, "done")
		if got := stored[server.EvalDetails](t, s, "ana", "GET", "/api/tool-eval/history/"+sent.ResultRef,
			""); got.Experiment != want {
			t.Errorf("the failures again are in experiment %q, want %q", got.Experiment, want)
		}
	}
	if code, answer := s.ask(t, "bo", "POST", run+"/failed", fmt.Sprintf(`{"name":%q}`, "mine")); code != 404 {
		t.Errorf("another user: %d %s", code, answer)
	}
}

// TestRerunSendsNoKeyToOthers: a user wrote the address of a judge into a run. An admin who repeats the
// run sends no key there.
func TestRerunSendsNoKeyToOthers(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.private(t)
	s.work(t)
	var asked atomic.Int64
	judge := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		asked.Add(1)
		http.Error(w, "no", http.StatusBadRequest)
	}))
	t.Cleanup(judge.Close)
	sent := give[jobAnswer](t, s, "ana", "POST", "/api/tool-eval", fmt.Sprintf(
		`{"suite_id":%q,"models":["offline/lexical"],"judge":{"judge":["task"],"judge_model":["openai/m1"],"judge_base_url":%q}}`, s.keepSuite(t, "ana", 2), judge.URL))
	s.awaitJob(t, "ana", sent.JobID, "done")
	before := asked.Load()
	for _, way := range []string{"/resume", "/failed"} {
		if code, answer := s.ask(t, "root", "POST", "/api/runs/"+sent.ResultRef+way, "{}"); code != 403 ||
			!strings.Contains(answer, "another user wrote") {
			t.Errorf("%s: %d %s", way, code, answer)
		}
	}
	if n := asked.Load(); n != before || n == 0 {
		t.Errorf("the judge was asked %d times, and %d times before", n, before)
	}
}
