// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package server_test

import (
	"strings"
	"testing"

	"github.com/callvet/callvet/internal/server/api"
)

// TestMetrics: admins read the counts, with routes as labels and without names or ids; others only
// if the metrics are open.
func TestMetrics(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.work(t)
	id := s.startEval(t, s.keepSuite(t, "ana", 2))
	s.awaitJob(t, "ana", id, "done")
	s.ask(t, "ana", "GET", "/api/no-such-route", "")
	c, err := s.dial(t, "ana", "", nil)
	if err != nil {
		t.Fatal(err)
	}
	message(t, c)
	for as, want := range map[string]int{"": 401, "ana": 403, "vera": 403} {
		if code, _ := s.ask(t, as, "GET", "/metrics", ""); code != want {
			t.Errorf("%q: %d, want %d", as, code, want)
		}
	}
	code, text := s.ask(t, "root", "GET", "/metrics", "")
	if code != 200 {
		t.Fatalf("%d %s", code, text)
	}
	for _, line := range []string{
		`callvet_http_requests_total{route="POST /api/tool-eval",status="202"} 1`,
		`callvet_http_requests_total{route="none",status="404"} 1`,
		`callvet_http_request_duration_seconds_count{route="POST /api/tool-eval"} 1`, `callvet_jobs{state="done"} 1`,
		`callvet_jobs{state="failed"} 0`,
		`callvet_running_jobs_total 0`, `callvet_shards{state="queued"} 0`, `callvet_shards{state="running"} 0`,
		`callvet_sockets 1`, `callvet_followers 1`,
	} {
		if !strings.Contains(text, line+"\n") {
			t.Errorf("it lacks %s:\n%s", line, text)
		}
	}
	for _, secret := range []string{"ana", "root", id, "no-such-route"} {
		if strings.Contains(text, `"`+secret) || strings.Contains(text, "/"+secret) {
			t.Errorf("it tells %q", secret)
		}
	}
	open := newSite(t, func(c *api.Config) { c.MetricsOpen = true })
	if code, text := open.ask(t, "", "GET", "/metrics", ""); code != 200 ||
		!strings.Contains(text, "callvet_events_total 0\n") {
		t.Errorf("opened: %d", code)
	}
}
