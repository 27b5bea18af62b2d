// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package score_test

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/score"
	"pgregory.net/rapid"
)

const weatherTool = `{"type":"object","properties":{"city":{"type":"string"},"unit":{"type":"string","enum":["celsius","fahrenheit"],"default":"celsius"},
 "days":{"type":"integer","minimum":1}},"required":["city"],"additionalProperties":false}`

func weatherSuite(cases ...callvet.Case) *callvet.Suite {
	return &callvet.Suite{Tools: []callvet.Tool{
		{Name: "get_weather", Parameters: json.RawMessage(weatherTool)},
		{Name: "find_city", Parameters: json.RawMessage(`{"type":"object","properties":{"name":{"type":"string"}}}`)},
		{
			Name: "book",
			Parameters: json.RawMessage(
				`{"type":"object","properties":{"id":{"type":"string"},"note":{"type":"string"}}}`),
		},
	}, Cases: cases}
}

// compile compiles every case of a suite, and returns all problems.
func compile(s *callvet.Suite) ([]*score.Compiled, []callvet.Problem) {
	sc, problems := score.New(s, score.Config{})
	out := make([]*score.Compiled, len(s.Cases))
	for i := range s.Cases {
		k, more := sc.Compile(&s.Cases[i])
		out[i], problems = k, append(problems, more...)
	}
	return out, problems
}

func mustCompile(t testing.TB, s *callvet.Suite) []*score.Compiled {
	t.Helper()
	out, problems := compile(s)
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	return out
}

func one(e callvet.Expect) callvet.Case {
	return callvet.Case{
		ID: "c", Expect: e,
		Input: []callvet.Turn{{Role: callvet.RoleUser, Content: "What is the weather in Paris for 3 days?"}},
	}
}

func plans(p ...callvet.Plan) callvet.Expect { return callvet.Expect{Plans: p} }

func num(p float64) *float64 { return &p }
func whole(n int) *int       { return &n }

// raw is an attempt with a call that has unreadable arguments.
func raw(tool, args string) *callvet.Trace {
	t := &callvet.Trace{Turns: []callvet.Turn{{
		Role:  callvet.RoleAssistant,
		Calls: []callvet.Call{{Tool: tool, ArgsRaw: args}},
	}}}
	t.Classify("")
	return t
}

func checkScores(t *testing.T, name string, r callvet.Result, want map[string]float64) {
	t.Helper()
	for k, v := range want {
		s := r.Score(k)
		if v < 0 && s.Scored || v >= 0 && (!s.Scored || math.Abs(s.Value-v) > 1e-12) {
			t.Errorf("%s: %s = %+v, want %v", name, k, s, v)
		}
	}
}

func TestScoresAndReasons(t *testing.T) {
	t.Parallel()
	const absent = -1
	for _, tc := range []struct {
		name   string
		expect callvet.Expect
		trace  *callvet.Trace
		class  callvet.Class
		reason string
		scores map[string]float64
	}{
		{
			"right", plans(wants("get_weather", `{"city":"Paris","days":3}`)),
			made("get_weather", `{"city":"paris","days":3.0}`), "", "",
			map[string]float64{
				score.ToolSelection: 1, score.ArgAccuracy: 1, score.ArgEM: 1, score.ArgF1: 1, score.SchemaValid: 1,
				score.GroundedArgs: 1, score.Overall: 1,
				score.HallucinatedArgs: 0, score.FormatScore: 1, score.OverCall: 0, score.Miss: 0,
				score.Abstention: absent, score.OrderKept: absent, score.Assertions: absent,
			},
		},
		{
			"wrong value that the user gave", plans(wants("get_weather", `{"city":"Paris","days":5}`)),
			made("get_weather", `{"city":"Paris","days":3}`), callvet.ClassWrongArgs,
			"get_weather: days expected 5, got 3",
			map[string]float64{
				score.ArgAccuracy: 0.5, score.ArgEM: 0, score.ArgF1: 0.5, score.Overall: 0.8,
				score.GroundedArgs: 1,
			},
		},
		{
			"wrong value from nowhere", plans(wants("get_weather", `{"city":"Paris"}`)),
			made("get_weather", `{"city":"Lyon"}`), callvet.ClassWrongArgs,
			`get_weather: city expected "Paris", got "Lyon", which neither the conversation nor a result contains`,
			map[string]float64{score.GroundedArgs: 0},
		},
		{
			"wrong enum value", plans(wants("get_weather", `{"city":"Paris","unit":"celsius"}`)),
			made("get_weather", `{"city":"Paris","unit":"fahrenheit"}`), callvet.ClassWrongArgs,
			`get_weather: unit expected "celsius", got "fahrenheit"`, nil,
		},
		{
			"missing argument", plans(wants("get_weather", `{"city":"Paris","days":3}`)),
			made("get_weather", `{"city":"Paris"}`), callvet.ClassWrongArgs,
			"get_weather: days is missing, expected 3",
			map[string]float64{score.ArgPrecision: 1, score.ArgRecall: 0.5},
		},
		{
			"outside the contract", plans(wants("get_weather", `{"city":"Paris"}`)),
			made("get_weather", `{"city":"Paris","zip":1}`), callvet.ClassContract, "",
			map[string]float64{
				score.SchemaValid: 0, score.HallucinatedArgs: 0.5, score.HallucinationFree: 0.5,
				score.RequiredPresent: 1, score.TypeCorrect: 1, score.ArgAccuracy: 1,
			},
		},
		{
			"required missing and type wrong", plans(wants("get_weather", `{"city":"Paris"}`)),
			made("get_weather", `{"days":"3"}`), callvet.ClassContract, "",
			map[string]float64{score.RequiredPresent: 0, score.MissingRequired: 1, score.TypeCorrect: 0},
		},
		{
			"undeclared key where the contract is silent", plans(wants("book", `{"id":"x"}`)),
			made("book", `{"id":"x","ref":"y"}`), callvet.ClassUnknownArg, `book: ref "y" was not expected`, nil,
		},
		{
			"unknown tool", plans(wants("get_weather", "")), made("get_wether", `{}`), callvet.ClassUnknownTool,
			"get_wether is not one of the case's tools",
			map[string]float64{score.ToolSelection: 0},
		},
		{
			"a prefix before a name", plans(wants("get_weather", "")), made("mcp__acme__get_weather", `{}`),
			callvet.ClassUnknownTool,
			"mcp__acme__get_weather is not one of the case's tools: it is get_weather behind a prefix, and names are compared whole", nil,
		},
		{
			"white space around a name", plans(wants("get_weather", "")), made(" get_weather", `{}`),
			callvet.ClassContract,
			`" get_weather": the arguments break the tool's schema: /city: required property "city" is missing`, nil,
		},
		{
			"white space around one too many", plans(wants()), made("book ", `{}`), callvet.ClassUnneededCall,
			`no call was expected, got "book "`, nil,
		},
		{
			"a key twice", plans(wants("book", "")), raw("book", `{"id":"x","id":"y"}`), callvet.ClassUnparseable,
			`book: the arguments have the key "id" twice: {"id":"x","id":"y"}`, nil,
		},
		{
			"no JSON", plans(wants("book", "")), raw("book", `{"id":`), callvet.ClassUnparseable,
			`book: the arguments are not JSON: {"id":`, nil,
		},
		{
			"an argument that must be absent",
			callvet.Expect{Plans: []callvet.Plan{{Calls: []callvet.ExpectedCall{{
				Tools:    []string{"book"},
				Args:     json.RawMessage(`{"id":"x"}`),
				Matchers: map[string]callvet.Matcher{"note": {Mode: "absent"}},
			}}}}},
			made("book", `{"id":"x","note":"y"}`), callvet.ClassWrongArgs, `book: note must be absent, got "y"`, nil,
		},
		{
			"abstains rightly", plans(wants()), made(), "", "",
			map[string]float64{
				score.Abstention: 1, score.ToolSelection: 1, score.Overall: 1, score.Miss: absent,
				score.OverCall: absent, score.ArgAccuracy: absent,
			},
		},
		{
			"should abstain", plans(wants()), made("book", `{}`), callvet.ClassUnneededCall,
			"no call was expected, got book",
			map[string]float64{score.Abstention: 0, score.OverCall: 1, score.Overall: 0},
		},
		{
			"nothing called", plans(wants("get_weather", `{"city":"Paris"}`)), made(), callvet.ClassMissedCall,
			"expected get_weather, nothing was called",
			map[string]float64{
				score.ArgAccuracy: 0, score.Overall: 0, score.Miss: 1, score.ToolPrecision: 0,
				score.SchemaValid: absent,
			},
		},
		{
			"one of two plans", plans(wants("find_city", ""), wants("get_weather", "")),
			made("get_weather", `{"city":"Paris"}`), "", "",
			map[string]float64{score.Overall: 1},
		},
		{
			"names only",
			callvet.Expect{ToolsCalled: []string{"book", "book"}},
			made("book", `{}`),
			callvet.ClassIncomplete, "",
			map[string]float64{score.ToolSelection: 0.5, score.Assertions: 0},
		},
		{
			"acceptable sets",
			callvet.Expect{ToolsAcceptable: [][]string{{"book"}, {"book", "find_city"}}},
			made("find_city", `{}`, "book", `{}`), "", "",
			map[string]float64{score.ToolSelection: 1, score.Assertions: 1},
		},
		{
			"next to an acceptable set",
			callvet.Expect{ToolsAcceptable: [][]string{{"book"}}},
			made("find_city", `{}`, "book", `{}`), callvet.ClassUnneededCall, "", nil,
		},
		{
			"acceptable or nothing",
			callvet.Expect{ToolsAcceptable: [][]string{{"book", "__none__"}}},
			made("book", `{}`),
			"", "", nil,
		},
		{
			"only nothing acceptable",
			callvet.Expect{ToolsAcceptable: [][]string{{"__none__"}}},
			made("book", `{}`),
			callvet.ClassUnneededCall, "",
			map[string]float64{score.Abstention: 0},
		},
	} {
		s := weatherSuite(one(tc.expect))
		r := mustCompile(t, s)[0].Score(tc.trace)
		if r.Class != tc.class || tc.reason != "" && r.Reason != tc.reason ||
			(r.Class == "") != (r.Verdict == callvet.VerdictPass) {
			t.Errorf("%s: %s %s %q", tc.name, r.Verdict, r.Class, r.Reason)
		}
		checkScores(t, tc.name, r, tc.scores)
	}
}

func TestOutcomes(t *testing.T) {
	t.Parallel()
	s := weatherSuite(one(plans(wants("get_weather", `{"city":"Paris"}`))), one(plans(wants())), one(callvet.Expect{}),
		one(callvet.Expect{MaxTokens: whole(10)}), callvet.Case{ID: "s", Skip: "a token is not resolved"})
	sc := mustCompile(t, s)
	fault := &callvet.Trace{Fault: &callvet.Fault{Kind: callvet.FaultTimeout, Message: "no answer in 5s"}}
	fault.Classify("")
	if r := sc[0].Score(fault); r.Verdict != callvet.VerdictError || r.Class != callvet.ClassProvider ||
		r.Scores != nil || !strings.Contains(r.Reason, "no answer in 5s") {
		t.Errorf("fault: %+v", r)
	}
	meant := &callvet.Trace{Answer: "{get_weather"}
	meant.Classify(callvet.ReasonCall)
	for i := range 2 { // never an abstention
		if r := sc[i].Score(meant); r.Class != callvet.ClassUnparseable || r.Score(score.ToolSelection).Value != 0 {
			t.Errorf("unreadable: %+v", r)
		}
	}
	for i := 2; i < 4; i++ {
		if r := sc[i].Score(made()); r.Verdict != callvet.VerdictNotRun || r.Reason == "" {
			t.Errorf("case %d asserts nothing: %+v", i, r)
		}
	}
	skipped := &callvet.Trace{End: callvet.EndSkipped}
	skipped.Classify("")
	if r := sc[4].Score(skipped); r.Verdict != callvet.VerdictNotRun || r.Reason != "a token is not resolved" {
		t.Errorf("skipped: %+v", r)
	}
	repaired := made("get_weather", `{"city":"Paris"}`)
	repaired.Repairs = []string{"fenced"}
	repaired.Classify("")
	if r := sc[0].Score(repaired); r.Verdict != callvet.VerdictPass || r.Score(score.FormatScore).Value != 0.5 {
		t.Errorf("repaired: %+v", r)
	}
	s.Defaults.Scoring.RequireNative = true
	if r := mustCompile(t, s)[0].Score(repaired); r.Class != callvet.ClassUnparseable {
		t.Errorf("native wanted: %+v", r)
	}
}

func TestScoreSettings(t *testing.T) {
	t.Parallel()
	wrong := wants("get_weather", `{"city":"Paris"}`)
	for _, tc := range []struct {
		name    string
		scoring callvet.Scoring
		args    string
		verdict callvet.Verdict
		scores  map[string]float64
	}{
		{
			"contract enforced",
			callvet.Scoring{ExtraArgs: callvet.ExtraIgnore},
			`{"city":"Paris","zip":1}`,
			callvet.VerdictFail, nil,
		},
		{
			"contract reported",
			callvet.Scoring{ExtraArgs: callvet.ExtraIgnore, Contract: "report"},
			`{"city":"Paris","zip":1}`, callvet.VerdictPass,
			map[string]float64{score.SchemaValid: 0},
		},
		{
			"contract off",
			callvet.Scoring{ExtraArgs: callvet.ExtraIgnore, Contract: "off"},
			`{"city":"Paris","zip":1}`,
			callvet.VerdictPass,
			map[string]float64{score.SchemaValid: -1},
		},
		{
			"extra penalized",
			callvet.Scoring{ExtraArgs: callvet.ExtraPenalize},
			`{"city":"Paris","days":2}`,
			callvet.VerdictPass,
			map[string]float64{score.ArgAccuracy: 0.5},
		},
		{
			"extra forbidden",
			callvet.Scoring{},
			`{"city":"Paris","days":2}`, callvet.VerdictFail,
			map[string]float64{score.ArgAccuracy: 1},
		},
		{
			"weights",
			callvet.Scoring{ToolWeight: num(1), ArgsWeight: num(3)},
			`{"city":"Lyon"}`, callvet.VerdictFail,
			map[string]float64{score.Overall: 0.25},
		},
		{
			"fuzzy",
			callvet.Scoring{Mode: "fuzzy", Threshold: num(0.7)},
			`{"city":"Pari"}`, callvet.VerdictPass,
			map[string]float64{score.ArgAccuracy: 0.8, score.ArgEM: 1},
		},
	} {
		s := weatherSuite(one(plans(wrong)))
		s.Cases[0].Scoring = &tc.scoring
		r := mustCompile(t, s)[0].Score(made("get_weather", tc.args))
		if r.Verdict != tc.verdict {
			t.Errorf("%s: %s %s", tc.name, r.Verdict, r.Reason)
		}
		checkScores(t, tc.name, r, tc.scores)
	}
}

func TestResultExplainsItself(t *testing.T) {
	t.Parallel()
	s := weatherSuite(one(plans(wants("get_weather", `{"city":"Paris","unit":"celsius"}`))))
	sc := mustCompile(t, s)
	if r := sc[0].Score(made("get_weather", `{"city":"Paris","unit":"celsius"}`)); r.Calls != nil || r.Reason != "" {
		t.Errorf("a clean pass tells nothing: %+v", r)
	}
	r := sc[0].Score(made("get_weather", `{"city":"Paris"}`))
	if r.Verdict != callvet.VerdictPass || len(r.Calls) != 1 || len(r.Calls[0].Args) != 2 ||
		!strings.Contains(r.Calls[0].Args[1].Note, "default") {
		t.Errorf("a default left out is told: %+v", r)
	}
	r = sc[0].Score(made("get_weather", `{"city":"Lyon","unit":"kelvin"}`, "book", `{"id":"1"}`))
	if len(r.Calls) != 2 || r.Calls[0].State != callvet.StatePartial || r.Calls[1].State != callvet.StateExtra ||
		len(r.Calls[0].Violations) == 0 {
		t.Errorf("calls: %+v", r.Calls)
	}
}

func multiCase() callvet.Case {
	c := one(plans(wants("book", `{"id":"F7"}`)))
	c.MultiTurn = &callvet.MultiTurn{
		OptimalHops: 2, ValidPrerequisites: []string{"find_city"}, RequiredPrerequisites: []string{"find_city"},
		ArgumentSource: map[string]string{"id": "find_city.result.flights[0].id"},
	}
	return c
}

func TestMultiTurn(t *testing.T) {
	t.Parallel()
	s := weatherSuite(multiCase())
	sc := mustCompile(t, s)
	found := json.RawMessage(`{"flights":[{"id":"F7"}]}`)
	run := func(result json.RawMessage, pairs ...string) callvet.Result {
		tr := made(pairs...)
		for i := range tr.Turns[0].Calls {
			if c := &tr.Turns[0].Calls[i]; c.Tool == "find_city" {
				c.Result = result
			}
		}
		return sc[0].Score(tr)
	}
	for _, tc := range []struct {
		name   string
		r      callvet.Result
		class  callvet.Class
		scores map[string]float64
	}{
		{
			"straight", run(found, "find_city", `{"name":"x"}`, "book", `{"id":"F7"}`), "",
			map[string]float64{
				score.Completion: 1, score.Efficiency: 1, score.Redundancy: 0, score.Detour: 0,
				score.Prerequisites: 1, score.DataFlow: 1, score.Overall: 1,
			},
		},
		{
			"two searches with other arguments",
			run(found, "find_city", `{"name":"x"}`, "find_city", `{"name":"y"}`, "book", `{"id":"F7"}`), "",
			map[string]float64{score.Efficiency: 2.0 / 3, score.Redundancy: 0, score.Overall: 2.0 / 3},
		},
		{
			"the same search twice",
			run(found, "find_city", `{"name":"x"}`, "find_city", `{"name":"x"}`, "book", `{"id":"F7"}`), "",
			map[string]float64{score.Redundancy: 0.1, score.Overall: 2.0/3 - 0.1},
		},
		{
			"a detour", run(found, "get_weather", `{"city":"x"}`, "find_city", `{"name":"x"}`, "book", `{"id":"F7"}`),
			callvet.ClassUnneededCall,
			map[string]float64{score.Detour: 0.1, score.Overall: 2.0/3 - 0.1},
		},
		{
			"skips the prerequisite", run(nil, "book", `{"id":"F7"}`), callvet.ClassMissingPrereq,
			map[string]float64{score.Prerequisites: 0, score.DataFlow: 0, score.Completion: 1},
		},
		{"value from elsewhere", run(json.RawMessage(`{"flights":[{"id":"F8"},{"id":"F7"}]}`), "find_city", `{}`,
			"book", `{"id":"F7"}`), callvet.ClassWrongArgs, map[string]float64{score.DataFlow: 0}},
		{
			"stops early", run(found, "find_city", `{}`), callvet.ClassIncomplete,
			map[string]float64{score.Completion: 0, score.Overall: 0},
		},
		{
			"runs in circles", run(found, "find_city", `{}`, "find_city", `{}`, "find_city", `{}`), callvet.ClassLoop,
			map[string]float64{score.Overall: 0, score.Redundancy: 0.2},
		},
		{"nothing", run(nil), callvet.ClassMissedCall, map[string]float64{score.Overall: 0, score.Efficiency: 0}},
	} {
		if tc.r.Class != tc.class {
			t.Errorf("%s: %s %s %q", tc.name, tc.r.Verdict, tc.r.Class, tc.r.Reason)
		}
		checkScores(t, tc.name, tc.r, tc.scores)
	}
	if sc[0].Reached([]callvet.Call{{Tool: "find_city"}}) ||
		!sc[0].Reached([]callvet.Call{{Tool: "find_city"}, {Tool: "Book"}}) {
		t.Error("reached")
	}
	s.Cases[0].MultiTurn.ArgumentSource = nil
	if r := mustCompile(t, s)[0].Score(made("book", `{"id":"F7"}`)); r.Class != callvet.ClassMissingPrereq ||
		r.Reason == "" {
		t.Errorf("a skipped prerequisite fails: %+v", r)
	}
}

func TestAssertions(t *testing.T) {
	t.Parallel()
	e := callvet.Expect{
		ToolsNotCalled: []string{"book"}, MinToolCalls: whole(1), MaxToolCalls: whole(2), NoToolErrors: true,
		ToolParams: []callvet.ToolParam{
			{
				Tool: "get_weather", Path: "city",
				Matcher: callvet.Matcher{Mode: "contains", Value: json.RawMessage(`"par"`)},
			},
			{Tool: "find_city", Path: "x"},
		},
		ResponseNonEmpty: true, ResponseContains: []string{"Paris"}, ResponseContainsAny: [][]string{{"sun", "rain"}},
		ResponseNotContains: []string{"error"},
		ResponseMatches:     []string{"[0-9]+ degrees"}, NoUngroundedNumbers: true, MaxLatencyMS: num(100),
		MaxTokens: whole(50), MaxCostUSD: num(0.01),
	}
	e.ToolParams[1].Matcher = callvet.Matcher{Mode: "present"}
	s := weatherSuite(one(e))
	sc := mustCompile(t, s)
	tr := made("get_weather", `{"city":"Paris"}`)
	tr.Turns[0].Calls[0].Result = json.RawMessage(`{"temp":21.04}`)
	tr.Answer, tr.WallMS, tr.Usage = "1. sun in Paris: 21 degrees", 80, callvet.Usage{OutputTokens: 40, Known: true}
	r := sc[0].Score(tr)
	if r.Verdict != callvet.VerdictPass || r.NotEvaluated != 2 || len(r.Assertions) != 15 {
		t.Errorf("%+v", r)
	}
	bad := made("book", `{}`, "get_weather", `{"city":"Rome"}`, "get_weather", `{"city":"Rome"}`)
	bad.Turns[0].Calls[0].Status = callvet.StatusTimeout
	bad.Answer, bad.WallMS, bad.Usage = "error 37", 101,
		callvet.Usage{OutputTokens: 51, Known: true, CostUSD: num(0.02)}
	r = sc[0].Score(bad)
	passed := map[string]bool{}
	for _, a := range r.Assertions {
		if a.State == callvet.AssertPassed {
			passed[a.Name] = true
		}
	}
	if len(r.Assertions) != 15 || len(passed) != 2 || !passed["min_tool_calls"] || !passed["response_non_empty"] ||
		r.Class != callvet.ClassWrongTool {
		t.Errorf("passed %v of %+v (%s)", passed, r.Assertions, r.Class)
	}
	s.Cases[0].Expect.ToolsNotCalled, s.Cases[0].Expect.MaxToolCalls, s.Cases[0].Expect.NoToolErrors,
		s.Cases[0].Expect.ToolParams = nil, nil, false, nil
	if r := mustCompile(t, s)[0].Score(bad); r.Class != callvet.ClassBudget {
		t.Errorf("budget before answer: %+v", r)
	}
}

// TestNoToolErrors: a result that reports an error is one, and calls that were not executed show
// nothing.
func TestNoToolErrors(t *testing.T) {
	t.Parallel()
	s := weatherSuite(one(callvet.Expect{ToolsCalled: []string{"get_weather", "get_weather"}, NoToolErrors: true}))
	sc := mustCompile(t, s)
	for _, c := range []struct {
		name    string
		results [2]string
		verdict callvet.Verdict
		skipped int
		want    string
	}{
		{"both answered", [2]string{`{"success":true,"temp":21}`, `21`}, callvet.VerdictPass, 0, "none"},
		{
			"one says success false",
			[2]string{`{"temp":21}`, `{"success":false,"error":"no such city"}`},
			callvet.VerdictFail, 0, "get_weather: no such city",
		},
		{"one was not executed", [2]string{`{"temp":21}`, ``}, callvet.VerdictPass, 0, "none"},
		{"none was executed", [2]string{``, ``}, callvet.VerdictPass, 1, ""},
	} {
		tr := made("get_weather", `{"city":"Paris"}`, "get_weather", `{"city":"Oslo"}`)
		for i, result := range c.results {
			if result != "" {
				tr.Turns[0].Calls[i].Result, tr.Turns[0].Calls[i].Status = json.RawMessage(result), callvet.StatusOK
			}
		}
		r := sc[0].Score(tr)
		got := r.Assertions[len(r.Assertions)-1]
		if r.Verdict != c.verdict || r.NotEvaluated != c.skipped || got.Name != "no_tool_errors" ||
			got.Actual != c.want || (got.Reason == "no call was executed") != (c.skipped == 1) {
			t.Errorf("%s: %s, %+v", c.name, r.Verdict, got)
		}
	}
}

func TestResultCheck(t *testing.T) {
	t.Parallel()
	result := `{"window_days":30,"items":[{"id":"A","n":1.5}],"ok":true,"name":"Zoë","result":{"x":1},"big":9007199254740993}`
	for src, want := range map[string]bool{
		"window_days==30": true, "window_days == 30.0 and ok": true, "window_days != 30": false,
		"items[0].n >= 1.5 && items[0].id == 'A'": true,
		"len(items) == 1":                         true, "len(name) == 3": true, "not exists(missing)": true,
		"exists(items[0].id)": true,
		"missing > 1":         false, "missing != 1": false,
		"'A' in items": false, "items[0].id in ['A', \"B\"]": true, "'ok' in result": true, "name in ['Zoë']": true,
		"'Zo' in name": true,
		"(window_days < 10 or window_days > 20) and !(ok == false)": true, "window_days > 'x'": false,
		"result.result.x == 1": true, "big == 9007199254740992": false,
		"window_days > -1e3": true, "items[3].id == 'A'": false, "null == missing": false,
	} {
		p := wants("book", "")
		p.Calls[0].ResultCheck = src
		s := weatherSuite(one(plans(p)))
		tr := made("book", `{}`)
		tr.Turns[0].Calls[0].Result = json.RawMessage(result)
		r := mustCompile(t, s)[0].Score(tr)
		if (r.Verdict == callvet.VerdictPass) != want || len(r.Assertions) != 1 {
			t.Errorf("%s: %s %+v", src, r.Verdict, r.Assertions)
		}
	}
	for _, src := range []string{
		"a =", "a = 1", "a == ", "(a", "a b", "len(a", "'x", "1 ==", "[1", "a..b == 1",
		"a[ == 1", ")", "and", strings.Repeat("(", 100) + "a",
	} {
		p := wants("book", "")
		p.Calls[0].ResultCheck = src
		if _, ps := compile(weatherSuite(one(plans(p)))); len(ps) != 1 || ps[0].Code != "bad-check" ||
			ps[0].Key != "plans[0].calls[0].result_check" || ps[0].Case != "c" {
			t.Errorf("%q: %v", src, ps)
		}
	}
}

func FuzzResultCheck(f *testing.F) {
	f.Add("a[0].b == 1 and not len(c) > 'x'")
	f.Add("x in [1, 'a'] || !exists(result)")
	f.Fuzz(func(t *testing.T, src string) {
		p := wants("book", "")
		p.Calls[0].ResultCheck = src
		s := weatherSuite(one(plans(p)))
		sc, _ := compile(s)
		tr := made("book", `{}`)
		tr.Turns[0].Calls[0].Result = json.RawMessage(`{"a":[{"b":1}],"c":"d"}`)
		sc[0].Score(tr)
	})
}

func TestProblemsHavePlaces(t *testing.T) {
	t.Parallel()
	bad := func(c callvet.Case) callvet.Case {
		c.ID, c.Position = "x", callvet.Position{File: "s.yaml", Line: 7}
		return c
	}
	loop := wants("book", "", "book", "")
	loop.Calls[0].ID, loop.Calls[0].After, loop.Calls[1].ID, loop.Calls[1].After = "a", []string{"b"}, "b",
		[]string{"a"}
	unknown := wants("book", "")
	unknown.Calls[0].After = []string{"nobody"}
	for code, c := range map[string]callvet.Case{
		"unknown-mode":    {Scoring: &callvet.Scoring{Mode: "soft"}},
		"bad-mode":        {Scoring: &callvet.Scoring{Mode: "type"}},
		"unknown-profile": {Scoring: &callvet.Scoring{Profile: "x"}},
		"bad-contract":    {Scoring: &callvet.Scoring{Contract: "maybe"}},
		"bad-weight":      {Scoring: &callvet.Scoring{ToolWeight: num(-1)}},
		"bad-threshold":   {Scoring: &callvet.Scoring{Threshold: num(2)}},
		"unknown-order":   one(plans(ordered("sorted", wants("book", "")))), "cycle": one(plans(loop)),
		"unknown-id":     one(plans(unknown)),
		"bad-regex":      one(callvet.Expect{ResponseMatches: []string{"("}}),
		"bad-path":       one(callvet.Expect{ToolParams: []callvet.ToolParam{{Tool: "book", Path: "a["}}}),
		"conflict":       one(callvet.Expect{ToolsCalled: []string{"a"}, ToolsAcceptable: [][]string{{"a"}}}),
		"no-tool":        one(plans(callvet.Plan{Calls: []callvet.ExpectedCall{{}}})),
		"bad-args":       one(plans(wants("book", `[1]`))),
		"bad-schema":     {Tools: []callvet.Tool{{Name: "t", Parameters: json.RawMessage(`{"type":5}`)}}},
		"no-embedder":    {Scoring: &callvet.Scoring{Mode: "semantic"}},
		"bad-extra-args": {Expect: plans(wants("book", `{}`)), Scoring: &callvet.Scoring{ExtraArgs: "x"}},
	} {
		_, ps := compile(weatherSuite(bad(c)))
		if len(ps) != 1 || ps[0].Code != code || ps[0].Case != "x" || ps[0].Message == "" || ps[0].Key == "" ||
			code != "bad-schema" && ps[0].Line != 7 {
			t.Errorf("%s: %+v", code, ps)
		}
	}
}

func TestCheck(t *testing.T) {
	t.Parallel()
	s := weatherSuite(one(plans(wants("get_weather", ""))))
	sc := mustCompile(t, s)
	for call, want := range map[string]string{
		`get_weather {"city":"x"}`: "", `get_weather {"city":5}`: "type",
		`get_weather null`: "required", `gone {}`: "tool", `book {`: "json",
	} {
		name, args, _ := strings.Cut(call, " ")
		vs := sc[0].Check(&callvet.Call{Tool: name, Args: json.RawMessage(args)})
		if (want == "") != (len(vs) == 0) || want != "" && vs[0].Keyword != want {
			t.Errorf("%s: %+v", call, vs)
		}
	}
}

func TestGoldPasses(t *testing.T) {
	t.Parallel()
	optional := wants("find_city", `{"name":"x"}`, "book", `{"id":"7"}`)
	optional.Calls[0].Optional = true
	matched := wants("get_weather", `{"city":"Paris"}`)
	matched.Calls[0].Matchers = map[string]callvet.Matcher{"unit": {
		Mode:  "any_of",
		Value: json.RawMessage(`["fahrenheit"]`),
	}, "days": {Mode: "absent"}}
	pattern := wants("get_weather", "")
	pattern.Calls[0].Matchers = map[string]callvet.Matcher{"city": {
		Mode:  "regex",
		Value: json.RawMessage(`"[A-Z][a-z]+"`),
	}}
	late := wants("book", "", "find_city", "")
	late.Calls[1].ID, late.Calls[0].After = "f", []string{"f"}
	for _, tc := range []struct {
		name string
		c    callvet.Case
		ok   bool
	}{
		{"plan", one(plans(wants("get_weather", `{"city":"Paris"}`))), true},
		{"abstain", one(plans(wants())), true},
		{"optional", one(plans(optional)), true},
		{"matchers", one(plans(matched)), true},
		{"pattern", one(plans(pattern)), false},
		{"second plan", one(plans(pattern, matched)), true},
		{"after", one(plans(late)), true},
		{"multi-turn", multiCase(), true},
		{"names", one(callvet.Expect{ToolsCalled: []string{"book", "book"}}), true},
		{"acceptable", one(callvet.Expect{ToolsAcceptable: [][]string{{"book"}}}), true},
		{
			"texts",
			one(callvet.Expect{
				ResponseContains: []string{"a 5"}, ResponseContainsAny: [][]string{{"b", "c"}},
				ResponseMatches: []string{"a . *b?"}, ToolsCalled: []string{"book"}, NoUngroundedNumbers: true,
			}), true,
		},
		{"pattern of the answer", one(callvet.Expect{ResponseMatches: []string{"^[0-9]{5}$"}}), false},
		{
			"contradiction", one(callvet.Expect{ResponseContains: []string{"ab"}, ResponseNotContains: []string{"a"}}),
			false,
		},
		{
			"parameters",
			one(callvet.Expect{
				ToolsCalled: []string{"get_weather"},
				ToolParams: []callvet.ToolParam{{
					Tool: "get_weather", Path: "city",
					Matcher: callvet.Matcher{Value: json.RawMessage(`"Rome"`)},
				}},
			}), true,
		},
	} {
		s := weatherSuite(tc.c)
		sc := mustCompile(t, s)
		tr, ok := sc[0].Gold()
		ok = ok && sc[0].Ground(&tr)
		if ok != tc.ok {
			t.Errorf("%s: derived %v", tc.name, ok)
			continue
		}
		if r := sc[0].Score(&tr); ok && r.Verdict != callvet.VerdictPass {
			t.Errorf("%s: gold %+v: %s %s", tc.name, tr.Turns, r.Verdict, r.Reason)
		}
	}
}

// arguments draws an object of up to three small members.
func arguments(t *rapid.T) string {
	var parts []string
	for _, k := range []string{"a", "b", "c"} {
		if v := rapid.SampledFrom([]string{"", "1", "2", `"x"`, `"X y"`, "null", "[1,2]", `{"d":1}`}).Draw(t,
			k); v != "" {
			parts = append(parts, fmt.Sprintf("%q:%s", k, v))
		}
	}
	return "{" + strings.Join(parts, ",") + "}"
}

func drawCalls(t *rapid.T, label string, most int) []string {
	var out []string
	for i := range rapid.IntRange(0, most).Draw(t, label) {
		out = append(out, rapid.SampledFrom([]string{"f", "g"}).Draw(t, fmt.Sprint(label, i)), arguments(t))
	}
	return out
}

func TestProperties(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		want, got := drawCalls(rt, "want", 4), drawCalls(rt, "got", 5)
		order := rapid.SampledFrom([]callvet.Order{
			"", "strict", "in_order", "subset", "superset", "precision",
			"recall", "single_tool_use",
		}).Draw(rt, "order")
		p := ordered(order, wants(want...))
		r := verdict(t, p, made(got...))
		inRange(rt, r)
		if again := verdict(t, p, made(want...)); len(want) > 0 && again.Verdict != callvet.VerdictPass {
			rt.Fatalf("%s: the plan's own calls fail: %s", order, again.Reason)
		}
		more := verdict(t, p, made(append(append([]string{}, got...), "h", "{}")...))
		for _, name := range []string{score.ToolSelection, score.ToolF1, score.Overall, score.ArgAccuracy} {
			if a, b := r.Score(name), more.Score(name); a.Scored && b.Value > a.Value+1e-12 {
				rt.Fatalf("%s: an extra call raises %s from %v to %v", order, name, a.Value, b.Value)
			}
		}
		if order != "" || len(got) < 4 {
			return
		}
		turned := append(append([]string{}, got[2:]...), got[:2]...)
		other := verdict(t, p, made(turned...))
		if other.Verdict != r.Verdict || other.Score(score.Overall) != r.Score(score.Overall) ||
			other.Score(score.ArgAccuracy) != r.Score(score.ArgAccuracy) {
			rt.Fatalf("another order of the calls changes the result:\n%+v\n%+v", r, other)
		}
	})
}

func inRange(t *rapid.T, r callvet.Result) {
	seen := map[string]bool{}
	for _, s := range r.Scores {
		if !(s.Value >= 0 && s.Value <= 1) || seen[s.Name] {
			t.Fatalf("score %+v", s)
		}
		seen[s.Name] = true
	}
}

func FuzzScoreArguments(f *testing.F) {
	f.Add(`{"city":"Paris"}`, `{"city":"paris","days":3}`)
	f.Add(`{}`, `null`)
	f.Fuzz(func(t *testing.T, want, got string) {
		s := weatherSuite(one(plans(wants("get_weather", want))))
		sc, _ := compile(s)
		r := sc[0].Score(made("get_weather", got))
		for _, x := range r.Scores {
			if !(x.Value >= 0 && x.Value <= 1) {
				t.Fatalf("%+v", x)
			}
		}
		if _, err := json.Marshal(r); err != nil {
			t.Fatal(err)
		}
	})
}

// What needs a judge, or is a program of another format, is neither held nor broken: it is next to
// the verdict with its reason, and where nothing else is asserted there is no verdict.
func TestNotEvaluated(t *testing.T) {
	t.Parallel()
	rubric := []callvet.RubricDimension{{Dimension: "tone", Criteria: "kind"}}
	program := []callvet.Unsupported{{Name: "javascript", Reason: "it is a program", Expected: "x > 1"}}
	want := []callvet.Assertion{
		{
			Name: "rubric", Layer: callvet.LayerResponse, State: callvet.AssertNotEvaluated, Reason: callvet.NeedsJudge,
			Expected: "tone: kind",
		},
		{
			Name: "javascript", Layer: callvet.LayerResponse, State: callvet.AssertNotEvaluated,
			Reason:   "it is a program",
			Expected: "x > 1",
		},
	}
	planned := plans(wants("get_weather", `{"city":"Paris"}`))
	planned.Rubric, planned.Unsupported = rubric, program
	named := callvet.Expect{ToolsCalled: []string{"get_weather"}, Rubric: rubric, Unsupported: program}
	s := weatherSuite(one(planned), one(named), one(callvet.Expect{Rubric: rubric, Unsupported: program}),
		one(callvet.Expect{Selection: &callvet.Selection{Tools: []string{"get_weather"}}}))
	sc := mustCompile(t, s)
	skipped := &callvet.Trace{End: callvet.EndSkipped}
	skipped.Classify("")
	for _, tt := range []struct {
		name    string
		c       int
		trace   *callvet.Trace
		verdict callvet.Verdict
		reason  string
	}{
		{"a plan that holds", 0, made("get_weather", `{"city":"Paris"}`), callvet.VerdictPass, ""},
		{"a plan that does not", 0, made("get_weather", `{"city":"Rome"}`), callvet.VerdictFail, ""},
		{"names that hold", 1, made("get_weather", `{"city":"Paris"}`), callvet.VerdictPass, ""},
		{
			"nothing else", 2, made("get_weather", `{"city":"Paris"}`), callvet.VerdictNotRun,
			"nothing could be evaluated: rubric: it needs a judge, and there is none, and 1 more",
		},
		{
			"nothing else, and not asked", 2, skipped, callvet.VerdictNotRun,
			"nothing could be evaluated: rubric: it needs a judge, and there is none, and 1 more",
		},
	} {
		r := sc[tt.c].Score(tt.trace)
		if r.Verdict != tt.verdict || r.NotEvaluated != 2 || tt.verdict != callvet.VerdictFail &&
			r.Reason != tt.reason {
			t.Errorf("%s: %s %q, %d not evaluated", tt.name, r.Verdict, r.Reason, r.NotEvaluated)
		}
		if d := cmp.Diff(want, r.Unevaluated()); d != "" {
			t.Errorf("%s: %s", tt.name, d)
		}
	}
	for i, want := range [][2]bool{{false, false}, {false, false}, {true, false}, {true, false}} {
		for k, selects := range []bool{false, true} {
			if got := sc[i].Idle(selects) != ""; got != want[k] {
				t.Errorf("case %d, a target that selects: %t: idle %t", i, selects, got)
			}
		}
	}
}
