// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package steps

import (
	"fmt"
	"testing"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/panel/gates"
	"github.com/callvet/callvet/stats"
	"github.com/callvet/callvet/stats/gate"
)

// labelled is a call that was needed, or not, with gold arguments or without.
func labelled(needed, args bool) callvet.StepScore {
	s := executed(true)
	s.Set(callvet.StepRejected, false)
	s.Set(callvet.StepNeeded, needed)
	s.Set(callvet.StepSelection, needed)
	if args {
		s.Set(callvet.StepArgEM, true)
		s.Matched, s.Expected, s.Emitted, s.Union = 1, 1, 1, 1
	}
	return s
}

// TestNothingToLabel: a label "no call was needed" leaves nothing to say of the arguments
// or the result, and a call that its contract refused nothing of the result: they are
// labelled, and no gate asks for more.
func TestNothingToLabel(t *testing.T) {
	t.Parallel()
	ids := make([]string, 200)
	for i := range ids {
		ids[i] = fmt.Sprint(i / 2)
	}
	p := fill(Config{}, ids, func(i int) callvet.StepScore {
		switch {
		case i%5 == 0: // 40 over-calls
			return labelled(false, false)
		case i%5 == 1: // 40 that were refused
			s := labelled(true, true)
			s.Set(callvet.StepRejected, true)
			return s
		}
		s := labelled(true, i%10 != 9) // 20 of 120 without gold arguments
		s.Set(callvet.StepEqual, true)
		return s
	}).Panels()
	for name, want := range map[string][3]int{ // n, not applicable, coverage in percent
		"arg_em": {140, 40, 90}, "arg_f1": {140, 40, 90}, "result_consistency": {120, 80, 100},
		"over_call_rate": {200, 0, 100},
	} {
		m := p.Targets[0].Overall.Metric(name)
		if m == nil || m.Coverage == nil || m.Interval.N != want[0] || m.NotApplicable != want[1] ||
			int(100**m.Coverage+0.5) != want[2] {
			t.Errorf("%s: %+v, want %v", name, m, want)
		}
	}
	share := 0.95
	r, problems := gates.Evaluate(gates.Input{Panels: p, Task: "task"}, []gates.Gate{
		{Metric: "arg_em", Direction: gate.AtLeast, Bound: 0.9},
		{Metric: "arg_em", Direction: gate.AtLeast, Bound: 0.9, MinCoverage: &share},
	})
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	if v := r.Verdicts[0]; v.Verdict != gate.Pass {
		t.Errorf("%s %s", v.Verdict, v.Sentence)
	}
	if v := r.Verdicts[1]; v.Reason != gate.ReasonCoverage ||
		v.Cure != "say what would have been right for about 10 more calls" {
		t.Errorf("%s / %s", v.Sentence, v.Cure)
	}

	none := fill(Config{}, ids, func(int) callvet.StepScore { return labelled(false, false) }).Panels()
	if m := none.Targets[0].Overall.Metric("arg_em"); m == nil || m.Interval.Status != stats.StatusNoData ||
		*m.Coverage != 1 {
		t.Errorf("over-calls alone: %+v", m)
	}
	// The counts survive a partial result.
	sheet := fill(Config{Partial: true}, ids, func(i int) callvet.StepScore { return labelled(i%5 > 0, i%5 > 0) })
	part := sheet.AppendPartial(nil, nil)
	cfg, err := ReadConfig(part, Config{})
	if err != nil {
		t.Fatal(err)
	}
	sum := New(cfg)
	if _, err := sum.Merge(part); err != nil {
		t.Fatal(err)
	}
	if m := sum.Panels().Targets[0].Overall.Metric("arg_em"); m.NotApplicable != 40 || *m.Coverage != 1 {
		t.Errorf("merged: %+v", m)
	}
}

// TestWithoutVerdict holds that attempts without a verdict leave a rate of passes unknown, and those
// on which a judge is silent the rate that it passes: neither makes a gate pass.
func TestWithoutVerdict(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		passed, silent, failed int // of the checks; a fault of the provider
		gate                   string
		want                   gate.Verdict
		reason                 string
	}{
		"all have a verdict": {passed: 120, gate: "pass_rate", want: gate.Pass},
		"a few have none":    {passed: 120, silent: 10, gate: "pass_rate", want: gate.Pass},
		"a third has none": {
			passed: 120, silent: 60, gate: "pass_rate", want: gate.Inconclusive,
			reason: gate.ReasonCoverage,
		},
		"errors have none":         {passed: 120, failed: 5, gate: "pass_rate", want: gate.Pass},
		"the judge: all":           {passed: 120, gate: "judged_pass", want: gate.Pass},
		"the judge: silent on few": {passed: 120, silent: 5, gate: "judged_pass", want: gate.Pass},
		"the judge: silent on a lot": {
			passed: 120, silent: 12, gate: "judged_pass", want: gate.Inconclusive,
			reason: gates.ReasonLost,
		},
		"the judge: errors apart": {passed: 120, failed: 5, gate: "judged_pass", want: gate.Pass},
		"the judge: both add up": {
			passed: 120, silent: 5, failed: 5, gate: "judged_pass", want: gate.Inconclusive,
			reason: gates.ReasonLost,
		},
	} {
		s := New(Config{})
		w := s.Worker()
		b := w.Batch()
		for i := range tt.passed + tt.silent + tt.failed {
			x := &Task{
				Line: int64(i + 1), ID: fmt.Append(nil, "t", i), Pass: -1, CostUSD: -1, WallMS: -1,
				Fault: i >= tt.passed+tt.silent,
			}
			if i < tt.passed {
				x.Pass, x.Judged = 1, []Verdict{{Judge: "j", Pass: true}}
			}
			w.Task(b, x)
		}
		s.Give(0, b, func(*Batch) {})
		s.Take(w, 0, 1)
		s.Close()
		r, problems := gates.Evaluate(gates.Input{Panels: s.Panels(), Task: "task"},
			[]gates.Gate{{Metric: tt.gate, Direction: gate.AtLeast, Bound: 0.85}})
		if problems != nil {
			t.Fatal(problems)
		}
		if v := r.Verdicts[0]; v.Verdict != tt.want || tt.reason != "" && v.Reason != tt.reason {
			t.Errorf("%s: %s, %s: %s", name, v.Verdict, v.Reason, v.Sentence)
		}
	}
}
