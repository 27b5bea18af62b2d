// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package panel_test

import (
	"math"
	"testing"

	"github.com/callvet/callvet/panel"
	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/callvet/callvet"
)

func TestAgree(t *testing.T) {
	t.Parallel()
	want := &callvet.Selection{Tools: []string{"a"}, Acceptable: []string{"c"}}
	none := &callvet.Selection{Tools: []string{}}
	evaluation := []panel.RoutingSelected{
		{Query: "one", Tools: []string{"a", "b"}, Case: "c1", Want: want, Route: "x"},
		{Query: "two", Tools: []string{"a"}, Case: "c2", Want: want},
		{Query: "three", Case: "c3", Want: none},
		{Query: "four", Tools: []string{"a"}},
		{Query: "one", Tools: []string{"z"}, Case: "again"},
	}
	production := []panel.RoutingSelected{
		{Query: "one ", Tools: []string{"b", "a"}, Route: "y"},
		{Query: "one", Tools: []string{"a"}, Route: "x"},
		{Query: "one", Tools: []string{"a"}, Route: "x"},
		{Query: "one", Tools: []string{"a", "c"}},
		{Query: "two", Tools: []string{"a"}},
		{Query: "three", Tools: []string{"c"}},
		{Query: "nobody", Tools: []string{"a"}},
	}
	got := panel.AgreeOnRouting(production, evaluation)
	type line struct {
		Query         string
		Likeness      panel.RoutingLikeness
		Times         int
		First, Route  bool
		Was, Is, Same bool
	}
	var lines []line
	for _, p := range got.Pairs {
		lines = append(lines, line{
			p.Query, p.Likeness, p.Times, p.FirstSame, p.RouteDiffers, *p.ProductionRight,
			*p.EvaluationRight, p.Case != "again",
		})
	}
	if d := cmp.Diff([]line{
		{"three", panel.RoutingDisjoint, 1, false, false, false, true, true},
		{"one", panel.RoutingOverlap, 1, true, false, true, true, true},
		{"one", panel.RoutingContained, 2, true, false, true, true, true},
		{"one ", panel.RoutingReordered, 1, false, true, false, true, true},
		{"two", panel.RoutingSame, 1, true, false, true, true, true},
	}, lines); d != "" {
		t.Error(d)
	}
	if got.Queries != 3 || got.Decisions != 6 || got.OnlyProduction != 1 || got.OnlyEvaluation != 1 {
		t.Errorf("%+v", got)
	}
	if math.Abs(got.SameTools.Point-2.0/6) > 1e-9 || math.Abs(got.First.Point-4.0/6) > 1e-9 || got.Right == nil ||
		got.Right.Cases != 3 || got.Right.Candidate.Point != 1 {
		t.Errorf("%+v %+v %+v", got.SameTools, got.First, got.Right)
	}
	if empty := panel.AgreeOnRouting(nil, evaluation); empty.Decisions != 0 || empty.SameTools.Defined() ||
		empty.Right != nil || empty.Pairs == nil {
		t.Errorf("%+v", empty)
	}
}

// Every decision has one likeness, and a side agrees with itself.
func TestAgreeCounts(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		list := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) panel.RoutingSelected {
			return panel.RoutingSelected{
				Query: rapid.SampledFrom([]string{"p", "q", "r"}).Draw(t, "query"),
				Tools: rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"a", "b", "c"}), 0, 3,
					rapid.ID[string]).Draw(t, "tools"),
			}
		}), 0, 12)
		production, evaluation := list.Draw(t, "production"), list.Draw(t, "evaluation")
		b := panel.AgreeOnRouting(production, evaluation)
		sum, times := 0, 0
		for _, c := range b.Likenesses {
			sum += c.N
		}
		for _, p := range b.Pairs {
			times += p.Times
		}
		if sum != b.Decisions || times != b.Decisions || b.Decisions > len(production) {
			t.Fatalf("%d of a likeness, %d in pairs, %d decisions", sum, times, b.Decisions)
		}
		first := map[string]bool{}
		var once []panel.RoutingSelected
		for _, e := range evaluation {
			if !first[e.Query] {
				first[e.Query] = true
				once = append(once, e)
			}
		}
		if self := panel.AgreeOnRouting(once, evaluation); self.Decisions != len(once) || len(once) > 0 &&
			self.SameTools.Point != 1 {
			t.Fatalf("with itself: %+v", self)
		}
	})
}
