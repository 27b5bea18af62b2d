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

// attempted are cases c0, c1, … of a target with one attempt each: p passed, f failed, e ended in an error.
func attempted(verdicts string) (l *panel.Ledger, order []string) {
	l = panel.NewLedger("r", []string{"agent"}, []string{"lang"})
	for i, v := range verdicts {
		c := &callvet.Case{
			ID: fmt.Sprint("c", i), Context: "x",
			Fields: map[string]string{"lang": []string{"en", "sv"}[i%2]},
		}
		cell := &callvet.Cell{Trace: callvet.Trace{Outcome: callvet.OutcomeCalled}}
		cell.Result.Verdict = map[rune]callvet.Verdict{
			'p': callvet.VerdictPass, 'f': callvet.VerdictFail, 'e': callvet.VerdictError,
		}[v]
		if v == 'e' {
			cell.Trace.Outcome = callvet.OutcomeError
		}
		l.Add(c, cell)
		order = append(order, c.ID)
	}
	return l, order
}

// anyTime is a gate that may be looked at any number of times.
func anyTime(g gates.Gate) gates.Gate { g.Looks = gates.LooksAny; return g }

// verdictOf is the verdict on a gate with evidence, at panels of 200 cases of which 150 passed.
func verdictOf(t *testing.T, g gates.Gate, e *gates.Evidence) gates.Verdict {
	t.Helper()
	p := over(rate(panel.MetricPass, 200, 1, 50), quantile("latency_p50", 0.5, 200))
	r, problems := gates.Evaluate(gates.Input{Panels: p, Evidence: e}, []gates.Gate{g})
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	return r.Verdicts[0]
}

func TestLooks(t *testing.T) {
	good, bad := strings.Repeat("p", 200), strings.Repeat("pf", 100)
	errors := strings.Repeat("pppppppppe", 20)
	at := func(n int, declared bool) map[gates.LookAt]gates.Look {
		return map[gates.LookAt]gates.Look{{Target: "agent", Metric: panel.MetricPass}: {Number: n, Declared: declared}}
	}
	for name, tc := range map[string]struct {
		gate     gates.Gate
		attempts string
		looks    map[gates.LookAt]gates.Look
		want     gate.Verdict
		after    int
		alpha    float64 // 0: it is no sequence
	}{
		"one look is that of the interval": {atLeast(panel.MetricPass, 0.9), good, nil, gate.Fail, 0, 0},
		"declared, good": {
			anyTime(atLeast(panel.MetricPass, 0.9)), good, nil, gate.Pass, 52,
			gate.Alpha,
		},
		"declared, bad": {
			anyTime(atLeast(panel.MetricPass, 0.9)), bad, nil, gate.Fail, 10,
			gate.Alpha,
		},
		"second look, declared": {
			anyTime(atLeast(panel.MetricPass, 0.9)), good, at(2, true), gate.Pass, 52, gate.Alpha,
		},
		"second look, not declared before": {
			anyTime(atLeast(panel.MetricPass, 0.9)), good, at(2, false), gate.Pass, 71, gate.LaterAlpha,
		},
		"second look, not declared": {
			atLeast(panel.MetricPass, 0.9), good, at(2, true), gate.Pass, 71,
			gate.LaterAlpha,
		},
		"a tenth lost": {
			anyTime(atLeast(panel.MetricPass, 0.5)), errors, nil, gate.Inconclusive, 0,
			gate.Alpha,
		},
		"a tenth lost, ignored": {
			func() gates.Gate { g := anyTime(atLeast(panel.MetricPass, 0.5)); g.Lost = gates.LostIgnore; return g }(),
			errors, nil, gate.Pass, 30, gate.Alpha,
		},
		"a tenth lost, fails at any loss": {
			anyTime(atLeast(panel.MetricPass, 0.5)), strings.Repeat("ffffffffffe", 18), nil, gate.Fail, 8, gate.Alpha,
		},
	} {
		l, order := attempted(tc.attempts)
		v := verdictOf(t, tc.gate, &gates.Evidence{Tasks: l, Order: order, Planned: len(order), Looks: tc.looks})
		after, alpha := 0, 0.0
		if v.Looked != nil {
			after, alpha = v.Looked.After, v.Looked.Alpha
		}
		if v.Verdict != tc.want || after != tc.after || alpha != tc.alpha {
			t.Errorf("%s: %s after %d, alpha %g, want %s after %d, %g: %s", name, v.Verdict, after, alpha,
				tc.want, tc.after,
				tc.alpha, v.Sentence)
		}
	}
}

// TestLooksChanged: earlier looks do not decide against the tasks of this one.
func TestLooksChanged(t *testing.T) {
	g := atLeast(panel.MetricPass, 0.8)
	at := gates.LookAt{Target: "agent", Metric: panel.MetricPass}
	for name, tc := range map[string]struct {
		sum      float64 // of each of 400 earlier attempts
		attempts string
		want     gate.Verdict
		reason   string
	}{
		"good and now bad":   {1, strings.Repeat("f", 40), gate.Inconclusive, gates.ReasonChanged},
		"bad and now good":   {0, strings.Repeat("p", 40), gate.Inconclusive, gates.ReasonChanged},
		"good as before":     {1, strings.Repeat("p", 40), gate.Pass, gate.ReasonBetPasses},
		"bad as before":      {0, strings.Repeat("f", 40), gate.Fail, gate.ReasonBetFails},
		"good and few tasks": {1, "pf", gate.Pass, gate.ReasonBetPasses},
	} {
		l, order := attempted(tc.attempts)
		e := &gates.Evidence{
			Tasks: l, Order: order, Planned: len(order), Looks: map[gates.LookAt]gates.Look{at: {Number: 2}},
			Earlier: map[gates.LookAt][]panel.TaskSum{},
		}
		for i := range 400 {
			e.Earlier[at] = append(e.Earlier[at], panel.TaskSum{Task: fmt.Sprint("earlier", i), Sum: tc.sum, Values: 1})
		}
		if v := verdictOf(t, g, e); v.Verdict != tc.want || v.Reason != tc.reason {
			t.Errorf("%s: %s, %s, want %s, %s: %s", name, v.Verdict, v.Reason, tc.want, tc.reason, v.Sentence)
		}
	}
}

// TestLooksOrder: the order that was fixed decides, and a slice looks at its own tasks.
func TestLooksOrder(t *testing.T) {
	l, order := attempted(strings.Repeat("pf", 100)) // lang en passes, lang sv fails
	slice := anyTime(atLeast(panel.MetricPass, 0.8))
	p := over(rate(panel.MetricPass, 200, 1, 100))
	for _, value := range []string{"en", "sv"} {
		p.Targets[0].Slices = append(p.Targets[0].Slices, panel.Slice{
			Key: "lang", Value: value, Cases: 100, Verdicts: panel.Verdicts{Pass: 100},
			Metrics: []panel.Metric{rate(panel.MetricPass, 100, 1, 0)},
		})
	}
	slice.Key, slice.Value = "lang", gates.Every
	e := &gates.Evidence{Tasks: l, Order: order, Planned: 200}
	r, _ := gates.Evaluate(gates.Input{Panels: p, Evidence: e, Keys: []string{"lang"}}, []gates.Gate{slice})
	if len(r.Verdicts) != 2 || r.Verdicts[0].Verdict != gate.Pass || r.Verdicts[1].Verdict != gate.Fail {
		t.Fatalf("%+v", r.Verdicts)
	}
	if after := r.Verdicts[0].Looked.After; after != 30 { // min_n
		t.Errorf("the slice is decided after %d of its tasks", after)
	}
	var failing []string
	for i := 1; i < len(order); i += 2 {
		failing = append(failing, order[i])
	}
	e.Order = failing
	if v := verdictOf(t, anyTime(atLeast(panel.MetricPass, 0.8)), e); v.Verdict != gate.Fail || v.Looked.After != 4 {
		t.Errorf("%s", v.Sentence)
	}
}

// TestEarlierLooks: attempts of earlier looks count with those of this one, in the order of the looks.
func TestEarlierLooks(t *testing.T) {
	l, order := attempted(strings.Repeat("p", 40))
	sums, _ := l.Sums("agent", panel.MetricPass, panel.SliceID{}, order)
	at := gates.LookAt{Target: "agent", Metric: panel.MetricPass}
	e := &gates.Evidence{
		Tasks: l, Order: order, Planned: 40, Looks: map[gates.LookAt]gates.Look{at: {Number: 2}},
		Earlier: map[gates.LookAt][]panel.TaskSum{at: nil},
	}
	g := atLeast(panel.MetricPass, 0.9)
	if v := verdictOf(t, g, e); v.Verdict != gate.Inconclusive || v.Looked.Tasks != 40 {
		t.Errorf("40 tasks are %s", v.Sentence)
	}
	for i := range sums { // the same tasks failed before
		sums[i].Sum = 0
	}
	e.Earlier[at] = sums
	if v := verdictOf(t, g, e); v.Verdict != gate.Fail || v.Looked.After != 40 { // all of the first look together
		t.Errorf("tasks that failed at the first look are forgotten: %s", v.Sentence)
	}
	for i := range sums { // other tasks passed before
		sums[i].Task, sums[i].Sum = fmt.Sprint("other", i), 1
	}
	if v := verdictOf(t, g, e); v.Verdict != gate.Pass || v.Looked.After != 71 {
		t.Errorf("80 tasks of two looks are %s", v.Sentence)
	}
}

// TestLooksWithoutSequence: a metric without a mean of each task has no early decision. At later looks its
// interval is wider, and a run that ended early leaves it open.
func TestLooksWithoutSequence(t *testing.T) {
	l, order := attempted(strings.Repeat("p", 200))
	g := anyTime(atMost("latency_p50", 205))
	at := gates.LookAt{Target: "agent", Metric: "latency_p50"}
	e := &gates.Evidence{Tasks: l, Order: order, Planned: 200, Looks: map[gates.LookAt]gates.Look{}}
	first := verdictOf(t, g, e)
	if first.Looked != nil || len(first.Notes) == 0 ||
		!strings.Contains(first.Notes[len(first.Notes)-1], "looks: any has no effect") {
		t.Errorf("at the first look: %q", first.Notes)
	}
	strict := over(rate(panel.MetricPass, 200, 1, 50), quantile("latency_p50", 0.5, 20))
	strict.Confidence = 0.995
	e.Looks[at], e.Stricter = gates.Look{Number: 2, Declared: true}, map[int]gates.Stricter{2: {Panels: strict}}
	second := verdictOf(t, g, e)
	if second.Looked == nil || second.Looked.Number != 2 || second.Looked.Alpha != 0.0025 || second.Units != 20 {
		t.Errorf("at the second look: %+v", second)
	}
	e.Looks[at] = gates.Look{Number: 3, Declared: true}
	if v := verdictOf(t, g, e); v.Verdict != gate.Inconclusive || v.Reason != gates.ReasonLater {
		t.Errorf("without an interval for the third look: %s", v.Sentence)
	}
	e.Early = map[string]bool{"agent": true}
	if v := verdictOf(t, g, e); v.Verdict != gate.Inconclusive || v.Reason != gates.ReasonNotEarly {
		t.Errorf("after an early end: %s", v.Sentence)
	}
}

func TestNoSequence(t *testing.T) {
	atOf := func(f func(*gates.Gate)) gates.Gate { g := atLeast(panel.MetricPass, 0.9); f(&g); return g }
	for name, tc := range map[string]struct {
		gate gates.Gate
		why  string
	}{
		"pass rate":  {atLeast(panel.MetricPass, 0.9), ""},
		"error rate": {atMost(panel.MetricError, 0.1), ""},
		"zero":       {zero(0), ""},
		"baseline":   {gates.Gate{Metric: panel.MetricPass, Kind: gates.Regression}, ""},
		"case by case": {
			atOf(func(g *gates.Gate) { g.Key, g.Value = gates.KeyCase, "a" }),
			"it is decided case by case",
		},
		"newly failing": {
			gates.Gate{Metric: gates.NewlyFailing, Kind: gates.Ratchet},
			"it counts cases that fail now",
		},
		"quantile":           {atMost("latency_p90", 100), "it has no mean of each task in [0,1]"},
		"cost":               {atMost(panel.MetricCost, 1), "it is an amount"},
		"cost and baseline":  {gates.Gate{Metric: panel.MetricCost, Kind: gates.Regression}, "it is an amount"},
		"bound out of reach": {atLeast(panel.MetricPass, 1.5), "its bound is not between 0 and 1"},
		"this suite": {
			gates.Gate{Metric: panel.MetricPass, Kind: gates.Regression, Population: panel.ThisSuite},
			"it is about the attempts at each case of this suite",
		},
	} {
		if s, why := tc.gate.Sequence(gate.Alpha); why != tc.why || (s == nil) != (why != "") {
			t.Errorf("%s: %q, want %q", name, why, tc.why)
		}
	}
}

// TestZeroSequence: an incident fails at once, and only a number of tasks that rules the rate out passes.
func TestZeroSequence(t *testing.T) {
	one := panel.TaskSum{Task: "bad", Sum: 1, Values: 1}
	tasks := func(n int) (out []panel.TaskSum) {
		for i := range n {
			out = append(out, panel.TaskSum{Task: fmt.Sprint(i), Values: 1})
		}
		return out
	}
	for name, tc := range map[string]struct {
		rate    float64
		tasks   []panel.TaskSum
		decided bool
	}{
		"an incident":      {0, append(tasks(3), one), true},
		"none, no rate":    {0, tasks(1000), false},
		"none, few":        {0.05, tasks(58), false},
		"none, enough":     {0.05, tasks(59), true},
		"one lost, enough": {0.05, append(tasks(80), panel.TaskSum{Task: "x", Lost: 1}), true},
		"first one lost":   {0.05, append([]panel.TaskSum{{Task: "x", Lost: 1}}, tasks(80)...), false},
	} {
		g := zero(tc.rate)
		s, _ := g.Sequence(gate.Alpha)
		s.Feed(tc.tasks)
		if s.Decided() != tc.decided {
			t.Errorf("%s: decided %v", name, s.Decided())
		}
	}
}

// TestCurve: it has few points, and ends with the last task.
func TestCurve(t *testing.T) {
	l, order := attempted(strings.Repeat("ppppf", 1000))
	v := verdictOf(t, anyTime(atLeast(panel.MetricPass, 0.8)), &gates.Evidence{Tasks: l, Order: order, Planned: 5000})
	c := v.Looked.Curve
	if len(c) < 90 || len(c) > 200 || c[len(c)-1][0] < 4900 {
		t.Errorf("%d points, the last one %v", len(c), c[len(c)-1])
	}
}
