// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package score_test

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/score"
)

// TestCallMatches: expected calls in the order of the plan, then the unexpected ones.
func TestCallMatches(t *testing.T) {
	t.Parallel()
	mended := func(tr *callvet.Trace, i int, repairs ...string) *callvet.Trace {
		tr.Turns[0].Calls[i].Repairs = repairs
		return tr
	}
	optional := wants("o", "", "a", `{"x":1}`)
	optional.Calls[0].Optional = true
	text := func(s string) json.RawMessage { return json.RawMessage(s) }
	for _, tt := range []struct {
		name  string
		plan  callvet.Plan
		trace *callvet.Trace
		want  []callvet.CallMatch
	}{
		{"nothing and nothing is worth no word", wants(), made(), nil},
		{
			"missing and extra", wants("a", `{}`, "b", `{"x":1}`), made("c", `{}`, "a", `{}`),
			[]callvet.CallMatch{
				{
					State: callvet.StateMatched, Expected: 0, Actual: 1, Want: []string{"a"}, WantArgs: text(`{}`),
					Got: "a", GotArgs: text(`{}`), Args: []callvet.ArgDiff{},
				},
				{State: callvet.StateMissing, Expected: 1, Actual: -1, Want: []string{"b"}, WantArgs: text(`{"x":1}`)},
				{State: callvet.StateExtra, Expected: -1, Actual: 0, Got: "c", GotArgs: text(`{}`)},
			},
		},
		{
			"an optional one, and a partial one", optional, made("a", `{"x":2}`),
			[]callvet.CallMatch{
				{State: callvet.StateMissing, Expected: 0, Actual: -1, Want: []string{"o"}, Note: "optional"},
				{
					State: callvet.StatePartial, Expected: 1, Actual: 0, Want: []string{"a"}, WantArgs: text(`{"x":1}`),
					Got: "a", GotArgs: text(`{"x":2}`),
					Args: []callvet.ArgDiff{{Path: "x", Expected: text(`1`), Actual: text(`2`), Rule: "exact"}},
				},
			},
		},
		{
			"mended", wants("a", ""), mended(made("a", `{}`), 0, "fenced", "string"),
			[]callvet.CallMatch{{
				State: callvet.StateMatched, Expected: 0, Actual: 0, Want: []string{"a"}, Got: "a",
				GotArgs: text(`{}`), Note: "repaired: fenced, string",
			}},
		},
		{
			"mended, and not recorded", wants("a", `{}`, "b", ""), mended(made("a", "", "b", `{}`), 0, "fenced"),
			[]callvet.CallMatch{
				{
					State: callvet.StateMatched, Expected: 0, Actual: 0, Want: []string{"a"}, WantArgs: text(`{}`),
					Got: "a", Note: "arguments not recorded; repaired: fenced",
				},
				{
					State: callvet.StateMatched, Expected: 1, Actual: 1, Want: []string{"b"}, Got: "b",
					GotArgs: text(`{}`),
				},
			},
		},
		{
			"not JSON", wants("a", `{}`), raw("a", `{"x":`),
			[]callvet.CallMatch{{
				State: callvet.StatePartial, Expected: 0, Actual: 0, Want: []string{"a"},
				WantArgs: text(`{}`), Got: "a", Note: `the arguments are not JSON: {"x":`,
			}},
		},
	} {
		e := plans(tt.plan)
		e.ResponseContains = []string{"never"} // so that every attempt fails and tells its calls
		s := &callvet.Suite{Cases: []callvet.Case{one(e)}}
		if d := cmp.Diff(tt.want, mustCompile(t, s)[0].Score(tt.trace).Calls); d != "" {
			t.Errorf("%s: %s", tt.name, d)
		}
	}
}

// Without a plan every call is unexpected; of one attempt nothing is left in the next.
func TestCallMatchesWithoutPlan(t *testing.T) {
	t.Parallel()
	e := callvet.Expect{ResponseContains: []string{"never"}}
	soft := plans(wants("get_weather", `{"city":"Paris","unit":"celsius"}`))
	s := weatherSuite(one(e), one(soft), one(callvet.Expect{ToolsAcceptable: [][]string{{"get_weather"}}}))
	sc := mustCompile(t, s)
	if r := sc[0].Score(made()); r.Calls != nil {
		t.Errorf("no calls: %+v", r.Calls)
	}
	r := sc[0].Score(made("book", `{}`, "get_weather", `{}`))
	want := []callvet.CallMatch{
		{State: callvet.StateExtra, Expected: -1, Actual: 0, Got: "book", GotArgs: json.RawMessage(`{}`)},
		{
			State: callvet.StateExtra, Expected: -1, Actual: 1, Got: "get_weather", GotArgs: json.RawMessage(`{}`),
			Violations: []callvet.Violation{{
				Path: "/city", Keyword: "required", Expected: "city",
				Message: `required property "city" is missing`,
			}},
		},
	}
	if d := cmp.Diff(want, r.Calls); d != "" {
		t.Error(d)
	}
	for range 3 {
		if r := sc[1].Score(made("get_weather", `{"city":"Paris"}`)); r.Verdict != callvet.VerdictPass ||
			len(r.Calls) != 1 {
			t.Errorf("a default left out is told: %+v", r)
		}
		if r := sc[2].Score(made("get_weather", `{"city":"Paris"}`)); r.Verdict != callvet.VerdictPass ||
			r.Calls != nil {
			t.Errorf("a clean pass tells nothing: %+v", r)
		}
	}
}

// TestGroundedArgs: values that are in a text of the user or of a tool, in the context, or in the
// result of an earlier call.
func TestGroundedArgs(t *testing.T) {
	t.Parallel()
	input := []callvet.Turn{
		{Role: callvet.RoleSystem, Content: "sys"},
		{Role: callvet.RoleUser, Content: "user word"},
		{
			Role: callvet.RoleAssistant, Content: "said",
			Calls: []callvet.Call{{
				Tool: "a", Args: json.RawMessage(`{"x":"asked"}`),
				Result: json.RawMessage(`{"y":"told"}`),
			}},
		},
		{Role: callvet.RoleTool, Content: "tool 42"},
	}
	for _, tt := range []struct {
		name  string
		trace *callvet.Trace
		want  float64
	}{
		{"of the user", made("b", `{"x":"word"}`), 1},
		{"of a tool in the input", made("b", `{"x":42}`), 1},
		{"of a result in the input", made("b", `{"x":"told"}`), 1},
		{"of the context", made("b", `{"x":"locale"}`), 1},
		{"of the system's words", made("b", `{"x":"sys"}`), 0},
		{"of the target's words", made("b", `{"x":"said","y":"asked"}`), 0},
		{"one of three", made("b", `{"x":"word","y":{"z":["no",7]}}`), 1.0 / 3},
		{"no values", made("b", `{}`), -1},
		{"only values that are no words", made("b", `{"x":true,"y":null,"z":""}`), -1},
		{"of an earlier result", answered("a", `{"x":"user"}`, `{"id":"F7"}`, "b", `{"x":"F7"}`, ""), 1},
		{
			"of a result before the last",
			answered("a", `{"x":"user"}`, `{"id":"F7"}`, "a", `{"x":"word"}`, `{"id":"F8"}`, "b",
				`{"x":"F7","y":"F8"}`, ""), 1,
		},
		{
			"of an earlier result, one without between",
			answered("a", `{}`, `{"id":"F7"}`, "a", `{}`, "", "b", `{"x":"F7"}`, ""), 1,
		},
		{"of its own result", answered("a", `{"x":"F7"}`, `{"id":"F7"}`), 0},
		{"of a later result", answered("a", `{"x":"F7"}`, "", "b", `{}`, `{"id":"F7"}`), 0},
	} {
		c := callvet.Case{ID: "c", Input: input, Context: "locale en", Expect: callvet.Expect{MinToolCalls: whole(1)}}
		s := &callvet.Suite{Cases: []callvet.Case{c}}
		checkScores(t, tt.name, mustCompile(t, s)[0].Score(tt.trace), map[string]float64{score.GroundedArgs: tt.want})
	}
}

// TestReached: every required call was made, by name and as often; a plan that requires none
// is never reached.
func TestReached(t *testing.T) {
	t.Parallel()
	optional := wants("a", "", "o", "")
	optional.Calls[1].Optional = true
	loose := wants("o", "")
	loose.Calls[0].Optional = true
	for _, tt := range []struct {
		name   string
		expect callvet.Expect
		calls  []string
		want   bool
	}{
		{"nothing yet", plans(wants("a", "")), nil, false},
		{"the one", plans(wants("a", "")), []string{"x", "A"}, true},
		{"one of two", plans(wants("a", "", "a", "")), []string{"a"}, false},
		{"both", plans(wants("a", "", "a", "")), []string{"a", "a"}, true},
		{"without the optional one", plans(optional), []string{"a"}, true},
		{"of the second plan", plans(wants("a", "", "b", ""), wants("c", "")), []string{"c"}, true},
		{"only optional ones", plans(loose), []string{"o"}, false},
		{"no calls in the plan", plans(wants()), nil, false},
		{"no plan", callvet.Expect{MinToolCalls: whole(0)}, nil, false},
	} {
		s := &callvet.Suite{Cases: []callvet.Case{one(tt.expect)}}
		var calls []callvet.Call
		for _, n := range tt.calls {
			calls = append(calls, callvet.Call{Tool: n})
		}
		if got := mustCompile(t, s)[0].Reached(calls); got != tt.want {
			t.Errorf("%s: %t", tt.name, got)
		}
	}
}

// TestNothingToJudge: why there is no verdict, in the same words before and after a run.
func TestNothingToJudge(t *testing.T) {
	t.Parallel()
	judge := []callvet.RubricDimension{{Dimension: "tone", Criteria: "kind"}, {Criteria: "short"}, {Criteria: "right"}}
	for _, tt := range []struct {
		name       string
		expect     callvet.Expect
		want, idle string
	}{
		{
			"one that needs a judge",
			callvet.Expect{Rubric: judge[:1]},
			"nothing could be evaluated: rubric: it needs a judge, and there is none", "same",
		},
		{
			"three that do",
			callvet.Expect{Rubric: judge},
			"nothing could be evaluated: rubric: it needs a judge, and there is none, and 2 more", "same",
		},
		{
			"a decision",
			callvet.Expect{Selection: &callvet.Selection{Tools: []string{"a"}}},
			"the case asks for a decision (a router or retriever), and says nothing of calls", "same",
		},
		{
			"a decision and a judge",
			callvet.Expect{Selection: &callvet.Selection{Tools: []string{"a"}}, Rubric: judge[:1]},
			"nothing could be evaluated: rubric: it needs a judge, and there is none", "same",
		},
		{"nothing", callvet.Expect{}, "the case asserts nothing", ""}, // lint refuses it
		{
			"tokens that were not measured",
			callvet.Expect{MaxTokens: whole(5)},
			"nothing could be evaluated: max_tokens: not measured", "",
		},
	} {
		s := &callvet.Suite{Cases: []callvet.Case{one(tt.expect)}}
		sc := mustCompile(t, s)
		r := sc[0].Score(made("a", `{}`))
		if tt.idle == "same" {
			tt.idle = tt.want
		}
		if d := cmp.Diff([]string{string(callvet.VerdictNotRun), tt.want, tt.idle},
			[]string{string(r.Verdict), r.Reason, sc[0].Idle(false)}); d != "" {
			t.Errorf("%s: %s", tt.name, d)
		}
	}
}

// TestChainsAlone: of a case without expected calls the prerequisites and the sources of
// arguments can be judged alone.
func TestChainsAlone(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name string
		m    callvet.MultiTurn
		want callvet.Verdict
	}{
		{"a prerequisite", callvet.MultiTurn{RequiredPrerequisites: []string{"a"}}, callvet.VerdictPass},
		{"another prerequisite", callvet.MultiTurn{RequiredPrerequisites: []string{"b"}}, callvet.VerdictFail},
		// of what call?
		{"a source", callvet.MultiTurn{ArgumentSource: map[string]string{"x": "user"}}, callvet.VerdictFail},
		{
			"a source that cannot be checked",
			callvet.MultiTurn{ArgumentSource: map[string]string{"x": "inferred"}},
			callvet.VerdictNotRun,
		},
		{
			"nothing",
			callvet.MultiTurn{RequiredPrerequisites: []string{}, ValidPrerequisites: []string{"a"}},
			callvet.VerdictNotRun,
		},
	} {
		s := &callvet.Suite{Cases: []callvet.Case{{ID: "c", MultiTurn: &tt.m}}}
		if r := mustCompile(t, s)[0].Score(made("a", `{"x":1}`)); r.Verdict != tt.want ||
			(r.Reason == "the case asserts nothing") != (tt.want == callvet.VerdictNotRun) {
			t.Errorf("%s: %s %s", tt.name, r.Verdict, r.Reason)
		}
	}
}
