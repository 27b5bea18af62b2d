// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package server_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/account"
)

// work does jobs until stop is called, or the test ends.
func (s *site) work(t *testing.T) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- s.srv.Jobs.Run(ctx) }()
	stop = sync.OnceFunc(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Errorf("jobs: %v", err)
		}
	})
	t.Cleanup(stop)
	return stop
}

// private lets the work of users go to addresses of this machine.
func (s *site) private(t *testing.T) {
	t.Helper()
	if _, err := s.users.SetSettings(t.Context(), people()["root"], account.Settings{Private: true}); err != nil {
		t.Fatal(err)
	}
}

// keepSuite stores a suite of n cases with an entry of a user, and returns the id of this entry.
// The last case expects that nothing is called.
func (s *site) keepSuite(t *testing.T, user string, n int) string {
	t.Helper()
	cases := make([]map[string]any, n)
	for i := range cases {
		cases[i] = map[string]any{
			"id":     fmt.Sprintf("c%d", i),
			"prompt": fmt.Sprintf("How is the weather in city%d?", i), "expected_tool": "weather_now",
			"expected_params": map[string]any{"city": fmt.Sprintf("city%d", i)},
		}
	}
	if n > 1 {
		cases[n-1] = map[string]any{"id": "none", "prompt": "How is the weather in cityX?", "expected_tool": nil}
	}
	text, err := json.Marshal(map[string]any{
		"name": "cities", "test_cases": cases,
		"tools": []any{map[string]any{"type": "function", "function": map[string]any{
			"name": "weather_now", "description": "Current weather of a city.",
			"parameters": json.RawMessage(
				`{"type":"object","properties":{"city":{"type":"string"}},"required":["city"]}`),
		}}},
	})
	if err != nil {
		t.Fatal(err)
	}
	return give[struct {
		ID string `json:"suite_id"`
	}](t, s, user, "POST", "/api/tool-eval/import", string(text)).ID
}

// model is a server of a model that calls the tool with the city that it is asked about, and counts.
type model struct {
	*httptest.Server
	asked atomic.Int64
	hold  chan struct{} // not nil: answers wait for it
}

func newModel(t *testing.T, hold chan struct{}) *model {
	t.Helper()
	m := &model{hold: hold}
	m.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		b, _ := io.ReadAll(r.Body)
		m.asked.Add(1)
		if m.hold != nil {
			select {
			case <-m.hold:
			case <-r.Context().Done():
				return
			}
		}
		at := strings.LastIndex(string(b), "weather in city")
		city, _, _ := strings.Cut(string(b)[at+len("weather in "):], "?")
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w,
			`{"model":"m","choices":[{"finish_reason":"tool_calls","message":{"role":"assistant","tool_calls":[{"id":"1","type":"function","function":{"name":"weather_now","arguments":"{\"city\":\"%s\"}"}}]}}],"usage":{"prompt_tokens":50,"completion_tokens":10,"total_tokens":60}}`, city)
	}))
	t.Cleanup(m.Close)
	return m
}

// decode reads an answer as T.
func decode[T any](t *testing.T, code, want int, body string) (v T) {
	t.Helper()
	if code != want {
		t.Fatalf("status %d, want %d: %s", code, want, body)
	}
	if err := json.Unmarshal([]byte(body), &v); err != nil {
		t.Fatalf("%v: %s", err, body)
	}
	return v
}

type jobAnswer struct {
	JobID     string `json:"job_id"`
	Status    string
	ResultRef string `json:"result_ref"`
	Attempt   int
	Done      int
	Total     int
	Error     string
	Detail    map[string]any
	Warnings  []callvet.Notice
	TimeoutMS int64 `json:"timeout_ms"`
}

// awaitJob polls until a job of a user has a status.
func (s *site) awaitJob(t *testing.T, as, id, want string) jobAnswer {
	t.Helper()
	deadline := time.Now().Add(60 * time.Second)
	for {
		code, body := s.ask(t, as, "GET", "/api/jobs/"+id, "")
		j := decode[jobAnswer](t, code, 200, body)
		if j.Status == want {
			return j
		}
		if time.Now().After(deadline) || slices.Contains([]string{"done", "failed", "cancelled"}, j.Status) {
			t.Fatalf("job is %s, want %s: %s", j.Status, want, body)
		}
		time.Sleep(5 * time.Millisecond)
	}
}

// events are all events of a user.
func (s *site) events(t *testing.T, as string) (list []map[string]any) {
	t.Helper()
	for since := 0; ; {
		code, body := s.ask(t, as, "GET", fmt.Sprintf("/api/events/list?since=%d&limit=1000", since), "")
		page := decode[struct {
			Last   int
			Events []map[string]any
		}](t, code, 200, body)
		for _, e := range page.Events {
			if int(e["seq"].(float64)) != since+1 {
				t.Fatalf("event %v after %d", e, since)
			}
			since++
			list = append(list, e)
		}
		if since == page.Last {
			return list
		}
	}
}

func TestEval(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.private(t)
	m := newModel(t, nil)
	s.work(t)
	suite := s.keepSuite(t, "ana", 30)
	code, body := s.ask(t, "ana", "POST", "/api/tool-eval",
		fmt.Sprintf(
			`{"suite_id":%q,"targets":[{"provider_key":"openai","model_id":"m1","base_url":%q}],"models":["offline/lexical"],
		"tool_choice":"required","system_prompt":{"openai::m1":"Use tools."},"provider_params":{"max_tokens":100,"top_k":3}}`, suite, m.URL))
	sent := decode[jobAnswer](t, code, 202, body)
	if sent.Status != "submitted" || sent.JobID == "" || sent.ResultRef == "" {
		t.Errorf("submitted: %s", body)
	}
	if !slices.ContainsFunc(sent.Warnings, func(n callvet.Notice) bool { return n.Code == "required-abstention" }) {
		t.Errorf("no warning of cases that cannot pass: %s", body)
	}
	done := s.awaitJob(t, "ana", sent.JobID, "done")
	if done.Total != 60 || done.Done != 60 || done.Attempt != 1 || done.Detail["eval_id"] != sent.ResultRef {
		t.Errorf("done: %+v", done)
	}
	if n := m.asked.Load(); n != 30 {
		t.Errorf("the model was asked %d times", n)
	}
	entry, err := s.db.Rows().RunEntry(t.Context(), sent.ResultRef)
	if err != nil || entry.UserID != "user_ana" || entry.SuiteVersion != 1 || entry.JobID != sent.JobID {
		t.Errorf("entry: %+v %v", entry, err)
	}
	count := map[string]int{}
	cells := map[string]int{}
	passed := 0
	for _, e := range s.events(t, "ana") {
		kind := e["type"].(string)
		if e["job_id"] != sent.JobID {
			t.Errorf("event of another job: %v", e)
		}
		if kind != "job_progress" && kind != "tool_eval_progress" && kind != "eval_warning" {
			count[kind]++
		}
		// the floor's attempts are not among total_cases
		if kind == "tool_eval_init" && (e["cases"] != 30.0 || e["total_cases"] != 30.0 || e["total"] != 60.0) {
			t.Errorf("begun with %v", e)
		}
		if kind == "tool_eval_result" {
			if e["error"] != nil {
				t.Fatal(e)
			}
			cells[fmt.Sprint(e["model"], e["test_case"], e["repeat"])]++
			if e["verdict"] == "pass" && strings.HasPrefix(e["model"].(string), "openai") {
				passed++
				if e["actual"] == nil || e["expected"] == nil || e["scores"].(map[string]any)["overall"] != 1.0 {
					t.Errorf("result: %v", e)
				}
			}
		}
	}
	want := map[string]int{
		"job_created": 1, "job_started": 1, "tool_eval_init": 1, "tool_eval_result": 60,
		"tool_eval_summary": 2, "tool_eval_complete": 1, "job_completed": 1,
	}
	if d := cmp.Diff(want, count); d != "" || len(cells) != 60 || passed != 29 {
		t.Errorf("%d cells, %d passed; events (-want +got):\n%s", len(cells), passed, d)
	}
	// Others see nothing of it.
	for _, ask := range [][2]string{
		{"GET", "/api/jobs/" + sent.JobID},
		{"POST", "/api/jobs/" + sent.JobID + "/cancel"},
	} {
		if code, _ := s.ask(t, "bo", ask[0], ask[1], ""); code != 404 {
			t.Errorf("bo: %s %s: %d", ask[0], ask[1], code)
		}
	}
	if code, _ := s.ask(t, "bo", "POST", "/api/tool-eval/cancel",
		fmt.Sprintf(`{"job_id":%q}`, sent.JobID)); code != 404 {
		t.Errorf("bo cancels: %d", code)
	}
	if code, body := s.ask(t, "bo", "GET", "/api/jobs", ""); code != 200 || strings.Contains(body, "job_") {
		t.Errorf("bo's jobs: %d %s", code, body)
	}
	if got := s.events(t, "bo"); len(got) != 0 {
		t.Errorf("bo's events: %v", got)
	}
	for user, n := range map[string]int{
		"": 0, "?user_id=*": 1, "?user_id=user_ana&status=done": 1,
		"?status=failed&user_id=*": 0,
	} {
		code, body := s.ask(t, "root", "GET", "/api/jobs"+user, "")
		if page := decode[struct{ Items []jobAnswer }](t, code, 200, body); len(page.Items) != n {
			t.Errorf("jobs%s: %s", user, body)
		}
	}
	if code, _ := s.ask(t, "bo", "GET", "/api/jobs?user_id=user_ana", ""); code != 403 {
		t.Errorf("bo lists ana's: %d", code)
	}
}

func TestEvalRefuses(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.private(t)
	suite := s.keepSuite(t, "ana", 2)
	for _, c := range []struct {
		as, body string
		code     int
		says     string
	}{
		{"ana", `{"suite_id":"suite_none","models":["offline/lexical"]}`, 404, "suite"},
		{"bo", `{"suite_id":"` + suite + `","models":["offline/lexical"]}`, 404, "suite"},
		{"vera", `{"suite_id":"` + suite + `","models":["offline/lexical"]}`, 403, "role"},
		{"ana", `{"suite_id":"` + suite + `"}`, 422, "models"},
		{"ana", `{"suite_id":"` + suite + `","models":["gpt"]}`, 422, "provider/model"},
		{"ana", `{"suite_id":"` + suite + `","models":["nobody/x"]}`, 422, "nobody"},
		{
			"ana", `{"suite_id":"` + suite + `","models":["offline/lexical"],"system_prompt":{"openai::x":"a"}}`, 422,
			"openai::x",
		},
		{"ana", `{"suite_id":"` + suite + `","models":["offline/lexical"],"system_prompt":3}`, 422, "system_prompt"},
		{
			"ana", `{"suite_id":"` + suite + `","models":["offline/lexical"],"provider_params":{"top_p":"x"}}`,
			422, "top_p",
		},
		{"ana", `{"suite_id":"` + suite + `","models":["offline/lexical"],"temperature":3}`, 422, "temperature"},
		{"ana", `{"suite_id":"` + suite + `","models":["offline/lexical"],"tags":["a,b"]}`, 422, "tags"},
		{
			"ana", `{"suite_id":"` + suite + `","models":["offline/lexical"],"tags":["nosuch"]}`, 422,
			"none of the 2 cases",
		},
		{"ana", `{"suite_id":"` + suite + `","models":["offline/lexical"],"priority":3}`, 403, "priority"},
		{"ana", `{"suite_id":"` + suite + `","models":["offline/lexical"],"experiment_id":"e"}`, 404, "experiment"},
		{"ana", `{"suite_id":"` + suite + `","models":["offline/lexical"],"unknown":1}`, 422, "unknown"},
	} {
		if code, body := s.ask(t, c.as, "POST", "/api/tool-eval", c.body); code != c.code ||
			!strings.Contains(body, c.says) {
			t.Errorf("%s as %s: %d %s, want %d with %q", c.body, c.as, code, body, c.code, c.says)
		}
	}
	if code, body := s.ask(t, "root", "GET", "/api/jobs?user_id=*", ""); code != 200 ||
		strings.Contains(body, "job_id") {
		t.Errorf("what was refused left jobs: %s", body)
	}
	if runs, err := s.db.Runs(t.Context(), 0); err != nil || len(runs) != 0 {
		t.Errorf("what was refused left runs: %v %v", runs, err)
	}
}

func TestEvalKey(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.private(t)
	suite := s.keepSuite(t, "ana", 2)
	ask := func() (int, string) {
		req, err := http.NewRequestWithContext(t.Context(), "POST", s.URL+"/api/tool-eval",
			strings.NewReader(`{"suite_id":"`+suite+`","models":["offline/lexical"]}`))
		if err != nil {
			t.Error(err)
			return 0, ""
		}
		req.Header.Set("Content-Type", "application/json")
		req.Header.Set("Authorization", "Bearer "+account.TokenPrefix+"ana")
		req.Header.Set("Idempotency-Key", "once")
		res, err := s.Client().Do(req)
		if err != nil {
			t.Error(err)
			return 0, ""
		}
		defer res.Body.Close()
		b, _ := io.ReadAll(res.Body)
		return res.StatusCode, string(b)
	}
	var group sync.WaitGroup
	var mu sync.Mutex
	ids, codes := map[string]int{}, map[int]int{}
	for range 5 {
		group.Go(func() {
			code, body := ask()
			var a jobAnswer
			if err := json.Unmarshal([]byte(body), &a); err != nil {
				t.Errorf("%d %s", code, body)
			}
			mu.Lock()
			defer mu.Unlock()
			ids[a.JobID+a.ResultRef]++
			codes[code]++
		})
	}
	group.Wait()
	if len(ids) != 1 || codes[202] != 1 || codes[200] != 4 {
		t.Errorf("jobs %v, codes %v", ids, codes)
	}
	if runs, err := s.db.Runs(t.Context(), 0); err != nil || len(runs) != 1 {
		t.Errorf("runs: %d %v", len(runs), err)
	}
}

// TestEvalCancel: the call in flight is interrupted, and received answers stay.
func TestEvalCancel(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.private(t)
	m := newModel(t, make(chan struct{}))
	s.work(t)
	suite := s.keepSuite(t, "ana", 20)
	code, body := s.ask(t, "ana", "POST", "/api/tool-eval",
		fmt.Sprintf(`{"suite_id":%q,"targets":[{"provider_key":"openai","model_id":"m1","base_url":%q}]}`,
			suite, m.URL))
	sent := decode[jobAnswer](t, code, 202, body)
	for deadline := time.Now().Add(30 * time.Second); m.asked.Load() == 0 && time.Now().Before(deadline); {
		time.Sleep(5 * time.Millisecond)
	}
	began := time.Now()
	if code, body := s.ask(t, "ana", "POST", "/api/tool-eval/cancel",
		fmt.Sprintf(`{"job_id":%q}`, sent.JobID)); code != 200 {
		t.Fatalf("cancel: %d %s", code, body)
	}
	s.awaitJob(t, "ana", sent.JobID, "cancelled")
	t.Logf("cancelled after %v", time.Since(began))
	list := s.events(t, "ana")
	if last := list[len(list)-1]; last["type"] != "job_cancelled" || last["result_ref"] != sent.ResultRef {
		t.Errorf("last event: %v", last)
	}
	if r, err := s.db.Run(t.Context(), sent.ResultRef); err != nil || r.State() != "cancelled" {
		t.Errorf("run: %+v %v", r, err)
	}
}

// TestEvalGoesOn: the server ends in the middle and starts again: each cell is asked once and has
// one event.
func TestEvalGoesOn(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.private(t)
	hold := make(chan struct{}, 1000)
	m := newModel(t, hold)
	stop := s.work(t)
	suite := s.keepSuite(t, "ana", 40)
	code, body := s.ask(t, "ana", "POST", "/api/tool-eval",
		fmt.Sprintf(
			`{"suite_id":%q,"concurrency":4,"targets":[{"provider_key":"openai","model_id":"m1","base_url":%q}]}`,
			suite, m.URL))
	sent := decode[jobAnswer](t, code, 202, body)
	for range 17 {
		hold <- struct{}{}
	}
	results := func() (n int) {
		for _, e := range s.events(t, "ana") {
			if e["type"] == "tool_eval_result" {
				n++
			}
		}
		return n
	}
	for deadline := time.Now().Add(60 * time.Second); results() < 17 && time.Now().Before(deadline); {
		time.Sleep(10 * time.Millisecond)
	}
	stop()
	if j := s.awaitJob(t, "ana", sent.JobID, "queued"); j.Done != 17 {
		t.Errorf("handed back: %+v", j)
	}
	close(hold)
	again := s.restart(t)
	again.work(t)
	if j := again.awaitJob(t, "ana", sent.JobID, "done"); j.Attempt != 2 || j.Done != 40 {
		t.Errorf("done: %+v", j)
	}
	if n := m.asked.Load(); n > 44 {
		t.Errorf("asked %d times for 40 cells with 4 in flight", n)
	}
	told := map[any]int{}
	for _, e := range again.events(t, "ana") {
		if e["type"] == "tool_eval_result" {
			told[e["test_case"]]++
		}
	}
	for c, n := range told {
		if n != 1 {
			t.Errorf("%v was told %d times", c, n)
		}
	}
	if len(told) != 40 {
		t.Errorf("%d cells were told", len(told))
	}
}
