// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package server_test

import (
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/callvet/callvet/internal/server"
	"github.com/callvet/callvet/panel"
)

// TestAgain: a run with lost attempts is resumed as a job of its own and keeps what it has; then its failures run
// again as another run, without stored answers.
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
	line := told[server.EvalDetails](t, s, "ana", "GET", "/api/tool-eval/history/"+sent.ResultRef, "")
	if line.Lost == 0 || line.UserName != "ana" {
		t.Fatalf("lost %d of %d, made by %q", line.Lost, line.Planned, line.UserName)
	}
	if code, answer := s.ask(t, "bo", "POST", run+"/resume", "{}"); code != 404 {
		t.Errorf("another user: %d %s", code, answer)
	}

	mended.Store(true)
	again := told[server.Submitted](t, s, "ana", "POST", run+"/resume", `{"max_calls":1000}`)
	if again.ResultRef != sent.ResultRef || again.JobID == sent.JobID {
		t.Fatalf("resumed: %+v", again)
	}
	if j := s.awaitJob(t, "ana", again.JobID, "done"); j.Done != j.Total || j.Total == 0 {
		t.Errorf("the job: %+v", j)
	}
	whole := told[server.EvalDetails](t, s, "ana", "GET", "/api/tool-eval/history/"+sent.ResultRef, "")
	if whole.Lost != 0 || whole.Judged != line.Planned || whole.Job != again.JobID || whole.Verdicts.Fail != line.Verdicts.Fail {
		t.Errorf("afterwards: %+v, before: %+v", whole.Verdicts, line.Verdicts)
	}
	if code, answer := s.ask(t, "ana", "POST", run+"/resume", "{}"); code != 409 || !strings.Contains(answer, "lost no attempt") {
		t.Errorf("nothing is lost: %d %s", code, answer)
	}

	right.Store(true)
	other := told[server.Submitted](t, s, "ana", "POST", run+"/failed", `{"name":"mended"}`)
	s.awaitJob(t, "ana", other.JobID, "done")
	got := told[server.EvalDetails](t, s, "ana", "GET", "/api/tool-eval/history/"+other.ResultRef, "")
	if want := (panel.Verdicts{Pass: whole.Verdicts.Fail}); got.Name != "mended" || got.Verdicts.Pass+got.Verdicts.Fail != want.Pass || got.Verdicts.Pass == 0 {
		t.Errorf("the failures again: %+v, of %d", got.Verdicts, whole.Verdicts.Fail)
	}
	if code, answer := s.ask(t, "bo", "POST", run+"/failed", fmt.Sprintf(`{"name":%q}`, "mine")); code != 404 {
		t.Errorf("another user: %d %s", code, answer)
	}
}
