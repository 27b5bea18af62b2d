// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package steps

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/panel"
	"github.com/callvet/callvet/stats"
)

// repeat adds tasks with several attempts each: a record, and one call where pass and executed say
// what became of it.
func repeat(tasks, attempts int, pass, executed func(task, attempt int) bool) *panel.Slice {
	s := New(Config{})
	w := s.Worker()
	b := w.Batch()
	line := int64(0)
	scorerResult := w.ScorerResult(&Scored{Scores: []Score{{Name: "overall", Value: 1}}})
	for i := range tasks {
		id := []byte(fmt.Sprint("t", i))
		for k := range attempts {
			line++
			t := &Task{
				Line: line, ID: id, Attempt: k, Pass: 0, CostUSD: -1, WallMS: 70, ScorerResult: scorerResult,
				Format: callvet.FormatPass, Outcome: callvet.OutcomeCalled,
			}
			if pass(i, k) {
				t.Pass = 1
			}
			w.Task(b, t)
			line++
			var score callvet.StepScore
			score.Set(callvet.StepExecuted, executed(i, k))
			score.Set(callvet.StepNeeded, true)
			w.Step(b, &Step{
				Head: &Head{Line: line, TaskID: id, Attempt: k, AcceptMS: -1, QueueMS: -1, ExecMS: 1},
				Tool: []byte("x"), Score: score,
			})
		}
	}
	s.Give(0, b, func(*Batch) {})
	s.Take(w, 0, 1)
	s.Read(Source{Name: "f", Lines: line})
	s.Close()
	return &s.Panels().Targets[0].Overall
}

// TestCopies: attempts that agree in every task give the interval of one attempt a task.
func TestCopies(t *testing.T) {
	t.Parallel()
	for name, by := range map[string]func(task, attempt int) bool{
		"all":  func(int, int) bool { return true },
		"none": func(int, int) bool { return false },
		"some": func(task, _ int) bool { return task%7 != 0 },
		"few":  func(task, _ int) bool { return task != 3 },
	} {
		one, ten := repeat(30, 1, by, by), repeat(30, 10, by, by)
		for i := range one.Metrics {
			m := &one.Metrics[i]
			if m.Unit != panel.UnitRate && m.Unit != panel.UnitCount {
				continue
			}
			if diff := cmp.Diff(m.Interval, ten.Metric(m.Name).Interval); diff != "" {
				t.Errorf("%s: %s: %s", name, m.Name, diff)
			}
		}
		if ten.Verdicts.Pass+ten.Verdicts.Fail != 300 {
			t.Errorf("%s: %+v", name, ten.Verdicts)
		}
	}
}

// TestFewDiffer: where few tasks carry information, several attempts at a task are worth one.
func TestFewDiffer(t *testing.T) {
	t.Parallel()
	by := func(task, attempt int) bool { return task > 0 || attempt > 0 }
	s := repeat(30, 10, by, by)
	for _, name := range []string{panel.MetricPass, "execution_success"} {
		iv := s.Metric(name).Interval
		if iv.N != 300 || iv.Clusters != 30 || iv.NEff != 30 || iv.Status != stats.StatusCapped {
			t.Errorf("%s: %+v", name, iv)
		}
	}
}
