// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package server_test

import (
	"encoding/json"
	"fmt"
	"math"
	"net/url"
	"strings"
	"testing"

	"github.com/callvet/callvet/internal/app"
	"github.com/callvet/callvet/internal/app/results"
	"github.com/callvet/callvet/internal/app/traces"
)

// judgedTraces are tasks with verdicts of a judge: it passes three of four of those that passed.
func judgedTraces(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b,
			`{"type":"task","task_id":"t%d","goal":"Day %d?","final_answer":"It is sunny.","judged":[{"judge":"j","model":"m","prompt_hash":"x","pass":%v}]}`+"\n", i, i, i%4 != 0)
	}
	return b.String()
}

type tasksAnswer struct{ Items []map[string]any }

// TestLabels: tasks are drawn, and the user who is logged in labels them. The numbers of the judge
// and of the tasks equal those of the command line for the same files.
func TestLabels(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	made := give[tracesAnswer](t, s, "ana", "POST", "/api/traces?collection=judged", judgedTraces(60))
	path := "/api/traces/" + made.ID
	todo := give[tasksAnswer](t, s, "ana", "GET", path+"/labels/next?n=40", "")
	if len(todo.Items) != 40 {
		t.Fatalf("%d tasks", len(todo.Items))
	}
	var lines strings.Builder
	for i, task := range todo.Items {
		if task["by"] != "ana" || task["answer"] != "It is sunny." || task["judged"] != nil || task["pass"] != nil {
			t.Fatalf("%v", task)
		}
		task["pass"] = i%8 != 0
		if i == 39 {
			task["pass"] = nil
		}
		lines.Write(jsonOf(task))
		lines.WriteByte('\n')
	}
	type added struct {
		Added, Open int
		Form        string
	}
	if got := give[added](t, s, "ana", "POST", path+"/labels", lines.String()); got.Added != 39 || got.Open != 1 {
		t.Errorf("%+v", got)
	}
	if rest := give[tasksAnswer](t, s, "ana", "GET", path+"/labels/next?n=100", ""); len(rest.Items) != 21 {
		t.Errorf("%d tasks are left", len(rest.Items))
	}
	_, labels := s.ask(t, "ana", "GET", path+"/labels", "")
	if n := strings.Count(labels, "\n"); n != 39 || strings.Count(labels, `"by":"ana"`) != 39 ||
		!strings.Contains(labels, `"at":"`) {
		t.Errorf("%d labels: %.300s", n, labels)
	}
	if code, csv := s.ask(t, "ana", "GET", path+"/labels?format=csv", ""); code != 200 ||
		strings.Count(csv, "\n") != 40 {
		t.Errorf("%d %.200s", code, csv)
	}
	files := app.Uploads{"judged": []byte(judgedTraces(60)), "labels": []byte(labels)}
	rep, err := results.Calibrate(t.Context(), s.app.With(files),
		results.CalibrateRequest{Traces: "judged", Labels: "labels", Judge: "j", Width: 0.1}, nil)
	if err != nil {
		t.Fatal(err)
	}
	got := give[struct{ Report, Calibration json.RawMessage }](t, s, "ana", "POST", path+"/calibrate",
		`{"judge":"j","width":0.1}`)
	if want := string(jsonOf(rep)); compact(t, got.Report) != compact(t, []byte(want)) {
		t.Errorf("%s\n%s", got.Report, want)
	}
	files["calibration"] = got.Calibration
	for body, set := range map[string]app.TraceSettings{
		`"labels":true`: {Labels: "labels"},
		`"calibrations":[` + string(got.Calibration) + `]`: {Calibrations: []string{"calibration"}},
	} {
		want := scoreOf(t, s, traces.ScoreRequest{Traces: []string{"judged"}, TraceSettings: set}, files)
		have := give[sheetAnswer](t, s, "ana", "POST", "/api/score", `{"traces_id":"`+made.ID+`",`+body+`}`)
		same(t, body, want, have)
		if !strings.Contains(string(have.Panels), "true_success") {
			t.Errorf("%.30s: no true success", body)
		}
	}
	for what, c := range map[string]struct {
		as, method, path, body, says string
		want                         int
	}{
		"a label of another person": {"ana", "POST", "/labels", `{"task_id":"t1","pass":true,"by":"bo"}`, "bo", 403},
		"no label":                  {"ana", "POST", "/labels", `{"pass":true}`, "task_id", 422},
		"another's collection":      {"bo", "POST", "/labels", `{"task_id":"t1","pass":true}`, "not found", 404},
		"no such judge":             {"ana", "POST", "/calibrate", `{"judge":"none"}`, "none", 422},
	} {
		if code, answer := s.ask(t, c.as, c.method, path+c.path, c.body); code != c.want ||
			!strings.Contains(answer, c.says) {
			t.Errorf("%s: %d %s", what, code, answer)
		}
	}
	give[any](t, s, "ana", "PATCH", path, `{"shared":true}`)
	if got := give[added](t, s, "bo", "POST", path+"/labels", `{"task_id":"t1","pass":true}`); got.Added != 1 {
		t.Errorf("what is shared is labelled by others: %+v", got)
	}
	give[any](t, s, "ana", "DELETE", path, "")
	var left int
	if err := s.db.Handle().QueryRowContext(t.Context(), "SELECT count(*) FROM label_lines").Scan(&left); err != nil ||
		left != 0 {
		t.Errorf("%d labels of what was deleted: %v", left, err)
	}
}

// TestLabelsOfRun: a run is labelled as its traces are.
func TestLabelsOfRun(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	run := s.ran(t, "ana", "", 1)
	path := "/api/runs/" + run
	todo := give[tasksAnswer](t, s, "ana", "GET", path+"/labels/next?n=3", "")
	if len(todo.Items) != 3 || todo.Items[0]["goal"] == nil {
		t.Fatalf("%v", todo)
	}
	turn := give[tasksAnswer](t, s, "ana", "GET", path+"/labels/next?n=1&unit=turn", "")
	if len(turn.Items) != 1 || turn.Items[0]["unit"] != "turn" ||
		!strings.Contains(fmt.Sprint(turn.Items[0]["evidence"]), "The tool catalog") {
		t.Errorf("a turn to label: %v", turn)
	}
	todo.Items[0]["pass"] = true
	give[any](t, s, "ana", "POST", path+"/labels", string(jsonOf(todo.Items[0])))
	again := give[tasksAnswer](t, s, "ana", "GET", path+"/labels/next?n=100", "")
	for _, task := range again.Items {
		if task["task_id"] == todo.Items[0]["task_id"] && task["target"] == todo.Items[0]["target"] {
			t.Errorf("drawn again: %v", task)
		}
	}
	give[any](t, s, "ana", "POST", path+"/labels", `{"task_id":"by-other","pass":true}`)
	gone := path + fmt.Sprintf("/labels?task_id=%s&target=%s", url.QueryEscape(todo.Items[0]["task_id"].(string)),
		url.QueryEscape(todo.Items[0]["target"].(string)))
	for _, want := range []int{1, 0} { // a second time there is nothing to take back
		if got := give[struct{ Removed int }](t, s, "ana", "DELETE", gone, ""); got.Removed != want {
			t.Errorf("%d labels taken back, want %d", got.Removed, want)
		}
	}
	if back := give[tasksAnswer](t, s, "ana", "GET", path+"/labels/next?n=100",
		""); len(back.Items) != len(again.Items)+1 {
		t.Errorf("%d tasks after one was taken back, %d before", len(back.Items), len(again.Items))
	}
	if _, kept := s.ask(t, "ana", "GET", path+"/labels", ""); strings.Count(kept, "\n") != 1 ||
		!strings.Contains(kept, "by-other") {
		t.Errorf("another label is gone: %s", kept)
	}
	give[any](t, s, "ana", "DELETE", "/api/tool-eval/history/"+run, "")
	var left int
	if err := s.db.Handle().QueryRowContext(t.Context(), "SELECT count(*) FROM label_lines").Scan(&left); err != nil ||
		left != 0 {
		t.Errorf("%d labels of what was deleted: %v", left, err)
	}
}

// talks are tasks without a judge; those from place changed on have another answer in each month.
func talks(n, changed int, month string) string {
	var b strings.Builder
	for i := range n {
		answer := "It is sunny."
		if i >= changed {
			answer = "It rains all " + month + "."
		}
		fmt.Fprintf(&b, `{"type":"task","task_id":"t%d","goal":"Day %d?","final_answer":%q}`+"\n", i, i, answer)
	}
	return b.String()
}

// labelled has ana label n outputs of the object at a path, all alike, and returns their tasks.
func (s *site) labelled(t *testing.T, path string, n int, pass bool) (of map[string]bool) {
	t.Helper()
	todo := give[tasksAnswer](t, s, "ana", "GET", fmt.Sprintf("%s/labels/next?n=%d", path, n), "")
	if len(todo.Items) != n {
		t.Fatalf("%d tasks to label, want %d", len(todo.Items), n)
	}
	var lines strings.Builder
	of = map[string]bool{}
	for _, task := range todo.Items {
		of[task["task_id"].(string)], task["pass"] = true, pass
		lines.Write(jsonOf(task))
		lines.WriteByte('\n')
	}
	give[any](t, s, "ana", "POST", path+"/labels", lines.String())
	return of
}

// trueSuccess returns the true success of a collection or a run by its labels, with the notes on
// it.
func (s *site) trueSuccess(t *testing.T, of string) (point *float64, said string) {
	t.Helper()
	var panels struct {
		Targets []struct {
			Overall struct {
				Metrics []struct {
					Name     string
					Interval struct{ Point *float64 }
					Warnings []string
				}
			}
		}
	}
	got := give[sheetAnswer](t, s, "ana", "POST", "/api/score", `{`+of+`,"labels":true}`)
	if err := json.Unmarshal(got.Panels, &panels); err != nil {
		t.Fatal(err)
	}
	for _, m := range panels.Targets[0].Overall.Metrics {
		if m.Name == "true_success" {
			return m.Interval.Point, strings.Join(m.Warnings, "; ")
		}
	}
	t.Fatalf("no true success: %s", got.Panels)
	return nil, ""
}

// TestLabelsOfAnotherRun: a label on the same output of another run counts for the outputs that did
// not change. A label on another output of the same task never counts.
func TestLabelsOfAnotherRun(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	january := give[tracesAnswer](t, s, "ana", "POST", "/api/traces?collection=january", talks(60, 30, "January"))
	february := give[tracesAnswer](t, s, "ana", "POST", "/api/traces?collection=february", talks(60, 30, "February"))
	before, now, of := "/api/traces/"+january.ID, "/api/traces/"+february.ID, `"traces_id":"`+february.ID+`"`
	labelled := s.labelled(t, before, 40, true)
	if p, said := s.trueSuccess(t, `"traces_id":"`+january.ID+`"`); p == nil || *p != 1 ||
		!strings.Contains(said, "from 40 labels on these very tasks") {
		t.Errorf("january: %v %s", p, said)
	}
	_, lines := s.ask(t, "ana", "GET", before+"/labels", "")
	give[any](t, s, "ana", "POST", now+"/labels", lines)
	carried := 0
	for id := range labelled {
		var n int
		if _, _ = fmt.Sscanf(id, "t%d", &n); n < 30 {
			carried++
		}
	}
	rest := give[tasksAnswer](t, s, "ana", "GET", now+"/labels/next?n=100", "")
	if len(rest.Items) != 60-carried {
		t.Errorf("%d tasks to label, want %d: all but those with a label on their very output",
			len(rest.Items), 60-carried)
	}
	if _, said := s.trueSuccess(t, of); !strings.Contains(said,
		"have 0 labels of their own: at least 10, drawn at random, are needed") {
		t.Errorf("labels of other outputs alone: %s", said)
	}
	s.labelled(t, now, 12, false)
	p, said := s.trueSuccess(t, of)
	if want := float64(carried) / 60; p == nil || math.Abs(*p-want) > 1e-9 ||
		!strings.Contains(said, fmt.Sprintf("from %d labels on these very tasks", carried+12)) {
		t.Errorf("%v (%s), want %g: what did not change is right, all else is wrong", p, said, want)
	}

	first, second := s.ran(t, "ana", "", 1), s.ran(t, "ana", "", 1) // the same outputs twice
	s.labelled(t, "/api/runs/"+first, 3, true)
	_, lines = s.ask(t, "ana", "GET", "/api/runs/"+first+"/labels", "")
	all := give[tasksAnswer](t, s, "ana", "GET", "/api/runs/"+second+"/labels/next?n=100", "")
	give[any](t, s, "ana", "POST", "/api/runs/"+second+"/labels", lines)
	left := give[tasksAnswer](t, s, "ana", "GET", "/api/runs/"+second+"/labels/next?n=100", "")
	if len(left.Items) > len(all.Items)-3 {
		t.Errorf("%d of %d tasks of the second run are to label, though three have a label on the same output",
			len(left.Items), len(all.Items))
	}
}
