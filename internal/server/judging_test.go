// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package server_test

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/callvet/callvet/internal/app"
	"github.com/callvet/callvet/internal/app/runs"
	"github.com/callvet/callvet/internal/server"
)

type judgedAnswer struct {
	Judgings []struct {
		ID                                                 string
		Version, Questions, Answered, Pass, Fail, Unscored int
		JudgeID                                            string `json:"judge_id"`
		Verdicts                                           []json.RawMessage
	}
	Majorities []json.RawMessage
}

// TestJudgeRun: a job asks two judges, one of the user's own, about a run; their verdicts are those
// of the App, and a second equal request makes new versions.
func TestJudgeRun(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.private(t)
	var asked atomic.Int64
	judge := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		b, _ := io.ReadAll(r.Body)
		n := asked.Add(1)
		say := fmt.Sprintf(`{"pass": %v, "fail_reasons": [], "unnecessary_calls": [], "notes": "-"}`, n%3 != 0)
		if strings.Contains(string(b), "polite") {
			say = fmt.Sprintf(`{"pass": true, "score": %v}`, 0.5+0.1*float64(n%4))
		}
		text, err := json.Marshal(say)
		if err != nil {
			t.Error(err)
		}
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w,
			`{"model":"m","choices":[{"index":0,"finish_reason":"stop","message":{"role":"assistant","content":%s}}],"usage":{"prompt_tokens":1,"completion_tokens":1}}`, text)
	}))
	t.Cleanup(judge.Close)
	s.work(t)
	run := s.ran(t, "ana", "", 1)
	if none := give[judgedAnswer](t, s, "ana", "GET", "/api/runs/"+run+"/verdicts", ""); none.Judgings == nil ||
		len(none.Judgings) != 0 {
		t.Errorf("no judge was asked: %+v", none)
	}
	body := fmt.Sprintf(
		`{"judge":["task","polite"],"prompt":"Is the answer polite?","schema":{"type":"object","properties":{"pass":{"type":"boolean"},"score":{"type":"number"}},"required":["pass"]},
		"targets":[{"provider_key":"openai","model_id":"m1","base_url":%q}],"no_cache":true,"timeout":77}`, judge.URL)
	code, answer := s.ask(t, "ana", "POST", "/api/runs/"+run+"/judge", body)
	sent := decode[jobAnswer](t, code, 202, answer)
	done := s.awaitJob(t, "ana", sent.JobID, "done")
	if done.TimeoutMS != 77_000 {
		t.Errorf("the job may take %d ms, and 77 s were asked for", done.TimeoutMS)
	}
	if list, _ := done.Detail["judgings"].([]any); len(list) != 2 || done.Detail["eval_id"] != run || done.Done == 0 ||
		done.Done != done.Total {
		t.Errorf("%+v", done)
	}
	got := give[judgedAnswer](t, s, "ana", "GET", "/api/runs/"+run+"/verdicts", "")
	if len(got.Judgings) != 2 {
		t.Fatalf("%+v", got)
	}
	questions := 0
	for _, v := range got.Judgings {
		questions += v.Questions
		if v.Questions == 0 || v.Answered != v.Questions || v.Pass+v.Fail != v.Questions ||
			len(v.Verdicts) != v.Questions {
			t.Errorf("%+v", v)
		}
	}
	if int(asked.Load()) != questions {
		t.Errorf("%d asked, %d questions", asked.Load(), questions)
	}
	told := 0
	for _, e := range s.events(t, "ana") {
		if e["type"] == "judge_result" || e["kind"] == "judge_result" {
			told++
		}
	}
	if told != 2 {
		t.Errorf("%d of 2 results are told: %v", told, s.events(t, "ana"))
	}
	if d := sameJudged(t, s, run); d != "" {
		t.Error(d)
	}
	one := give[judgedAnswer](t, s, "ana", "GET", "/api/runs/"+run+"/verdicts?judging="+got.Judgings[1].ID, "")
	if len(one.Judgings) != 1 || one.Judgings[0].ID != got.Judgings[1].ID {
		t.Errorf("%+v", one)
	}
	code, answer = s.ask(t, "ana", "POST", "/api/runs/"+run+"/judge", body)
	s.awaitJob(t, "ana", decode[jobAnswer](t, code, 202, answer).JobID, "done")
	list := give[struct {
		Items []struct {
			ID      string
			Version int
		}
	}](t, s, "ana", "GET", "/api/runs/"+run+"/judgings", "")
	if len(list.Items) != 4 || list.Items[3].Version != 2 {
		t.Errorf("%+v", list)
	}
	for body, says := range map[string]string{
		`{"judge":["task"]}`:                                                "which model",
		`{"judge":["task"],"judge_model":["openai/m1"]}`:                    "OPENAI_API_KEY",
		`{"judge":["none such"],"judge_model":["offline/lexical"]}`:         "none such",
		`{"judge":["task"],"judge_model":["offline/lexical"]}`:              "answers no question",
		`{"judge":["task"],"judge_model":["exec:true"]}`:                    "command",
		`{"judge":["task"],"judge_model":["x/y"],"prompt":"a"}`:             "of your own",
		`{"judge":["task","task"],"judge_model":["offline/lexical"]}`:       "twice",
		`{"judge":["task"],"judge_model":["offline/lexical"],"samples":-1}`: "samples",
	} {
		if code, answer := s.ask(t, "ana", "POST", "/api/runs/"+run+"/judge", body); code/100 != 4 ||
			!strings.Contains(answer, says) {
			t.Errorf("%s: %d %s", body, code, answer)
		}
	}
	judgesInTimeline(t, s, run, list.Items[0].ID)
}

// judgesInTimeline checks that the judges of a run are in the timeline of its experiment, each with
// its mean score and the interval. A judge that cannot be read is there too.
func judgesInTimeline(t *testing.T, s *site, run, first string) {
	t.Helper()
	s.suiteOf(t, "ana", "suite_1")
	made := stored[server.ExperimentDetails](t, s, "ana", "POST", "/api/experiments",
		`{"name":"judged","suite_id":"suite_1"}`)
	if code, body := s.ask(t, "ana", "PATCH", "/api/runs/"+run, `{"experiment_id":"`+made.ID+`"}`); code >= 300 {
		t.Fatal(code, body)
	}
	polite := 0
	for _, e := range stored[server.Timeline](t, s, "ana", "GET", "/api/experiments/"+made.ID+"/timeline", "").Entries {
		if e.Type != "judge" {
			continue
		}
		if e.Run != run || e.Judge == "" || e.Status != "done" || len(e.Warnings) > 0 {
			t.Errorf("%+v", e)
		}
		if !strings.HasPrefix(e.Judge, "polite") {
			continue
		}
		polite++
		if e.Score == nil || e.Interval == nil || math.Abs(e.Interval.Point-*e.Score) > 1e-9 || e.Interval.N == 0 ||
			!e.Interval.Usable() ||
			e.Interval.Lower >= *e.Score || e.Interval.Upper <= *e.Score {
			t.Errorf("score %v, interval %+v", e.Score, e.Interval)
		}
	}
	if polite != 2 {
		t.Errorf("%d of 2 judgings of polite are in the timeline", polite)
	}
	lostJudging(t, s, run, first)
	line := stored[server.Timeline](t, s, "ana", "GET", "/api/experiments/"+made.ID+"/timeline", "")
	if len(line.Entries) != 5 || line.Entries[1].ID != first ||
		!strings.Contains(strings.Join(line.Entries[1].Warnings, ""), "is lost") {
		t.Errorf("a judging that cannot be read: %+v", line.Entries)
	}
}

// TestReportInTimeline: the whole report of a judge on a target is in the timeline, without an
// interval: it is no sample of tasks.
func TestReportInTimeline(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.private(t)
	judge := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		const report = `{"grade": "B", "strengths": ["knows cities"], "weaknesses": ["units"], "recommendations": ["say the unit"],
			"tools": [{"tool": "get_weather", "grade": "C", "arguments": [{"argument": "units", "note": "left out"}]}]}`
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w,
			`{"model":"m","choices":[{"index":0,"finish_reason":"stop","message":{"role":"assistant","content":%s}}]}`,
			quoted(t, report))
	}))
	t.Cleanup(judge.Close)
	s.work(t)
	s.suiteOf(t, "ana", "suite_1")
	made := stored[server.ExperimentDetails](t, s, "ana", "POST", "/api/experiments",
		`{"name":"judged","suite_id":"suite_1"}`)
	run := s.ran(t, "ana", made.ID, 1)
	code, answer := s.ask(t, "ana", "POST", "/api/runs/"+run+"/judge",
		fmt.Sprintf(`{"judge":["report"],"targets":[{"provider_key":"openai","model_id":"m1","base_url":%q}]}`,
			judge.URL))
	s.awaitJob(t, "ana", decode[jobAnswer](t, code, 202, answer).JobID, "done")
	entries := stored[server.Timeline](t, s, "ana", "GET", "/api/experiments/"+made.ID+"/timeline", "").Entries
	if len(entries) != 2 || entries[1].Type != "judge" || entries[1].Score == nil || *entries[1].Score != 0.75 ||
		entries[1].Interval != nil {
		t.Fatalf("%+v", entries)
	}
	got := string(jsonOf(entries[1].Reports))
	for _, part := range []string{`"B"`, "knows cities", "units", "say the unit", "get_weather", `"C"`, "left out"} {
		if len(entries[1].Reports) != 1 || !strings.Contains(got, part) {
			t.Errorf("no %s in %s", part, got)
		}
	}
}

// lostJudging checks that an unreadable judging of a run is counted as lost, and that everything
// else is shown.
func lostJudging(t *testing.T, s *site, run, id string) {
	t.Helper()
	s.damage(t, "UPDATE runs SET manifest='{' WHERE id=?", id)
	type lost struct{ ID, Problem string }
	got := give[struct {
		judgedAnswer
		Lost []lost
	}](t, s, "ana", "GET", "/api/runs/"+run+"/verdicts", "")
	if len(got.Judgings) != 3 || len(got.Lost) != 1 || got.Lost[0].ID != id ||
		!strings.Contains(got.Lost[0].Problem, "read manifest of run "+id) {
		t.Errorf("%d judgings, lost %+v", len(got.Judgings), got.Lost)
	}
	list := give[struct{ Items []lost }](t, s, "ana", "GET", "/api/runs/"+run+"/judgings", "")
	if len(list.Items) != 4 ||
		!slices.ContainsFunc(list.Items, func(l lost) bool { return l.ID == id && l.Problem != "" }) {
		t.Errorf("%+v", list)
	}
	for _, path := range []string{"/api/runs/" + run, "/api/tool-eval/history/" + run} {
		if told := give[lost](t, s, "ana", "GET", path, ""); !strings.Contains(told.Problem,
			"a judging is lost: read manifest of run "+id) {
			t.Errorf("%s: %q", path, told.Problem)
		}
	}
}

// sameJudged compares the API's results with the App's.
func sameJudged(t *testing.T, s *site, run string) string {
	t.Helper()
	want, err := runs.Show(t.Context(), s.app, runs.JudgeShowRequest{Side: app.Side{Run: run}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	_, got := s.ask(t, "ana", "GET", "/api/runs/"+run+"/verdicts", "")
	if text := string(jsonOf(want)); compact(t, []byte(got)) != compact(t, []byte(text)) {
		return got + "\n" + text
	}
	return ""
}

// TestJudgeGoesOn: a judging that was interrupted by the end of a server continues at the next one.
// No question that was answered is asked again.
func TestJudgeGoesOn(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.private(t)
	var asked, answered atomic.Int64
	hold := make(chan struct{}, 100)
	judge := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		asked.Add(1)
		select {
		case <-hold:
		case <-r.Context().Done():
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w,
			`{"model":"m","choices":[{"index":0,"finish_reason":"stop","message":{"role":"assistant","content":"{\"pass\": true, \"fail_reasons\": [], \"unnecessary_calls\": [], \"notes\": \"-\"}"}}],"usage":{"prompt_tokens":1,"completion_tokens":1}}`)
		answered.Add(1)
	}))
	t.Cleanup(judge.Close)
	stop := s.work(t)
	run := s.ran(t, "ana", "", 1)
	code, answer := s.ask(t, "ana", "POST", "/api/runs/"+run+"/judge",
		fmt.Sprintf(
			`{"judge":["task"],"concurrency":1,"no_cache":true,"targets":[{"provider_key":"openai","model_id":"m1","base_url":%q}]}`, judge.URL))
	sent := decode[jobAnswer](t, code, 202, answer)
	for range 5 {
		hold <- struct{}{}
	}
	for deadline := time.Now().Add(60 * time.Second); asked.Load() < 6 && time.Now().Before(deadline); {
		time.Sleep(5 * time.Millisecond)
	}
	stop()
	s.awaitJob(t, "ana", sent.JobID, "queued")
	close(hold)
	again := s.restart(t)
	again.work(t)
	done := again.awaitJob(t, "ana", sent.JobID, "done")
	got := give[judgedAnswer](t, again, "ana", "GET", "/api/runs/"+run+"/verdicts", "")
	if done.Attempt != 2 || len(got.Judgings) != 1 || got.Judgings[0].Version != 1 ||
		got.Judgings[0].Answered != got.Judgings[0].Questions || got.Judgings[0].Questions < 7 {
		t.Errorf("%+v %+v", done, got.Judgings)
	}
	if n := int(asked.Load()); n > got.Judgings[0].Questions+1 {
		t.Errorf("%d asked for %d questions, with one in flight", n, got.Judgings[0].Questions)
	}
}
