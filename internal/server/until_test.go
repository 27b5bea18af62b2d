// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package server_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/callvet/callvet/internal/app"
	"github.com/callvet/callvet/internal/server"
	"github.com/callvet/callvet/internal/server/api"
	"github.com/callvet/callvet/stats/gate"
)

// TestUntilDecided: a run ends when its gates are decided. The job, its events, the gates of the run, its line and
// the timeline contain how early.
func TestUntilDecided(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.private(t)
	s.work(t)
	m := newMoody(t, func(int) string { return "" })
	suite := s.keepSuite(t, "ana", 200)
	base := s.eval(t, "ana", suite, m.URL, "")
	s.awaitJob(t, "ana", base.JobID, "done")
	made := stored[server.ExperimentDetails](t, s, "ana", "POST", "/api/experiments",
		fmt.Sprintf(`{"name":"e","suite_id":%q,"baseline_eval_id":%q}`, suite, base.ResultRef))
	gates := "- pass_rate >= 0.8\n- {metric: pass_rate, baseline: {margin: 0.2}}\n"
	sent := s.eval(t, "ana", suite, m.URL, fmt.Sprintf(`,"until_decided":true,"gates":%q,"baseline_eval_id":%q,"seed":7,
		"target_version":"v1","experiment_id":%q`, gates, base.ResultRef, made.ID))
	done := s.awaitJob(t, "ana", sent.JobID, "done")
	if done.Detail["verdict"] != "PASS" || !strings.HasPrefix(fmt.Sprint(done.Detail["saved"]), "passed after ") {
		t.Errorf("job: %+v", done.Detail)
	}

	last := map[string]app.GateEvidence{}
	cases := 0
	for _, e := range s.events(t, "ana") {
		if e["type"] != "gate_evidence" {
			continue
		}
		b, _ := json.Marshal(e)
		var ev struct {
			app.EvidenceEvent
			Job string `json:"job_id"`
		}
		if err := json.Unmarshal(b, &ev); err != nil || ev.Job != sent.JobID || ev.Of != 200 || ev.Cases <= cases {
			t.Fatalf("after %d cases: %s %v", cases, b, err)
		}
		cases = ev.Cases
		for _, g := range ev.Gates {
			last[g.Gate] = g
		}
	}
	if len(last) != 2 || cases >= 200 {
		t.Fatalf("evidence after %d cases: %+v", cases, last)
	}
	for _, g := range last {
		if g.Verdict != gate.Pass || g.Tasks == 0 || g.Pass < g.Needed || g.Fail >= g.Needed {
			t.Errorf("evidence: %+v", g)
		}
	}

	held := stored[api.GateVerdict](t, s, "ana", "POST", "/api/runs/"+sent.ResultRef+"/gate", `{}`)
	if held.Report.Verdict != gate.Pass || len(held.Report.Verdicts) != 2 || held.Incomplete {
		t.Fatalf("gates: %+v", held)
	}
	for i := range held.Report.Verdicts {
		l := held.Report.Verdicts[i].Looked
		if l == nil || l.Number != 1 || !l.Declared || l.After == 0 || l.After > l.Tasks || l.Planned != 200 ||
			l.Above < l.Needed || len(l.Curve) == 0 || int(l.Curve[len(l.Curve)-1][0]) != l.Tasks {
			t.Errorf("looked: %+v", l)
		}
	}

	line := stored[server.EvalDetails](t, s, "ana", "GET", "/api/tool-eval/history/"+sent.ResultRef+"?limit=0", "")
	if !line.UntilDecided || line.Total+line.LeftOut != 200 || line.LeftOut == 0 || line.Verdicts.NotRun != 0 ||
		line.Lost != 0 || line.Status != "done" {
		t.Errorf("line: %+v", line.EvalRun)
	}
	if line.Resume != nil {
		t.Errorf("the run is over, and goes on with %v", line.Resume)
	}
	if whole := stored[server.EvalDetails](t, s, "ana", "GET", "/api/tool-eval/history/"+base.ResultRef+"?limit=0",
		""); whole.UntilDecided || whole.LeftOut != 0 || whole.Total != 200 {
		t.Errorf("a run without until_decided: %+v", whole.EvalRun)
	}
	at := stored[server.Timeline](t, s, "ana", "GET", "/api/experiments/"+made.ID+"/timeline", "")
	for i := range at.Entries {
		e := &at.Entries[i]
		if early := e.ID == sent.ResultRef; early && (e.Asked != line.Total || e.LeftOut != line.LeftOut) ||
			!early && e.Asked+e.LeftOut != 0 {
			t.Errorf("timeline: %+v", e)
		}
	}

	board := stored[server.Leaderboard](t, s, "ana", "GET", "/api/leaderboard?suite_id="+suite, "")
	for i := range board.Items { // its numbers chose its end
		if len(board.Items) != 1 || board.Items[i].Run != base.ResultRef {
			t.Errorf("leaderboard: %+v", board.Items[i])
		}
	}

	for _, c := range []struct {
		name, more, want string
		status           int
	}{
		{"gates without until_decided", `,"gates":"- pass_rate >= 0.8"`, "until_decided", 422},
		{"no gates", `,"until_decided":true`, "which gates?", 422},
		{
			"a broken gate file", `,"until_decided":true,"gates":"gates:\n  - pass_rate >= 0.8\n  - {metric: pass_rate, at_lest: 1}"`,
			"gates:3:", 422,
		},
		{"an unknown metric", `,"until_decided":true,"gates":"- pas_rate >= 0.8"`, "gates:1:3", 422},
		{
			"an unknown target", `,"until_decided":true,"gates":"- {metric: pass_rate, at_least: 0.8, target: agnet}"`,
			"there is no target", 422,
		},
		{"no baseline", `,"until_decided":true,"gates":"- {metric: pass_rate, baseline: {margin: 0.2}}"`, "baseline", 422},
	} {
		for _, path := range []string{"/api/tool-eval", "/api/tool-eval/estimate"} {
			code, body := s.ask(t, "ana", "POST", path,
				fmt.Sprintf(`{"suite_id":%q,"models":["offline/lexical"]%s}`, suite, c.more))
			if code != c.status || !strings.Contains(body, c.want) {
				t.Errorf("%s: %s: %d %s", path, c.name, code, body)
			}
		}
	}
	his := s.keepSuite(t, "bo", 3)
	if code, body := s.ask(t, "bo", "POST", "/api/tool-eval",
		fmt.Sprintf(`{"suite_id":%q,"models":["offline/lexical"],"until_decided":true,"gates":"- pass_rate >= 0.8",
		"baseline_eval_id":%q}`, his, base.ResultRef)); code != 404 {
		t.Errorf("a baseline of another user: %d %s", code, body)
	}
}

// TestScheduleUntilDecided: the run of a schedule ends when the schedule's gates are decided against its baseline,
// and the schedule has their verdict. Gates and baseline of the request come first.
func TestScheduleUntilDecided(t *testing.T) {
	t.Parallel()
	c := newClock()
	s := newSite(t, c.tune)
	s.private(t)
	s.work(t)
	m := newMoody(t, func(int) string { return "" })
	suite := s.keepSuite(t, "ana", 200)
	base := s.eval(t, "ana", suite, m.URL, "")
	s.awaitJob(t, "ana", base.JobID, "done")
	create := func(eval, more string) string {
		t.Helper()
		return give[server.Schedule](t, s, "ana", "POST", "/api/schedules", fmt.Sprintf(
			`{"name":"n","eval":{"suite_id":%q,"targets":[{"provider_key":"openai","model_id":"m1","base_url":%q}],
			"until_decided":true,"no_cache":true%s}%s}`, suite, m.URL, eval, more)).ID
	}
	ofSchedule := create("", fmt.Sprintf(`,"cron":"0 6 * * *","baseline_eval_id":%q,
		"gates":"- pass_rate >= 0.8\n- {metric: pass_rate, baseline: {margin: 0.2}}"`, base.ResultRef))
	ofRequest := create(`,"gates":"- pass_rate >= 0.8"`, `,"cron":"0 6 * * *","gates":"- pass_rate >= 0.9999"`)
	c.schedules(t, s)
	c.look(time.Minute)
	for id, want := range map[string]int{ofSchedule: 2, ofRequest: 1} {
		list := c.settled(t, s, id)
		if causes(list) != "time done" || list[0].Verdict != gate.Pass || list[0].Totals == nil {
			t.Fatalf("history: %s %+v", causes(list), list)
		}
		r := &list[0]
		if n := r.Totals; n.LeftOut == 0 || n.Attempts+n.LeftOut != 200 || n.Verdicts.NotRun != 0 {
			t.Errorf("totals: %+v", n)
		}
		held := stored[api.GateVerdict](t, s, "ana", "POST", "/api/runs/"+r.Run+"/gate", `{}`)
		if len(held.Report.Verdicts) != want || held.Report.Sentence != r.Sentence {
			t.Errorf("gates of the run: %+v, of the schedule: %+v", held.Report, r)
		}
	}
	// The last good run is the baseline of gates about one; a new schedule has none.
	lastGood := fmt.Sprintf(`{"name":"n","eval":{"suite_id":%q,"models":["offline/lexical"],"until_decided":true},
		"baseline_last_good":true,"gates":"- {metric: pass_rate, baseline: {margin: 0.2}}"}`, suite)
	if code, body := s.ask(t, "ana", "POST", "/api/schedules", lastGood); code != 422 ||
		!strings.Contains(body, "a gate compares with a baseline") {
		t.Errorf("without a good run: %d %s", code, body)
	}
	if code, body := s.ask(t, "ana", "PUT", "/api/schedules/"+ofRequest, lastGood); code != 200 {
		t.Errorf("with a good run: %d %s", code, body)
	}
}
