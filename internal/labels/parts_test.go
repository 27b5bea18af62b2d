// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package labels_test

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/callvet/callvet/internal/labels"
)

// callsOf are verdicts on k calls of each task; pass decides the verdict on one.
func callsOf(tasks, k int, pass func(task, call int) bool) []labels.Judgement {
	var out []labels.Judgement
	for i := range tasks {
		for c := range k {
			got := pass(i, c)
			key := labels.Key{TaskID: fmt.Sprint("t", i), Unit: labels.Call, CallID: fmt.Sprint("c", c)}
			out = append(out, labels.Judgement{
				Key: key, Fingerprint: outputOf(key.TaskID),
				Verdict: labels.Verdict{Judge: labels.Judge{Name: "j"}, Pass: &got},
			})
		}
	}
	return out
}

// peopleOn are labels that agree with the verdicts, but for every tenth.
func peopleOn(vs []labels.Judgement) []labels.Label {
	var out []labels.Label
	for i, v := range vs {
		pass := *v.Pass != (i%10 == 0)
		out = append(out, labels.Label{
			Key: v.Key, Fingerprint: v.Fingerprint, Run: "now", By: "ana",
			Role: labels.Calibrating, Pass: &pass, Stratum: labels.Random,
		})
	}
	return out
}

// TestCallsOfATaskAreAlike: four labelled calls of one task, which all have one verdict, are no four
// tasks: the corrected rate by call is as wide as one label a task makes it, or nearly.
func TestCallsOfATaskAreAlike(t *testing.T) {
	t.Parallel()
	width := func(tasks, k int) float64 {
		vs := callsOf(tasks, k, func(task, _ int) bool { return task%4 > 0 })
		r, err := labels.Calibrate(
			labels.CalibrationInput{Judge: "j", Unit: labels.Call, Run: vs, RunID: "now", Labels: onTasks(vs)})
		if err != nil {
			t.Fatal(err)
		}
		s := r.Success[0]
		if s.Design != labels.Internal || s.Refused != "" || s.Judged != tasks*k || s.Tasks != tasks ||
			s.True.N != tasks*k {
			t.Fatalf("%d × %d: %+v", tasks, k, s)
		}
		return s.True.Upper - s.True.Lower
	}
	one, four, independent := width(60, 1), width(60, 4), width(240, 1)
	if four < 0.9*one || four < 1.5*independent {
		t.Errorf("60 × 1: %.3f, 60 × 4: %.3f, 240 × 1: %.3f", one, four, independent)
	}
}

// onTasks are labels that agree with the verdicts, but for the calls of every tenth task.
func onTasks(vs []labels.Judgement) []labels.Label {
	out := peopleOn(vs)
	for i := range out {
		pass := *vs[i].Pass
		if strings.HasSuffix(vs[i].TaskID, "5") {
			pass = !pass
		}
		out[i].Pass = &pass
	}
	return out
}

// TestOneAttemptOfSeveralCalls: calls of one attempt are no repeats of a task, so that those that
// agree still count; attempts that agree in all calls are one.
func TestOneAttemptOfSeveralCalls(t *testing.T) {
	t.Parallel()
	mixed := func(task, call int) bool { return (task+call)%3 > 0 }
	once := callsOf(40, 3, mixed)
	twice := slices.Clone(once)
	for _, v := range once {
		v.Attempt = 1
		twice = append(twice, v)
	}
	a, _, n, _ := labels.JudgedRate(once, .95)
	b, _, m, _ := labels.JudgedRate(twice, .95)
	if n != 120 || m != 240 || a.N != 120 || math.Abs(a.Lower-b.Lower) > 1e-12 || math.Abs(a.Upper-b.Upper) > 1e-12 {
		t.Errorf("one attempt: %+v, the same twice: %+v", a, b)
	}
}

func TestJudgedRange(t *testing.T) {
	t.Parallel()
	vs := callsOf(20, 2, func(task, _ int) bool { return task > 4 })
	silent := slices.Clone(vs)
	for i := range 4 {
		silent[20+i].Pass = nil
	}
	for name, c := range map[string]struct {
		vs                []labels.Judgement
		lost, attempts, n int
		low, high         float64
	}{
		"nothing is lost":                  {vs, 0, 20, 0, 0.75, 0.75},
		"verdicts that cannot be read":     {silent, 0, 20, 4, 0.65, 0.75},
		"attempts, with two calls each":    {vs, 5, 20, 10, 0.6, 0.8},
		"both":                             {silent, 5, 20, 14, 0.52, 0.8},
		"attempts that seldom have a call": {vs, 40, 160, 10, 0.6, 0.8},
		"no attempt has an outcome":        {nil, 5, 0, 0, math.NaN(), math.NaN()},
	} {
		low, high, n := labels.JudgedRange(c.vs, c.lost, c.attempts, .95)
		same := func(got, want float64) bool { return math.Abs(got-want) < 1e-9 || math.IsNaN(want) }
		if n != c.n || !same(low.Point, c.low) || !same(high.Point, c.high) {
			t.Errorf("%s: %d more, %g to %g", name, n, low.Point, high.Point)
		}
	}
}

// TestNoTasksOfCalls: texts about calls never use the word tasks for calls.
func TestNoTasksOfCalls(t *testing.T) {
	t.Parallel()
	vs := callsOf(30, 2, func(task, call int) bool { return task%3 > 0 })
	for name, ls := range map[string][]labels.Label{
		"nobody labelled":     nil,
		"few labels":          peopleOn(vs[:6]),
		"all labels":          peopleOn(vs),
		"only true passes":    onlyPasses(peopleOn(vs)),
		"drawn by verdict":    byVerdict(peopleOn(vs)),
		"made elsewhere":      elsewhere(peopleOn(vs)),
		"few, made elsewhere": elsewhere(peopleOn(vs[:8])),
	} {
		r, err := labels.Calibrate(
			labels.CalibrationInput{Judge: "j", Unit: labels.Call, Run: vs, RunID: "now", Labels: ls})
		if err != nil {
			t.Fatal(err)
		}
		got := append([]string{r.Why}, r.Warnings...)
		for _, s := range r.Success {
			got = append(got, s.Refused, s.Advice)
		}
		for _, s := range got {
			for _, word := range []string{"labelled task", "tasks of this run", "label tasks", "tasks and"} {
				if strings.Contains(s, word) {
					t.Errorf("%s: %q", name, s)
				}
			}
		}
	}
}

func onlyPasses(ls []labels.Label) []labels.Label {
	return slices.DeleteFunc(ls, func(l labels.Label) bool { return !*l.Pass })
}

func byVerdict(ls []labels.Label) []labels.Label {
	for i := range ls {
		ls[i].Stratum = labels.JudgePass
	}
	return ls
}

func elsewhere(ls []labels.Label) []labels.Label {
	for i := range ls {
		got := *ls[i].Pass
		ls[i].Fingerprint, ls[i].Run, ls[i].Judged = "", "",
			[]labels.Verdict{{Judge: labels.Judge{Name: "j"}, Pass: &got}}
	}
	return ls
}

// TestQueueOfCalls: calls are drawn from all calls, equal ones of equal outputs once, and what has a
// label is not drawn again.
func TestQueueOfCalls(t *testing.T) {
	t.Parallel()
	var items []labels.CalibrationItem
	for _, v := range callsOf(10, 3, func(task, _ int) bool { return task > 1 }) {
		items = append(items,
			labels.CalibrationItem{Key: v.Key, Fingerprint: v.Fingerprint, Judged: []labels.Verdict{v.Verdict}})
	}
	again := items[0]
	again.Attempt = 1
	q := labels.Queue{
		Strategy: labels.AtRandom, N: 100, By: "ana", Role: labels.Calibrating,
		Unit: labels.Call, Run: "now",
	}
	next := func(q labels.Queue, done []labels.Label) []labels.Label {
		t.Helper()
		out, err := q.Next(append(slices.Clone(items), again), done)
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	all := next(q, nil)
	things := map[labels.Thing]bool{}
	for _, l := range all {
		things[l.Thing()] = true
		if l.Unit != labels.Call || l.CallID == "" || l.Frame.JudgePass+l.Frame.JudgeFail != 31 {
			t.Errorf("%+v", l)
		}
	}
	if len(all) != 30 || len(things) != 30 {
		t.Errorf("%d drawn, %d things", len(all), len(things))
	}
	yes := true
	done := slices.Clone(all[:7])
	for i := range done {
		done[i].Pass = &yes
	}
	if rest := next(q, done); len(rest) != 23 {
		t.Errorf("%d are left of 30 with 7 labelled", len(rest))
	}
	task := done[0]
	task.Unit, task.CallID = labels.Task, ""
	if rest := next(q, []labels.Label{task}); len(rest) != 30 {
		t.Errorf("a label of a task leaves %d of 30 calls", len(rest))
	}
	q.N = 5
	thingOf := func(ls []labels.Label) (out []labels.Thing) {
		for i := range ls {
			out = append(out, ls[i].Thing())
		}
		return out
	}
	if d := cmp.Diff(thingOf(all[:5]), thingOf(next(q, nil))); d != "" {
		t.Errorf("a shorter draw is no beginning of a longer one: %s", d)
	}
	q.N, q.Strategy, q.Judge = 10, labels.Neyman, "j"
	if n := len(next(q, nil)); n != 10 {
		t.Errorf("%d drawn by verdict", n)
	}
}

// TestLostLabelsOfCalls: a drawn call without a label is a lost label, as a drawn task is.
func TestLostLabelsOfCalls(t *testing.T) {
	t.Parallel()
	vs := callsOf(40, 2, func(task, _ int) bool { return task%3 > 0 })
	var items []labels.CalibrationItem
	for _, v := range vs {
		items = append(items,
			labels.CalibrationItem{Key: v.Key, Fingerprint: v.Fingerprint, Judged: []labels.Verdict{v.Verdict}})
	}
	q := labels.Queue{
		Strategy: labels.AtRandom, N: 60, By: "ana", Role: labels.Calibrating, Unit: labels.Call,
		Run: "now", Seed: 3,
	}
	all, err := q.Next(items, nil)
	if err != nil {
		t.Fatal(err)
	}
	for i := range all {
		all[i].Pass = all[i].Judged[0].Pass
	}
	for lost, refused := range map[int]bool{0: false, 2: false, 12: true} {
		r, err := labels.Calibrate(
			labels.CalibrationInput{Judge: "j", Unit: labels.Call, Run: vs, RunID: "now", Labels: all[lost:]})
		if err != nil {
			t.Fatal(err)
		}
		s := r.Success[0]
		if (s.Refused != "") != refused || s.Lost.N != lost || s.Lost.Of != 60 {
			t.Errorf("%d of 60 calls without a label: %q, %+v", lost, s.Refused, s.Lost)
		}
	}
}
