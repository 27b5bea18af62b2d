// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package steps

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/panel"
	"github.com/callvet/callvet/stats"
	"github.com/callvet/callvet/value"
)

// fill puts n steps of the named tasks, one a line, into a new Sheet.
func fill(cfg Config, ids []string, score func(i int) callvet.StepScore) *Sheet {
	s := New(cfg)
	w := s.Worker()
	b := w.Batch()
	for i, id := range ids {
		w.Step(b,
			&Step{
				Head: &Head{Line: int64(i + 1), TaskID: []byte(id), AcceptMS: -1, QueueMS: -1, ExecMS: float64(i)},
				Tool: []byte("x"), Score: score(i),
			})
	}
	s.Give(0, b, func(*Batch) {})
	s.Take(w, 0, 1)
	s.Read(Source{Name: "f", Lines: int64(len(ids))})
	s.Close()
	return s
}

func executed(yes bool) callvet.StepScore {
	var s callvet.StepScore
	s.Set(callvet.StepExecuted, yes)
	return s
}

func timedOut() callvet.StepScore {
	s := executed(false)
	s.Set(callvet.StepTimeout, true)
	return s
}

// TestManySteps: a task of more steps than small counters hold.
func TestManySteps(t *testing.T) {
	t.Parallel()
	ids := make([]string, 3000)
	for i := range ids {
		ids[i] = "long"
	}
	ids = append(ids, "a", "b")
	p := fill(Config{}, ids, func(i int) callvet.StepScore { return executed(i%3 > 0) }).Panels()
	iv := p.Targets[0].Overall.Metric("execution_success").Interval
	if iv.N != 3002 || iv.Clusters != 3 || iv.Point != 2001.0/3002 {
		t.Errorf("%+v", iv)
	}
	if n := p.Targets[0].Overall.Cells; n != 3 {
		t.Errorf("%d attempts", n)
	}
	if len(p.Examples) != 3 || p.Examples[0].Task != "a" && p.Examples[0].Task != "b" {
		t.Errorf("%+v", p.Examples)
	}
}

// TestManyRecords: a task with more records than are kept counts as several, and it
// takes no long time.
func TestManyRecords(t *testing.T) {
	t.Parallel()
	s := New(Config{})
	w := s.Worker()
	for number := range int64(200) {
		b := w.Batch()
		for i := range 500 {
			w.Task(b,
				&Task{Line: 1, ID: []byte("long"), Attempt: int(number)*500 + i, Pass: i % 2, CostUSD: -1, WallMS: -1})
		}
		s.Give(number, b, func(*Batch) {})
		s.Take(w, 0, 1)
	}
	s.Close()
	p := s.Panels()
	if all := p.Targets[0].Overall; all.Cases != 2 || all.Cells != 100_000 || all.Verdicts.Pass != 50_000 {
		t.Errorf("%d tasks, %d attempts, %+v", all.Cases, all.Cells, all.Verdicts)
	}
	if !strings.Contains(strings.Join(p.Warnings, "\n"), "count as several (1 times)") {
		t.Error(p.Warnings)
	}
}

// TestWindow: a task that comes back after its window counts as two, and it is reported.
func TestWindow(t *testing.T) {
	t.Parallel()
	var ids []string
	for i := range 500 {
		ids = append(ids, fmt.Sprint("t", i))
	}
	ids = append(ids, "t0")
	p := fill(Config{Window: 32}, ids, func(int) callvet.StepScore { return executed(true) }).Panels()
	if n := p.Targets[0].Overall.Cases; n != 501 {
		t.Errorf("%d tasks", n)
	}
	if !strings.Contains(strings.Join(p.Warnings, "\n"), "1 tasks came back") {
		t.Error(p.Warnings)
	}
	if whole := fill(Config{}, ids,
		func(int) callvet.StepScore { return executed(true) }).Panels(); whole.Targets[0].Overall.Cases != 500 {
		t.Error("the default window is too small")
	}
}

// TestWithoutGold: what needs labels is reported to lack them, and is no number.
func TestWithoutGold(t *testing.T) {
	t.Parallel()
	p := fill(Config{}, []string{"a", "b", "a"}, func(int) callvet.StepScore { return executed(true) }).Panels()
	m := p.Targets[0].Overall.Metric("arg_em")
	if m == nil || m.Interval.Status != stats.StatusNoGold || m.Interval.Defined() {
		t.Errorf("%+v", m)
	}
}

// TestUnnamedTool: a label that contains no more than that a call was needed leaves open whether it
// went to the right tool.
func TestUnnamedTool(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		score    func(i int, s *callvet.StepScore)
		status   stats.Status // "": a rate
		point    float64
		coverage float64
		warns    string
	}{
		"needed or not, and no tool": {
			score: func(i int, s *callvet.StepScore) {
				if s.Set(callvet.StepNeeded, i >= 5); i < 5 {
					s.Set(callvet.StepSelection, false)
				}
			},
			status: stats.StatusNoGold, warns: "35 calls are labelled as needed, but no gold.tool",
		},
		"no call was needed": {
			score: func(_ int, s *callvet.StepScore) {
				s.Set(callvet.StepNeeded, false)
				s.Set(callvet.StepSelection, false)
			},
			point: 0, coverage: 1,
		},
		"half of them with a tool": {
			score: func(i int, s *callvet.StepScore) {
				if s.Set(callvet.StepNeeded, true); i < 20 {
					s.Set(callvet.StepSelection, i >= 5)
				}
			},
			point: 0.75, coverage: 0.5, warns: "20 calls are labelled as needed, but no gold.tool",
		},
	} {
		ids := make([]string, 40)
		for i := range ids {
			ids[i] = fmt.Sprint("t", i)
		}
		p := fill(Config{}, ids, func(i int) (s callvet.StepScore) { c.score(i, &s); return s }).Panels()
		m := p.Targets[0].Overall.Metric("tool_selection")
		by := p.Targets[0].Overall.Metric("tool_selection_by_task")
		if c.status != "" && (m.Interval.Status != c.status || m.Interval.Defined() || by != nil) {
			t.Errorf("%s: %+v, by task %+v", name, m, by)
		}
		if c.status == "" && (m.Interval.Point != c.point || by == nil) || *m.Coverage != c.coverage ||
			!strings.Contains(strings.Join(m.Warnings, "\n"), c.warns) {
			t.Errorf("%s: %+v, coverage %v", name, m, *m.Coverage)
		}
	}
}

// TestWorst: of slices that differ, the worst is marked, and only where it does.
func TestWorst(t *testing.T) {
	t.Parallel()
	rate := func(x, n int) panel.Metric {
		return panel.Metric{Name: "m", Unit: panel.UnitRate, Interval: stats.ClopperPearson(x, n, 0.95, stats.TwoSided)}
	}
	slice := func(v string, x, n int) panel.Slice {
		m := rate(x, n)
		m.Interval.NEff = float64(n)
		return panel.Slice{Key: "k", Value: v, Metrics: []panel.Metric{m}}
	}
	all := slice("", 900, 1000)
	tp := panel.TargetPanel{
		Overall: all,
		Slices:  []panel.Slice{slice("a", 280, 300), slice("b", 200, 250), slice("c", 5, 5)},
	}
	panel.CompareSlices(&tp)
	var got []string
	for i := range tp.Slices {
		v := tp.Slices[i].Metrics[0].Versus
		if v == nil {
			t.Fatal("not compared")
		}
		got = append(got, fmt.Sprintf("%s %.4f %v %v", tp.Slices[i].Value, v.Rest, v.Adjusted < 0.05, v.Worst))
	}
	if diff := cmp.Diff([]string{"a 0.8857 true false", "b 0.9333 true true", "c 0.8995 false false"},
		got); diff != "" {
		t.Error(diff)
	}
}

// TestReported: a tag with the content of a field has no table of its own; the strongest task is
// the one with most that is good; breaches that were stopped are distinguished.
func TestReported(t *testing.T) {
	t.Parallel()
	s := New(Config{})
	w := s.Worker()
	b := w.Batch()
	line := int64(0)
	for i := range 12 {
		fields, err := value.Parse([]byte(fmt.Sprintf(`{"intent":"i%d"}`, i%2)))
		if err != nil {
			t.Fatal(err)
		}
		tags, err := value.Parse([]byte(fmt.Sprintf(`["i%d","t%d"]`, i%2, i%2)))
		if err != nil {
			t.Fatal(err)
		}
		for j := range i + 1 {
			line++
			score := executed(true)
			score.Set(callvet.StepRejected, i == 0)
			score.Set(callvet.StepSafe, i > 1 || j > 0)
			w.Step(b, &Step{
				Head: &Head{
					Line: line, TaskID: fmt.Appendf(nil, "t%02d", i), Tags: tags, Fields: fields, AcceptMS: -1,
					QueueMS: -1, ExecMS: -1,
				},
				Tool: []byte("x"), Score: score,
			})
		}
	}
	s.Give(0, b, func(*Batch) {})
	s.Take(w, 0, 1)
	s.Read(Source{Name: "f", Lines: line})
	s.Close()
	p := s.Panels()
	var tables []string
	for _, x := range p.Targets[0].Slices {
		tables = append(tables, x.Key+"="+x.Value)
	}
	if d := cmp.Diff([]string{"intent=i0", "intent=i1", "tag=t0", "tag=t1"}, tables); d != "" {
		t.Error(d)
	}
	if e := p.Examples[0]; e.Task != "t11" || e.Kind != panel.Highest {
		t.Errorf("%+v", e)
	}
	all := &p.Targets[0].Overall
	if incidents, stopped := all.Metric("safety_incidents"),
		all.Metric("blocked_incidents"); incidents.Interval.Point != 1.0/12 || stopped.Interval.Point != 1.0/12 {
		t.Errorf("%+v, %+v", incidents, stopped)
	}
	if m := all.Metric("calls_per_attempt"); m.Unit != panel.UnitCount || m.Interval.Point != 6.5 || !m.LowerIsBetter {
		t.Errorf("%+v", m)
	}
}

// TestOrder: who comes first decides nothing.
func TestOrder(t *testing.T) {
	t.Parallel()
	var texts []string
	for _, order := range [][2]int{{0, 1}, {1, 0}} {
		s := New(Config{})
		w := s.Worker()
		b := w.Batch()
		for _, i := range order {
			id := []byte{'a' + byte(i)}
			zero := [2]float64{0, math.Copysign(0, -1)}[i]
			w.Step(b, &Step{
				Head: &Head{Line: int64(i + 1), TaskID: id, AcceptMS: -1, QueueMS: -1, ExecMS: zero},
				Tool: []byte("x"), Score: timedOut(),
			})
			w.Task(b, &Task{
				Line: int64(i + 1), ID: id, Pass: 1, CostUSD: -1, WallMS: -1,
				Judged: []Verdict{{string(id), true}},
			})
		}
		s.Give(0, b, func(*Batch) {})
		s.Take(w, 0, 1)
		s.Close()
		text, err := json.Marshal(s.Panels())
		if err != nil {
			t.Fatal(err)
		}
		texts = append(texts, string(text))
	}
	if d := cmp.Diff(texts[0], texts[1]); d != "" {
		t.Error(d)
	}
}
