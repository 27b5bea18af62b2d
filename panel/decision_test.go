// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package panel_test

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/panel"
	"github.com/callvet/callvet/score/selection"
)

func TestDecisionsInPanels(t *testing.T) {
	t.Parallel()
	layers := []callvet.LayerTime{{Layer: callvet.SelectRoute}, {Layer: callvet.SelectTools}}
	cases := []callvet.Case{
		{ID: "1", Expect: callvet.Expect{Selection: &callvet.Selection{Route: "action", Tools: []string{"a"}}}},
		{ID: "2", Expect: callvet.Expect{Selection: &callvet.Selection{Route: "smalltalk", Tools: []string{}}}},
		{ID: "3", Expect: callvet.Expect{Selection: &callvet.Selection{Tools: []string{"a", "b"}}}},
	}
	decisions := []callvet.Decision{
		{Route: "knowledge", Tools: []callvet.Ranked{{Tool: "b"}, {Tool: "a"}}, Layers: layers},
		{Route: "smalltalk", Abstained: true, Layers: layers},
		{Tools: []callvet.Ranked{{Tool: "b"}}, Layers: layers},
	}
	a := panel.New(panel.Config{Targets: []callvet.Target{{Name: "r", Selects: true}}}, func(yield func(*callvet.Case) bool) {
		for i := range cases {
			if !yield(&cases[i]) {
				return
			}
		}
	})
	for i := range cases {
		tr := callvet.Trace{CaseID: cases[i].ID, Decision: &decisions[i]}
		tr.Classify(false)
		a.Add(&cases[i], &callvet.Cell{Case: i, Trace: tr, Result: selection.Judge(cases[i].Expect.Selection, &decisions[i], selection.Defaults())})
	}
	tp := a.Panels().Targets[0]
	for name, want := range map[string]float64{panel.MetricPass: 2. / 3, selection.Route: .5, selection.MRR: .75, selection.HitAt + "1": .5, selection.Abstention: 1, selection.ToolsBlocked: -1} {
		m := tp.Overall.Metric(name)
		if want < 0 {
			if m != nil {
				t.Errorf("%s = %v", name, m.Interval.Point)
			}
			continue
		}
		if m == nil || m.Interval.Point != want {
			t.Errorf("%s = %+v, want %v", name, m, want)
		}
	}
	for _, name := range []string{panel.MetricNative, panel.MetricOverCall, panel.MetricMiss} {
		if tp.Overall.Metric(name) != nil {
			t.Errorf("%s says something of a target that makes no calls", name)
		}
	}
	if diff := cmp.Diff([]panel.Confused{{Expected: "action", Called: "knowledge", N: 1}, {Expected: "smalltalk", Called: "smalltalk", N: 1}}, tp.Routes); diff != "" {
		t.Error(diff)
	}
	want := []panel.Confused{{Expected: panel.None, Called: panel.None, N: 1}, {Expected: "a", Called: "b", N: 1}, {Expected: "b", Called: "b", N: 1}}
	sort := func(x, y panel.Confused) int {
		return slices.Compare([]string{x.Expected, x.Called}, []string{y.Expected, y.Called})
	}
	slices.SortFunc(want, sort)
	slices.SortFunc(tp.Confusion, sort)
	if diff := cmp.Diff(want, tp.Confusion); diff != "" {
		t.Error(diff)
	}
	if !panel.Describe(selection.FalseAbstention).LowerIsBetter || panel.Describe("ndcg@10").Title != "nDCG@10" {
		t.Error("the panel does not know the scores of decisions")
	}
}

// A search in this process gives the same every time: repeating it tells no more, and
// its interval is that of the cases. Of a service that is not known.
func TestRepeatsOfASearch(t *testing.T) {
	t.Parallel()
	upper := func(provider string, repeats int) float64 {
		cases := make([]callvet.Case, 30)
		for i := range cases {
			cases[i] = callvet.Case{ID: string(rune('a' + i)), Expect: callvet.Expect{Selection: &callvet.Selection{Tools: []string{"x"}}}}
		}
		acc := panel.New(panel.Config{Targets: []callvet.Target{{Name: "r", Selects: true, Provider: provider}}, Repeats: repeats}, func(yield func(*callvet.Case) bool) {
			for i := range cases {
				if !yield(&cases[i]) {
					return
				}
			}
		})
		for i := range cases {
			for k := range repeats {
				d := callvet.Decision{Tools: []callvet.Ranked{{Tool: "y"}}, Layers: []callvet.LayerTime{{Layer: callvet.SelectTools}}}
				acc.Add(&cases[i], &callvet.Cell{Case: i, Repeat: k, Trace: callvet.Trace{Decision: &d, Outcome: callvet.OutcomeCalled}, Result: selection.Judge(cases[i].Expect.Selection, &d, selection.Defaults())})
			}
		}
		return acc.Panels().Targets[0].Overall.Metric(selection.ToolsRight).Interval.Upper
	}
	once, often, service := upper("retrieve", 1), upper("retrieve", 3), upper("retrieve:host", 3)
	if once != often || service >= once {
		t.Errorf("once %v, three times %v, of a service %v", once, often, service)
	}
}
