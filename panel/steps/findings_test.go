// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package steps

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/panel"
)

// drawn is a random attempt with the expected findings.
type drawn struct {
	steps  []callvet.StepScore
	pass   int
	fault  bool
	class  callvet.Class
	target string
}

func drawAttempt(r *rand.Rand) drawn {
	d := drawn{pass: r.IntN(3) - 1, target: [...]string{"", "m"}[r.IntN(2)]}
	if d.pass < 0 {
		d.fault = r.IntN(2) == 0
	}
	if classes := panel.Classes(); d.pass == 0 && r.IntN(5) > 0 {
		d.class = classes[1+r.IntN(len(classes)-1)]
	}
	for range r.IntN(4) {
		var s callvet.StepScore
		for m := range callvet.StepMetrics {
			if r.IntN(2) == 0 {
				s.Set(m, r.IntN(3) > 0)
			}
		}
		d.steps = append(d.steps, s)
	}
	return d
}

func (d *drawn) fill(w *Worker, b *Batch, task int, line *int64, copies int) {
	id := fmt.Append(nil, "t", task)
	for k, s := range d.steps {
		for range copies {
			*line++
			st := Step{
				Head: &Head{
					Line: *line, TaskID: id, Target: []byte(d.target), CallID: fmt.Append(nil, "c", k),
					AcceptMS: -1, QueueMS: -1, ExecMS: -1,
				},
				Tool: []byte("f"), Score: s, Args: uint64(k + 1), Paths: []string{"p"}, BadFields: []string{"q"},
				GoldTool: []byte("g"),
			}
			w.Step(b, &st)
		}
	}
	*line++
	t := Task{
		Line: *line, ID: id, Target: []byte(d.target), Pass: d.pass, Fault: d.fault, InputTokens: -1, OutputTokens: -1,
		ReasoningTokens: -1, CostUSD: -1, WallMS: -1,
		Outcome: callvet.OutcomeCalled,
	}
	switch {
	case d.fault:
		t.Outcome = callvet.OutcomeError
	case d.class == "" && task%2 == 0: // a record of another tool
		t.Outcome = ""
	case d.class == callvet.ClassUnparseable:
		t.Outcome = callvet.OutcomeUnparseable
	}
	if d.class != "" {
		t.ScorerResult = w.ScorerResult(&Scored{Class: d.class})
	}
	w.Task(b, &t)
}

func sheetOf(all []drawn, copies int) *Sheet {
	s := New(Config{})
	w, line := s.Worker(), int64(0)
	b := w.Batch()
	for i := range all {
		all[i].fill(w, b, i, &line, copies)
	}
	s.Give(0, b, func(*Batch) {})
	s.Take(w, 0, 1)
	s.Read(Source{Name: "f", Lines: line})
	s.Close()
	return s
}

// knows counts the calls where one of the measurements is known.
func knows(all []drawn, metrics ...callvet.StepMetric) (n int) {
	for i := range all {
		for _, s := range all[i].steps {
			known := false
			for _, m := range metrics {
				_, k := s.Get(m)
				known = known || k
			}
			n += one(known)
		}
	}
	return n
}

// TestFindingsAreTrue: for any attempts, no finding counts more than exist of its unit, its
// denominators are the counts of that, each example of a failure did fail, the largest class has a
// finding, and copies of lines change nothing.
func TestFindingsAreTrue(t *testing.T) {
	t.Parallel()
	for seed := range uint64(200) {
		r := rand.New(rand.NewPCG(seed, 35))
		all := make([]drawn, 1+r.IntN(40))
		for i := range all {
			all[i] = drawAttempt(r)
		}
		p := sheetOf(all, 1).Panels()
		failing, ran, classes := 0, 0, map[callvet.Class]int{}
		for i := range all {
			ran++
			if all[i].pass == 0 {
				failing++
				classes[all[i].class]++
			}
		}
		units := map[string]int{
			"S1": knows(all, callvet.StepSchemaValid, callvet.StepRejected),
			"S2": knows(all, callvet.StepSelection, callvet.StepKnownTool),
			"S3": knows(all, callvet.StepArgEM), "S4": knows(all, callvet.StepExecuted),
			"S5": knows(all, callvet.StepNeeded), "S6": knows(all, callvet.StepSafe),
		}
		most := 0
		for _, f := range p.Findings {
			if f.Count < 1 || f.Count > f.Of || f.Failed > f.Failing || f.Failing > 0 && f.Failing != failing ||
				f.Unit == "" {
				t.Errorf("%d: %s: %d of %d %s, %d of %d failing attempts of %d", seed, f.Code, f.Count, f.Of, f.Unit,
					f.Failed, f.Failing, failing)
			}
			want, call := units[f.Code]
			switch {
			case f.Unit == panel.UnitFailing:
				want = failing
			case f.Unit == "attempts that ran":
				want = ran
			case !call:
				want = f.Of
			}
			if f.Of != want {
				t.Errorf("%d: %s: of %d %s, there are %d", seed, f.Code, f.Of, f.Unit, want)
			}
			most = max(most, f.Failed)
			for _, e := range f.Examples {
				var n int
				fmt.Sscanf(e.Task, "t%d", &n)
				if all[n].pass == 1 && !strings.HasPrefix(f.Code, "B") {
					t.Errorf("%d: %s cites %s, which passed", seed, f.Code, e.Task)
				}
			}
			for _, e := range f.Evidence {
				if strings.HasPrefix(e, ":") {
					t.Errorf("%d: %s: %q begins without a name", seed, f.Code, e)
				}
			}
		}
		for class, n := range classes {
			if class != "" && n > most {
				t.Errorf("%d: %d attempts of class %q, no finding has more than %d", seed, n, class, most)
			}
		}
		duplicates := sheetOf(all, 3).Panels()
		if d := cmp.Diff(p.Findings, duplicates.Findings, cmpopts.IgnoreFields(panel.Example{}, "Line")); d != "" {
			t.Errorf("%d: copies of lines count: %s", seed, d)
		}
		for i := range p.Targets {
			if d := cmp.Diff(p.Targets[i].Confusion, duplicates.Targets[i].Confusion); d != "" {
				t.Errorf("%d: copies of lines are confused again: %s", seed, d)
			}
		}
	}
}
