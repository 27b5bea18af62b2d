// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package score_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/score"
)

// TestBestPlan: of several plans one that passes is taken, else the one with the highest selection,
// then arguments, then one with its order kept, then the first; it is named.
func TestBestPlan(t *testing.T) {
	t.Parallel()
	named := func(name string, o callvet.Order, p callvet.Plan) callvet.Plan {
		p.Name, p.Order = name, o
		return p
	}
	for _, tt := range []struct {
		name  string
		plans []callvet.Plan
		trace *callvet.Trace
		want  string
		acc   float64
	}{
		{
			"the one that passes, though others come near",
			[]callvet.Plan{
				named("near", "", wants("a", `{"x":1,"y":2}`)), named("passes", "", wants("a", `{"x":1}`)),
				named("passes, too", "", wants("a", "")),
			},
			made("a", `{"x":1}`), "passes", 1,
		},
		{
			"higher selection, lower arguments",
			[]callvet.Plan{named("half", "", wants("a", `{"x":1}`, "b", "")), named("all", "", wants("a", `{"x":2}`))},
			made("a", `{"x":1}`), "all", 0,
		},
		{
			"lower selection comes later",
			[]callvet.Plan{named("all", "", wants("a", `{"x":2}`)), named("half", "", wants("a", `{"x":1}`, "b", ""))},
			made("a", `{"x":1}`), "all", 0,
		},
		{
			"higher arguments",
			[]callvet.Plan{
				named("none", "", wants("a", `{"x":2,"y":3}`)),
				named("half", "", wants("a", `{"x":1,"y":3}`)), named("third", "", wants("a", `{"x":1,"y":3,"z":4}`)),
			},
			made("a", `{"x":1,"y":2}`), "half", 0.5,
		},
		{
			"kept order",
			[]callvet.Plan{
				named("wrong", "in_order", wants("b", `{"x":1}`, "a", `{}`)),
				named("right", "in_order", wants("a", `{}`, "b", `{"x":1}`)),
			},
			made("a", `{}`, "b", `{"x":2}`), "right", 0.5,
		},
		{
			"the first of equal ones",
			[]callvet.Plan{named("first", "", wants("a", `{"x":1}`)), named("second", "", wants("a", `{"x":2}`))},
			made("a", `{"x":3}`), "first", 0,
		},
		{
			"no asserted arguments are no better than wrong ones",
			[]callvet.Plan{
				named("first", "", wants("a", "", "b", "")),
				named("second", "", wants("a", `{"x":1}`, "b", "")),
			},
			made("a", `{"x":2}`), "first", -1,
		},
		{
			"wrong arguments are no better than none",
			[]callvet.Plan{
				named("first", "", wants("a", `{"x":1}`, "b", "")),
				named("second", "", wants("a", "", "b", "")),
			},
			made("a", `{"x":2}`), "first", 0,
		},
		{
			"one plan is not named",
			[]callvet.Plan{named("only", "", wants("a", `{"x":1}`))},
			made("a", `{"x":1}`), "", 1,
		},
	} {
		s := &callvet.Suite{Cases: []callvet.Case{one(plans(tt.plans...))}}
		r := mustCompile(t, s)[0].Score(tt.trace)
		if d := cmp.Diff(tt.want, r.Plan); d != "" {
			t.Errorf("%s: %s", tt.name, d)
		}
		checkScores(t, tt.name, r, map[string]float64{score.ArgAccuracy: tt.acc})
	}
}

// TestArgumentScoresOfSeveralCalls: they are means over the expected calls that assert
// arguments; one that was not made counts 0.
func TestArgumentScoresOfSeveralCalls(t *testing.T) {
	t.Parallel()
	type values struct{ acc, em, keys, p, r, f float64 }
	optional := wants("a", `{"x":1}`, "b", `{"x":1}`)
	optional.Calls[1].Optional = true
	for _, tt := range []struct {
		name  string
		plan  callvet.Plan
		trace *callvet.Trace
		want  values
	}{
		{
			"both made, one half right", wants("a", `{"x":1}`, "b", `{"x":1,"y":2}`), made("a", `{"x":1}`, "b", `{"x":1}`),
			values{3.0 / 4, 1.0 / 2, 3.0 / 4, 1, 3.0 / 4, (1 + 2.0/3) / 2},
		},
		{
			"one made", wants("a", `{"x":1}`, "b", `{"x":1}`), made("a", `{"x":1}`),
			values{1.0 / 2, 1.0 / 2, 1.0 / 2, 1.0 / 2, 1.0 / 2, 1.0 / 2},
		},
		{
			"one of three made", wants("a", `{"x":1}`, "b", `{"x":1}`, "c", `{}`), made("a", `{"x":1}`),
			values{1.0 / 3, 1.0 / 3, 1.0 / 3, 1.0 / 3, 1.0 / 3, 1.0 / 3},
		},
		{
			"one without asserted arguments does not count", wants("a", `{"x":1}`, "b", ""),
			made("a", `{"x":1}`, "b", `{}`),
			values{1, 1, 1, 1, 1, 1},
		},
		{"an optional one that was not made does not count", optional, made("a", `{"x":1}`), values{1, 1, 1, 1, 1, 1}},
		{
			"with one key too many", wants("a", `{"x":1}`), made("a", `{"x":1,"y":2,"z":3}`),
			values{1, 0, 1.0 / 3, 1.0 / 3, 1, 2.0 / 4},
		},
		{"arguments that cannot be read", wants("a", `{"x":1}`), raw("a", `{"x":`), values{0, 0, 0, 0, 0, 0}},
		{
			"of a subset only what was made", ordered(callvet.OrderSubset, wants("a", `{"x":1}`, "b", `{"x":1}`)),
			made("a", `{"x":1}`),
			values{1, 1, 1, 1, 1, 1},
		},
		{
			"of a single use the best", ordered(callvet.OrderSingle, wants("a", `{"x":1}`)), made("a", `{"x":1}`),
			values{1, 1, 1, 1, 1, 1},
		},
		{
			"of a single use, two made, the accuracy of the best",
			ordered(callvet.OrderSingle, wants("a", `{"x":1}`, "b", `{"x":1}`)), made("a", `{"x":1}`, "b", `{"x":2}`),
			values{1, 1.0 / 2, 1.0 / 2, 1.0 / 2, 1.0 / 2, 1.0 / 2},
		},
		{
			"of a single use, one made without asserted arguments",
			ordered(callvet.OrderSingle, wants("a", `{"x":1}`, "b", "")), made("a", `{"x":1}`, "b", `{"x":2}`),
			values{1, 1, 1, 1, 1, 1},
		},
	} {
		r := verdict(t, tt.plan, tt.trace)
		checkScores(t, tt.name, r, map[string]float64{
			score.ArgAccuracy: tt.want.acc, score.ArgEM: tt.want.em, score.ArgEMKeys: tt.want.keys,
			score.ArgPrecision: tt.want.p, score.ArgRecall: tt.want.r, score.ArgF1: tt.want.f,
		})
	}
}

// TestToolScores: selection by the plan's order, and precision, recall and F1 of the
// multisets of names: 1 when both are empty, 0 when only the denominator is.
func TestToolScores(t *testing.T) {
	t.Parallel()
	type values struct{ selection, p, r, f, over, miss float64 }
	extra := func(n int, p callvet.Plan) callvet.Plan {
		p.MaxExtraCalls = &n
		return p
	}
	optional := wants("a", "")
	optional.Calls[0].Optional = true
	const no = -1 // absent
	for _, tt := range []struct {
		name  string
		plan  callvet.Plan
		trace *callvet.Trace
		pass  bool
		want  values
	}{
		{"nothing and nothing", wants(), made(), true, values{1, 1, 1, 1, no, no}},
		{"nothing wanted, one made", wants(), made("a", `{}`), false, values{0, 0, 0, 0, 1, no}},
		{"one wanted, nothing made", wants("a", ""), made(), false, values{0, 0, 0, 0, no, 1}},
		{
			"one of two", wants("a", "", "b", ""), made("a", `{}`), false,
			values{1.0 / 2, 1, 1.0 / 2, 2.0 / 3, 0, 1.0 / 2},
		},
		{
			"one too many", wants("a", ""), made("a", `{}`, "b", `{}`), false,
			values{1.0 / 2, 1.0 / 2, 1, 2.0 / 3, 1.0 / 2, 0},
		},
		{
			"one too many, and one is allowed", extra(1, wants("a", "")), made("a", `{}`, "b", `{}`), true,
			values{1, 1.0 / 2, 1, 2.0 / 3, 1.0 / 2, 0},
		},
		{
			"three too many, and one is allowed", extra(1, wants("a", "")),
			made("a", `{}`, "b", `{}`, "c", `{}`, "d", `{}`), false,
			values{1.0 / 3, 1.0 / 4, 1, 2.0 / 5, 3.0 / 4, 0},
		},
		{
			"three too many, and any number is allowed", extra(-1, wants("a", "")),
			made("a", `{}`, "b", `{}`, "c", `{}`, "d", `{}`), true,
			values{1, 1.0 / 4, 1, 2.0 / 5, 3.0 / 4, 0},
		},
		{"an optional one that was not made", optional, made(), true, values{1, 1, 1, 1, no, no}},
		{
			"a superset has any number", ordered(callvet.OrderSuperset, wants("a", "")),
			made("a", `{}`, "b", `{}`, "c", `{}`, "d", `{}`), true,
			values{1, 1.0 / 4, 1, 2.0 / 5, 3.0 / 4, 0},
		},
		{
			"recall has any number", ordered(callvet.OrderRecall, wants("a", "", "b", "")),
			made("a", `{}`, "c", `{}`, "d", `{}`), false,
			values{1.0 / 2, 1.0 / 3, 1.0 / 2, 2.0 / 5, 2.0 / 3, 1.0 / 2},
		},
		{
			"a subset does not miss", ordered(callvet.OrderSubset, wants("a", "", "b", "")), made("a", `{}`, "c", `{}`),
			false,
			values{1.0 / 2, 1.0 / 2, 1.0 / 2, 1.0 / 2, 1.0 / 2, 1.0 / 2},
		},
		{
			"precision counts every call", extra(1, ordered(callvet.OrderPrecision, wants("a", ""))),
			made("a", `{}`, "b", `{}`), false,
			values{1.0 / 2, 1.0 / 2, 1, 2.0 / 3, 1.0 / 2, 0},
		},
		{
			"a single use has any number", ordered(callvet.OrderSingle, wants("a", "", "b", "")),
			made("c", `{}`, "b", `{}`), true,
			values{1, 1.0 / 2, 1.0 / 2, 1.0 / 2, 1.0 / 2, 1.0 / 2},
		},
	} {
		r := verdict(t, tt.plan, tt.trace)
		if (r.Verdict == callvet.VerdictPass) != tt.pass {
			t.Errorf("%s: %s %s", tt.name, r.Verdict, r.Reason)
		}
		checkScores(t, tt.name, r, map[string]float64{
			score.ToolSelection: tt.want.selection, score.ToolPrecision: tt.want.p, score.ToolRecall: tt.want.r,
			score.ToolF1:   tt.want.f,
			score.OverCall: tt.want.over, score.Miss: tt.want.miss, score.Overall: tt.want.selection,
		})
	}
}
