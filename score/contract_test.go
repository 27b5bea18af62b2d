// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package score_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/score"
)

// TestContractScores counts keys by hand against the tools of weatherSuite: get_weather
// requires city of city, unit and days; book and find_city require nothing.
func TestContractScores(t *testing.T) {
	t.Parallel()
	const no = -1 // absent
	type values struct{ valid, required, typed, declared float64 }
	either := wants("book", `{"id":"x"}`)
	either.Calls[0].Tools = []string{"book", "find_city"}
	for _, tt := range []struct {
		name   string
		expect callvet.Expect
		trace  *callvet.Trace
		want   values
	}{
		{
			"as expected", plans(wants("get_weather", `{"city":"Paris","days":3}`)),
			made("get_weather", `{"city":"Paris","days":3}`),
			values{1, 1, 1, 1},
		},
		{
			"as expected, twice", plans(wants("get_weather", `{"city":"Paris"}`, "get_weather", `{"city":"Rome"}`)),
			made("get_weather", `{"city":"Paris"}`, "get_weather", `{"city":"Rome"}`),
			values{1, 1, 1, 1},
		},
		{
			"expected, next to one that breaks the contract",
			plans(wants("get_weather", `{"city":"Paris"}`, "get_weather", `{"city":"Rome","days":2}`)),
			made("get_weather", `{"city":"Paris"}`, "get_weather", `{"days":"2","zip":1,"unit":"celsius"}`),
			values{1.0 / 2, 1.0 / 2, 2.0 / 3, 3.0 / 4},
		},
		{
			"not expected", plans(wants()),
			made("get_weather", `{"city":"Paris"}`, "book", `{"id":1,"ref":2,"seat":3}`),
			values{1.0 / 2, 1, 1.0 / 2, 2.0 / 4},
		},
		{
			"no plan",
			callvet.Expect{MinToolCalls: whole(1)},
			made("get_weather", `{"city":"Paris","days":2}`),
			values{1, 1, 1, 1},
		},
		{
			"an expected call with a key that is not declared", plans(wants("book", `{"id":"x"}`)),
			made("book", `{"id":"x","ref":"y"}`),
			values{1, 1, 1, 1.0 / 2},
		},
		{
			"of two expected calls the first has one", plans(wants("book", `{"id":"x"}`, "book", `{"id":"y"}`)),
			made("book", `{"id":"x","ref":1}`, "book", `{"id":"y"}`),
			values{1, 1, 1, 2.0 / 3},
		},
		{"another of the acceptable tools", plans(either), made("find_city", `{"id":"x"}`), values{1, 1, 1, 0}},
		{
			"an expected key that is not declared", plans(wants("find_city", `{"id":"x"}`)),
			made("find_city", `{"id":"x"}`),
			values{1, 1, 1, 0},
		},
		{
			"a tool that is not there, next to one that is", plans(wants("book", "")),
			made("gone", `{}`, "book", `{"id":"x"}`),
			values{1.0 / 2, 1, 1, 1},
		},
		{
			"one that is there, next to a tool that is not", plans(wants("book", "")),
			made("book", `{"id":"x"}`, "gone", `{}`),
			values{1.0 / 2, 1, 1, 1},
		},
		{"only a tool that is not there", plans(wants("book", "")), made("gone", `{}`), values{0, no, no, no}},
		{"arguments that were not recorded", plans(wants("book", "")), made("book", ""), values{no, no, no, no}},
		{"no arguments", plans(wants("book", `{}`)), made("book", `{}`), values{1, 1, 1, 1}},
		{"null arguments", plans(wants("book", `{}`)), made("book", `null`), values{1, 1, 1, 1}},
		{"arguments that cannot be read", plans(wants("book", `{}`)), raw("book", `{`), values{0, no, no, no}},
		{
			"a whole number where a text is declared", plans(wants("get_weather", "")),
			made("get_weather", `{"city":5}`),
			values{0, 1, 0, 1},
		},
		{
			"a fraction where a whole number is declared", plans(wants("get_weather", "")),
			made("get_weather", `{"city":"Rome","days":1.5}`),
			values{0, 1, 1.0 / 2, 1},
		},
		{
			"a whole number with a point", plans(wants("get_weather", "")),
			made("get_weather", `{"city":"Rome","days":2.0}`),
			values{1, 1, 1, 1},
		},
	} {
		s := weatherSuite(one(tt.expect))
		r := mustCompile(t, s)[0].Score(tt.trace)
		missing, halluc := 1-tt.want.required, 1-tt.want.declared
		if tt.want.required == no {
			missing, halluc = no, no
		}
		checkScores(t, tt.name, r, map[string]float64{
			score.SchemaValid: tt.want.valid, score.RequiredPresent: tt.want.required, score.MissingRequired: missing,
			score.TypeCorrect: tt.want.typed, score.HallucinationFree: tt.want.declared, score.HallucinatedArgs: halluc,
		})
	}
}

// TestContractVerdicts: which call fails an attempt for its contract, and how it is reported.
func TestContractVerdicts(t *testing.T) {
	t.Parallel()
	loose := wants("book", `{"id":"x"}`)
	loose.MaxExtraCalls = whole(1)
	for _, tt := range []struct {
		name   string
		expect callvet.Expect
		trace  *callvet.Trace
		class  callvet.Class
		reason string
	}{
		{
			"the expected call", plans(wants("get_weather", "")), made("get_weather", `{"city":5}`),
			callvet.ClassContract,
			"get_weather: the arguments break the tool's schema: /city: got number, want string",
		},
		{
			"a call that may be too many", plans(loose), made("book", `{"id":"x"}`, "get_weather", `{}`),
			callvet.ClassContract,
			"get_weather: the arguments break the tool's schema: /city: required property \"city\" is missing",
		},
		{
			"a call that may be too many and keeps it", plans(loose),
			made("book", `{"id":"x"}`, "get_weather", `{"city":"Rome"}`), "", "",
		},
		{
			"a list", plans(wants("get_weather", "")), made("get_weather", `[]`), callvet.ClassContract,
			"get_weather: the arguments break the tool's schema: got array, want object",
		},
		{
			"in two ways", plans(wants("get_weather", "")), made("get_weather", `{"city":5,"days":0}`),
			callvet.ClassContract,
			"get_weather: the arguments break the tool's schema: /city: got number, want string (and 1 more)",
		},
		{
			"a wrong tool comes first",
			callvet.Expect{ToolsNotCalled: []string{"book"}},
			made("book", `{}`, "get_weather", `{"city":5}`), callvet.ClassWrongTool,
			"tools_not_called: expected not book, got book, get_weather",
		},
	} {
		s := weatherSuite(one(tt.expect))
		r := mustCompile(t, s)[0].Score(tt.trace)
		if d := cmp.Diff([2]string{string(tt.class), tt.reason}, [2]string{string(r.Class), r.Reason}); d != "" {
			t.Errorf("%s: %s", tt.name, d)
		}
	}
}

// TestCatalogue finds tools by name among more than a few: the very name first, else
// regardless of letter case, of equal names the first.
func TestCatalogue(t *testing.T) {
	t.Parallel()
	tools := []callvet.Tool{{Name: "a"}, {Name: "b"}, {Name: "c"}, {Name: "d"}, {Name: "e"}, {Name: "f"}}
	typed := func(name, kind string) callvet.Tool {
		return callvet.Tool{
			Name:       name,
			Parameters: json.RawMessage(`{"type":"object","properties":{"x":{"type":"` + kind + `"}}}`),
		}
	}
	tools = append(tools, typed("Look", "string"), typed("look", "integer"), typed("look", "boolean"),
		typed("Seek", "string"), typed("SEEK", "integer"))
	for _, tt := range []struct {
		name  string
		exact bool
		call  string
		want  string // keywords of the violations
	}{
		{"of the first few", false, `f {"x":1}`, ""},
		{"of the first few, regardless of case", false, `F {"x":1}`, ""},
		{"of the first few, not regardless of case", true, `F {"x":1}`, "tool"},
		{"the very name before another that differs in case", false, `look {"x":1}`, ""},
		{"the other one", false, `Look {"x":1}`, "type"},
		{"regardless of case the first", false, `seek {"x":1}`, "type"},
		{"the very name where case matters", true, `look {"x":1}`, ""},
		{"another case where case matters", true, `LOOK {"x":1}`, "tool"},
		{"none", false, `looks {"x":1}`, "tool"},
	} {
		s := &callvet.Suite{Tools: tools, Cases: []callvet.Case{one(callvet.Expect{MinToolCalls: whole(1)})}}
		s.Defaults.Scoring.CaseSensitiveNames = tt.exact
		var name, args string
		for i := range tt.call {
			if tt.call[i] == ' ' {
				name, args = tt.call[:i], tt.call[i+1:]
			}
		}
		got := ""
		for _, v := range mustCompile(t, s)[0].Check(&callvet.Call{Tool: name, Args: json.RawMessage(args)}) {
			got += v.Keyword
		}
		if got != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
}

// TestOfferedTools: a case may offer some of the suite's tools only, or none.
func TestOfferedTools(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name  string
		names []string
		call  string
		class callvet.Class
	}{
		{"all", nil, "book", ""},
		{"offered", []string{"find_city", "book"}, "book", ""},
		{"offered, in another case", []string{"book"}, "BOOK", ""},
		{"not offered", []string{"find_city"}, "book", callvet.ClassUnknownTool},
		{"none is offered", []string{}, "book", callvet.ClassUnknownTool},
		{"not in the suite", []string{"find_city"}, "gone", callvet.ClassUnknownTool},
	} {
		c := one(callvet.Expect{MinToolCalls: whole(1)})
		c.ToolNames = tt.names
		s := weatherSuite(c)
		if r := mustCompile(t, s)[0].Score(made(tt.call, `{}`)); r.Class != tt.class {
			t.Errorf("%s: %s %q", tt.name, r.Class, r.Reason)
		}
	}
}

// A tool with a wrong schema is a problem, and its calls are compared nevertheless.
func TestToolWithoutSchema(t *testing.T) {
	t.Parallel()
	s := &callvet.Suite{
		Tools: []callvet.Tool{{Name: "bad", Parameters: json.RawMessage(`{"type":5}`)}},
		Cases: []callvet.Case{one(plans(wants("bad", `{"x":"Paris"}`)))},
	}
	sc, ps := compile(s)
	if len(ps) != 1 || ps[0].Code != "bad-schema" {
		t.Fatal(ps)
	}
	for args, want := range map[string]callvet.Class{
		`{"x":"Paris"}`: "", `{"x":"weather"}`: callvet.ClassWrongArgs,
		`{"x":"Rome"}`: callvet.ClassWrongArgs, `{"y":"Paris"}`: callvet.ClassWrongArgs,
	} {
		verdict := callvet.VerdictFail
		if want == "" { // whether the call keeps the contract is not known
			verdict = callvet.VerdictNotRun
		}
		if r := sc[0].Score(made("bad", args)); r.Class != want || r.Verdict != verdict {
			t.Errorf("%s: %s, %s %q", args, r.Verdict, r.Class, r.Reason)
		}
	}
}

// TestUnracedUnverifiedCall: a call that takes too much work to validate is no pass, and fails only
// by what is known.
func TestUnracedUnverifiedCall(t *testing.T) {
	t.Parallel()
	endless := callvet.Tool{
		Name:       "deep",
		Parameters: json.RawMessage(`{"properties":{"a":{"allOf":[{"$ref":"#"},{"$ref":"#"}]}}}`),
	}
	deep := strings.Repeat(`{"a":`, 50) + "{}" + strings.Repeat("}", 50)
	for _, tt := range []struct {
		name, contract string
		expect         callvet.Expect
		args           string
		verdict        callvet.Verdict
		reason         string
	}{
		{"valid", "", plans(wants("deep", "")), `{"a":{}}`, callvet.VerdictPass, ""},
		{
			"not known", "", plans(wants("deep", "")), deep, callvet.VerdictNotRun,
			"deep: it is not known whether the arguments keep the tool's schema: schema-without-end",
		},
		{
			"not known, without a plan", "",
			callvet.Expect{MinToolCalls: whole(1)},
			deep, callvet.VerdictNotRun,
			"schema-without-end",
		},
		{
			"not known, and another tool is wanted", "", plans(wants("other", "")), deep, callvet.VerdictFail,
			"expected other, got deep",
		},
		{"not asked", "off", plans(wants("deep", "")), deep, callvet.VerdictPass, ""},
		{"only reported", "report", plans(wants("deep", "")), deep, callvet.VerdictPass, ""},
	} {
		s := &callvet.Suite{Tools: []callvet.Tool{endless, {Name: "other"}}, Cases: []callvet.Case{one(tt.expect)}}
		s.Defaults.Scoring.Contract = tt.contract
		k := mustCompile(t, s)[0]
		r := k.Score(made("deep", tt.args))
		if r.Verdict != tt.verdict || !strings.Contains(r.Reason, tt.reason) {
			t.Errorf("%s: %s %q", tt.name, r.Verdict, r.Reason)
		}
		for _, sc := range r.Scores {
			if tt.args == deep && sc.Name == score.SchemaValid {
				t.Errorf("%s: %v", tt.name, sc)
			}
		}
		if bad := k.Check(&callvet.Call{Tool: "deep", Args: json.RawMessage(tt.args)}); (len(bad) == 1 &&
			bad[0].Unknown()) != (tt.args == deep) {
			t.Errorf("%s: %v", tt.name, bad)
		}
	}
}
