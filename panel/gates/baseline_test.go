// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package gates_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/panel"
	"github.com/callvet/callvet/panel/gates"
	"github.com/callvet/callvet/stats/gate"
)

// compared holds two runs of a metric against one another; value gives the sum and
// the number of values of a case on either side.
func compared(metric string, cases int, value func(i int) (before, after panel.Observation)) *panel.Comparison {
	var leds [2]*panel.Ledger
	for side := range leds {
		leds[side] = panel.NewLedger("run", []string{"agent"}, []string{"language"})
		leds[side].Measure(metric)
	}
	for i := range cases {
		id := fmt.Sprint("t", i)
		before, after := value(i)
		for side, o := range []panel.Observation{before, after} {
			lang := []string{"de", "sv"}[i%2]
			leds[side].Add(&callvet.Case{ID: id, Fields: map[string]string{"language": lang}},
				&callvet.Cell{
					Trace:  callvet.Trace{Outcome: callvet.OutcomeCalled},
					Result: callvet.Result{Verdict: callvet.VerdictNotRun},
				})
			leds[side].Observe(0, id,
				[]panel.SliceID{{Key: "called_tool", Value: fmt.Sprint("f", i%3)}, {Key: "language", Value: lang}},
				[]panel.Observation{o})
		}
	}
	return panel.Diff(leds[0], leds[1], 0)
}

func rates(right, n int) panel.Observation { return panel.Observation{Sum: float64(right), N: n} }

func amounts(x float64) panel.Observation { return panel.Observation{Sum: x, N: 1, Fractional: true} }

// TestAnyMetric: rates and amounts in either direction, decided by the end that
// would be the worse.
func TestAnyMetric(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		metric   string
		cases    int
		value    func(i int) (a, b panel.Observation)
		want     gate.Verdict
		sentence string
		needed   int
	}{
		"arguments get worse": {
			"arg_em", 60, func(i int) (a, b panel.Observation) { return rates(2, 2), rates(2-i%4/2, 2) },
			gate.Fail,
			"arg_em changed by -0.25 [-0.32, -0.18], by 60 tasks measured in both runs: the upper end -0.18 is below 0 and the drop is more than 1 point: failed", 0,
		},
		"more calls that nothing needs": {
			"over_call_rate", 60, func(i int) (a, b panel.Observation) { return rates(0, 2), rates(i%4/2, 2) },
			gate.Fail,
			"over_call_rate changed by +0.25 [+0.18, +0.32], by 60 tasks measured in both runs: the lower end +0.18 is above 0 and the rise is more than 1 point: failed", 0,
		},
		"fewer of them": {
			"over_call_rate", 60, func(i int) (a, b panel.Observation) { return rates(i%4/2, 2), rates(0, 2) },
			gate.Pass, "the upper end -0.18 is below the allowed rise +5 points: passed", 0,
		},
		"nothing changed in few tasks proves little": {
			"schema_valid", 40, func(int) (a, b panel.Observation) { return rates(3, 3), rates(3, 3) },
			gate.Inconclusive,
			"schema_valid changed by +0.00 [-0.09, +0.09], by 40 tasks measured in both runs: a loss of 5 points is not ruled out", 33,
		},
		"nothing changed in many": {
			"schema_valid", 80, func(int) (a, b panel.Observation) { return rates(3, 3), rates(3, 3) },
			gate.Pass, "the lower end -0.046 is above the allowed loss -5 points: passed", 0,
		},
		"dearer": {
			"cost_per_attempt", 60,
			func(i int) (a, b panel.Observation) { return amounts(0.01), amounts(0.012 + float64(i%3)*0.001) },
			gate.Fail,
			"cost_per_attempt changed by +30.0 % [+27.9 %, +32.2 %], by 60 tasks measured in both runs (from $0.0100 to $0.0130): the lower end +27.9 % is above 0 and the rise is more than 1 % of the baseline: failed", 0,
		},
		"as dear": {
			"tokens_per_attempt", 60,
			func(i int) (a, b panel.Observation) { return amounts(100), amounts(100 + float64(i%3-1)) },
			gate.Pass, "is below the allowed rise +5 % of the baseline: passed", 0,
		},
		"none before": {
			"unneeded_calls_per_attempt", 40, func(int) (a, b panel.Observation) { return amounts(0), amounts(1) },
			gate.Fail,
			"changed by +1.00 [+0.57, +1.58], by 40 tasks measured in both runs: the lower end +0.57 is above 0 and the rise is more than 0.01: failed", 0,
		},
		"a loss beyond the margin is nearer to failing than to passing": {
			"arg_em", 100, func(i int) (a, b panel.Observation) {
				switch {
				case i < 12:
					return rates(1, 1), rates(0, 1)
				case i < 18:
					return rates(0, 1), rates(1, 1)
				}
				return rates(i%2, 1), rates(i%2, 1)
			},
			gate.Inconclusive, "a loss of 5 points is not ruled out, and no loss is not either", 380,
		},
		"few": {
			"arg_em", 10, func(int) (a, b panel.Observation) { return rates(1, 1), rates(1, 1) },
			gate.Inconclusive, "only 10 tasks measured in both runs, the gate wants 30", 63,
		},
		"one side": {
			"arg_em", 40, func(int) (a, b panel.Observation) { return rates(1, 1), panel.Observation{} },
			gate.Inconclusive, "one of the runs makes no call, so that it has no rate: inconclusive", 0,
		},
	} {
		r, problems := gates.Evaluate(gates.Input{
			Panels:     over(rate("pass_rate", 60, 1, 0)),
			Comparison: compared(tc.metric, tc.cases, tc.value), Task: "task",
		},
			[]gates.Gate{{Metric: tc.metric, Kind: gates.Regression}})
		if len(problems) > 0 {
			t.Fatal(name, problems)
		}
		if v := r.Verdicts[0]; v.Verdict != tc.want || !strings.Contains(v.Sentence, tc.sentence) ||
			strings.Contains(v.Sentence+v.Cure, "NaN") || v.Needed != tc.needed {
			t.Errorf("%s: %s %s / %s (%d)", name, v.Verdict, v.Sentence, v.Cure, v.Needed)
		}
	}
}

// TestBaselineMayBeNone: a share of a baseline that may be 0 decides nothing.
func TestBaselineMayBeNone(t *testing.T) {
	t.Parallel()
	for lower, want := range map[float64]string{0: gates.ReasonNoBase, 0.001: "lower>-margin"} {
		d := difference(-0.02, 0, 0.01, 100)
		d.Baseline = interval(lower, 0.01, 0.02, 100)
		v := one(t, gates.Input{Panels: over(), Comparison: against(panel.MetricCost, d, 0)},
			gates.Gate{Metric: panel.MetricCost, Kind: gates.Regression})
		if v.Reason != want || (v.Verdict == gate.Inconclusive) != (lower == 0) {
			t.Errorf("%g: %s (%s)", lower, v.Sentence, v.Reason)
		}
	}
}

// TestChangeOfThisSuite: a gate about this suite decides by the changes of this suite.
func TestChangeOfThisSuite(t *testing.T) {
	t.Parallel()
	c := against("arg_em", difference(-0.01, 0, 0.06, 100), 0)
	c.Suite = against("arg_em", difference(-0.5, -0.4, -0.3, 100), 0)
	for about, want := range map[panel.Population]gate.Verdict{
		"": gate.Pass, panel.TasksLikeThese: gate.Pass,
		panel.ThisSuite: gate.Fail,
	} {
		if v := one(t, gates.Input{Panels: over(), Comparison: c},
			gates.Gate{Metric: "arg_em", Kind: gates.Regression, Population: about}); v.Verdict != want {
			t.Errorf("%q: %s", about, v.Sentence)
		}
	}
}

// TestNoGoldAgainstTheBaseline: where labels do not give a metric, what is known of it in both runs
// decides nothing.
func TestNoGoldAgainstTheBaseline(t *testing.T) {
	t.Parallel()
	c := compared("tool_selection", 80, func(int) (a, b panel.Observation) { return rates(0, 1), rates(0, 1) })
	m := broken("tool_selection", "no_gold")
	m.Warnings = []string{"no gold.tool says which"}
	r, _ := gates.Evaluate(gates.Input{Panels: over(m), Comparison: c, Task: "task"},
		[]gates.Gate{{Metric: "tool_selection", Kind: gates.Regression}})
	v := r.Verdicts[0]
	if v.Verdict != gate.Inconclusive || v.Reason != "no_gold" ||
		v.Sentence != "tool_selection: nothing says what would have been right: inconclusive" || v.Needed != 0 ||
		!strings.HasPrefix(v.Cure, "add gold calls or labels") || len(v.Notes) != 1 {
		t.Errorf("%+v", v)
	}
}

// TestUnmeasured: the reason why a metric is not compared is reported, and that verdicts are
// missing only where a gate is about them.
func TestUnmeasured(t *testing.T) {
	t.Parallel()
	c := compared("arg_em", 40, func(int) (a, b panel.Observation) { return panel.Observation{}, panel.Observation{} })
	c.Targets[0].Unjudged = []panel.UnjudgedCase{{Case: "t1"}}
	r, problems := gates.Evaluate(gates.Input{Panels: over(broken("arg_em", "no_gold")), Comparison: c, Task: "task"},
		[]gates.Gate{{Metric: "arg_em", Kind: gates.Regression}})
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	if v := r.Verdicts[0]; v.Cure != "add gold calls or labels: without them this cannot be measured" ||
		len(r.Warnings) > 0 {
		t.Errorf("%s / %s %v", v.Sentence, v.Cure, r.Warnings)
	}
}

// TestSlicesOfSteps: a slice of calls is compared by its calls, one of tasks by all
// calls of its tasks.
func TestSlicesOfSteps(t *testing.T) {
	t.Parallel()
	c := compared("arg_em", 60, func(i int) (a, b panel.Observation) {
		return rates(4, 4), rates(4-4*(i%3/2), 4) // f2 breaks
	})
	p := sliced(table("de", 30, 0))
	p.Targets[0].Slices = append(p.Targets[0].Slices, panel.Slice{Key: "called_tool", Value: "f1", Cases: 20},
		panel.Slice{Key: "called_tool", Value: "f2", Cases: 20})
	g := func(key, value string) gates.Gate {
		n := 10
		return gates.Gate{Metric: "arg_em", Kind: gates.Regression, Key: key, Value: value, MinUnits: &n}
	}
	r, problems := gates.Evaluate(gates.Input{Panels: p, Comparison: c, Task: "task", Keys: []string{"called_tool"}},
		[]gates.Gate{g("called_tool", "f2"), g("called_tool", "f1"), g("language", "de")})
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	for i, want := range []string{
		"called_tool=f2 changed by -1.00 [-1.00, -0.68], by 20 tasks",
		"called_tool=f1 changed by +0.00 [-0.17, +0.17]", "language=de changed by -0.33",
	} {
		if s := r.Verdicts[i].Sentence; !strings.Contains(s, want) {
			t.Errorf("%q is not in %s", want, s)
		}
	}
}

// TestCorrection: one weak claim among many gates stands alone, and not after a
// correction for their number; a strong one always stands.
func TestCorrection(t *testing.T) {
	t.Parallel()
	c := &panel.Comparison{Targets: []panel.TargetComparison{{Candidate: "agent", Overall: change("", "", 60, 6)}}}
	var gs []gates.Gate
	strong := change("", "", 60, 14)
	strong.Key, strong.Value = "language", "de"
	c.Targets[0].Slices = append(c.Targets[0].Slices, strong)
	p := sliced(table("de", 60, 0))
	p.Targets[0].Overall.Cases = 120
	gs = append(gs, gates.Gate{Metric: "pass_rate", Kind: gates.Regression},
		gates.Gate{Metric: "pass_rate", Kind: gates.Regression, Key: "language", Value: "de"})
	for i, m := range []string{"arg_em", "arg_f1", "schema_valid"} {
		pairing, _ := panel.PairingOf(m)
		gs = append(gs, gates.Gate{Metric: m, Kind: gates.Regression})
		c.Targets[0].Measured = append(c.Targets[0].Measured,
			panel.Measured{Pairing: pairing, Overall: change("", "", 60, i%2)})
	}
	for how, want := range map[gates.Correction][2]gate.Verdict{
		"":         {gate.Fail, gate.Fail},
		gates.Holm: {gate.Inconclusive, gate.Fail},
		gates.BH:   {gate.Fail, gate.Fail},
	} {
		r, problems := gates.Evaluate(gates.Input{Panels: p, Comparison: c, Task: "task", Correction: how}, gs)
		if len(problems) > 0 {
			t.Fatal(problems)
		}
		for i := range want {
			v := r.Verdicts[i]
			if v.Verdict != want[i] || (how != "") != (v.PAdjusted != nil) {
				t.Errorf("%q: %s %v", how, v.Sentence, v.PAdjusted)
			}
		}
		if v := r.Verdicts[0]; how == gates.Holm &&
			(v.Reason != gates.ReasonHolm || !strings.Contains(v.Sentence, "one of 5 comparisons")) {
			t.Errorf("%s %s", v.Reason, v.Sentence)
		}
	}
}

func caseID(i int) string { return fmt.Sprint("t", i) }

// ledger has so many cases of one target, and measures these metrics.
func ledger(cases int, metrics ...string) *panel.Ledger {
	l := panel.NewLedger("run", []string{"agent"}, []string{"language"})
	l.Measure(metrics...)
	for i := range cases {
		l.Add(&callvet.Case{ID: caseID(i)},
			&callvet.Cell{
				Trace:  callvet.Trace{Outcome: callvet.OutcomeCalled},
				Result: callvet.Result{Verdict: callvet.VerdictNotRun},
			})
	}
	return l
}
