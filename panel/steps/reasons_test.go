// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package steps

import (
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/panel"
	"github.com/callvet/callvet/stats"
)

// tasked puts task records into a Sheet, with so many lost ones.
func tasked(lost int64, tasks ...Task) *Sheet {
	s := New(Config{})
	w := s.Worker()
	b := w.Batch()
	for i := range tasks {
		t := tasks[i]
		t.Line, t.Content = int64(i+1), uint64(i+1)
		if t.ID == nil {
			t.ID = []byte{byte('a' + i%26), byte('0' + i/26)}
		}
		w.Task(b, &t)
	}
	s.Give(0, b, func(*Batch) {})
	s.Take(w, 0, 1)
	s.Read(Source{Name: "f", Lines: int64(len(tasks))})
	s.Lose(lost)
	s.Close()
	return s
}

// TestReasons counts why attempts have no answer that could be read.
func TestReasons(t *testing.T) {
	t.Parallel()
	base := Task{Pass: -1, InputTokens: -1, OutputTokens: -1, ReasoningTokens: -1, CostUSD: -1, WallMS: -1}
	as := func(change func(*Task)) Task {
		out := base
		change(&out)
		return out
	}
	first := panel.Reasons()[0]
	if first.Outcome != callvet.OutcomeUnparseable {
		t.Fatalf("%+v", first)
	}
	tasks := []Task{
		as(func(t *Task) { t.Outcome, t.Why = callvet.OutcomeUnparseable, callvet.Reason(first.Reason) }),
		as(func(t *Task) { t.Outcome, t.Why = callvet.OutcomeUnparseable, callvet.ReasonTokens }),
		as(func(t *Task) { t.Outcome, t.Why = callvet.OutcomeUnparseable, callvet.ReasonTokens }),
		as(func(t *Task) { t.Outcome, t.Fault, t.Kind = callvet.OutcomeError, true, callvet.FaultTimeout }),
		// it called: the reason is of no account
		as(func(t *Task) { t.Outcome, t.Why = callvet.OutcomeCalled, callvet.ReasonTokens }),
		as(func(t *Task) { t.Outcome, t.Why = callvet.OutcomeUnparseable, "of another tool" }),
	}
	want := map[panel.Reasoned]int{}
	for _, r := range []panel.Reasoned{
		first,
		{Outcome: callvet.OutcomeUnparseable, Reason: "token_limit"},
		{Outcome: callvet.OutcomeUnparseable, Reason: "token_limit"},
		{Outcome: callvet.OutcomeError, Reason: "timeout"},
	} {
		want[r]++
	}
	got := map[panel.Reasoned]int{}
	for _, r := range tasked(0, tasks...).Panels().Targets[0].Overall.Reasons {
		n := r.N
		r.N = 0
		got[r] = n
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	w := New(Config{}).Worker()
	for i, want := range []string{first.Reason, "token_limit", "token_limit", "timeout", "", ""} {
		if got := w.scoringOf(&tasks[i]).reason(); got != want {
			t.Errorf("%d: %q, want %q", i, got, want)
		}
	}
}

// TestScoringOfNothing: a record without any of it has no scoring, and one with any of it has.
func TestScoringOfNothing(t *testing.T) {
	t.Parallel()
	w := New(Config{}).Worker()
	if s := w.scoringOf(&Task{}); s != nil {
		t.Errorf("%+v", s)
	}
	for name, task := range map[string]Task{
		"requests": {Requests: 1}, "first": {FirstMS: 1}, "outcome": {Outcome: panel.Outcomes()[0]},
		"a later outcome":  {Outcome: panel.Outcomes()[1]},
		"a reason":         {Fault: true, Kind: callvet.FaultTimeout},
		"the first reason": {Outcome: callvet.OutcomeUnparseable, Why: callvet.Reason(panel.Reasons()[0].Reason)},
		"cached":           {Cached: true}, "floor": {Floor: true}, "timed out": {TimedOut: true},
		"unbilled": {Unbilled: true},
	} {
		if w.scoringOf(&task) == nil {
			t.Errorf("%s: none", name)
		}
	}
	if s := w.scoringOf(&Task{FirstMS: -1}); s != nil {
		t.Errorf("a time that is not known: %+v", s)
	}
}

// TestDuplicatesMerge: sums of parts are those of the whole, and the first conflicts are named.
func TestDuplicatesMerge(t *testing.T) {
	t.Parallel()
	var a, b duplicates
	for i := range int64(maxConflicts) {
		a.conflict(Conflict{Line: 2*i + 2, Of: 1})
		b.conflict(Conflict{Line: 2*i + 1, Of: 1})
	}
	a.merged, b.merged, a.replaced, b.replaced = 5, 2, 3, 1
	a.copies, b.copies, a.corrected, b.corrected = 6, 3, 4, 2
	a.merge(&b)
	if a.merged != 7 || a.replaced != 4 || a.copies != 9 || a.corrected != 6 || a.conflicts != 2*maxConflicts ||
		len(a.first) != maxConflicts {
		t.Errorf("%d, %d, %d, %d", a.merged, a.replaced, a.conflicts, len(a.first))
	}
	for i, c := range a.first {
		if c.Line != int64(i+1) {
			t.Fatalf("conflict %d is at line %d", i, c.Line)
		}
	}
}

// TestTasksTwice: of several records of an attempt the one that counts is reported.
func TestTasksTwice(t *testing.T) {
	t.Parallel()
	record := func(content uint64, attempt, pass int, corrects bool) Task {
		return Task{
			ID: []byte("t"), Content: content, Attempt: attempt, Pass: pass, Corrects: corrects,
			InputTokens: -1, OutputTokens: -1, ReasoningTokens: -1, CostUSD: -1, WallMS: -1,
		}
	}
	for name, tt := range map[string]struct {
		tasks      []Task
		pass, fail int
		conflicts  []Conflict
		warning    string
	}{
		"one":       {[]Task{record(1, 0, 1, false)}, 1, 0, nil, ""},
		"two tries": {[]Task{record(1, 0, 1, false), record(2, 1, 0, false)}, 1, 1, nil, ""},
		"a copy": {
			[]Task{record(1, 0, 1, false), record(1, 0, 1, false)},
			1, 0, nil,
			"1 task record is a copy of an earlier one and counts once with it",
		},
		"a conflict": {
			[]Task{record(1, 0, 1, false), record(2, 0, 0, false), record(3, 1, 1, false)},
			1, 0,
			[]Conflict{{Line: 2, Of: 1}},
			"",
		},
		"a correction": {[]Task{record(1, 0, 1, false), record(2, 0, 0, true)}, 0, 1, nil, "1 task record corrects"},
	} {
		s := New(Config{})
		w := s.Worker()
		b := w.Batch()
		for i := range tt.tasks {
			tt.tasks[i].Line = int64(i + 1)
			w.Task(b, &tt.tasks[i])
		}
		s.Give(0, b, func(*Batch) {})
		s.Take(w, 0, 1)
		s.Read(Source{Name: "f", Lines: int64(len(tt.tasks))})
		s.Close()
		p := s.Panels()
		v := p.Targets[0].Overall.Verdicts
		_, conflicts := s.Conflicts()
		warnings := strings.Join(p.Warnings, "\n")
		if d := cmp.Diff(tt.conflicts, conflicts); d != "" || v.Pass != tt.pass || v.Fail != tt.fail ||
			!strings.Contains(warnings, tt.warning) || tt.warning == "" && strings.Contains(warnings, "task record") {
			t.Errorf("%s: %+v, %s %s", name, v, warnings, d)
		}
	}
}

// TestLostRanges: rates have ends for lost records, amounts have none, and what is not over has
// no end.
func TestLostRanges(t *testing.T) {
	t.Parallel()
	var tasks []Task
	for i := range 40 {
		tasks = append(tasks, Task{
			Pass: i % 2, Outcome: callvet.OutcomeCalled, InputTokens: 10, OutputTokens: 10, ReasoningTokens: -1,
			CostUSD: 0.01, WallMS: float64(100 + i),
		})
	}
	find := func(s *Sheet, name string) *panel.Metric {
		m := s.Panels().Targets[0].Overall.Metric(name)
		if m == nil {
			t.Fatalf("no %s", name)
		}
		return m
	}
	for _, lost := range []int64{0, -1} {
		if m := find(tasked(lost, tasks...), panel.MetricPass); m.Lost != nil {
			t.Errorf("%d lost: %+v", lost, m.Lost)
		}
	}
	s := tasked(10, tasks...)
	m := find(s, panel.MetricPass)
	if m.Lost == nil || m.Lost.Low.Point != 20./50 || m.Lost.High.Point != 30./50 || m.Lost.Low.N != 50 {
		t.Errorf("%+v", m.Lost)
	}
	for _, m := range s.Panels().Targets[0].Overall.Metrics {
		if m.Lost == nil && m.Interval.N > 0 && (strings.HasPrefix(m.Name, "wall") || m.Unit == panel.UnitRate) {
			t.Errorf("%s has no ends", m.Name)
		}
		if m.Lost != nil && m.Lost.Low.Point > m.Lost.High.Point {
			t.Errorf("%s: %v to %v", m.Name, m.Lost.Low.Point, m.Lost.High.Point)
		}
	}
	duplicates := tasks[0] // contradicts the first one
	duplicates.ID, duplicates.Pass = []byte("a0"), 1
	contradicted := tasked(10, append(tasks, duplicates)...)
	// 39, the contradicted one, and 10
	if m := find(contradicted, panel.MetricPass); m.Lost == nil || m.Lost.Low.N != 50 {
		t.Errorf("with a contradiction: %+v", m.Lost)
	}
	iv := ended(stats.Interval{Point: never, Lower: 1e300, Upper: never / 2})
	if !math.IsInf(iv.Point, 1) || iv.Lower != 1e300 || iv.Upper != never/2 {
		t.Errorf("%+v", iv)
	}
}

// TestJudgedScores: an attempt has scores where it was judged, or where the provider blocked it.
func TestJudgedScores(t *testing.T) {
	t.Parallel()
	with := &scoring{scorerResult: &ScorerResult{scores: []scoreOf{{name: 1}}}}
	for name, tt := range map[string]struct {
		record *record
		want   int
	}{
		"none":        {nil, 0},
		"no scoring":  {&record{pass: 1}, 0},
		"passed":      {&record{pass: 1, scoring: with}, 1},
		"failed":      {&record{scoring: with}, 1},
		"not judged":  {&record{pass: -1, scoring: with}, 0},
		"a fault":     {&record{pass: -1, fault: true, scoring: with}, 1},
		"only a pass": {&record{pass: -1}, 0},
	} {
		if got := (&try{record: tt.record}).judgedScores(); len(got) != tt.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}
