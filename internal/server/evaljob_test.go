// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package server_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/callvet/callvet/internal/app/results"
	"github.com/callvet/callvet/internal/job"
	"github.com/callvet/callvet/internal/server"
	"github.com/callvet/callvet/internal/server/api"
)

var askedCity = regexp.MustCompile(`weather in city(\d+|X)\?`)

// moody is a server of a model that answers by the number of the city, or not.
type moody struct {
	*httptest.Server
	open atomic.Int64 // requests that it has not ended
}

// newMoody calls do for each city, with -1 for the case that expects no call. "" is the right
// answer, and a number is a status. wait keeps the request until it is given up, and any other
// result is the city.
func newMoody(t *testing.T, do func(city int) string) *moody {
	t.Helper()
	m := &moody{}
	m.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		m.open.Add(1)
		defer m.open.Add(-1)
		b, _ := io.ReadAll(r.Body)
		found := askedCity.FindSubmatch(b)
		if found == nil {
			http.Error(w, "no city", http.StatusBadRequest)
			return
		}
		city, err := strconv.Atoi(string(found[1]))
		if err != nil {
			city = -1
		}
		said := do(city)
		if said == "wait" {
			<-r.Context().Done()
			return
		}
		if status, err := strconv.Atoi(said); err == nil {
			http.Error(w, `{"error":{"message":"no"}}`, status)
			return
		}
		if said == "" {
			said = fmt.Sprintf("city%d", city)
		}
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w,
			`{"model":"m","choices":[{"finish_reason":"tool_calls","message":{"role":"assistant","tool_calls":[{"id":"1","type":"function","function":{"name":"weather_now","arguments":"{\"city\":\"%s\"}"}}]}}],"usage":{"prompt_tokens":50,"completion_tokens":10,"total_tokens":60}}`, said)
	}))
	t.Cleanup(m.Close)
	return m
}

// eval sends a job for a user; more are further members of the request, with a comma before.
func (s *site) eval(t *testing.T, as, suite, url, more string) jobAnswer {
	t.Helper()
	code, body := s.ask(t, as, "POST", "/api/tool-eval",
		fmt.Sprintf(`{"suite_id":%q,"targets":[{"provider_key":"openai","model_id":"m1","base_url":%q}]%s}`,
			suite, url, more))
	return decode[jobAnswer](t, code, 202, body)
}

// verdicts are those in the events of each case, in order.
func verdicts(list []map[string]any) map[string][]string {
	out := map[string][]string{}
	for _, e := range list {
		if e["type"] == "tool_eval_result" {
			out[e["test_case"].(string)] = append(out[e["test_case"].(string)], e["verdict"].(string))
		}
	}
	return out
}

// TestEvalRetriesErrors: attempts with errors at the end of the server are asked again at the next
// start and get a second event with the result; all others have one event. An attempt that fails
// again has no second event.
func TestEvalRetriesErrors(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.private(t)
	var mended atomic.Bool
	m := newMoody(t, func(city int) string {
		switch {
		case city == 2 || city == 5 && !mended.Load() || city == 8 && !mended.Load():
			return "400"
		case (city >= 12 || city < 0) && !mended.Load():
			return "wait"
		}
		return ""
	})
	stop := s.work(t)
	suite := s.keepSuite(t, "ana", 20)
	sent := s.eval(t, "ana", suite, m.URL, `,"concurrency":4`)
	for deadline := time.Now().Add(60 * time.Second); len(verdicts(s.events(t, "ana"))) < 12; time.Sleep(
		10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("told: %v", verdicts(s.events(t, "ana")))
		}
	}
	stop()
	mended.Store(true)
	again := s.restart(t)
	again.work(t)
	if j := again.awaitJob(t, "ana", sent.JobID, "done"); j.Attempt != 2 || j.Done != 20 {
		t.Errorf("done: %+v", j)
	}
	want := map[string][]string{"none": {"fail"}, "c2": {"error"}, "c5": {"error", "pass"}, "c8": {"error", "pass"}}
	for i := range 19 {
		if id := fmt.Sprintf("c%d", i); want[id] == nil {
			want[id] = []string{"pass"}
		}
	}
	if d := cmp.Diff(want, verdicts(again.events(t, "ana"))); d != "" {
		t.Errorf("told (-want +got):\n%s", d)
	}
	code, body := again.ask(t, "ana", "GET", "/api/jobs/"+sent.JobID+"/events?limit=6", "")
	list := decode[struct{ Events []map[string]any }](t, code, 200, body).Events
	progress := slices.IndexFunc(list, func(e map[string]any) bool { return e["type"] == "tool_eval_progress" })
	if len(list) != 6 || list[5]["type"] != "job_completed" || progress < 0 {
		t.Fatalf("newest events: %s", body)
	}
	// An attempt that was asked again counts once, with its last outcome.
	counted := []any{map[string]any{
		"model": "openai/m1", "done": 20.0, "total": 20.0, "passed": 18.0, "failed": 1.0,
		"errors": 1.0,
	}}
	if d := cmp.Diff(counted, list[progress]["targets"]); d != "" || list[progress]["current"] != 20.0 {
		t.Errorf("counted (-want +got):\n%s\nof %v", d, list[progress])
	}
}

// TestEvalDelta: the last event of a run in an experiment compares it with the baseline, as the timeline does.
func TestEvalDelta(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.private(t)
	s.work(t)
	suite := s.keepSuite(t, "ana", 10)
	right := newMoody(t, func(int) string { return "" })
	wrong := newMoody(t, func(city int) string {
		if city%3 == 0 {
			return "elsewhere"
		}
		return ""
	})
	complete := func(run string) map[string]any {
		t.Helper()
		list := s.events(t, "ana")
		i := slices.IndexFunc(list,
			func(e map[string]any) bool { return e["type"] == "tool_eval_complete" && e["eval_id"] == run })
		if i < 0 {
			t.Fatalf("nothing was told of the end of run %s", run)
		}
		return list[i]
	}
	base := s.eval(t, "ana", suite, right.URL, "")
	s.awaitJob(t, "ana", base.JobID, "done")
	first := complete(base.ResultRef)
	if first["avg_score"] == nil || first["delta"] != nil || first["baseline_score"] != nil {
		t.Errorf("without an experiment: %v", first)
	}
	made := stored[server.ExperimentDetails](t, s, "ana", "POST", "/api/experiments",
		fmt.Sprintf(`{"name":"e","suite_id":%q,"baseline_eval_id":%q}`, suite, base.ResultRef))
	next := s.eval(t, "ana", suite, wrong.URL, fmt.Sprintf(`,"experiment_id":%q`, made.ID))
	s.awaitJob(t, "ana", next.JobID, "done")
	got := complete(next.ResultRef)
	score, delta := got["avg_score"].(float64), got["delta"].(float64)
	if !cmp.Equal(got["baseline_interval"], first["avg_interval"]) || first["avg_interval"] == nil {
		t.Errorf("the baseline has %v, its run %v", got["baseline_interval"], first["avg_interval"])
	}
	if got["baseline_score"] != first["avg_score"] || delta >= 0 || delta != score-first["avg_score"].(float64) {
		t.Errorf("with a baseline: %v, the baseline: %v", got, first)
	}
	line := stored[server.Timeline](t, s, "ana", "GET", "/api/experiments/"+made.ID+"/timeline", "")
	i := slices.IndexFunc(line.Entries, func(e server.TimelineEntry) bool { return e.ID == next.ResultRef })
	if i < 0 || *line.Entries[i].Delta != delta || *line.Entries[i].Score != score ||
		*line.BaselineScore != got["baseline_score"] || line.BaselineInterval == nil {
		t.Errorf("timeline %+v, the event: %v", line, got)
	}
}

// TestEvalTimeout: a job that exceeds its time fails, its requests end, and received answers stay.
func TestEvalTimeout(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.private(t)
	m := newMoody(t, func(city int) string {
		if city < 3 && city >= 0 {
			return ""
		}
		return "wait"
	})
	s.work(t)
	suite := s.keepSuite(t, "ana", 10)
	sent := s.eval(t, "ana", suite, m.URL, `,"timeout":1`)
	j := s.awaitJob(t, "ana", sent.JobID, "failed")
	if j.Error != "the job ran out of its time: 1s" {
		t.Errorf("failed: %+v", j)
	}
	for deadline := time.Now().Add(10 * time.Second); m.open.Load() > 0; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("%d requests are open", m.open.Load())
		}
	}
	list := s.events(t, "ana")
	if last := list[len(list)-1]; last["type"] != "job_failed" || last["error"] != j.Error ||
		last["result_ref"] != sent.ResultRef {
		t.Errorf("last event: %v", last)
	}
	if d := cmp.Diff(map[string][]string{"c0": {"pass"}, "c1": {"pass"}, "c2": {"pass"}}, verdicts(list)); d != "" {
		t.Errorf("told (-want +got):\n%s", d)
	}
	page := stored[results.AttemptsPage](t, s, "ana", "GET", "/api/runs/"+sent.ResultRef+"/cells", "")
	if page.Total != 3 {
		t.Errorf("%d attempts are stored: %+v", page.Total, page)
	}
}

// TestEvalPriority: jobs begin by their priority, and those of one priority in the order of their
// arrival.
func TestEvalPriority(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.private(t)
	m := newMoody(t, func(int) string { return "" })
	if code, body := s.ask(t, "root", "PATCH", "/api/users/user_root", `{"max_jobs":1}`); code != 200 {
		t.Fatalf("limit: %d %s", code, body)
	}
	suite := s.keepSuite(t, "root", 2)
	var ids []string
	for _, priority := range []int{0, -5, 0, 7, 0} { // no worker yet: the first has the slot
		ids = append(ids,
			s.eval(t, "root", suite, m.URL, fmt.Sprintf(`,"no_cache":true,"priority":%d`, priority)).JobID)
	}
	s.work(t)
	for _, id := range ids {
		s.awaitJob(t, "root", id, "done")
	}
	var begun []string
	for _, e := range s.events(t, "root") {
		if e["type"] == "job_started" {
			begun = append(begun, e["job_id"].(string))
		}
	}
	if want := []string{ids[0], ids[3], ids[2], ids[4], ids[1]}; !slices.Equal(begun, want) {
		t.Errorf("begun in the order %s, sent as %s", strings.Join(begun, " "), strings.Join(ids, " "))
	}
}

// TestEvalGivesWay: a long run leaves its worker to the next job, and loses no answer that was on
// its way. In the end it is done, with every attempt made once.
func TestEvalGivesWay(t *testing.T) {
	t.Parallel()
	s := newSite(t, func(c *api.Config) { c.Workers, c.JobShift = 1, time.Millisecond })
	s.private(t)
	var asked atomic.Int64
	reached, release, short := make(chan struct{}), make(chan struct{}), make(chan struct{})
	var cities sync.Map
	long := newMoody(t, func(city int) string {
		n, _ := cities.LoadOrStore(city, new(atomic.Int64))
		n.(*atomic.Int64).Add(1)
		if asked.Add(1) == 20 {
			close(reached)
		}
		if asked.Load() >= 20 {
			<-release
			select { // the rest of the run is slow until the other job is done
			case <-short:
			case <-time.After(20 * time.Millisecond):
			}
		}
		return ""
	})
	quick := newMoody(t, func(int) string { return "" })
	suite, other := s.keepSuite(t, "root", 200), s.keepSuite(t, "ana", 2)
	s.work(t)
	first := s.eval(t, "root", suite, long.URL, `,"no_cache":true`)
	<-reached
	second := s.eval(t, "ana", other, quick.URL, `,"no_cache":true`)
	close(release)
	s.awaitJob(t, "ana", second.JobID, "done")
	close(short)
	s.awaitJob(t, "root", first.JobID, "done")
	code, body := s.ask(t, "root", "GET", "/api/jobs/"+first.JobID, "")
	if got := decode[job.Job](t, code, 200, body); got.Attempt < 2 || got.Done != got.Total {
		t.Errorf("the long job did not give way, or is not whole: %s", body)
	}
	cities.Range(func(city, n any) bool {
		if n := n.(*atomic.Int64).Load(); n != 1 {
			t.Errorf("city %v was asked for %d times", city, n)
		}
		return true
	})
	for id, list := range verdicts(s.events(t, "root")) {
		if len(list) != 1 {
			t.Errorf("case %s was told %d times", id, len(list))
		}
	}
}
