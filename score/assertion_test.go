// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package score_test

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/score"
)

// TestSingleAssertions: a case that asserts one thing alone is judged by it.
func TestSingleAssertions(t *testing.T) {
	t.Parallel()
	tr := made("find_city", `{"name":"Rome"}`)
	tr.Answer, tr.WallMS, tr.Usage = "It is 37 in Rome.", 20,
		callvet.Usage{OutputTokens: 9, Known: true, CostUSD: num(2)}
	for name, e := range map[string]callvet.Expect{
		"tools_called":          {ToolsCalled: []string{"book"}},
		"tools_acceptable":      {ToolsAcceptable: [][]string{{"book"}}},
		"tools_not_called":      {ToolsNotCalled: []string{"find_city"}},
		"min_tool_calls":        {MinToolCalls: whole(2)},
		"max_tool_calls":        {MaxToolCalls: whole(0)},
		"tool_params":           {ToolParams: []callvet.ToolParam{param("find_city", "name", "", `"Paris"`)}},
		"response_contains":     {ResponseContains: []string{"Paris"}},
		"response_contains_any": {ResponseContainsAny: [][]string{{"Paris", "Oslo"}}},
		"response_not_contains": {ResponseNotContains: []string{"Rome"}},
		"response_matches":      {ResponseMatches: []string{"^Paris"}},
		"no_ungrounded_numbers": {NoUngroundedNumbers: true},
		"max_latency_ms":        {MaxLatencyMS: num(10)},
		"max_tokens":            {MaxTokens: whole(8)},
		"max_cost_usd":          {MaxCostUSD: num(1)},
	} {
		s := weatherSuite(one(e))
		sc := mustCompile(t, s)
		if why := sc[0].Idle(false); why != "" {
			t.Errorf("%s: idle: %s", name, why)
		}
		r := sc[0].Score(tr)
		if r.Verdict != callvet.VerdictFail || len(r.Assertions) != 1 || r.Assertions[0].Name != name ||
			r.Assertions[0].State != callvet.AssertFailed {
			t.Errorf("%s: %s %+v", name, r.Verdict, r.Assertions)
		}
		checkScores(t, name, r, map[string]float64{score.Assertions: 0})
	}
	none := callvet.Expect{ResponseNonEmpty: true}
	s := weatherSuite(one(none))
	if r := mustCompile(t, s)[0].Score(made()); r.Verdict != callvet.VerdictFail || r.Class != callvet.ClassAnswer {
		t.Errorf("response_non_empty: %s %s", r.Verdict, r.Class)
	}
}

// TestToolParams: some call of the tool has the value; what is reported when none has it.
func TestToolParams(t *testing.T) {
	t.Parallel()
	const passed, failed, open = callvet.AssertPassed, callvet.AssertFailed, callvet.AssertNotEvaluated
	optional := param("book", "note", "", `"x"`)
	optional.Matcher.Optional = true
	for _, tt := range []struct {
		name   string
		expect callvet.Expect
		param  callvet.ToolParam
		trace  *callvet.Trace
		want   callvet.Assertion
	}{
		{
			"the value",
			callvet.Expect{},
			param("book", "id", "", `"x"`), made("book", `{"id":"x"}`),
			callvet.Assertion{State: passed, Expected: `book.id "x"`},
		},
		{
			"the value by a mode",
			callvet.Expect{},
			param("Book", "id", "contains", `"x"`), made("book", `{"id":"xy"}`),
			callvet.Assertion{State: passed, Expected: `Book.id contains "x"`},
		},
		{
			"of the second call",
			callvet.Expect{},
			param("book", "id", "", `"x"`),
			made("book", `{"id":"y"}`, "book", `{"id":"x"}`),
			callvet.Assertion{State: passed, Expected: `book.id "x"`},
		},
		{
			"of another tool",
			callvet.Expect{},
			param("book", "id", "", `"x"`),
			made("find_city", `{"id":"x"}`, "book", `{"id":"y"}`),
			callvet.Assertion{State: failed, Expected: `book.id "x"`, Actual: `"y"`},
		},
		{
			"a mode without a value",
			callvet.Expect{},
			param("book", "id", "present", ""), made("book", `{}`),
			callvet.Assertion{State: failed, Expected: "book.id present", Actual: "(absent)"},
		},
		{
			"absent after another value",
			callvet.Expect{},
			param("book", "id", "", `"x"`),
			made("book", `{"id":"y"}`, "book", `{}`),
			callvet.Assertion{State: failed, Expected: `book.id "x"`, Actual: `"y"`},
		},
		{
			"another value after absent",
			callvet.Expect{},
			param("book", "id", "", `"x"`),
			made("book", `{}`, "book", `{"id":"y"}`),
			callvet.Assertion{State: failed, Expected: `book.id "x"`, Actual: `"y"`},
		},
		{
			"absent, where it may be",
			callvet.Expect{},
			optional, made("book", `{}`),
			callvet.Assertion{State: passed, Expected: `book.note "x"`},
		},
		{
			"every element",
			callvet.Expect{},
			param("book", "ids[]", "", `"x"`), made("book", `{"ids":["x","y"]}`),
			callvet.Assertion{State: failed, Expected: `book.ids[] "x"`, Actual: `"x"`},
		},
		{
			"not recorded",
			callvet.Expect{},
			param("book", "id", "", `"x"`), made("book", ""),
			callvet.Assertion{State: open, Expected: `book.id "x"`, Reason: "the call's arguments were not recorded"},
		},
		{
			"not called, and nothing else says so",
			callvet.Expect{},
			param("book", "id", "", `"x"`),
			made("find_city", `{}`),
			callvet.Assertion{State: failed, Expected: `book.id "x"`, Actual: "book was not called"},
		},
		{
			"not called, and a plan says so", plans(wants("find_city", "")), param("book", "id", "", `"x"`),
			made("find_city", `{}`),
			callvet.Assertion{State: open, Expected: `book.id "x"`, Reason: "book was not called"},
		},
		{
			"not called, and names say so",
			callvet.Expect{ToolsNotCalled: []string{"gone"}},
			param("book", "id", "", `"x"`), made("find_city", `{}`),
			callvet.Assertion{State: open, Expected: `book.id "x"`, Reason: "book was not called"},
		},
	} {
		tt.expect.ToolParams = []callvet.ToolParam{tt.param}
		s := weatherSuite(one(tt.expect))
		r := mustCompile(t, s)[0].Score(tt.trace)
		tt.want.Name, tt.want.Layer = "tool_params", callvet.LayerArguments
		if d := cmp.Diff(tt.want, r.Assertions[len(r.Assertions)-1]); d != "" {
			t.Errorf("%s: %s", tt.name, d)
		}
	}
}

// TestUngroundedNumbers: each number of the answer is one that a tool, the user or the context
// contains, rounded to the decimals that it shows.
func TestUngroundedNumbers(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name   string
		turns  []callvet.Turn
		answer string
		want   string // the number without a source
	}{
		{"none", nil, "no number", ""},
		{"of the user", nil, "for 3 days", ""},
		{"of nobody", nil, "for 3 days at 2.25 each, 5 in all", "2.25"},
		{"rounded to a decimal", []callvet.Turn{{Role: callvet.RoleTool, Content: "18.37"}}, "18.4", ""},
		{"rounded to a whole number", []callvet.Turn{{Role: callvet.RoleTool, Content: "18.5"}}, "19", ""},
		{"rounded the wrong way", []callvet.Turn{{Role: callvet.RoleTool, Content: "18.37"}}, "18.3", "18.3"},
		{
			"a wrong amount within one percent",
			[]callvet.Turn{{Role: callvet.RoleTool, Content: "1234"}},
			"$1,240", "1240",
		},
		{"more decimals than were told", []callvet.Turn{{Role: callvet.RoleTool, Content: "18.4"}}, "18.37", "18.37"},
		{
			"a date that was told",
			[]callvet.Turn{{Role: callvet.RoleTool, Content: `{"day":"2024-01-05"}`}},
			"on 2024-01-05", "",
		},
		{"numbers of a list", []callvet.Turn{{Role: callvet.RoleTool, Content: "40"}}, "1. first\n2. 40", ""},
		{"zero", []callvet.Turn{{Role: callvet.RoleTool, Content: "0 seats"}}, "0 are left", ""},
		{"not zero", []callvet.Turn{{Role: callvet.RoleTool, Content: "0 seats"}}, "1 is left", "1"},
		{"of a later word of the user", []callvet.Turn{{Role: callvet.RoleUser, Content: "take 40"}}, "40", ""},
		{"of the target itself", []callvet.Turn{{Role: callvet.RoleAssistant, Content: "I take 40"}}, "40", "40"},
		{
			"of a result",
			[]callvet.Turn{{
				Role: callvet.RoleAssistant,
				Calls: []callvet.Call{{
					Tool: "book", Args: json.RawMessage(`{"id":"12"}`),
					Result: json.RawMessage(`{"n":40}`),
				}},
			}},
			"40", "",
		},
		{
			"of the arguments only",
			[]callvet.Turn{{
				Role:  callvet.RoleAssistant,
				Calls: []callvet.Call{{Tool: "book", Args: json.RawMessage(`{"id":"12"}`)}},
			}},
			"12", "12",
		},
	} {
		s := weatherSuite(one(callvet.Expect{NoUngroundedNumbers: true}))
		tr := &callvet.Trace{Turns: tt.turns, Answer: tt.answer}
		tr.Classify("")
		got := mustCompile(t, s)[0].Score(tr).Assertions
		want := []callvet.Assertion{{
			Name: "no_ungrounded_numbers", Layer: callvet.LayerResponse, State: callvet.Asserted(tt.want == ""),
			Expected: "numbers from the tool results or the user", Actual: tt.want,
		}}
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("%s: %s", tt.name, d)
		}
	}
}

// TestNamesOfUnreadableCalls: where a call was meant and cannot be read, its name counts if
// it is known; else nothing was called, which is no abstention.
func TestNamesOfUnreadableCalls(t *testing.T) {
	t.Parallel()
	meant := &callvet.Trace{Answer: "{get_weather"}
	meant.Classify(callvet.ReasonCall)
	for _, tt := range []struct {
		name   string
		expect callvet.Expect
		trace  *callvet.Trace
		want   callvet.Assertion
		scores map[string]float64
	}{
		{
			"no name",
			callvet.Expect{ToolsAcceptable: [][]string{{callvet.NoTools}}},
			meant,
			callvet.Assertion{
				Name: "tools_acceptable", State: callvet.AssertFailed, Expected: "{__none__}",
				Actual: "(unreadable call)",
			},
			map[string]float64{score.ToolSelection: 0, score.Abstention: 0, score.FormatScore: 0},
		},
		{
			"a name",
			callvet.Expect{ToolsNotCalled: []string{"find_city"}},
			raw("book", `{`),
			callvet.Assertion{
				Name: "tools_not_called", State: callvet.AssertPassed, Expected: "not find_city",
				Actual: "book",
			},
			map[string]float64{score.ToolSelection: 1, score.Abstention: -1, score.FormatScore: 0},
		},
		{
			"nothing was meant",
			callvet.Expect{ToolsAcceptable: [][]string{{callvet.NoTools}}},
			made(),
			callvet.Assertion{
				Name: "tools_acceptable", State: callvet.AssertPassed, Expected: "{__none__}",
				Actual: "(none)",
			},
			map[string]float64{score.ToolSelection: 1, score.Abstention: 1, score.FormatScore: 1},
		},
	} {
		s := weatherSuite(one(tt.expect))
		r := mustCompile(t, s)[0].Score(tt.trace)
		tt.want.Layer = callvet.LayerRouting
		if d := cmp.Diff([]callvet.Assertion{tt.want}, r.Assertions); d != "" {
			t.Errorf("%s: %s", tt.name, d)
		}
		checkScores(t, tt.name, r, tt.scores)
	}
}
