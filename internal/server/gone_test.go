// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package server_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/callvet/callvet/internal/account"
	"github.com/callvet/callvet/internal/server"
	"github.com/callvet/callvet/internal/server/api"
)

// TestDeletionsAreAudited: every deletion is in the audit log with its user, and nothing of a run
// remains.
func TestDeletionsAreAudited(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	run := s.ran(t, "ana", "", 1)
	give[any](t, s, "ana", "GET", "/api/runs/"+run, "") // its report is kept from now on
	ids := map[api.Kind]string{api.KindRun: run}
	paths := map[api.Kind]string{
		api.KindRun: "/api/tool-eval/history/", api.KindSuite: "/api/tool-suites/",
		api.KindCatalogue: "/api/catalogues/", api.KindExperiment: "/api/experiments/",
		api.KindTraces: "/api/traces/", api.KindGate: "/api/gates/", api.KindPrompt: "/api/prompts/",
	}
	for kind, path := range paths {
		if ids[kind] == "" {
			ids[kind] = s.object(t, kind, "user_ana", false)
		}
		if code, body := s.ask(t, "ana", "DELETE", path+ids[kind], ""); code != 204 {
			t.Fatalf("delete %s: %d %s", kind, code, body)
		}
	}
	log := stored[api.Page[account.Entry]](t, s, "root", "GET", "/api/audit?limit=100", "")
	found := map[string]string{}
	for _, e := range log.Items {
		if e.User == "user_ana" {
			found[e.Action] = e.Object
		}
	}
	for kind, id := range ids {
		if found[string(kind)+".delete"] != id {
			t.Errorf("the audit log does not tell that the %s %s was deleted: %v", kind, id, found)
		}
	}
	for _, table := range []string{"run_entries", "run_documents", "gate_verdicts", "select_runs"} {
		var n int
		if err := s.db.Handle().QueryRowContext(t.Context(), "SELECT count(*) FROM "+table+" WHERE run_id = $1",
			run).Scan(&n); err != nil || n > 0 {
			t.Errorf("%d rows stay in %s: %v", n, table, err)
		}
	}
}

// TestRemovedUserStops: the jobs of a removed user end, and his keys are sent nowhere any more.
func TestRemovedUserStops(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.private(t)
	s.work(t)
	hold := make(chan struct{})
	m := newModel(t, hold)
	suite := s.keepSuite(t, "ana", 40)
	send := func() string { return s.eval(t, "ana", suite, m.URL, `,"no_cache":true`).JobID }
	jobs := []string{send(), send(), send()} // two run, one waits
	s.awaitJob(t, "ana", jobs[0], "running")
	for deadline := time.Now().Add(time.Minute); m.asked.Load() == 0 && time.Now().Before(deadline); {
		time.Sleep(time.Millisecond)
	}
	if code, body := s.ask(t, "root", "DELETE", "/api/users/user_ana", ""); code != 204 {
		t.Fatalf("%d %s", code, body)
	}
	for _, id := range jobs {
		s.awaitJob(t, "root", id, "cancelled")
	}
	asked := m.asked.Load()
	close(hold)
	if now := m.asked.Load(); now != asked || asked > 16 {
		t.Errorf("the model was asked %d times, and then %d times", asked, now)
	}
}

// TestLimitRaised: jobs that waited for a limit start when it is raised.
func TestLimitRaised(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.private(t)
	s.work(t)
	m := newModel(t, make(chan struct{}))
	limit := func(n int) {
		t.Helper()
		if code, body := s.ask(t, "root", "PATCH", "/api/users/user_ana",
			fmt.Sprintf(`{"max_jobs": %d}`, n)); code != 200 {
			t.Fatalf("%d %s", code, body)
		}
	}
	limit(1)
	suite := s.keepSuite(t, "ana", 4)
	first := s.eval(t, "ana", suite, m.URL, `,"no_cache":true`)
	second := s.eval(t, "ana", suite, m.URL, `,"no_cache":true`)
	s.awaitJob(t, "ana", first.JobID, "running")
	if _, body := s.ask(t, "ana", "GET", "/api/jobs/"+second.JobID, ""); decode[jobAnswer](t, 200, 200,
		body).Status != "queued" {
		t.Fatalf("a second job of a user with a limit of one: %s", body)
	}
	limit(2)
	s.awaitJob(t, "ana", second.JobID, "running")
	close(m.hold)
	s.awaitJob(t, "ana", first.JobID, "done")
	s.awaitJob(t, "ana", second.JobID, "done")
}

// TestBaselineNoLongerShared: another user's run as the baseline of an experiment shows nothing
// after it is no longer shared.
func TestBaselineNoLongerShared(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	run := s.ran(t, "bo", "", 1)
	share := func(shared bool) {
		t.Helper()
		if code, body := s.ask(t, "bo", "PATCH", "/api/runs/"+run, fmt.Sprintf(`{"shared": %t}`, shared)); code != 204 {
			t.Fatalf("%d %s", code, body)
		}
	}
	share(true)
	s.suiteOf(t, "ana", "suite_1")
	made := stored[server.ExperimentDetails](t, s, "ana", "POST", "/api/experiments",
		`{"name": "x", "suite_id": "suite_1"}`)
	path := "/api/experiments/" + made.ID
	if got := stored[server.ExperimentDetails](t, s, "ana", "PUT", path+"/baseline",
		fmt.Sprintf(`{"eval_id": %q}`, run)); got.BaselineScore == nil {
		t.Fatalf("%+v", got)
	}
	s.ran(t, "ana", made.ID, 1)
	look := func() (*float64, server.Timeline) {
		return stored[server.ExperimentDetails](t, s, "ana", "GET", path, "").BaselineScore, stored[server.Timeline](t, s,
			"ana", "GET", path+"/timeline", "")
	}
	if score, line := look(); score == nil || line.BaselineScore == nil || line.Entries[0].Delta == nil {
		t.Errorf("shared: %v, %+v", score, line)
	}
	share(false)
	if score, line := look(); score != nil || line.BaselineScore != nil || line.Entries[0].Delta != nil ||
		line.Entries[0].Targets[0].Change != nil {
		t.Errorf("not shared: %v, %+v", score, line)
	}
}
