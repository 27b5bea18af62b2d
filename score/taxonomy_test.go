// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package score_test

import (
	"encoding/json"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/score"
)

// TestRoutingReasons: the class and the sentence of attempts with wrong calls, without tools.
func TestRoutingReasons(t *testing.T) {
	t.Parallel()
	optional := func(at int, p callvet.Plan) callvet.Plan {
		p.Calls[at].Optional = true
		return p
	}
	extra := func(n int, p callvet.Plan) callvet.Plan {
		p.MaxExtraCalls = &n
		return p
	}
	second := wants("a", "", "b", "", "c", "")
	second.Calls[2].ID, second.Calls[1].After = "c", []string{"c"}
	for _, tt := range []struct {
		name   string
		plan   callvet.Plan
		trace  *callvet.Trace
		class  callvet.Class
		reason string
	}{
		{
			"the second is missing", wants("a", "", "b", ""), made("a", `{}`), callvet.ClassIncomplete,
			"expected b, which was not called",
		},
		{
			"an optional one is missing, too", optional(0, wants("o", "", "a", "", "b", "")), made("a", `{}`),
			callvet.ClassIncomplete, "expected b, which was not called",
		},
		{
			"another in its place", wants("a", "", "b", ""), made("a", `{}`, "x", `{}`), callvet.ClassWrongTool,
			"expected b, got x",
		},
		{
			"another before it", wants("a", "", "b", ""), made("x", `{}`, "a", `{}`), callvet.ClassWrongTool,
			"expected b, got x",
		},
		{
			"one too many", wants("a", ""), made("a", `{}`, "x", `{}`), callvet.ClassUnneededCall,
			"x was called and not expected",
		},
		{
			"one more than may be too many", extra(1, wants("a", "")), made("a", `{}`, "x", `{}`, "y", `{}`),
			callvet.ClassUnneededCall, "x was called and not expected",
		},
		{
			"one too many for precision", extra(1, ordered(callvet.OrderPrecision, wants("a", ""))),
			made("a", `{}`, "x", `{}`), callvet.ClassUnneededCall, "x was called and not expected",
		},
		{
			"none of a single use", ordered(callvet.OrderSingle, optional(0, wants("a", ""))), made("x", `{}`),
			callvet.ClassUnneededCall, "x was called and not expected",
		},
		{
			"the same again", wants("a", ""), made("a", `{"n":1}`, "a", `{"n":1}`), callvet.ClassLoop,
			"a was called again with the same arguments",
		},
		{
			"the same again, one call between", extra(1, wants("a", "")),
			made("a", `{"n":1}`, "b", `{}`, "a", `{"n":1}`, "b", `{}`), callvet.ClassLoop,
			"a was called again with the same arguments",
		},
		{
			"the same tool again with other arguments", wants("a", ""), made("a", `{"n":1}`, "a", `{"n":2}`),
			callvet.ClassUnneededCall, "a was called and not expected",
		},
		{
			"the same again and another", wants("a", ""), made("a", `{}`, "a", `{}`, "x", `{}`), callvet.ClassUnneededCall,
			"a was called and not expected",
		},
		{
			"repeated, and one is missing", wants("a", "", "a", "", "b", ""), made("a", `{}`, "a", `{}`),
			callvet.ClassIncomplete, "expected b, which was not called",
		},

		{
			"in the wrong order", ordered("in_order", wants("a", "", "b", "")), made("b", `{}`, "a", `{}`),
			callvet.ClassWrongOrder, "b was called before a",
		},
		{
			"the third in the wrong order", ordered("in_order", wants("a", "", "b", "", "c", "")),
			made("a", `{}`, "c", `{}`, "b", `{}`), callvet.ClassWrongOrder, "c was called before b",
		},
		{
			"in the wrong order around an optional one",
			ordered("in_order", optional(1, wants("a", "", "o", "", "b", ""))), made("b", `{}`, "a", `{}`),
			callvet.ClassWrongOrder, "b was called before a",
		},
		{
			"in the wrong order, the first is optional and missing",
			ordered("in_order", optional(0, wants("o", "", "a", "", "b", ""))), made("b", `{}`, "a", `{}`),
			callvet.ClassWrongOrder, "b was called before a",
		},
		{
			"not after the one it waits for", second, made("b", `{}`, "c", `{}`, "a", `{}`), callvet.ClassWrongOrder,
			"b was called before c",
		},
		{
			"not after the one it waits for, the others between", second, made("a", `{}`, "b", `{}`, "c", `{}`),
			callvet.ClassWrongOrder, "b was called before c",
		},
		{
			"another between them", extra(1, ordered("strict", wants("a", "", "b", ""))),
			made("a", `{}`, "x", `{}`, "b", `{}`), callvet.ClassWrongOrder,
			"other calls stand between the expected ones",
		},
	} {
		r := verdict(t, tt.plan, tt.trace)
		if d := cmp.Diff([2]string{string(tt.class), tt.reason}, [2]string{string(r.Class), r.Reason}); d != "" {
			t.Errorf("%s: %s", tt.name, d)
		}
	}
}

// TestLoopsOfChains: in a multi-turn case, where calls may be repeated on the way, a loop is
// a call identical to the one before it, in an attempt that does not get there.
func TestLoopsOfChains(t *testing.T) {
	t.Parallel()
	c := one(plans(wants("book", "")))
	c.MultiTurn = &callvet.MultiTurn{ValidPrerequisites: []string{"find"}}
	s := &callvet.Suite{Cases: []callvet.Case{c}}
	sc := mustCompile(t, s)
	for _, tt := range []struct {
		name  string
		trace *callvet.Trace
		class callvet.Class
	}{
		{"got there in spite of a repeat", made("find", `{}`, "find", `{}`, "book", `{}`), ""},
		{"did not get there", made("find", `{}`, "find", `{}`), callvet.ClassLoop},
		{"did not get there, without a repeat", made("find", `{}`, "find", `{"n":1}`), callvet.ClassIncomplete},
		{
			"did not get there, a repeat of an earlier one", made("find", `{}`, "find", `{"n":1}`, "find", `{}`),
			callvet.ClassIncomplete,
		},
		{"got there twice", made("find", `{}`, "book", `{}`, "book", `{}`), callvet.ClassLoop},
		{
			"got there twice with other arguments", made("find", `{}`, "book", `{}`, "book", `{"n":1}`),
			callvet.ClassUnneededCall,
		},
	} {
		if r := sc[0].Score(tt.trace); r.Class != tt.class {
			t.Errorf("%s: %s %q", tt.name, r.Class, r.Reason)
		}
	}
}

// TestUnknownArguments: an argument of an undeclared key is unknown; a wrong value is a wrong
// value, and has no source when neither the schema, nor the user, nor another result holds it.
func TestUnknownArguments(t *testing.T) {
	t.Parallel()
	tools := []callvet.Tool{
		{
			Name: "ask",
			Parameters: json.RawMessage(
				`{"type":"object","properties":{"q":{"type":["string","number"]},"unit":{"enum":["K","C"]},"days":{"type":"integer","default":14},
			"dotted.key":{"type":"string"},"filter":{"type":"object","properties":{"kind":{"enum":["red","blue"]},"size":{"default":77},"name":{"type":"string"}}},"list":{"type":"array","items":{"type":"string"}}}}`),
		},
		{Name: "free", Parameters: json.RawMessage(`{"type":"object"}`)},
		{Name: "look", Parameters: json.RawMessage(`{"type":"object"}`)},
	}
	const unknown, wrong = callvet.ClassUnknownArg, callvet.ClassWrongArgs
	const sourceless callvet.Class = "wrong, and of no source"
	for _, tt := range []struct {
		name, tool, want, got string
		own, other            string // results
		class                 callvet.Class
	}{
		{"a word of the user", "ask", `{"q":"Rome"}`, `{"q":"Paris"}`, "", "", wrong},
		{"no word of the user", "ask", `{"q":"Rome"}`, `{"q":"Oslo"}`, "", "", sourceless},
		{"a number of the user", "ask", `{"q":5}`, `{"q":3}`, "", "", wrong},
		{"nothing that could have a source", "ask", `{"q":"Rome"}`, `{"q":""}`, "", "", wrong},
		{"left out", "ask", `{"q":"Rome"}`, `{}`, "", "", wrong},
		{"a word of another call's result", "ask", `{"q":"Rome"}`, `{"q":"Oslo"}`, "", `{"city":"Oslo"}`, wrong},
		{"a word of its own result only", "ask", `{"q":"Rome"}`, `{"q":"Oslo"}`, `{"city":"Oslo"}`, "", sourceless},
		{"another value of the enum", "ask", `{"unit":"K"}`, `{"unit":"C"}`, "", "", wrong},
		{"the default", "ask", `{"days":20}`, `{"days":14}`, "", "", wrong},
		{"another number than the default", "ask", `{"days":20}`, `{"days":15}`, "", "", sourceless},
		{
			"another value of an enum inside", "ask", `{"filter":{"kind":"red"}}`, `{"filter":{"kind":"blue"}}`,
			"", "", wrong,
		},
		{"a default inside", "ask", `{"filter":{"size":5}}`, `{"filter":{"size":77}}`, "", "", wrong},
		{"no word inside", "ask", `{"filter":{"name":"Rome"}}`, `{"filter":{"name":"Oslo"}}`, "", "", sourceless},
		{
			"a word of the user inside", "ask", `{"filter":{"name":"Rome"}}`, `{"filter":{"name":"Paris"}}`,
			"", "", wrong,
		},
		{"a word of the user in a list", "ask", `{"list":["Rome"]}`, `{"list":["Paris"]}`, "", "", wrong},
		{
			"a word of the user, the name has a dot", "ask", `{"dotted.key":"Rome"}`, `{"dotted.key":"Paris"}`,
			"", "", wrong,
		},
		{"a key that is not declared", "ask", `{}`, `{"city":"Paris"}`, "", "", unknown},
		{"a key where none is declared", "free", `{}`, `{"city":"Paris"}`, "", "", wrong},
		{"a key of an unknown tool", "gone", `{}`, `{"city":"Paris"}`, "", "", wrong},
	} {
		p := wants(tt.tool, tt.want, "look", "")
		c := one(plans(p))
		s := &callvet.Suite{Tools: tools, Cases: []callvet.Case{c}}
		if tt.tool == "gone" {
			s.Tools = nil
		}
		r := mustCompile(t, s)[0].Score(answered(tt.tool, tt.got, tt.own, "look", `{}`, tt.other))
		got := r.Class
		if strings.HasSuffix(r.Reason, "which neither the conversation nor a result contains") {
			got = sourceless
		}
		if got != tt.class {
			t.Errorf("%s: %s %q, want %s", tt.name, r.Class, r.Reason, tt.class)
		}
	}
	silent := one(plans(wants("ask", `{"q":"Rome"}`)))
	silent.Input = nil
	s := &callvet.Suite{Tools: tools, Cases: []callvet.Case{silent}}
	if r := mustCompile(t, s)[0].Score(made("ask", `{"q":"Oslo"}`)); r.Class != wrong ||
		strings.Contains(r.Reason, "neither") {
		t.Errorf("where nobody said a word nothing can be told: %s %q", r.Class, r.Reason)
	}
}

// TestAssertionReasons: what is left when the calls are right, by the order of the taxonomy.
func TestAssertionReasons(t *testing.T) {
	t.Parallel()
	right := plans(wants("book", `{"id":"x"}`))
	with := func(e callvet.Expect, change func(*callvet.Expect)) callvet.Expect {
		change(&e)
		return e
	}
	for _, tt := range []struct {
		name   string
		expect callvet.Expect
		answer string
		class  callvet.Class
		reason string
	}{
		{
			"a text that is missing", with(right, func(e *callvet.Expect) { e.ResponseContains = []string{"Paris"} }),
			"Rome", callvet.ClassAnswer, "response_contains: expected Paris, got Rome",
		},
		{
			"a text of no answer", with(right, func(e *callvet.Expect) { e.ResponseContains = []string{"Paris"} }), "",
			callvet.ClassAnswer, "response_contains: expected Paris, got nothing",
		},
		{
			"tokens before the answer",
			with(right, func(e *callvet.Expect) { e.ResponseContains, e.MaxTokens = []string{"Paris"}, whole(4) }), "",
			callvet.ClassBudget, "max_tokens: expected at most 4, got 5",
		},
		{"arguments before tokens", with(right, func(e *callvet.Expect) {
			e.MaxTokens, e.ToolParams = whole(4), []callvet.ToolParam{param("book", "id", "", `"y"`)}
		}), "", callvet.ClassWrongArgs, `tool_params: expected book.id "y", got "x"`},
		{
			"too few calls",
			callvet.Expect{MinToolCalls: whole(2)},
			"", callvet.ClassIncomplete,
			"at least 2 calls were expected, got 1",
		},
		{
			"too many calls",
			callvet.Expect{MaxToolCalls: whole(0)},
			"", callvet.ClassUnneededCall,
			"max_tool_calls: expected 0, got 1",
		},
		{
			"too many calls, with a plan", with(right, func(e *callvet.Expect) { e.MaxToolCalls = whole(0) }), "",
			callvet.ClassUnneededCall, "max_tool_calls: expected 0, got 1",
		},
		{
			"too few calls, with a plan", with(right, func(e *callvet.Expect) { e.MinToolCalls = whole(2) }), "",
			callvet.ClassIncomplete, "min_tool_calls: expected 2, got 1",
		},
		{
			"a set that was not called",
			callvet.Expect{ToolsAcceptable: [][]string{{"find_city"}}},
			"",
			callvet.ClassWrongTool, "tools_acceptable: expected {find_city}, got book",
		},
		{
			"a tool of a set is missing",
			callvet.Expect{ToolsAcceptable: [][]string{{"book", "find_city"}}},
			"",
			callvet.ClassIncomplete, "tools_acceptable: expected {book, find_city}, got book",
		},
		{
			"no call is acceptable",
			callvet.Expect{ToolsAcceptable: [][]string{{callvet.NoTools}, {}}},
			"",
			callvet.ClassUnneededCall, "tools_acceptable: expected {__none__} or {}, got book",
		},
		{
			"an error alone",
			callvet.Expect{NoToolErrors: true},
			"", callvet.ClassIncomplete,
			"no_tool_errors: expected no errors, got book: timeout",
		},
	} {
		s := weatherSuite(one(tt.expect))
		tr := made("book", `{"id":"x"}`)
		tr.Answer, tr.Usage = tt.answer, callvet.Usage{OutputTokens: 5, Known: true}
		if tt.expect.NoToolErrors {
			tr.Turns[0].Calls[0].Status = callvet.StatusTimeout
		}
		r := mustCompile(t, s)[0].Score(tr)
		if d := cmp.Diff([2]string{string(tt.class), tt.reason}, [2]string{string(r.Class), r.Reason}); d != "" {
			t.Errorf("%s: %s", tt.name, d)
		}
	}
}

// TestWeights: the weights are shares of their sum.
func TestWeights(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name       string
		tool, args *float64
		want       float64 // of a right tool with half of the arguments; -1: refused
	}{
		{"not set", nil, nil, 0.6 + 0.4/2},
		{"as shares", num(0.25), num(0.75), 0.25 + 0.75/2},
		{"as parts", num(1), num(3), 0.25 + 0.75/2},
		{"the tool alone", num(2), num(0), 1},
		{"the arguments alone", num(0), num(2), 0.5},
		{"one is set, the other is the default", num(0.4), nil, 0.75},
		{"neither", num(0), num(0), -1},
		{"below 0", num(1), num(-0.5), -1},
		{"a sum that is no number any more", num(math.MaxFloat64), num(math.MaxFloat64), -1},
		{"too large a sum", num(1e300), num(0), -1},
		{"almost too large a sum", num(5e299), num(4e299), 5.0/9 + 4.0/9/2},
		{"infinite", num(math.Inf(1)), nil, -1},
		{"not a number", nil, num(math.NaN()), -1},
	} {
		s := weatherSuite(one(plans(wants("book", `{"id":"Paris","note":"Paris"}`))))
		s.Cases[0].Scoring = &callvet.Scoring{ToolWeight: tt.tool, ArgsWeight: tt.args}
		sc, ps := compile(s)
		if (tt.want < 0) != (len(ps) == 1 && ps[0].Code == "bad-weight" && ps[0].Key == "scoring.tool_weight") ||
			len(ps) > 1 {
			t.Errorf("%s: %v", tt.name, ps)
		}
		want := tt.want
		if want < 0 { // what is refused counts as not set
			want = 0.8
		}
		checkScores(t, tt.name, sc[0].Score(made("book", `{"id":"Paris","note":"weather"}`)),
			map[string]float64{score.Overall: want})
	}
}
