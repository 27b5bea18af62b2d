// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package panel

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/callvet/callvet"
)

// sums is a ledger of one target with the verdicts of its cases, attempt by attempt: p passed, f failed,
// e ended in an error, n did not run, c passed by an earlier answer.
func sums(t *testing.T, cases map[string]string) *Ledger {
	t.Helper()
	l := NewLedger("r", []string{"m"}, []string{"lang"})
	for id, verdicts := range cases {
		c := &callvet.Case{ID: id, Context: "c", Fields: map[string]string{"lang": id[:1]}}
		for i, v := range verdicts {
			cell := &callvet.Cell{Repeat: i, Trace: callvet.Trace{Outcome: callvet.OutcomeCalled}}
			switch v {
			case 'p':
				cell.Result.Verdict = callvet.VerdictPass
			case 'c':
				cell.Result.Verdict, cell.Trace.Cached = callvet.VerdictPass, true
			case 'f':
				cell.Result.Verdict = callvet.VerdictFail
			case 'e':
				cell.Result.Verdict, cell.Trace.Outcome = callvet.VerdictError, callvet.OutcomeError
			case 'n':
				cell.Result.Verdict, cell.Trace.Outcome = callvet.VerdictNotRun, callvet.OutcomeNotRun
			default:
				t.Fatalf("what is %c?", v)
			}
			l.Add(c, cell)
		}
	}
	return l
}

func TestSums(t *testing.T) {
	l := sums(t, map[string]string{"a1": "ppf", "a2": "pen", "b1": "ee", "b2": "cc"})
	order := []string{"b2", "a1", "gone", "b1", "a2"}
	got, why := l.Sums("m", MetricPass, SliceID{}, order)
	want := []TaskSum{
		{Task: "b2", Sum: 2, Values: 2, Cached: true},
		{Task: "a1", Sum: 2, Values: 3},
		{Task: "b1", Lost: 2},
		{Task: "a2", Sum: 1, Values: 1, Lost: 2},
	}
	for i := range got {
		if got[i].Asks == "" || len(got[i].Asks) > askedDigits {
			t.Errorf("%s asks %q", got[i].Task, got[i].Asks)
		}
		got[i].Asks = ""
	}
	if d := cmp.Diff(want, got); d != "" || why != "" {
		t.Errorf("%s%s", why, d)
	}
	if m := want[3].Mean(); m.Low != 1./3 || m.High != 1 {
		t.Errorf("the mean with two of three lost is %v", m)
	}
	if some, _ := l.Sums("m", MetricPass, SliceID{"lang", "a"}, order); len(some) != 2 || some[0].Task != "a1" {
		t.Errorf("a slice has %v", some)
	}
	for metric, of := range map[string]string{
		MetricCost: "it is an amount", "latency_p50": "it has no mean of each task in [0,1]",
		"arg_em": "it was not measured",
	} {
		if list, why := l.Sums("m", metric, SliceID{}, order); why != of || list != nil {
			t.Errorf("%s: %q, %v", metric, why, list)
		}
	}
}

// TestSumsOfCalls: a rate of calls has no sum by attempt, and its share of tasks has.
func TestSumsOfCalls(t *testing.T) {
	l := NewLedger("r", []string{"m"}, []string{})
	l.Measure("safe_calls", "safe_calls_by_task", "arg_em")
	l.Add(&callvet.Case{ID: "a"}, &callvet.Cell{Result: callvet.Result{Verdict: callvet.VerdictPass}})
	l.Observe(0, "a", nil, []Observation{
		{Metric: 0, Sum: 3, N: 4},
		{Metric: 1, Sum: 3, N: 4},
		{Metric: 2, Sum: 0.5, N: 1, Each: true, Fractional: true},
	})
	if _, why := l.Sums("m", "safe_calls", SliceID{}, []string{"a"}); why == "" {
		t.Error("a rate of calls has sums by attempt")
	}
	by, why := l.Sums("m", "safe_calls_by_task", SliceID{}, []string{"a"})
	if why != "" || len(by) != 1 || by[0].Sum != 0 || by[0].Values != 1 {
		t.Errorf("by task: %v %s", by, why)
	}
	one, why := l.Sums("m", "arg_em", SliceID{}, []string{"a"})
	if why != "" || len(one) != 1 || one[0].Sum != 0.5 {
		t.Errorf("a score of an attempt: %v %s", one, why)
	}
}

func TestPool(t *testing.T) {
	got := Pool(
		[]TaskSum{{Task: "a", Asks: "1", Sum: 1, Values: 1}, {Task: "b", Asks: "1", Values: 1}},
		[]TaskSum{
			{Task: "c", Sum: 1, Values: 1},
			{Task: "b", Asks: "2", Sum: 1, Values: 1},
			{Task: "a", Asks: "1", Values: 2, Lost: 1},
		},
		[]TaskSum{{Task: "c", Sum: 1, Values: 1, Cached: true}},
	)
	want := []TaskSum{
		{Task: "a", Asks: "1", Sum: 1, Values: 3, Lost: 1},
		{Task: "b", Asks: "2", Sum: 1, Values: 1},
		{Task: "c", Sum: 1, Values: 1},
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

func TestMeanChange(t *testing.T) {
	before := TaskSum{Task: "a", Asks: "1", Sum: 1, Values: 2}
	now := TaskSum{Task: "a", Asks: "1", Sum: 1, Values: 1, Lost: 1}
	if d, ok := MeanChange(&before, &now, false); !ok || d != (TaskMean{0, 0.5}) {
		t.Errorf("%v %v", d, ok)
	}
	if d, ok := MeanChange(&before, &now, true); !ok || d != (TaskMean{-0.5, 0}) {
		t.Errorf("less is better: %v %v", d, ok)
	}
	now.Asks = "2"
	if _, ok := MeanChange(&before, &now, false); ok {
		t.Error("a task that was changed is compared")
	}
}
