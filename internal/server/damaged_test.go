// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package server_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/callvet/callvet/internal/server"
)

// flip changes rows of a table as a bit that flips in the file does: their checksums stay.
func (s *site) flip(t *testing.T, table, set string) {
	t.Helper()
	for _, q := range []string{"DROP TRIGGER IF EXISTS " + table + "_changed", "UPDATE " + table + " SET " + set} {
		if _, err := s.db.Handle().ExecContext(t.Context(), q); err != nil {
			t.Fatalf("%s: %v", q, err)
		}
	}
}

const damagedWords = "the store is damaged"

// TestDamagedRows: a damaged row is an error where a number would follow from it, and a mark in a list.
func TestDamagedRows(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	catalogue, rep := selected(t, s)
	suite := s.keepSuite(t, "ana", 2)
	schedule := s.schedule(t, suite, `,"cron":"0 6 * * *","baseline_last_good":true`)
	traces := give[tracesAnswer](t, s, "ana", "POST", "/api/traces?collection=judged", judgedTraces(4)).ID
	for i := range 2 {
		give[any](t, s, "ana", "POST", "/api/traces/"+traces+"/labels", fmt.Sprintf(`{"task_id":"t%d","pass":true}`, i))
	}
	run := s.ran(t, "ana", "", 1)
	gates := give[gateAnswer](t, s, "ana", "POST", "/api/gates",
		`{"name":"release","text":"gates: [{metric: pass_rate, at_least: 0.0, min_n: 1}]"}`).ID
	give[any](t, s, "ana", "POST", "/api/runs/"+run+"/gate", `{"gate_id":"`+gates+`"}`)
	give[any](t, s, "ana", "POST", "/api/runs/"+run+"/gate", `{"gate_id":"`+gates+`"}`)

	s.flip(t, "gate_verdicts", "verdict='FAIL' WHERE id=(SELECT min(id) FROM gate_verdicts)")
	bad := 0
	for _, v := range give[pastVerdicts](t, s, "ana", "GET", "/api/gates/"+gates+"/history", "").Items {
		if v.Verdict != "PASS" {
			bad++
			if v.Verdict != "" || len(v.Failed) != 1 || !strings.Contains(v.Failed[0].Reason, damagedWords) {
				t.Errorf("%+v", v)
			}
		}
	}
	if bad != 1 {
		t.Errorf("%d verdicts are damaged", bad)
	}
	refused := func(method, path, body string) {
		t.Helper()
		if text := s.answers(t, 422, "root", method, path, body); !strings.Contains(text, damagedWords) {
			t.Errorf("%s %s: %s", method, path, text)
		}
	}
	s.flip(t, "gate_entries", "content=replace(content, '0.0', '0.1')")
	refused("GET", "/api/gates/"+gates, "")
	refused("POST", "/api/runs/"+run+"/gate", `{"gate_id":"`+gates+`"}`)
	give[any](t, s, "root", "GET", "/api/gates", "")

	at := "/api/schedules/" + schedule.ID
	s.answers(t, 202, "ana", "POST", at+"/run", "")
	s.flip(t, "schedule_runs", "state='done'")
	if list := s.history(t, schedule.ID); len(list) != 1 || list[0].Verdict != "" ||
		!strings.Contains(list[0].Error, damagedWords) {
		t.Errorf("%+v", list)
	}
	if text := s.answers(t, 422, "ana", "POST", at+"/run", ""); !strings.Contains(text, damagedWords) {
		t.Errorf("the last good run may be another one: %s", text)
	}
	s.flip(t, "schedules", "last_good=FALSE, gates=CAST('gates: []' AS BLOB)")
	if text := s.answers(t, 422, "ana", "POST", at+"/run", ""); !strings.Contains(text, damagedWords) {
		t.Errorf("a damaged schedule runs: %s", text)
	}
	told := give[server.Schedule](t, s, "ana", "GET", at, "")
	if !strings.Contains(told.Stopped, damagedWords) {
		t.Errorf("%+v", told)
	}
	s.flip(t, "label_lines", "line=replace(line, 'true', 'null')  WHERE seq=2")
	refused("GET", "/api/traces/"+traces+"/labels", "")
	s.flip(t, "trace_entries", "parts=0")
	refused("GET", "/api/traces/"+traces+"/attempts", "")

	s.flip(t, "suite_entries", "version=2")
	s.flip(t, "suite_versions", "version=2")
	refused("GET", "/api/tool-suites/"+suite, "")
	s.flip(t, "suite_versions", "version=3")
	refused("GET", "/api/tool-suites/"+suite, "") // its newest version is not found
	if list := s.answers(t, 200, "ana", "GET", "/api/tool-suites", ""); !strings.Contains(list, suite) {
		t.Errorf("a damaged suite is in no list: %s", list)
	}
	s.answers(t, 204, "ana", "DELETE", "/api/tool-suites/"+suite, "")
	s.flip(t, "select_runs", "depth=3")
	refused("GET", lab+"/runs/"+rep.RunID, "")
	if list := s.answers(t, 200, "root", "GET", lab+"/runs", ""); !strings.Contains(list, damagedWords) {
		t.Errorf("%s", list)
	}
	s.flip(t, "catalogue_entries", "version=4")
	refused("POST", lab+"/single", `{"query":"weather","catalogue_id":"`+catalogue+`"}`)
	s.answers(t, 204, "root", "DELETE", "/api/catalogues/"+catalogue, "")

	s.flip(t, "runs", "usd=usd+1 WHERE id='"+run+"'")
	if text := s.answers(t, 200, "ana", "GET", "/api/tool-eval/history", ""); !strings.Contains(text, damagedWords) {
		t.Errorf("%s", text)
	}
	problems, err := s.db.Check(t.Context())
	if err != nil || len(problems) < 9 {
		t.Errorf("%q %v", problems, err)
	}
	for _, path := range []string{"/api/gates/" + gates, at, "/api/traces/" + traces, "/api/tool-eval/history/" + run} {
		s.answers(t, 204, "ana", "DELETE", path, "")
	}
}

// TestDamagedSchedule: a run has no verdict where its schedule, or its entry in the history, is damaged before it
// ends, and does not go on forever. The schedule stops when it is due.
func TestDamagedSchedule(t *testing.T) {
	t.Parallel()
	for table, set := range map[string]string{
		"schedules":     "gates=CAST('gates: [{metric: pass_rate, at_least: 0.0, min_n: 1}]' AS BLOB)",
		"schedule_runs": "outcome=CAST('{' AS BLOB)",
	} {
		c := newClock()
		s := newSite(t, c.tune)
		s.work(t)
		made := s.schedule(t, s.keepSuite(t, "ana", 2),
			`,"cron":"0 6 * * *","gates":"gates: [{metric: pass_rate, at_least: 1, min_n: 1}]"`)
		c.schedules(t, s)
		s.answers(t, 202, "ana", "POST", "/api/schedules/"+made.ID+"/run", "")
		s.flip(t, table, set)
		list := c.settled(t, s, made.ID)
		if len(list) != 1 || list[0].State != "done" || list[0].Verdict != "" ||
			!strings.Contains(list[0].Error, damagedWords) {
			t.Errorf("%s: %+v", table, list)
		}
		c.look(24 * time.Hour)
		now := give[server.Schedule](t, s, "ana", "GET", "/api/schedules/"+made.ID, "")
		if stopped := !*now.Enabled; stopped != (table == "schedules") {
			t.Errorf("%s: stopped %t: %s", table, stopped, now.Stopped)
		}
	}
}
