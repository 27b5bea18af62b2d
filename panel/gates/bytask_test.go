// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package gates_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/callvet/callvet/panel"
	"github.com/callvet/callvet/panel/gates"
	"github.com/callvet/callvet/stats/gate"
)

// overCalls are fails of 300 calls that are not needed, and failing of 100 tasks with such a call.
func overCalls(fails, failing int, informative bool) []panel.Metric {
	calls, tasks := lower(rate(panel.MetricOverCall, 300, 1, fails)),
		lower(rate(panel.MetricOverCallByTask, 100, 1, failing))
	calls.Interval, tasks.Interval = calls.Interval.Complement(), tasks.Interval.Complement()
	calls.Of, tasks.Of, calls.Informative = "calls", "tasks", informative
	return []panel.Metric{calls, tasks}
}

// TestOverCallsByTask: where tasks with more unneeded calls make more calls, the gate decides by
// calls and by tasks, and the worse verdict counts.
func TestOverCallsByTask(t *testing.T) {
	t.Parallel()
	const called, byTask = "over_call_rate 0.", "over_call_rate_by_task 0."
	few := overCalls(1, 10, true)
	few[1].Interval.N, few[1].Interval.Clusters = 20, 20
	for name, tc := range map[string]struct {
		metrics  []panel.Metric
		want     gate.Verdict
		tasks    gate.Verdict // "": they are not asked
		sentence []string
		end      string
	}{
		"tasks fail": {
			overCalls(9, 30, true), gate.Fail, gate.Fail,
			[]string{called + "03", byTask + "30", "the lower end 0.21 is above the bound 0.10: failed"},
			"lower",
		},
		"tasks leave it open": {
			overCalls(9, 9, true), gate.Inconclusive, gate.Inconclusive,
			[]string{called + "03", byTask + "09", "the bound 0.10 lies within the interval: inconclusive"},
			"",
		},
		"both leave it open": {
			[]panel.Metric{overCalls(33, 1, true)[0], few[1]},
			gate.Inconclusive,
			gate.Inconclusive,
			[]string{called + "11", byTask + "10", ": inconclusive"},
			"",
		},
		"calls fail": {
			overCalls(60, 1, true), gate.Fail, gate.Pass,
			[]string{called + "20", byTask + "01", ": failed"},
			"lower",
		},
		"both pass": {
			overCalls(9, 2, true), gate.Pass, gate.Pass,
			[]string{called + "03", byTask + "02", ": passed"},
			"upper",
		},
		"they do not go along": {overCalls(9, 30, false), gate.Pass, "", []string{called + "03"}, "upper"},
	} {
		r, problems := gates.Evaluate(gates.Input{Panels: over(tc.metrics...), Task: "task"},
			[]gates.Gate{atMost(panel.MetricOverCall, 0.10)})
		if len(problems) > 0 {
			t.Fatal(problems)
		}
		v := &r.Verdicts[0]
		tasks := gate.Verdict("")
		if v.ByTask != nil {
			tasks = v.ByTask.Verdict
		}
		if v.Verdict != tc.want || tasks != tc.tasks || v.End != tc.end || r.Verdict != tc.want {
			t.Errorf("%s: %s %s by %q: %s", name, v.Verdict, tasks, v.End, v.Sentence)
		}
		for _, s := range tc.sentence {
			if !strings.Contains(v.Sentence, s) {
				t.Errorf("%s: %q is not in %q", name, s, v.Sentence)
			}
		}
		if noted := slices.ContainsFunc(v.Notes,
			func(n string) bool { return strings.Contains(n, "the worse verdict counts") }); noted != (tc.tasks != "") {
			t.Errorf("%s: notes %q", name, v.Notes)
		}
		if v.Reason == gate.ReasonTooFewUnits {
			t.Errorf("%s: of two open verdicts that of calls is kept: %s", name, v.Reason)
		}
		if open := v.Verdict == gate.Inconclusive; open != (v.Needed > 0) {
			t.Errorf("%s: needs %d more", name, v.Needed)
		}
	}
}

// TestOverCallsOfASideWithoutCalls: a run that makes no call has no rate. The share of tasks with an
// unneeded call, over all tasks, decides then.
func TestOverCallsOfASideWithoutCalls(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		cases, bad int // so many have an unneeded call now
		want       gate.Verdict
		sentence   string
	}{
		"a third now": {
			60, 20, gate.Fail,
			"one of the runs makes no call, so that it has no rate; over_call_rate_by_task changed by +0.33 ",
		},
		"none still": {100, 0, gate.Pass, "over_call_rate_by_task changed by +0.00 "},
		"a few now":  {60, 3, gate.Inconclusive, "over_call_rate_by_task changed by +0.05 "},
	} {
		led := [2]*panel.Ledger{}
		for side := range led {
			led[side] = ledger(tc.cases, panel.MetricOverCall, panel.MetricOverCallByTask)
			for i := range tc.cases {
				if side == 0 {
					led[side].Observe(0, caseID(i), nil, []panel.Observation{{Metric: 1, N: 1, Each: true}})
					continue
				}
				bad := 0.0
				if i < tc.bad {
					bad = 1
				}
				led[side].Observe(0, caseID(i), nil,
					[]panel.Observation{{Metric: 0, Sum: bad, N: 2}, {Metric: 1, Sum: bad, N: 1, Each: true}})
			}
		}
		r, problems := gates.Evaluate(gates.Input{
			Panels:     over(overCalls(20, 20, false)...),
			Comparison: panel.Diff(led[0], led[1], 0), Task: "case",
		},
			[]gates.Gate{{Metric: panel.MetricOverCall, Kind: gates.Regression}})
		if len(problems) > 0 {
			t.Fatal(problems)
		}
		v := &r.Verdicts[0]
		if v.Verdict != tc.want || !strings.Contains(v.Sentence, tc.sentence) || v.ByTask == nil || v.Interval == nil ||
			!v.Interval.Usable() {
			t.Errorf("%s: %s %s", name, v.Verdict, v.Sentence)
		}
	}
}
