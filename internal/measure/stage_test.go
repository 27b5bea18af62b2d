// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package measure_test

import (
	"context"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/callvet/callvet/internal/measure"
	"github.com/callvet/callvet/internal/trace"
	"github.com/callvet/callvet/panel/steps"
	"github.com/callvet/callvet/score"
)

func judged(t *testing.T, judge func(*trace.Attempt) bool, texts ...string) *measure.Result {
	t.Helper()
	scorer, _ := score.NewStepScorer(score.StepConfig{Tools: catalog})
	var sources []measure.Source
	for i, text := range texts {
		sources = append(sources, source(string(rune('a'+i)), text))
	}
	res, err := measure.Run(context.Background(), sources, measure.Config{
		Steps: steps.Config{Files: len(texts) > 1}, Scorer: scorer, Attempts: judge, Jobs: 3,
		Lines: trace.Options{Block: 3000, MaxLine: 2000},
	})
	if err != nil {
		t.Fatal(err)
	}
	return res
}

// TestIdleJudge: a judge that changes nothing has no effect: panels, line numbers, bad lines.
func TestIdleJudge(t *testing.T) {
	t.Parallel()
	text := file(11, 300, 7)
	text = strings.Replace(text, "\n", "\n\nnothing\n"+strings.Repeat("x", 3000)+"\n", 1) +
		`{"type":"task","task_id":"last","pass":true}`
	plain, seen := judged(t, nil, text, text), 0
	idle := judged(t, func(*trace.Attempt) bool { seen++; return false }, text, text)
	if d := cmp.Diff(string(panels(t, plain.Sheet)), string(panels(t, idle.Sheet))); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff(plain.Log, idle.Log); d != "" || plain.Log.Bad < 4 {
		t.Error(plain.Log.Bad, d)
	}
	if seen < 300 {
		t.Errorf("%d attempts seen", seen)
	}
}

// TestJudge: the results of a judge of attempts reach the panels, whether the
// task record comes last, first, or not at all.
func TestJudge(t *testing.T) {
	t.Parallel()
	step := func(task string) string {
		return `{"task_id":"` + task + `","call_id":"c","tool":"send@v1","args":{"to":1},"status":"ok"}`
	}
	text := strings.Join([]string{
		step("last"), `{"type":"task","task_id":"last","wall_ms":5,"new":1}`,
		"nothing",
		`{"type":"task","task_id":"talk","conversation":[{"role":"assistant","content":"no"}]}`,
		step("none"),
		`{"type":"task","task_id":"lone"}`,
	}, "\n")
	yes := true
	judge := func(a *trace.Attempt) bool {
		a.Pass, a.Safety = &yes, []trace.Incident{{Rule: "r", Blocked: a.Trace.CaseID == "talk"}}
		a.Tags = []string{"x"}
		return true
	}
	res := judged(t, judge, text)
	all := res.Sheet.Panels().Targets[0].Overall
	if m := all.Metric("pass_rate"); m.Interval.N != 4 || m.Interval.Point != 1 {
		t.Errorf("%+v", m)
	}
	if m := all.Metric("safety_incidents"); m.Interval.N != 4 || m.Interval.Point != 0.75 {
		t.Errorf("%+v", m)
	}
	if m := all.Metric("blocked_incidents"); m.Interval.Point != 0.25 {
		t.Errorf("%+v", m)
	}
	if m := all.Metric("latency_p50"); m == nil || m.Interval.Point != 5 {
		t.Errorf("%+v", m)
	}
	if l := res.Log; l.Lines != 6 || l.Steps != 2 || l.Tasks != 3 || l.Bad != 1 || l.List[0].Line != 3 ||
		len(l.Unknown) != 1 {
		t.Errorf("%+v", l)
	}
	for _, e := range res.Sheet.Panels().Examples {
		if e.Line != map[string]int64{"last": 1, "talk": 4, "none": 5, "lone": 6}[e.Task] {
			t.Errorf("%+v", e)
		}
	}
	// A record before its steps is rewritten where it is.
	res = judged(t, judge, `{"type":"task","task_id":"first","steps":1}`+"\n"+step("first")+"\n"+step("z"))
	p := res.Sheet.Panels()
	if m := p.Targets[0].Overall.Metric("pass_rate"); m.Interval.N != 2 || res.Log.Lines != 3 || res.Log.Tasks != 1 ||
		p.Examples[0].Line != 1 {
		t.Errorf("%+v %+v %+v", m, res.Log, p.Examples[0])
	}
	// A new record follows the last step of its task, between other lines.
	res = judged(t, judge, step("none")+"\n"+strings.Repeat(step("many")+"\n", 5000))
	if p := res.Sheet.Panels(); res.Log.Lines != 5001 || res.Log.Tasks != 0 ||
		p.Targets[0].Overall.Metric("pass_rate").Interval.N != 2 {
		t.Errorf("%+v", res.Log)
	}
}

// TestJudgeLabels: labels of calls by a judge reach the measurements of calls, in any order of the
// lines; calls that had a label keep theirs.
func TestJudgeLabels(t *testing.T) {
	t.Parallel()
	step := func(task, call, gold string) string {
		return `{"task_id":"` + task + `","call_id":"` + call + `","tool":"` + call +
			`@v1","args":{"to":1},"status":"ok"` + gold + `}`
	}
	const record = `{"type":"task","task_id":"a","steps":2,"conversation":[{"role":"assistant","call_ids":["one","two"]}]}`
	yes, no := true, false
	judge := func(a *trace.Attempt) bool {
		if a.Labelled() {
			return true
		}
		a.Steps = map[int]trace.StepNote{}
		for i, c := range a.Trace.Calls() {
			g := &trace.Gold{Needed: &yes, Tool: c.Tool}
			if c.Tool == "two" {
				g = &trace.Gold{Needed: &no}
			}
			a.Steps[i] = trace.StepNote{TurnID: -1, Gold: g}
		}
		return true
	}
	for name, lines := range map[string][]string{
		"in order":       {step("a", "one", ""), step("a", "two", `,"gold":null`), record},
		"steps reversed": {step("a", "two", ""), step("b", "one", ""), step("a", "one", ""), record},
		"record first":   {record, step("b", "one", ""), step("a", "two", ""), "nothing", step("a", "one", "")},
		"no record":      {step("a", "one", ""), step("a", "two", "")},
	} {
		over := judged(t, judge, strings.Join(lines, "\n")).Sheet.Panels().Targets[0].Overall.Metric("over_call_rate")
		if over == nil || over.Interval.Point*float64(over.Interval.N) != 1 {
			t.Errorf("%s: unneeded calls: %+v", name, over)
		}
	}
	own := judged(t, judge, step("a", "two", `,"gold":{"needed":true,"tool":"two"}`)).Sheet.Panels().Targets[0].Overall
	if m := own.Metric("over_call_rate"); m == nil || m.Interval.Point != 0 || m.Interval.N != 1 {
		t.Errorf("a label of its own: %+v", m)
	}
}
