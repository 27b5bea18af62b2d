// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package gates_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/panel"
	"github.com/callvet/callvet/panel/gates"
	"github.com/callvet/callvet/stats/gate"
)

// TestPerCase: a gate per case decides by the exact interval of its attempts, and by facts at once.
func TestPerCase(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		passed, failed, lost int
		cached, facts        bool
		unread               int64
		ignore               gates.Lost
		want                 gate.Verdict
		reason               string
		sentence             string
	}{
		"six of six": {
			passed: 6, want: gate.Pass, reason: gate.ReasonLowerMeets,
			sentence: "6 of 6 attempts passed: the interval is [0.54, 1.00], and the bound 0.5: passed",
		},
		"five of five": {
			passed: 5, want: gate.Inconclusive, reason: gate.ReasonStraddles,
			sentence: "5 of 5 attempts passed: the bound 0.5 lies within the interval of this task: inconclusive",
		},
		"none of six":         {failed: 6, want: gate.Fail, reason: gate.ReasonUpperMisses},
		"cached, passed":      {passed: 1, cached: true, want: gate.Pass, reason: gate.ReasonLowerMeets},
		"cached, failed":      {failed: 3, cached: true, want: gate.Fail, reason: gate.ReasonUpperMisses},
		"cached, one passed":  {passed: 1, failed: 2, cached: true, want: gate.Fail, reason: gate.ReasonUpperMisses},
		"cached, half passed": {passed: 1, failed: 1, cached: true, want: gate.Pass, reason: gate.ReasonLowerMeets},
		"none was judged": {
			lost: 1, facts: true, ignore: gates.LostIgnore, want: gate.Inconclusive,
			reason: "no_data", sentence: "0 of 0 attempts passed: no attempt was judged: inconclusive",
		},
		"scripted": {passed: 1, facts: true, want: gate.Pass, reason: gate.ReasonLowerMeets},
		"one lost of seven": {
			passed: 6, lost: 1, want: gate.Inconclusive, reason: gates.ReasonLost,
			sentence: "6 of 6 attempts passed; 1 of 7 attempts lost: what is lost may decide: inconclusive",
		},
		"ignored": {
			passed: 6, lost: 1, ignore: gates.LostIgnore, want: gate.Pass,
			reason: gate.ReasonLowerMeets,
		},
		"lost, and failed":      {failed: 12, lost: 1, want: gate.Fail, reason: gate.ReasonUpperMisses},
		"lost, it may be 0.5":   {failed: 6, lost: 2, want: gate.Inconclusive, reason: gates.ReasonLost},
		"a record is unread":    {passed: 6, unread: 1, want: gate.Inconclusive, reason: gates.ReasonLost},
		"5 % lost":              {passed: 38, lost: 2, want: gate.Pass, reason: gate.ReasonLowerMeets},
		"more than 5 % lost":    {passed: 37, lost: 2, want: gate.Inconclusive, reason: gates.ReasonLost},
		"a fact, and lost ones": {passed: 1, cached: true, lost: 1, want: gate.Inconclusive, reason: gates.ReasonLost},
	} {
		led := panel.NewLedger("r", []string{"agent"}, []string{})
		for i := range tt.passed + tt.failed + tt.lost {
			cell := callvet.Cell{
				Repeat: i, Trace: callvet.Trace{Outcome: callvet.OutcomeCalled, Cached: tt.cached},
				Result: callvet.Result{Verdict: callvet.VerdictFail},
			}
			switch {
			case i < tt.passed:
				cell.Result.Verdict = callvet.VerdictPass
			case i >= tt.passed+tt.failed:
				cell.Trace.Outcome, cell.Result.Verdict = callvet.OutcomeNotRun, callvet.VerdictNotRun
			}
			led.Add(&callvet.Case{ID: "a"}, &cell)
		}
		p := over(panel.Metric{Name: panel.MetricPass, Unit: panel.UnitRate, Interval: interval(0.88, 0.9, 0.92, 95)})
		in := gates.Input{Panels: p, Cases: led}
		if tt.facts {
			in.Facts = []string{p.Targets[0].Name}
		}
		if tt.unread > 0 {
			p.Lost = &panel.Lost{Count: tt.unread}
		}
		g := gates.Gate{
			Metric: panel.MetricPass, Kind: gates.Bound, Direction: gate.AtLeast, Bound: 0.5,
			Key: gates.KeyCase, Value: gates.Every, Lost: tt.ignore,
		}
		v := one(t, in, g)
		if v.Verdict != tt.want || v.Reason != tt.reason || v.Value != "a" || !strings.Contains(v.Sentence, tt.sentence) ||
			(len(v.Open) == 0) != (tt.want == gate.Pass) {
			t.Errorf("%s: %s, %s: %s", name, v.Verdict, v.Reason, v.Sentence)
		}
		gone, judged := tt.lost+int(tt.unread), tt.passed+tt.failed
		if tt.cached && tt.passed*tt.failed == 0 {
			judged = 1 // the same answer
		}
		if v.LostAttempts != tt.lost || v.Planned != judged+tt.lost ||
			(v.Lost == nil) != (gone == 0 || tt.ignore != "") {
			t.Errorf("%s: %d lost of %d, %+v", name, v.LostAttempts, v.Planned, v.Lost)
		}
		if v.Lost != nil && (v.Lost.N != gone || v.Lost.Of != judged+gone) {
			t.Errorf("%s: %+v", name, v.Lost)
		}
	}
}

// TestPerCaseAsked: a gate of one case, of none, and what a gate per case cannot be.
func TestPerCaseAsked(t *testing.T) {
	t.Parallel()
	led := panel.NewLedger("r", []string{"agent"}, []string{})
	for _, id := range []string{"paris", "rome"} {
		led.Add(&callvet.Case{ID: id},
			&callvet.Cell{
				Trace:  callvet.Trace{Outcome: callvet.OutcomeCalled, Cached: true},
				Result: callvet.Result{Verdict: callvet.VerdictPass},
			})
	}
	in := gates.Input{Panels: over(panel.Metric{
		Name: panel.MetricPass, Unit: panel.UnitRate,
		Interval: interval(0.88, 0.9, 0.92, 95),
	}), Cases: led}
	for value, want := range map[string][]string{
		"*": {"paris passed", "rome passed"}, "rome": {"rome passed"},
		"pariss": {"pariss inconclusive did you mean case=paris?"},
	} {
		r, problems := gates.Evaluate(in,
			[]gates.Gate{{
				Metric: panel.MetricPass, Direction: gate.AtLeast, Bound: 0.9, Key: gates.KeyCase,
				Value: value,
			}})
		if len(problems) > 0 {
			t.Fatal(problems)
		}
		var got []string
		for _, v := range r.Verdicts {
			got = append(got, fmt.Sprint(v.Value, " ",
				map[gate.Verdict]string{gate.Pass: "passed", gate.Inconclusive: "inconclusive "}[v.Verdict], v.Cure))
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("%s: %s", value, d)
		}
	}
	for _, g := range []gates.Gate{
		{Metric: "arg_em", Direction: gate.AtLeast, Bound: 0.9, Key: gates.KeyCase, Value: "*"},
		{Metric: panel.MetricPass, Kind: gates.Regression, Key: gates.KeyCase, Value: "*"},
	} {
		if _, problems := gates.Evaluate(in, []gates.Gate{g}); len(problems) != 1 ||
			problems[0].Code != "conflicting-keys" {
			t.Errorf("%+v: %v", g, problems)
		}
	}
}

// TestPerCasePopulation: gates of single cases are about this suite, also where there is no such case.
func TestPerCasePopulation(t *testing.T) {
	g := gates.Gate{Metric: "pass_rate", Kind: gates.Bound, Key: gates.KeyCase, Value: "*"}
	if got := g.About(); got != panel.ThisSuite {
		t.Errorf("About() = %q, want %q", got, panel.ThisSuite)
	}
}
