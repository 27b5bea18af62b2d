// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package server_test

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/account"
	"github.com/callvet/callvet/internal/server"
	"github.com/callvet/callvet/internal/server/api"
	"github.com/callvet/callvet/internal/store/rows"
	"github.com/callvet/callvet/stats/gate"
)

// clock is the time of a server, moved by a test; look lets the server check once for due
// schedules.
type clock struct {
	mu   sync.Mutex
	now  time.Time
	ask  chan struct{}
	done chan struct{}
	send func() // messages for webhooks
}

// monday is when these tests begin.
func monday() time.Time { return time.Date(2026, 3, 2, 5, 59, 0, 0, time.UTC) }

func newClock() *clock {
	return &clock{now: monday(), ask: make(chan struct{}), done: make(chan struct{})}
}

func (c *clock) time() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *clock) add(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

func (c *clock) tune(cfg *api.Config) {
	cfg.Now = c.time
	cfg.Wait = func(ctx context.Context, _ time.Duration) error {
		select {
		case c.done <- struct{}{}:
		case <-ctx.Done():
			return ctx.Err()
		}
		select {
		case <-c.ask:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// schedules serves the schedules until stop is called. It has looked once when it returns.
func (c *clock) schedules(t *testing.T, s *site) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() { defer close(ended); server.RunSchedules(ctx, s.srv) }()
	<-c.done
	c.send = func() {
		if err := server.SendMessages(ctx, s.srv); err != nil && ctx.Err() == nil {
			t.Error(err)
		}
	}
	stop = sync.OnceFunc(func() { cancel(); <-ended })
	t.Cleanup(stop)
	return stop
}

// look moves the clock, and lets the server check for due schedules, and then send messages.
func (c *clock) look(d time.Duration) {
	c.add(d)
	c.ask <- struct{}{}
	<-c.done
	c.send()
}

// history is the history of a schedule, the newest first.
func (s *site) history(t *testing.T, id string) []server.ScheduleRun {
	t.Helper()
	return give[api.Page[server.ScheduleRun]](t, s, "ana", "GET", "/api/schedules/"+id+"/history", "").Items
}

// settled waits until no run of a schedule is running.
func (c *clock) settled(t *testing.T, s *site, id string) []server.ScheduleRun {
	t.Helper()
	for _, r := range s.history(t, id) {
		if r.State == "running" {
			s.awaitJob(t, "ana", r.Job, "done")
		}
	}
	c.look(time.Second)
	list := s.history(t, id)
	if slices.ContainsFunc(list, func(r server.ScheduleRun) bool { return r.State == "running" }) {
		t.Fatalf("a run goes on: %+v", list)
	}
	return list
}

func causes(list []server.ScheduleRun) string {
	out := []string{}
	for i := range list {
		out = append(out, list[i].Cause+" "+list[i].State)
	}
	return strings.Join(out, ", ")
}

func (s *site) schedule(t *testing.T, suite, more string) server.Schedule {
	t.Helper()
	return give[server.Schedule](t, s, "ana", "POST", "/api/schedules",
		fmt.Sprintf(`{"name":"nightly","eval":{"suite_id":%q,"models":["offline/lexical"]}%s}`, suite, more))
}

func TestSchedule(t *testing.T) {
	t.Parallel()
	c := newClock()
	s := newSite(t, c.tune)
	quit := s.work(t)
	suite := s.keepSuite(t, "ana", 4)
	made := s.schedule(t, suite,
		`,"cron":"0 6 * * *","baseline_last_good":true,"gates":"gates: [{metric: pass_rate, at_least: 0.001, min_n: 1}]"`)
	if made.Next == nil || !made.Next.Equal(monday().Add(time.Minute)) || !*made.Enabled {
		t.Fatalf("made: %+v", made)
	}
	stop := c.schedules(t, s)
	c.look(59 * time.Second)
	if list := s.history(t, made.ID); len(list) != 0 {
		t.Fatalf("too early: %s", causes(list))
	}
	c.look(time.Second)
	first := c.settled(t, s, made.ID)
	if causes(first) != "time done" || first[0].Verdict != gate.Pass || first[0].Totals.Attempts != 4 ||
		first[0].Baseline != "" || !first[0].Due.Equal(*made.Next) ||
		first[0].Links["run"] != "/api/runs/"+first[0].Run {
		t.Fatalf("first: %+v", first)
	}
	// The same gates give the same verdicts on the run elsewhere.
	said := give[api.GateVerdict](t, s, "ana", "POST", "/api/runs/"+first[0].Run+"/gate",
		`{"gates":"gates: [{metric: pass_rate, at_least: 0.001, min_n: 1}]"}`)
	if said.Report.Verdict != first[0].Verdict || said.Report.Sentence != first[0].Sentence {
		t.Errorf("gates: %+v, history: %+v", said.Report, first[0])
	}
	// A server that was away for three days makes one run of the times that it missed.
	stop()
	quit() // one server does the jobs of a store
	c.add(72 * time.Hour)
	again := s.restart(t, c.tune)
	c.schedules(t, again)
	again.work(t)
	second := c.settled(t, again, made.ID)
	if causes(second) != "time done, time done" || second[0].Baseline != first[0].Run || len(second[0].Changes) != 1 ||
		second[0].Changes[0].Change.Point != 0 || !second[0].Due.Equal(monday().Add(24*time.Hour+time.Minute)) {
		t.Fatalf("after three days: %+v", second)
	}
	now := give[server.Schedule](t, again, "ana", "GET", "/api/schedules/"+made.ID, "")
	if !now.Next.Equal(monday().Add(4*24*time.Hour + time.Minute)) {
		t.Errorf("next: %v", now.Next)
	}
	if code, _ := again.ask(t, "ana", "DELETE", "/api/schedules/"+made.ID, ""); code != 204 {
		t.Errorf("delete: %d", code)
	}
	if code, _ := again.ask(t, "ana", "GET", "/api/runs/"+first[0].Run, ""); code != 200 {
		t.Errorf("the run went with the schedule: %d", code)
	}
}

// A process that ends after it has submitted a run, and before it has written so, makes no second one.
func TestScheduleOnce(t *testing.T) {
	t.Parallel()
	c := newClock()
	s := newSite(t, c.tune)
	made := s.schedule(t, s.keepSuite(t, "ana", 3), `,"cron":"0 6 * * *"`)
	stop := c.schedules(t, s)
	c.look(time.Minute)
	first := s.history(t, made.ID)
	stop()
	for _, text := range []string{
		"DELETE FROM schedule_runs",
		fmt.Sprintf("UPDATE schedules SET next_at = %d", made.Next.UnixMilli()),
	} {
		if _, err := s.db.Handle().ExecContext(t.Context(), text); err != nil {
			t.Fatal(err)
		}
	}
	c.add(time.Hour)
	again := s.restart(t, c.tune)
	c.schedules(t, again)
	second := again.history(t, made.ID)
	if len(first) != 1 || len(second) != 1 || second[0].Run != first[0].Run || second[0].Job != first[0].Job {
		t.Fatalf("first %+v\nsecond %+v", first, second)
	}
	var runs int
	if err := s.db.Handle().QueryRowContext(t.Context(), "SELECT count(*) FROM runs").Scan(&runs); err != nil ||
		runs != 1 {
		t.Errorf("%d runs, %v", runs, err)
	}
}

func TestScheduleOfEdits(t *testing.T) {
	t.Parallel()
	c := newClock()
	s := newSite(t, c.tune)
	s.work(t)
	suite := s.keepSuite(t, "ana", 4)
	catalogue := give[suiteAnswer](t, s, "ana", "POST", "/api/catalogues", searched).ID
	made := s.schedule(t, suite,
		fmt.Sprintf(`,"on":["suite_changed","catalogue_changed"],"catalogue_id":%q,"baseline_last_good":true`,
			catalogue))
	c.schedules(t, s)
	c.look(time.Hour)
	edit := func(i int) {
		give[suiteAnswer](t, s, "ana", "PATCH", suites+"/"+suite, fmt.Sprintf(`{"system_prompt":"Version %d."}`, i))
	}
	for i := range 20 { // 20 edits in a row
		edit(i)
		c.look(10 * time.Second)
	}
	if list := s.history(t, made.ID); len(list) != 0 {
		t.Fatalf("while it was edited: %s", causes(list))
	}
	c.look(20 * time.Second)
	list := c.settled(t, s, made.ID)
	if causes(list) != "suite_changed done" || list[0].Verdict != "" || list[0].Totals == nil {
		t.Fatalf("after the edits: %+v", list)
	}
	if e, err := s.db.Rows().RunEntry(t.Context(), list[0].Run); err != nil || e.SuiteVersion != 21 {
		t.Errorf("run of version %d, %v", e.SuiteVersion, err)
	}
	c.look(time.Hour)
	if list := s.history(t, made.ID); len(list) != 1 {
		t.Errorf("nothing was edited: %s", causes(list))
	}
	give[suiteAnswer](t, s, "ana", "PUT", "/api/catalogues/"+catalogue, searched)
	c.look(31 * time.Second)
	list = c.settled(t, s, made.ID)
	if causes(list) != "catalogue_changed done, suite_changed done" || list[0].Baseline != list[1].Run ||
		len(list[0].Changes) != 1 {
		t.Errorf("after the catalogue: %+v", list)
	}
	for i := range 61 { // edits that never end put a run off for ten minutes
		edit(100 + i)
		c.look(10 * time.Second)
	}
	if list := s.history(t, made.ID); len(list) != 3 || list[0].Cause != "suite_changed" {
		t.Errorf("edits without an end: %s", causes(list))
	}
}

func TestScheduleStillGoing(t *testing.T) {
	t.Parallel()
	c := newClock()
	s := newSite(t, c.tune)
	s.private(t)
	hold := make(chan struct{})
	m := newModel(t, hold)
	s.work(t)
	suite := s.keepSuite(t, "ana", 2)
	made := give[server.Schedule](t, s, "ana", "POST", "/api/schedules",
		fmt.Sprintf(
			`{"name":"often","cron":"* * * * *","eval":{"suite_id":%q,"targets":[{"provider_key":"openai","model_id":"m","base_url":%q}]}}`, suite, m.URL))
	c.schedules(t, s)
	c.look(time.Minute)
	c.look(time.Minute)
	list := s.history(t, made.ID)
	if causes(list) != "time skipped, time running" || !strings.Contains(list[0].Error, list[1].Run) {
		t.Fatalf("history: %+v", list)
	}
	if code, body := s.ask(t, "ana", "POST", "/api/schedules/"+made.ID+"/run", ""); code != 409 ||
		!strings.Contains(body, list[1].Run) {
		t.Errorf("run now: %d %s", code, body)
	}
	close(hold)
	if list = c.settled(t, s, made.ID); causes(list) != "time skipped, time done" {
		t.Fatalf("history: %+v", list)
	}
	now := give[server.ScheduleRun](t, s, "ana", "POST", "/api/schedules/"+made.ID+"/run", "")
	if now.State != "running" || now.Cause != "manual" || now.Run == "" {
		t.Errorf("run now: %+v", now)
	}
	if list = c.settled(t, s, made.ID); causes(list) != "manual done, time skipped, time done" {
		t.Errorf("history: %+v", list)
	}
}

func TestScheduleStops(t *testing.T) {
	t.Parallel()
	for what, c := range map[string]struct {
		do  func(t *testing.T, s *site, suite string)
		why string
	}{
		"owner removed": {func(t *testing.T, s *site, _ string) {
			if err := s.users.Remove(t.Context(), people()["root"], "user_ana"); err != nil {
				t.Fatal(err)
			}
		}, "removed"},
		"owner is a viewer": {func(t *testing.T, s *site, _ string) {
			role := account.Viewer
			if _, err := s.users.ChangeUser(t.Context(), people()["root"], "user_ana",
				account.UserChange{Role: &role}); err != nil {
				t.Fatal(err)
			}
		}, "viewer"},
		"suite not shared any more": {func(t *testing.T, s *site, suite string) {
			give[suiteAnswer](t, s, "bo", "PATCH", suites+"/"+suite, `{"shared":false}`)
		}, "not found"},
		"suite deleted": {func(t *testing.T, s *site, suite string) {
			give[any](t, s, "bo", "DELETE", suites+"/"+suite, "")
		}, "not found"},
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			clock := newClock()
			s := newSite(t, clock.tune)
			suite := s.keepSuite(t, "bo", 2)
			give[suiteAnswer](t, s, "bo", "PATCH", suites+"/"+suite, `{"shared":true}`)
			made := s.schedule(t, suite, `,"cron":"0 6 * * *"`)
			clock.schedules(t, s)
			c.do(t, s, suite)
			clock.look(time.Minute)
			clock.look(24 * time.Hour)
			after := give[server.Schedule](t, s, "root", "GET", "/api/schedules/"+made.ID, "")
			if *after.Enabled || !strings.Contains(after.Stopped, c.why) || after.Next != nil {
				t.Errorf("%+v", after)
			}
			list := give[api.Page[server.ScheduleRun]](t, s, "root", "GET",
				"/api/schedules/"+made.ID+"/history", "").Items
			if len(list) != 1 || list[0].State != "failed" || list[0].Error != after.Stopped {
				t.Errorf("history: %+v", list)
			}
		})
	}
}

// A run that cannot be made is in the history, and the schedule continues.
func TestScheduleFails(t *testing.T) {
	t.Parallel()
	c := newClock()
	s := newSite(t, c.tune)
	s.work(t)
	suite := s.keepSuite(t, "ana", 3)
	made := give[server.Schedule](t, s, "ana", "POST", "/api/schedules",
		fmt.Sprintf(
			`{"name":"x","cron":"0 6 * * *","eval":{"suite_id":%q,"models":["offline/lexical"],"filter":["c0"]}}`,
			suite))
	give[suiteAnswer](t, s, "ana", "DELETE", suites+"/"+suite+"/cases/c0", "")
	c.schedules(t, s)
	c.look(time.Minute)
	list := s.history(t, made.ID)
	if causes(list) != "time failed" || !strings.Contains(list[0].Error, "filter") || list[0].Run != "" {
		t.Fatalf("history: %+v", list)
	}
	if now := give[server.Schedule](t, s, "ana", "GET", "/api/schedules/"+made.ID, ""); !*now.Enabled ||
		!now.Next.Equal(monday().Add(24*time.Hour+time.Minute)) {
		t.Errorf("after: %+v", now)
	}
}

func TestScheduleRefused(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	suite := s.keepSuite(t, "ana", 3)
	other := s.ran(t, "ana", "", 1)
	// as if it were one of this suite
	if _, err := s.db.Handle().ExecContext(t.Context(), "UPDATE run_entries SET suite_id = $1", suite); err != nil {
		t.Fatal(err)
	}
	foreign := s.ran(t, "ana", "", 1) // of another suite
	eval := fmt.Sprintf(`"eval":{"suite_id":%q,"models":["offline/lexical"]}`, suite)
	for body, want := range map[string]string{
		`{"name":"x",` + eval +
			`,"cron":"61 * * * *"}`: "body.cron",
		`{"name":"x",` + eval +
			`,"cron":"@daily"}`: "body.cron",
		`{"name":"x",` + eval +
			`,"cron":"* * * * *","time_zone":"Mars/Olympus"}`: "body.time_zone",
		`{"name":"x",` + eval +
			`,"time_zone":"UTC"}`: "body.time_zone",
		`{"name":"x",` + eval +
			`,"on":["catalogue_changed"]}`: "body.catalogue_id",
		`{"name":"x",` + eval +
			`,"on":["moon"]}`: "body.on[0]",
		`{"name":"x",` + eval +
			`,"gates":"gates: [{metric: pass_rate}]"}`: "body.gates",
		`{"name":"x",` + eval + `,"baseline_eval_id":"` + other +
			`","gates":"gates: [{metric: nothing, at_least: 1}]"}`: "body.gates",
		`{"name":"x",` + eval + `,"baseline_eval_id":"` + foreign +
			`"}`: "body.baseline_eval_id",
		`{"name":"x\n",` + eval +
			`}`: "body.name",
		`{"name":"x","eval":{"suite_id":"` + suite +
			`"}}`: "body.eval.models",
		`{"name":"x","eval":{"suite_id":"` + suite +
			`","models":["nobody/x"]}}`: "body.eval.models",
		`{"name":"x","eval":{"suite_id":"` + suite +
			`","models":["offline/lexical"],"priority":5}}`: "body.eval.priority",
	} {
		code, answer := s.ask(t, "ana", "POST", "/api/schedules", body)
		if code != 422 && code != 403 || !strings.Contains(answer, `"location":"`+want+`"`) {
			t.Errorf("%s: %d %s", body, code, answer)
		}
	}
	if list := give[api.Page[server.Schedule]](t, s, "ana", "GET", "/api/schedules", ""); len(list.Items) != 0 {
		t.Errorf("something was made: %+v", list)
	}
	made := s.schedule(t, suite, "")
	changed := give[server.Schedule](t, s, "ana", "PUT", "/api/schedules/"+made.ID,
		`{"name":"weekly",`+eval+`,"cron":"0 6 * * MON","time_zone":"Europe/Stockholm","enabled":false}`)
	if changed.Name != "weekly" || changed.Next != nil || *changed.Enabled {
		t.Errorf("changed: %+v", changed)
	}
	if list := give[api.Page[server.Schedule]](t, s, "bo", "GET", "/api/schedules", ""); len(list.Items) != 0 {
		t.Errorf("bo sees %+v", list)
	}
}

// receiver is a webhook that answers with a status, and keeps the messages.
type receiver struct {
	*httptest.Server
	mu     sync.Mutex
	status int
	got    []*http.Request
	bodies []string
}

func newReceiver(t *testing.T, status int) *receiver {
	t.Helper()
	r := &receiver{status: status}
	r.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		b, _ := io.ReadAll(req.Body)
		r.mu.Lock()
		defer r.mu.Unlock()
		r.got, r.bodies = append(r.got, req), append(r.bodies, string(b))
		w.Header().Set("Location", "/elsewhere")
		w.WriteHeader(r.status)
	}))
	t.Cleanup(r.Close)
	return r
}

func (r *receiver) answer(status int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.status = status
}

// signed reports whether a message has the signature that its receiver makes of the secret.
func signed(t *testing.T, secret string, h http.Header, body string) bool {
	t.Helper()
	key, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(secret, "whsec_"))
	if err != nil {
		t.Fatal(err)
	}
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte(h.Get("webhook-id") + "." + h.Get("webhook-timestamp") + "." + body))
	return h.Get("webhook-signature") == "v1,"+base64.StdEncoding.EncodeToString(mac.Sum(nil))
}

func TestWebhook(t *testing.T) {
	t.Parallel()
	c := newClock()
	s := newSite(t, c.tune)
	s.private(t)
	quit := s.work(t)
	r := newReceiver(t, http.StatusServiceUnavailable)
	made := s.schedule(t, s.keepSuite(t, "ana", 3), fmt.Sprintf(`,"cron":"0 6 * * *","webhook_url":%q`, r.URL))
	if !strings.HasPrefix(made.Secret, "whsec_") {
		t.Fatalf("made: %+v", made)
	}
	if _, text := s.ask(t, "ana", "GET", "/api/schedules/"+made.ID, ""); strings.Contains(text, "whsec_") {
		t.Error("the secret is told again")
	}
	var sealed []byte
	if err := s.db.Handle().QueryRowContext(t.Context(), "SELECT secret FROM schedules").Scan(&sealed); err != nil ||
		len(sealed) == 0 || strings.Contains(string(sealed), made.Secret) {
		t.Errorf("the secret in the store: %q %v", sealed, err)
	}
	if h := give[server.HookState](t, s, "ana", "POST", "/api/schedules/"+made.ID+"/webhook/test",
		""); h.State != "failed" || h.Status != 503 {
		t.Errorf("test: %+v", h)
	}
	stop := c.schedules(t, s)
	c.look(time.Minute)
	list := c.settled(t, s, made.ID) // the receiver is down
	if h := list[0].Webhook; h == nil || h.State != "waiting" || h.Attempts != 1 || h.Status != 503 || h.Next == nil {
		t.Fatalf("down: %+v", h)
	}
	c.look(5 * time.Second)
	if h := s.history(t, made.ID)[0].Webhook; h.State != "waiting" || h.Attempts != 2 {
		t.Fatalf("still down: %+v", h)
	}
	c.look(time.Second) // too early for the third attempt
	stop()
	quit()
	r.answer(http.StatusFound) // a redirect is not followed
	again := s.restart(t, c.tune)
	c.schedules(t, again)
	c.look(5 * time.Minute)
	if h := again.history(t, made.ID)[0].Webhook; h.State != "waiting" || h.Attempts != 3 || h.Status != 302 {
		t.Fatalf("redirect: %+v", h)
	}
	r.answer(http.StatusNoContent)
	c.look(30 * time.Minute)
	if h := again.history(t, made.ID)[0].Webhook; h.State != "delivered" || h.Attempts != 4 || h.Error != "" {
		t.Fatalf("up: %+v", h)
	}
	c.look(time.Hour)
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.got) != 5 {
		t.Fatalf("%d messages", len(r.got))
	}
	for i, req := range r.got {
		if !signed(t, made.Secret, req.Header, r.bodies[i]) || signed(t, made.Secret, req.Header, r.bodies[i]+" ") {
			t.Errorf("message %d: %v", i, req.Header)
		}
		if i > 0 &&
			(req.URL.Path != "/" || req.Header.Get("webhook-id") != list[0].ID ||
				!strings.Contains(r.bodies[i], `"eval_id":"`+list[0].Run+`"`) ||
				!strings.Contains(r.bodies[i], `"type":"schedule.run"`)) {
			t.Errorf("message %d: %s %v %s", i, req.URL, req.Header, r.bodies[i])
		}
	}
}

func TestWebhookRefused(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	suite := s.keepSuite(t, "ana", 2)
	for _, address := range []string{
		"http://127.0.0.1:1/", "http://example.com/", "ftp://example.com",
		"https://ana:x@example.com/", "x", "https://",
	} {
		code, body := s.ask(t, "ana", "POST", "/api/schedules",
			fmt.Sprintf(`{"name":"x","eval":{"suite_id":%q,"models":["offline/lexical"]},"webhook_url":%q}`,
				suite, address))
		if code != 422 && code != 403 || !strings.Contains(body, "webhook_url") {
			t.Errorf("%s: %d %s", address, code, body)
		}
	}
	r := newReceiver(t, http.StatusOK)
	// a private address, which is looked at when it is asked
	made := s.schedule(t, suite, fmt.Sprintf(`,"webhook_url":%q`, strings.Replace(r.URL, "http:", "https:", 1)))
	if h := give[server.HookState](t, s, "ana", "POST", "/api/schedules/"+made.ID+"/webhook/test",
		""); h.State != "failed" || !strings.Contains(h.Error, "refused") || strings.Contains(h.Error, "https://") {
		t.Errorf("a private address: %+v", h)
	}
}

// TestServeSendsMessages: a server that serves sends the messages of a schedule, while another
// receiver does not answer.
func TestServeSendsMessages(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.private(t)
	suite := s.keepSuite(t, "ana", 2)
	held := make(chan struct{})
	hangs := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-held }))
	t.Cleanup(hangs.Close)
	t.Cleanup(func() { close(held) })
	answers := make(chan struct{}, 100)
	quick := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { answers <- struct{}{} }))
	t.Cleanup(quick.Close)
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	go func() { ended <- server.Serve(ctx, s.srv, l) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Errorf("Serve: %v", err)
		}
	})
	for _, url := range []string{hangs.URL, quick.URL} {
		made := s.schedule(t, suite, fmt.Sprintf(`,"webhook_url":%q`, url))
		give[server.ScheduleRun](t, s, "ana", "POST", "/api/schedules/"+made.ID+"/run", "")
	}
	select {
	case <-answers:
	case <-time.After(30 * time.Second):
		t.Fatal("no message")
	}
}

func TestScheduleTimes(t *testing.T) {
	t.Parallel()
	s := newSite(t, newClock().tune)
	got := give[server.ScheduleTimes](t, s, "ana", "GET",
		"/api/schedule-times?cron=0+3+*+*+1-5&time_zone=Europe/Stockholm", "").Times
	want := []string{
		"2026-03-03T02:00:00Z", "2026-03-04T02:00:00Z", "2026-03-05T02:00:00Z", "2026-03-06T02:00:00Z",
		"2026-03-09T02:00:00Z",
	}
	for i, at := range want {
		if len(got) != len(want) || got[i].UTC().Format(time.RFC3339) != at {
			t.Fatalf("got %v, want %v", got, want)
		}
	}
	for _, bad := range []string{"cron=0+3", "cron=0+3+*+*+*&time_zone=Mars/Base", "cron=0+0+30+2+*", "time_zone=UTC"} {
		if code, text := s.ask(t, "ana", "GET", "/api/schedule-times?"+bad, ""); code != 422 ||
			!strings.Contains(text, "cron") && !strings.Contains(text, "time_zone") {
			t.Errorf("%s: %d %s", bad, code, text)
		}
	}
}

// TestManualKey: a key that a user sends with a run by hand is never that of a run by time.
func TestManualKey(t *testing.T) {
	t.Parallel()
	c := newClock()
	s := newSite(t, c.tune)
	s.work(t)
	made := s.schedule(t, s.keepSuite(t, "ana", 1), `,"cron":"* * * * *"`)
	req, err := http.NewRequestWithContext(t.Context(), "POST", s.URL+"/api/schedules/"+made.ID+"/run", nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+account.TokenPrefix+"ana")
	req.Header.Set("Idempotency-Key", fmt.Sprintf("at %d", made.Next.UnixMilli()))
	res, err := s.Client().Do(req)
	if err != nil {
		t.Fatal(err)
	}
	_ = res.Body.Close()
	if res.StatusCode != http.StatusAccepted {
		t.Fatalf("%d", res.StatusCode)
	}
	s.awaitJob(t, "ana", s.history(t, made.ID)[0].Job, "done")
	c.schedules(t, s)
	c.look(2 * time.Minute)
	if list := c.settled(t, s, made.ID); !strings.Contains(causes(list), "time done") {
		t.Errorf("the schedule did not run by time: %s", causes(list))
	}
}

// TestWebhooksTakeTurns: of a user with many messages only two are sent at once, so that others'
// are sent, too.
func TestWebhooksTakeTurns(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	suite := s.keepSuite(t, "ana", 1)
	many := s.schedule(t, suite, `,"cron":"0 6 * * *"`)
	other := s.schedule(t, suite, `,"cron":"0 6 * * *"`)
	err := s.db.Change(t.Context(), "test", func(q *rows.Queries) error {
		add := func(id, of string, at int64) error {
			_, err := q.AddScheduleRun(t.Context(),
				rows.AddScheduleRunParams{
					ID: id, ScheduleID: of, DueKey: id, Cause: "time", State: "done",
					Outcome: []byte("{}"), Error: []byte{}, HookState: "waiting", HookAt: at, HookError: []byte{},
					HookBody: []byte("{}"),
				})
			return err
		}
		for i := range int64(30) {
			if err := add(fmt.Sprintf("many%02d", i), many.ID, i); err != nil {
				return err
			}
		}
		return add("other", other.ID, 100)
	})
	if _, serr := s.db.Handle().ExecContext(t.Context(), "UPDATE schedules SET user_id = 'user_bo' WHERE id = $1",
		other.ID); err != nil || serr != nil {
		t.Fatal(err, serr)
	}
	due, err := s.db.Rows().DueHooks(t.Context(), rows.DueHooksParams{Now: 1000, OfUser: 2, AtMost: 8})
	var ids []string
	for i := range due {
		ids = append(ids, due[i].CheckedScheduleRun.ID)
	}
	if err != nil || strings.Join(ids, " ") != "many00 many01 other" {
		t.Errorf("%v: %v", ids, err)
	}
}

// TestScheduleOfCatalogue: a run that searches a catalogue shows the effect of an edit of it.
func TestScheduleOfCatalogue(t *testing.T) {
	t.Parallel()
	c := newClock()
	s := newSite(t, c.tune)
	s.work(t)
	suite := give[struct {
		ID string `json:"suite_id"`
	}](t, s, "ana", "POST", "/api/tool-eval/import", questions).ID
	catalogue := give[suiteAnswer](t, s, "ana", "POST", "/api/catalogues", searched).ID
	eval := func(target string) string { return fmt.Sprintf(`{"suite_id":%q,"models":[%q]}`, suite, target) }
	target := "retrieve:" + catalogue + "?k=1"

	if code, body := s.ask(t, "bo", "POST", "/api/tool-eval",
		fmt.Sprintf(`{"suite_id":%q,"models":[%q]}`, s.keepSuite(t, "bo", 2), target)); code != 404 ||
		!strings.Contains(body, "catalogue") {
		t.Errorf("the catalogue of another user: %d %s", code, body)
	}
	unused := give[server.Schedule](t, s, "ana", "POST", "/api/schedules",
		fmt.Sprintf(`{"name":"unused","eval":%s,"on":["catalogue_changed"],"catalogue_id":%q,"enabled":false}`,
			eval("offline/lexical"), catalogue))
	if len(unused.Warnings) == 0 || unused.Warnings[len(unused.Warnings)-1].Code != "catalogue-unused" {
		t.Errorf("a catalogue that no target searches: %+v", unused.Warnings)
	}
	made := give[server.Schedule](t, s, "ana", "POST", "/api/schedules",
		`{"name":"tools","eval":`+eval(target)+`,"on":["catalogue_changed"],"baseline_last_good":true}`)
	if made.Catalogue != catalogue ||
		slices.ContainsFunc(made.Warnings, func(n callvet.Notice) bool { return n.Code == "catalogue-unused" }) {
		t.Errorf("the catalogue of the only target: %+v", made)
	}
	c.schedules(t, s)
	passes := func(want int) {
		t.Helper()
		list := c.settled(t, s, made.ID)
		if len(list) == 0 || list[0].Totals == nil || list[0].Totals.Verdicts.Pass != want ||
			list[0].Totals.Attempts != 3 {
			t.Fatalf("%d of 3 questions pass: %+v", want, list)
		}
	}
	give[server.ScheduleRun](t, s, "ana", "POST", "/api/schedules/"+made.ID+"/run", "")
	passes(2)
	give[suiteAnswer](t, s, "ana", "PUT", "/api/catalogues/"+catalogue,
		strings.ReplaceAll(searched, "traffic", "other"))
	c.look(31 * time.Second)
	passes(1)
	if list := s.history(t, made.ID); causes(list) != "catalogue_changed done, manual done" ||
		len(list[0].Changes) != 1 {
		t.Errorf("history: %+v", list)
	}
}

// TestScheduleOfJumpingClock: a clock that ran ahead and went back leaves no schedule waiting, for its time or
// after an edit, while the server runs and over a restart.
func TestScheduleOfJumpingClock(t *testing.T) {
	t.Parallel()
	c := newClock()
	s := newSite(t, c.tune)
	quit := s.work(t)
	suite := s.keepSuite(t, "ana", 2)
	made := s.schedule(t, suite, `,"cron":"0 6 * * *","on":["suite_changed"]`)
	stop := c.schedules(t, s)
	runs := func() int { return len(s.history(t, made.ID)) }
	const ahead = 365 * 24 * time.Hour
	c.look(ahead) // the times that were missed are one run
	c.settled(t, s, made.ID)
	c.add(-ahead)
	c.look(0)
	next := give[server.Schedule](t, s, "ana", "GET", "/api/schedules/"+made.ID, "").Next
	if next == nil || next.Sub(c.time()) > 24*time.Hour || runs() != 1 {
		t.Fatalf("next at %v, now %v, %d runs", next, c.time(), runs())
	}
	c.look(time.Hour) // the time of the run that was made ahead
	if runs() != 1 {
		t.Errorf("a time that came twice: %d runs", runs())
	}
	c.look(24 * time.Hour)
	c.settled(t, s, made.ID)
	if runs() != 2 {
		t.Errorf("the next day: %d runs", runs())
	}

	c.add(ahead)
	give[suiteAnswer](t, s, "ana", "PATCH", suites+"/"+suite, `{"system_prompt":"Edited."}`)
	stop()
	quit()
	c.add(-ahead)
	c.schedules(t, s.restart(t, c.tune))
	c.look(time.Second)
	list := s.history(t, made.ID)
	if len(list) != 3 ||
		!slices.ContainsFunc(list, func(r server.ScheduleRun) bool { return r.Cause == "suite_changed" }) {
		t.Errorf("an edit in the future: %s", causes(list))
	}
}
