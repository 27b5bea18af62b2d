// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package steps

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/panel"
	"github.com/callvet/callvet/stats"
)

// fill puts n steps of the named tasks, one a line, into a new Sheet.
func fill(cfg Config, ids []string, score func(i int) callvet.StepScore) *Sheet {
	s := New(cfg)
	w := s.Worker()
	b := w.Batch()
	for i, id := range ids {
		w.Step(b, &Step{Line: int64(i + 1), Task: []byte(id), Tool: []byte("x"), Score: score(i), AcceptMS: -1, QueueMS: -1, ExecMS: float64(i)})
	}
	s.Apply(w, 0, b, func(*Batch) {})
	s.Read(Source{Name: "f", Lines: int64(len(ids))})
	s.Close()
	return s
}

func executed(yes bool) callvet.StepScore {
	var s callvet.StepScore
	s.Set(callvet.StepExecuted, yes)
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
	if len(p.Examples) != 3 || p.Examples[0].Task != "a" && p.Examples[0].Task != "b" {
		t.Errorf("%+v", p.Examples)
	}
}

// TestWindow: a task that comes back after its window counts as two, and it is said.
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
	if whole := fill(Config{}, ids, func(int) callvet.StepScore { return executed(true) }).Panels(); whole.Targets[0].Overall.Cases != 500 {
		t.Error("the default window is too small")
	}
}

// TestWithoutGold: what needs labels is said to lack them, and is no number.
func TestWithoutGold(t *testing.T) {
	t.Parallel()
	p := fill(Config{}, []string{"a", "b", "a"}, func(int) callvet.StepScore { return executed(true) }).Panels()
	m := p.Targets[0].Overall.Metric("arg_em")
	if m == nil || m.Interval.Status != stats.StatusNoGold || m.Interval.Defined() {
		t.Errorf("%+v", m)
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
	tp := panel.TargetPanel{Overall: all, Slices: []panel.Slice{slice("a", 280, 300), slice("b", 200, 250), slice("c", 5, 5)}}
	panel.CompareSlices(&tp)
	var got []string
	for i := range tp.Slices {
		v := tp.Slices[i].Metrics[0].Versus
		if v == nil {
			t.Fatal("not compared")
		}
		got = append(got, fmt.Sprintf("%s %.4f %v %v", tp.Slices[i].Value, v.Rest, v.Adjusted < 0.05, v.Worst))
	}
	if diff := cmp.Diff([]string{"a 0.8857 true false", "b 0.9333 true true", "c 0.8995 false false"}, got); diff != "" {
		t.Error(diff)
	}
}
