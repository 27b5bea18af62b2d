// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package score_test

import (
	"errors"
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/score"
)

func decision(route, sub string, agents []string, tools ...string) *callvet.Decision {
	d := &callvet.Decision{Route: route, SubRoute: sub, Agents: agents, Layers: []callvet.LayerTime{
		{Layer: callvet.SelectRoute},
		{Layer: callvet.SelectSubRoute},
		{Layer: callvet.SelectAgents},
		{Layer: callvet.SelectTools},
	}}
	for i, t := range tools {
		d.Tools = append(d.Tools, callvet.Ranked{Tool: t, Score: float64(-i)})
	}
	return d
}

func TestJudge(t *testing.T) {
	t.Parallel()
	full := callvet.Selection{
		Route: "action", SubRoute: "travel", Agents: []string{"trafik", "action"},
		Tools: []string{"a"}, Acceptable: []string{"a", "b"},
	}
	none := callvet.Selection{Tools: []string{}}
	onlyTools := decision("", "", nil, "x", "a")
	onlyTools.Layers = onlyTools.Layers[3:]
	for name, c := range map[string]struct {
		want    callvet.Selection
		got     *callvet.Decision
		verdict callvet.Verdict
		class   callvet.Class
		scores  map[string]float64 // -1: absent
	}{
		"all right": {
			full, decision("action", "travel", []string{"action", "trafik"}, "a"), callvet.VerdictPass, "",
			map[string]float64{
				"composite": 1, "route": 1, "sub_route": 1, "agent_overlap": 1, "agents_exact": 1,
				"tool_match": 1, "match_exact": 1, "match_acceptable": 1, "hit@1": 1, "ndcg@5": 1, "mrr": 1,
				"tools_blocked": -1, "selection_abstention": -1,
			},
		},
		"acceptable": {
			full, decision("action", "travel", []string{"action", "trafik"}, "b", "a"), callvet.VerdictPass, "",
			map[string]float64{
				"composite": .85, "tool_match": .7, "match_exact": 0, "match_acceptable": 1,
				"precision@1": 0, "mrr": .5, "hit@1": 0, "hit@3": 1, "ndcg@3": 1 / math.Log2(3),
			},
		},
		"partial is found among k": {
			full, decision("action", "travel", []string{"trafik"}, "x", "a"), callvet.VerdictFail, callvet.ClassAgents,
			map[string]float64{
				"composite": .15 + .1 + .25*.5 + .5*.4, "tool_match": .4, "match_acceptable": 0,
				"match_partial": 1, "match_none": 0, "agent_overlap": .5, "agents_exact": 0,
			},
		},
		"blocked by the route": {
			full, decision("knowledge", "docs", []string{"trafik", "action"}, "x"), callvet.VerdictFail,
			callvet.ClassRoute,
			map[string]float64{
				"composite": .25, "route": 0, "sub_route": 0, "tools_blocked": 1, "match_none": 1,
				"recall@5": 0,
			},
		},
		"shut out by the agents": {
			full, decision("action", "travel", []string{"bolag"}, "x"), callvet.VerdictFail, callvet.ClassAgents,
			map[string]float64{"tools_blocked": 1, "agent_gate": 1},
		},
		"one agent is enough": {
			full, decision("action", "travel", []string{"bolag", "trafik"}, "x"), callvet.VerdictFail,
			callvet.ClassAgents,
			map[string]float64{"tools_blocked": 0, "agent_gate": 0},
		},
		"the route goes before the agents": {
			full, decision("knowledge", "travel", []string{"bolag"}, "x"), callvet.VerdictFail, callvet.ClassRoute,
			map[string]float64{"tools_blocked": 1, "agent_gate": 1},
		},
		"agents where nothing fits": {
			callvet.Selection{Agents: []string{}, Tools: []string{}},
			decision("", "", []string{"bolag"}, "x"), callvet.VerdictFail, callvet.ClassAgents,
			map[string]float64{"tools_blocked": 1, "agent_gate": -1},
		},
		"no agent is expected, so none shuts out": {
			callvet.Selection{Agents: []string{}, Tools: []string{"a"}},
			decision("", "", []string{"bolag"}, "x"), callvet.VerdictFail, callvet.ClassAgents,
			map[string]float64{"tools_blocked": 1, "agent_gate": -1},
		},
		"no tool is expected, so none is shut out": {
			callvet.Selection{Agents: []string{"trafik"}, Tools: []string{}},
			decision("", "", []string{"bolag"}, "x"), callvet.VerdictFail, callvet.ClassAgents,
			map[string]float64{"tools_blocked": 1, "agent_gate": -1},
		},
		"found in spite of the agents": {
			full, decision("action", "travel", []string{"bolag"}, "a"), callvet.VerdictFail, callvet.ClassAgents,
			map[string]float64{"tools_blocked": -1, "agent_gate": -1, "tools_right": 1},
		},
		"tools alone are wrong": {
			full, decision("action", "travel", []string{"action", "trafik"}, "x"),
			callvet.VerdictFail, callvet.ClassSelected,
			map[string]float64{"tools_blocked": 0},
		},
		"layers not decided have no weight": {
			full, onlyTools, callvet.VerdictPass, "",
			map[string]float64{"composite": .4, "route": -1, "agent_overlap": -1, "tool_match": .4},
		},
		"nothing fits, nothing given": {
			none, decision("", "", nil), callvet.VerdictPass, "",
			map[string]float64{
				"composite": 1, "selection_abstention": 1, "match_exact": 1, "hit@1": -1, "mrr": -1,
				"false_abstention": -1,
			},
		},
		"nothing fits, something given": {
			none, decision("", "", nil, "a"), callvet.VerdictFail, callvet.ClassSelected,
			map[string]float64{"composite": 0, "selection_abstention": 0},
		},
		"false abstention": {
			callvet.Selection{Tools: []string{"a"}},
			decision("", "", nil), callvet.VerdictFail, callvet.ClassSelected,
			map[string]float64{
				"false_abstention": 1, "precision@1": 0, "mrr": 0, "hit@5": 0,
				"selection_abstention": -1,
			},
		},
		"agents after tools": {
			full,
			&callvet.Decision{
				Agents: []string{"x"}, Tools: []callvet.Ranked{{Tool: "x"}},
				Layers: []callvet.LayerTime{
					{Layer: callvet.SelectTools},
					{Layer: callvet.SelectAgents},
					{Layer: callvet.SelectTools},
				},
			},
			callvet.VerdictFail, callvet.ClassSelected,
			map[string]float64{
				"tools_blocked": 0, "tools_right": 0, "agent_overlap": 0, "composite": 0,
				"agent_gate": -1,
			},
		},
		"nothing to judge": {
			callvet.Selection{Route: "action"},
			onlyTools, callvet.VerdictNotRun, "",
			map[string]float64{"composite": -1},
		},
		"two expected tools": {
			callvet.Selection{Tools: []string{"a", "b"}},
			decision("", "", nil, "a", "x", "y", "b"), callvet.VerdictPass, "",
			map[string]float64{"recall@1": .5, "recall@3": .5, "recall@5": 1, "tool_match": .4},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := score.JudgeSelection(&c.want, c.got, score.SelectionDefaults())
			if r.Verdict != c.verdict || r.Class != c.class || (r.Verdict == callvet.VerdictPass) != (r.Reason == "") {
				t.Errorf("%s %s %q, want %s %s", r.Verdict, r.Class, r.Reason, c.verdict, c.class)
			}
			for score, want := range c.scores {
				s := r.Score(score)
				if s.Scored != (want >= 0) || s.Scored && math.Abs(s.Value-want) > 1e-12 {
					t.Errorf("%s = %v (scored %v), want %v", score, s.Value, s.Scored, want)
				}
			}
		})
	}
}

func TestOf(t *testing.T) {
	t.Parallel()
	call := func(names ...string) callvet.ExpectedCall { return callvet.ExpectedCall{Tools: names} }
	for name, c := range map[string]struct {
		e    callvet.Expect
		want callvet.Selection
		ok   bool
	}{
		"nothing": {callvet.Expect{}, callvet.Selection{}, false},
		"empty":   {callvet.Expect{Selection: &callvet.Selection{}}, callvet.Selection{}, false},
		"own": {
			callvet.Expect{Selection: &callvet.Selection{Route: "r"}, ToolsCalled: []string{"x"}},
			callvet.Selection{Route: "r"},
			true,
		},
		"called": {
			callvet.Expect{ToolsCalled: []string{"a", "a", "b"}},
			callvet.Selection{Tools: []string{"a", "b"}},
			true,
		},
		"none": {
			callvet.Expect{ToolsAcceptable: [][]string{{callvet.NoTools}, {"b"}}},
			callvet.Selection{Tools: []string{}, Acceptable: []string{"b"}},
			true,
		},
		"no call": {callvet.Expect{Plans: []callvet.Plan{{}}}, callvet.Selection{Tools: []string{}}, true},
		"plans": {
			callvet.Expect{Plans: []callvet.Plan{{Calls: []callvet.ExpectedCall{
				call("a", "c"),
				call("b"),
			}}, {Calls: []callvet.ExpectedCall{call("d")}}}},
			callvet.Selection{Tools: []string{"a", "b"}, Acceptable: []string{"c", "d"}},
			true,
		},
		"a call of no tool": {
			callvet.Expect{Plans: []callvet.Plan{{Calls: []callvet.ExpectedCall{call(), call("a")}}}},
			callvet.Selection{Tools: []string{"a"}},
			true,
		},
		"acceptable": {
			callvet.Expect{ToolsAcceptable: [][]string{{"a", "b"}, {"c"}}},
			callvet.Selection{Tools: []string{"a", "b"}, Acceptable: []string{"c"}},
			true,
		},
	} {
		got, ok := score.SelectionOf(&c.e)
		if diff := cmp.Diff(c.want, got); diff != "" || ok != c.ok {
			t.Errorf("%s: %v\n%s", name, ok, diff)
		}
	}
}

// What was expected of the tools, in words: acceptable ones only where no tool is needed.
func TestExpectedTools(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		tools, acceptable []string
		want              string
	}{
		{[]string{}, nil, "none"},
		{[]string{}, []string{"b", "c"}, "none, or b, c"},
		{[]string{"a"}, []string{"b"}, "a"},
		{[]string{"a", "b"}, nil, "a, b"},
	} {
		r := score.JudgeSelection(&callvet.Selection{Tools: c.tools, Acceptable: c.acceptable},
			decision("", "", nil, "x"), score.SelectionDefaults())
		if len(r.Assertions) != 1 || r.Assertions[0].Expected != c.want {
			t.Errorf("%q, acceptable %q: %+v, want %q", c.tools, c.acceptable, r.Assertions, c.want)
		}
	}
}

// The layer that blocked the tools is named in the reason, the first that did.
func TestBlockedBy(t *testing.T) {
	t.Parallel()
	want := callvet.Selection{Route: "r", SubRoute: "s", Agents: []string{"a", "b"}, Tools: []string{"x"}}
	for _, c := range []struct {
		got          *callvet.Decision
		layer, class string
	}{
		{decision("r", "s", []string{"a", "b"}, "y"), "", "tools: expected x, got y"},
		{
			decision("q", "t", []string{"c"}, "y"), callvet.SelectRoute,
			"route: expected r, got q; the tools are wrong under it",
		},
		{
			decision("r", "t", []string{"a"}, "y"), callvet.SelectSubRoute,
			"sub-route: expected s, got t; the tools are wrong under it",
		},
		{
			decision("r", "s", []string{"c"}, "y"), callvet.SelectAgents,
			"agents: expected a, b, got c; the tools are wrong under it",
		},
		{decision("r", "s", []string{"b"}, "y"), "", "agents: expected a, b, got b"},
		{decision("q", "s", []string{"a", "b"}, "x"), callvet.SelectRoute, "route: expected r, got q"},
	} {
		r := score.JudgeSelection(&want, c.got, score.SelectionDefaults())
		if got := score.BlockedBy(&r); got != c.layer || r.Reason != c.class {
			t.Errorf("blocked by %q, %q; want %q, %q", got, r.Reason, c.layer, c.class)
		}
	}
	early := decision("q", "s", []string{"b"}, "y") // agents first: wrong, but they let the tool through
	early.Layers[0], early.Layers[2] = early.Layers[2], early.Layers[0]
	r := score.JudgeSelection(&want, early, score.SelectionDefaults())
	if r.Class != callvet.ClassAgents || score.BlockedBy(&r) != callvet.SelectRoute ||
		r.Reason != "agents: expected a, b, got b; the tools are wrong under the route too" {
		t.Errorf("%s %q", r.Class, r.Reason)
	}
}

func TestSettings(t *testing.T) {
	t.Parallel()
	zero, minus, two, huge := 0.0, -1.0, 2.0, 1e300
	got, err := score.SelectionSettingsOf(&callvet.SelectionScoring{Route: &zero, Tools: &two, K: []int{10, 1, 10}})
	if diff := cmp.Diff(score.SelectionSettings{SubRoute: .1, Agents: .25, Exact: 1.2, Acceptable: .8, K: []int{1, 10}},
		got); diff != "" || err != nil {
		t.Errorf("%v\n%s", err, diff)
	}
	if got, err := score.SelectionSettingsOf(&callvet.SelectionScoring{Exact: &two}); err != nil || got.Exact != 2 ||
		got.Acceptable != .2 || got.Tools() != 2.2 {
		t.Errorf("%v %+v", err, got)
	}
	for _, bad := range []callvet.SelectionScoring{
		{Acceptable: &minus},
		{Tools: &two, Exact: &two},
		{Route: &minus},
		{Route: &huge},
		{Route: &zero, SubRoute: &zero, Agents: &zero, Tools: &zero},
		{K: []int{0}},
		{K: []int{}},
	} {
		if got, err := score.SelectionSettingsOf(&bad); !errors.Is(err, callvet.ErrInvalid) ||
			!cmp.Equal(got, score.SelectionDefaults()) {
			t.Errorf("%+v: %v %v", bad, got, err)
		}
	}
}

// A better match is never worth less, whatever the weights: the composite of the
// first version of the source fell from acceptable to exact.
func TestCompositeIsMonotonic(t *testing.T) {
	t.Parallel()
	want := callvet.Selection{Route: "r", Tools: []string{"a"}, Acceptable: []string{"b"}}
	rapid.Check(t, func(t *rapid.T) {
		w := rapid.Float64Range(0, 10)
		set := score.SelectionSettings{
			Route: w.Draw(t, "r"), Exact: w.Draw(t, "e"), Acceptable: w.Draw(t, "a") + .01,
			K: []int{1},
		}
		last := 2.0
		for _, tools := range [][]string{{"a"}, {"b"}, {"x", "a"}, {"x"}} {
			r := score.JudgeSelection(&want, decision("r", "", nil, tools...), set)
			c := r.Score(score.Composite)
			if !c.Scored || c.Value > last || c.Value < 0 || c.Value > 1 {
				t.Fatalf("%v is worth %v after %v", tools, c.Value, last)
			}
			last = c.Value
		}
	})
}

// The weights of exact and of acceptable matches are two settings; with the usual ones a
// match is worth its points.
func TestExactAndAcceptableWeights(t *testing.T) {
	t.Parallel()
	want := callvet.Selection{Tools: []string{"a"}, Acceptable: []string{"b"}}
	for _, c := range []struct {
		exact, acceptable float64
		want              [4]float64 // exact, acceptable, partial, none
	}{
		{.3, .2, [4]float64{1, .7, .4, 0}},
		{1, 0, [4]float64{1, .5, .4, 0}},
		{0, 1, [4]float64{1, 1, .4, 0}},
		{.1, .3, [4]float64{1, .875, .4, 0}},
	} {
		for i, tools := range [][]string{{"a"}, {"b"}, {"x", "a"}, {"x"}} {
			d := decision("", "", nil, tools...)
			d.Layers = d.Layers[3:]
			r := score.JudgeSelection(&want, d,
				score.SelectionSettings{Route: 1, Exact: c.exact, Acceptable: c.acceptable, K: []int{1}})
			if got := r.Score(score.Composite).Value; math.Abs(got-c.want[i]) > 1e-12 {
				t.Errorf("%v of exact %v and acceptable %v: %v, want %v", tools, c.exact, c.acceptable, got, c.want[i])
			}
		}
	}
}

// Whatever is expected and given, every score is in [0,1] and named once, a pass has
// no reason, and a failure has a class.
func TestJudgeInvariants(t *testing.T) {
	t.Parallel()
	names := rapid.SampledFrom([]string{"", "a", "b", "c"})
	rapid.Check(t, func(t *rapid.T) {
		want := callvet.Selection{Route: names.Draw(t, "route"), SubRoute: names.Draw(t, "sub")}
		if rapid.Bool().Draw(t, "agents") {
			want.Agents = rapid.SliceOf(names).Draw(t, "agents")
		}
		if rapid.Bool().Draw(t, "tools") {
			want.Tools = rapid.SliceOf(names).Draw(t, "tools")
		}
		want.Acceptable = rapid.SliceOf(names).Draw(t, "acceptable")
		d := decision(names.Draw(t, "r"), names.Draw(t, "s"), rapid.SliceOf(names).Draw(t, "g"),
			rapid.SliceOf(names).Draw(t, "t")...)
		d.Layers = rapid.Permutation(d.Layers).Draw(t, "order")[:rapid.IntRange(0, 4).Draw(t, "layers")]
		r := score.JudgeSelection(&want, d, score.SelectionDefaults())
		seen := map[string]bool{}
		for _, s := range r.Scores {
			if !s.Scored || !(s.Value >= 0 && s.Value <= 1) || seen[s.Name] {
				t.Fatalf("%+v", r.Scores)
			}
			seen[s.Name] = true
		}
		switch r.Verdict {
		case callvet.VerdictPass:
			if r.Class != "" || r.Reason != "" {
				t.Fatalf("a pass with %s %q", r.Class, r.Reason)
			}
		case callvet.VerdictFail:
			if r.Class == "" || r.Reason == "" {
				t.Fatalf("a failure without a class: %+v", r)
			}
		case callvet.VerdictNotRun:
			if len(r.Scores) > 0 {
				t.Fatalf("%+v", r)
			}
		}
	})
}

// A service cannot pass by giving everything: what it gives beyond what was asked for
// counts nowhere.
func TestAskedFor(t *testing.T) {
	t.Parallel()
	want := callvet.Selection{Tools: []string{"gold"}}
	got := decision("", "", nil, "a", "b", "gold", "c")
	got.Layers, got.Asked = got.Layers[3:], 2
	r := score.JudgeSelection(&want, got, score.SelectionDefaults())
	for name, value := range map[string]float64{
		"mrr": 0, "recall@5": 0, "match_none": 1, "tools_right": 0,
		"false_abstention": 0,
	} {
		if s := r.Score(name); !s.Scored || s.Value != value {
			t.Errorf("%s = %+v, want %v", name, s, value)
		}
	}
	if r.Verdict != callvet.VerdictFail || r.Assertions[0].Actual != "a, b" {
		t.Errorf("%s, %+v", r.Verdict, r.Assertions)
	}
	got.Asked = 3
	if r := score.JudgeSelection(&want, got, score.SelectionDefaults()); r.Verdict != callvet.VerdictPass ||
		r.Score("mrr").Value != 1.0/3 {
		t.Errorf("%+v", r)
	}
}

// The ceiling is what as many different tools can reach.
func TestCompositeBest(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		want callvet.Selection
		got  *callvet.Decision
		best float64
	}{
		"as many":     {callvet.Selection{Route: "r", Tools: []string{"a"}}, decision("x", "", nil, "b"), 1},
		"named twice": {callvet.Selection{Tools: []string{"a"}}, decision("", "", nil, "b", "b"), 1},
		"too many":    {callvet.Selection{Tools: []string{"a"}}, decision("", "", nil, "a", "b"), .4},
		"with layers": {
			callvet.Selection{Route: "r", SubRoute: "s", Agents: []string{"g"}, Tools: []string{"a"}},
			decision("", "", nil, "a", "b"), .7,
		},
		"acceptable": {
			callvet.Selection{Tools: []string{"a"}, Acceptable: []string{"a", "b"}},
			decision("", "", nil, "x", "y"), .7,
		},
		"too few":        {callvet.Selection{Tools: []string{"a", "b"}}, decision("", "", nil, "a"), .7},
		"none given":     {callvet.Selection{Tools: []string{"a"}}, decision("", "", nil), 1},
		"none expected":  {callvet.Selection{Tools: []string{}}, decision("", "", nil, "a"), 1},
		"no tools asked": {callvet.Selection{Route: "r"}, decision("", "", nil, "a", "b"), 1},
	} {
		r := score.JudgeSelection(&c.want, c.got, score.SelectionDefaults())
		if s := r.Score(score.CompositeBest); !s.Scored || math.Abs(s.Value-c.best) > 1e-12 ||
			r.Score(score.Composite).Value > s.Value+1e-12 {
			t.Errorf("%s: %+v, want %v", name, s, c.best)
		}
	}
}
