// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package score

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/value"
)

const refundSchema = `{"type":"object","additionalProperties":false,"required":["country","product_type"],"properties":{` +
	`"country":{"type":"string","enum":["AR","BR","US","SE"]},"product_type":{"type":"string"},"amount":{"type":"number","minimum":0},` +
	`"lang":{"type":"string","default":"en"}}}`

func stepPtr[T any](v T) *T { return &v }

func tools() []callvet.Tool {
	return []callvet.Tool{
		{Name: "get_refund_policy", Version: "v2", Parameters: json.RawMessage(`{"type":"object"}`)},
		{Name: "get_refund_policy", Version: "v10", Parameters: json.RawMessage(refundSchema)},
		{Name: "get_refund_policy", Version: "v3", Parameters: json.RawMessage(refundSchema)},
		{Name: "free"},
		{Name: "joined@v4", Parameters: json.RawMessage(`{"required":["a"]}`)},
		{
			Name: "pay", ReadOnly: stepPtr(false),
			Parameters: json.RawMessage(`{"type":"object","properties":{"url":{"type":"string"}}}`),
			Safety:     &callvet.ToolSafety{Domains: []string{"example.com"}},
		},
	}
}

// read makes an Input of a line as the trace contract has it.
func read(t testing.TB, line string) *StepInput {
	t.Helper()
	v, err := value.Parse([]byte(line))
	if err != nil {
		t.Fatalf("%s: %v", line, err)
	}
	in := &StepInput{Needed: -1}
	for e, ok := v.First(); ok; e, ok = v.Next(e) {
		switch e.Key() {
		case "tool":
			in.Tool = e.Bytes()
		case "args":
			in.Args = e
		case "args_raw":
			in.ArgsRaw = e
		case "result":
			in.Result = e
		case "error":
			in.Error = e
		case "status":
			in.Status = e.Bytes()
		case "gold":
			in.GoldArgs, _ = e.Get("args")
			in.GoldParams, _ = e.Get("params")
			in.GoldTool, _ = e.Get("tool")
			in.GoldResult, _ = e.Get("result")
			in.ResultCheck, _ = e.Get("result_check")
			if n, ok := e.Get("needed"); ok && n.Kind() == value.Bool {
				in.Needed = 0
				if n.Bool() {
					in.Needed = 1
				}
			}
		}
	}
	return in
}

func scorer(t testing.TB, cfg StepConfig) *StepScorer {
	t.Helper()
	s, ps := NewStepScorer(cfg)
	for _, p := range ps {
		t.Errorf("problem: %v", p)
	}
	return s
}

// marksOf lists what is known: "+" for true, "-" for false.
func marksOf(s callvet.StepScore) string {
	names := []string{
		"valid", "tool", "selection", "needed", "em", "executed", "limited", "timeout", "rejected",
		"equal", "holds", "safe", "repaired", "budget", "p50",
	}
	var out []string
	for m := range callvet.StepMetrics {
		if yes, known := s.Get(m); known {
			sign := "-"
			if yes {
				sign = "+"
			}
			out = append(out, sign+names[m])
		}
	}
	return strings.Join(out, " ")
}

func TestScore(t *testing.T) {
	t.Parallel()
	const ok = `"tool":"get_refund_policy@v3","args":{"country":"AR","product_type":"electronics"}`
	for _, c := range []struct{ name, line, want string }{
		{
			"the example of the source",
			`{` + ok +
				`,"args_raw":"{\"country\":\"AR\",\"product_type\":\"electronics\"}","result":{"window_days":30},"error":null,"status":"ok",` +
				`"gold":{"needed":true,"args":{"country":"AR","product_type":"electronics"},"result_check":"window_days==30"}}`,
			"+valid +tool +needed +em +executed -limited -timeout -rejected +holds -repaired",
		},
		{"nothing but the call", `{` + ok + `}`, "+valid +tool -repaired"},
		{"no arguments recorded", `{"tool":"get_refund_policy@v3","gold":{"args":{"country":"AR"}}}`, "+tool"},
		{"null arguments are not recorded", `{"tool":"get_refund_policy@v3","args":null,"gold":{"args":{}}}`, "+tool"},
		{
			"a value the enum has not",
			`{"tool":"get_refund_policy@v3","args":{"country":"Argentina","product_type":"x"}}`,
			"-valid +tool -repaired",
		},
		{"unknown tool", `{"tool":"get_weather","args":{}}`, "-valid -tool -repaired"},
		{
			"tool in another case", `{"tool":"Get_Refund_Policy@v3","args":{"country":"AR","product_type":"x"}}`,
			"+valid +tool -repaired",
		},
		{"no version means the highest", `{"tool":"get_refund_policy","args":{}}`, "-valid +tool -repaired"},
		{"a lower version has its own schema", `{"tool":"get_refund_policy@v2","args":{}}`, "+valid +tool -repaired"},
		{"a version written plainly", `{"tool":"get_refund_policy@2","args":{}}`, "+valid +tool -repaired"},
		{"unknown version", `{"tool":"get_refund_policy@v9","args":{}}`, "+tool"},
		{"a version in the catalog's name", `{"tool":"joined@v4","args":{}}`, "-valid +tool -repaired"},
		{"no schema", `{"tool":"free","args":{"a":1}}`, "+tool"},
		{
			"repaired", `{` + ok + `,"args_raw":"{\"country\":\"AR\",\"product_type\":\"electronics\""}`,
			"-valid +tool +repaired",
		},
		{"repaired in a value", `{` + ok +
			`,"args_raw":"{\"country\":\"Argentina\",\"product_type\":\"electronics\"}"}`, "-valid +tool +repaired"},
		{"a payload that was left out", `{` + ok + `,"args_raw":"{...}"}`, "+valid +tool -repaired"},
		{
			"a payload that was left out, of arguments that break the contract",
			`{"tool":"get_refund_policy@v3","args":{},"args_raw":" … "}`, "-valid +tool -repaired",
		},
		{
			"a payload that was left out, and no arguments",
			`{"tool":"get_refund_policy@v3","args_raw":"{...}","gold":{"args":{}}}`, "+tool",
		},
		{"dots within a payload", `{` + ok + `,"args_raw":"{\"country\":...}"}`, "-valid +tool +repaired"},
		{
			"emitted with spaces", `{` + ok + `,"args_raw":"{ \"country\": \"AR\", \"product_type\": \"electronics\" }"}`,
			"+valid +tool -repaired",
		},
		{"emitted twice encoded", `{` + ok + `,"args_raw":"\"{}\""}`, "-valid +tool +repaired"},
		{
			"readable from the payload alone",
			`{"tool":"get_refund_policy@v3","args_raw":"{\"country\":\"AR\",\"product_type\":\"x\"}","gold":{"args":{"country":"AR","product_type":"x"}}}`, "+valid +tool +em -repaired",
		},
		{
			"an unreadable payload",
			`{"tool":"get_refund_policy@v3","args":null,"args_raw":"{\"coun","gold":{"args":{"country":"AR"}}}`,
			"-valid +tool -em -repaired",
		},
		{
			"arguments that are no object", `{"tool":"get_refund_policy@v3","args":[1],"gold":{"args":{}}}`,
			"-valid +tool -em -repaired",
		},
		{"nothing expected, nothing sent", `{"tool":"free","args":{},"gold":{"args":{}}}`, "+tool +em"},
		{"not needed", `{"tool":"free","gold":{"needed":false}}`, "+tool -selection -needed"},
		{
			"not needed, with the tool that was called", `{"tool":"free","gold":{"needed":false,"tool":"free"}}`,
			"+tool -selection -needed",
		},
		{
			"not needed, with arguments", `{"tool":"free","args":{"a":1},"gold":{"needed":false,"args":{"a":1}}}`,
			"+tool -selection -needed",
		},
		{"needed, and nobody says which tool", `{"tool":"free","gold":{"needed":true}}`, "+tool +needed"},
		{"needed, and the tool is null", `{"tool":"free","gold":{"needed":true,"tool":null}}`, "+tool +needed"},
		{"needed, and the tool is empty", `{"tool":"free","gold":{"needed":true,"tool":""}}`, "+tool +needed"},
		{"only the right tool is named", `{"tool":"free","gold":{"tool":"free"}}`, "+tool +selection +needed"},
		{"only another tool is named", `{"tool":"free","gold":{"tool":"pay"}}`, "+tool -selection +needed"},
		{"only arguments are labelled", `{"tool":"free","args":{"a":1},"gold":{"args":{"a":1}}}`, "+tool +em"},
		{"an empty label", `{"tool":"free","args":{"a":1},"gold":{}}`, "+tool"},
		{"another tool is right", `{"tool":"free","gold":{"needed":true,"tool":"pay"}}`, "+tool -selection +needed"},
		{
			"the right tool, version ignored", `{` + ok + `,"gold":{"needed":true,"tool":"GET_refund_policy"}}`,
			"+valid +tool +selection +needed -repaired",
		},
		{
			"the wrong version", `{` + ok + `,"gold":{"needed":true,"tool":"get_refund_policy@v2"}}`,
			"+valid +tool -selection +needed -repaired",
		},
		{
			"rejected is not executed",
			`{"tool":"free","status":"rejected_by_contract","error":"bad","gold":{"result":1,"result_check":"a==1"}}`,
			"+tool +rejected",
		},
		{
			"ok with an error", `{"tool":"free","status":"ok","error":"boom"}`,
			"+tool -executed -limited -timeout -rejected",
		},
		{
			"ok with an empty error", `{"tool":"free","status":"ok","error":""}`,
			"+tool +executed -limited -timeout -rejected",
		},
		{
			"timeout", `{"tool":"free","status":"timeout","error":"slow","gold":{"result":{"a":1}}}`,
			"+tool -executed -limited +timeout -rejected -equal",
		},
		{
			"rate limit", `{"tool":"free","status":"exec_error","error":{"code":429,"message":"slow down"}}`,
			"+tool -executed +limited -timeout -rejected",
		},
		{
			"equal result", `{"tool":"free","status":"ok","result":{"b":2,"a":1.0},"gold":{"result":{"a":1,"b":2}}}`,
			"+tool +executed -limited -timeout -rejected +equal",
		},
		{
			"a result without status was executed",
			`{"tool":"free","result":{"a":1},"gold":{"result":{"a":2},"result_check":"a == 1"}}`,
			"+tool -equal +holds",
		},
		{
			"a missing member does not hold",
			`{"tool":"free","status":"ok","result":{},"gold":{"result_check":"window_days != 3"}}`,
			"+tool +executed -limited -timeout -rejected -holds",
		},
		{
			"a condition that cannot be read is unknown",
			`{"tool":"free","status":"ok","result":{},"gold":{"result_check":"window_days ="}}`,
			"+tool +executed -limited -timeout -rejected",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			var got callvet.StepScore
			scorer(t, StepConfig{Tools: tools()}).Score(read(t, c.line), &got)
			if d := cmp.Diff(c.want, marksOf(got)); d != "" {
				t.Error(d)
			}
		})
	}
}

// TestRedacted: what was redacted before the trace was written does not break a contract, and
// differs from what differed.
func TestRedacted(t *testing.T) {
	t.Parallel()
	s := scorer(t,
		StepConfig{Tools: []callvet.Tool{{
			Name: "mail",
			Parameters: json.RawMessage(`{"type":"object","required":["to"],"additionalProperties":false,"properties":{
		"to":{"type":"string","format":"email"},"list":{"type":"array","items":{"type":"string","maxLength":5}},"card":{"type":"integer","maximum":5e15},"n":{"type":"integer"}}}`),
		}}})
	for args, want := range map[string]string{
		`{"to":"ana@x.com"}`:                                    "+valid +tool -repaired",
		`{"to":"ana"}`:                                          "-valid +tool -repaired",
		`{"to":"[REDACTED:email]"}`:                             "+tool",
		`{"to":"[REDACTED:email]","n":"x"}`:                     "-valid +tool -repaired",
		`{"to":"a@x.com","list":["abc","[REDACTED:phone#2]"]}`:  "+tool",
		`{"to":"a@x.com","list":["abcdef","[REDACTED:phone]"]}`: "-valid +tool -repaired",
		`{"to":"a@x.com","card":9999999999999999}`:              "+tool",
		`{"to":"a@x.com","card":8888888888888888}`:              "-valid +tool -repaired",
		`{"list":["[REDACTED:phone]"]}`:                         "-valid +tool -repaired",
		`{"to":"a@x.com","[REDACTED:email]":1}`:                 "+tool",
		`{"to":"a@x.com","other":"[REDACTED:email]"}`:           "-valid +tool -repaired",
	} {
		in := read(t, `{"tool":"mail","args":`+args+`}`)
		var score callvet.StepScore
		s.Score(in, &score)
		if got := marksOf(score); got != want {
			t.Errorf("%s: %s, want %s", args, got, want)
		}
		if x := s.Explain(in); (len(x.Reasons) > 0) != strings.HasPrefix(want, "-") {
			t.Errorf("%s: %q", args, x.Reasons)
		}
	}
	for gold, want := range map[string]string{"[REDACTED:email]": "+em", "[REDACTED:email#2]": "-em"} {
		in := read(t, `{"tool":"other","args":{"to":"[REDACTED:email]"},"gold":{"args":{"to":"`+gold+`"}}}`)
		var score callvet.StepScore
		s.Score(in, &score)
		if got := marksOf(score); !strings.Contains(got, want) {
			t.Errorf("%s: %s", gold, got)
		}
	}
}

func TestNoCatalog(t *testing.T) {
	t.Parallel()
	var got callvet.StepScore
	scorer(t, StepConfig{}).Score(read(t, `{"tool":"x@v1","args":{"a":1},"gold":{"needed":true,"args":{"a":"1"}}}`),
		&got)
	if d := cmp.Diff("+needed -em", marksOf(got)); d != "" {
		t.Error(d)
	}
}

// TestUnverifiedStep: where a verdict is too much work, nothing is known, and it is counted.
func TestUnverifiedStep(t *testing.T) {
	t.Parallel()
	s := scorer(t,
		StepConfig{Tools: []callvet.Tool{{
			Name:       "deep",
			Parameters: json.RawMessage(`{"properties":{"a":{"allOf":[{"$ref":"#"},{"$ref":"#"}]}}}`),
		}}})
	for args, want := range map[string]string{
		`{"a":{}}`: "+valid +tool -repaired",
		strings.Repeat(`{"a":`, 50) + "{}" + strings.Repeat("}", 50): "+tool",
	} {
		var got callvet.StepScore
		in := read(t, `{"tool":"deep","args":`+args+`}`)
		s.Score(in, &got)
		if d := cmp.Diff(want, marksOf(got)); d != "" {
			t.Errorf("%.20s: %s", args, d)
		}
		s.Explain(in)
	}
	if s.Endless() != 1 {
		t.Errorf("%d are counted", s.Endless())
	}
}

func TestCounts(t *testing.T) {
	t.Parallel()
	type counts struct{ Matched, Expected, Emitted, Union uint16 }
	for line, want := range map[string]counts{
		`{"country":"AR","product_type":"Books "}|{"country":"AR","product_type":"books"}`: {2, 2, 2, 2},
		`{"country":"AR"}|{"country":"ar"}`:                                                {1, 1, 1, 1},
		`{"country":"AR","lang":"en"}|{"country":"AR"}`:                                    {2, 2, 2, 2},
		`{"country":"AR"}|{"country":"AR","lang":"en"}`:                                    {2, 2, 2, 2},
		`{"country":"AR"}|{"country":"AR","lang":"de"}`:                                    {1, 1, 2, 2},
		`{"country":"AR","amount":1}|{"amount":1.0}`:                                       {1, 2, 1, 2},
		`{"country":"AR","amount":2}|{"country":"AR","lang":"de"}`:                         {1, 2, 2, 3},
		`{"amount":9007199254740993}|{"amount":9007199254740992}`:                          {0, 1, 1, 1},
		`{}|{"amount":1}`: {0, 0, 1, 1}, `{"amount":1}|{}`: {0, 1, 0, 1}, `{}|{}`: {0, 0, 0, 0},
		`{"product_type":"ﬁne"}|{"product_type":"FINE"}`: {1, 1, 1, 1},
	} {
		gold, args, _ := strings.Cut(line, "|")
		var got callvet.StepScore
		scorer(t, StepConfig{Tools: tools()}).Score(
			read(t, `{"tool":"get_refund_policy@v3","args":`+args+`,"gold":{"args":`+gold+`}}`), &got)
		if d := cmp.Diff(want, counts{got.Matched, got.Expected, got.Emitted, got.Union}); d != "" {
			t.Errorf("%s: %s", line, d)
		}
		em, known := got.Get(callvet.StepArgEM)
		if !known || em != (want.Matched == want.Expected && want.Matched == want.Emitted) {
			t.Errorf("%s: em %v, %v", line, em, known)
		}
	}
}

func TestOtherModes(t *testing.T) {
	t.Parallel()
	var got callvet.StepScore
	line := `{"tool":"free","args":{"a":1.004,"b":"x"},"gold":{"args":{"a":1,"b":"x"}}}`
	scorer(t, StepConfig{Scoring: callvet.Scoring{Mode: "numeric_tolerance"}}).Score(read(t, line), &got)
	if em, _ := got.Get(callvet.StepArgEM); !em || got.Matched != 2 {
		t.Errorf("within the tolerance: %+v", got)
	}
	if _, ps := NewStepScorer(StepConfig{Scoring: callvet.Scoring{Mode: "nearly"}}); len(ps) != 1 ||
		ps[0].Code != "unknown-mode" {
		t.Errorf("unknown mode: %v", ps)
	}
	if _, ps := NewStepScorer(
		StepConfig{Tools: []callvet.Tool{{Name: "x", Parameters: json.RawMessage(`{"type":1}`)}}}); len(ps) != 1 ||
		ps[0].Code != "bad-schema" {
		t.Errorf("bad schema: %v", ps)
	}
}

// TestParams: a label has matchers of single arguments next to its arguments.
func TestParams(t *testing.T) {
	t.Parallel()
	half := 0.5
	matchers := func(object []byte) (map[string]callvet.Matcher, []callvet.Problem) {
		switch string(object) {
		case `{}`:
			return nil, nil
		case `{"n":"near"}`:
			return map[string]callvet.Matcher{"n": {Mode: "numeric_tolerance", Epsilon: &half}}, nil
		case `{"day":"near"}`:
			return map[string]callvet.Matcher{"day": {
				Mode: "date", Tolerance: "1d",
				Value: json.RawMessage(`"2026-03-01"`),
			}}, nil
		case `{"n":"nothing to compare with"}`:
			return map[string]callvet.Matcher{"m": {Mode: "fuzzy"}}, nil
		}
		return nil, []callvet.Problem{{Key: "n", Message: "no matcher"}}
	}
	for _, c := range []struct {
		args, gold, want string // want: known and so, then matched, expected, emitted
		reasons          string
	}{
		{`{"n":1.4}`, `{"args":{"n":1}}`, "- 0 1 1", "argument n is 1.4, expected 1"},
		{`{"n":1.4}`, `{"args":{"n":1},"params":{}}`, "- 0 1 1", "argument n is 1.4, expected 1"},
		{`{"n":1.4}`, `{"args":{"n":1},"params":{"n":"near"}}`, "+ 1 1 1", ""},
		{
			`{"n":1.6,"x":1}`, `{"args":{"n":1},"params":{"n":"near"}}`, "- 0 1 2",
			"argument n is 1.6, expected 1; argument x is not expected, it is 1",
		},
		{`{"day":"2026-02-28"}`, `{"params":{"day":"near"}}`, "+ 1 1 1", ""},
		{
			`[1]`, `{"params":{"day":"near"}}`, "- 0 1 1",
			"there are no arguments to compare: the payload is not an object",
		},
		{`{"n":1}`, `{"args":{"n":1},"params":{"n":"what"}}`, "? 0 0 0", ""},
		{`{"n":1}`, `{"args":{"n":1},"params":{"n":"nothing to compare with"}}`, "? 0 0 0", ""},
	} {
		s := scorer(t, StepConfig{Matchers: matchers})
		in := read(t, `{"tool":"free","args":`+c.args+`,"gold":`+c.gold+`}`)
		var got callvet.StepScore
		s.Score(in, &got)
		s.Score(in, &got) // problems are cached, and reported once
		em, known := got.Get(callvet.StepArgEM)
		sign := map[bool]string{true: "+", false: "-"}[em]
		if !known {
			sign = "?"
			if ps := s.Problems(); len(ps) != 1 || ps[0].Code != "bad-matcher" {
				t.Errorf("%s: %v", c.gold, ps)
			}
		}
		if d := cmp.Diff(c.want, fmt.Sprint(sign, " ", got.Matched, " ", got.Expected, " ", got.Emitted)); d != "" {
			t.Errorf("%s of %s: %s", c.args, c.gold, d)
		}
		if d := cmp.Diff(c.reasons, strings.Join(s.Explain(in).Reasons, "; ")); d != "" {
			t.Errorf("%s of %s: %s", c.args, c.gold, d)
		}
	}
}

// TestExtraArguments: the policy for unexpected arguments holds in mode exact too.
func TestExtraArguments(t *testing.T) {
	t.Parallel()
	in := read(t, `{"tool":"free","args":{"a":1,"b":2},"gold":{"args":{"a":1}}}`)
	for policy, want := range map[callvet.ExtraArgs]bool{
		"": false, callvet.ExtraForbid: false,
		callvet.ExtraIgnore: true, callvet.ExtraPenalize: true,
	} {
		var got callvet.StepScore
		scorer(t, StepConfig{Scoring: callvet.Scoring{ExtraArgs: policy}}).Score(in, &got)
		if em, _ := got.Get(callvet.StepArgEM); em != want {
			t.Errorf("%q: %v", policy, em)
		}
	}
}

// TestTime: how long an execution took is held against the budget of the version that was called.
func TestTime(t *testing.T) {
	t.Parallel()
	mid, budget, later := 100.0, 500.0, 900.0
	s := scorer(t,
		StepConfig{Tools: []callvet.Tool{
			{Name: "x", Version: "v1", LatencyP50MS: &mid, LatencyBudgetMS: &budget},
			{Name: "x", Version: "v2", LatencyBudgetMS: &later},
			{Name: "y"},
			{Name: "p", LatencyP50MS: &mid},
		}})
	for _, c := range []struct {
		line string
		ms   float64
		want string
	}{
		{`{"tool":"x@v1","status":"ok"}`, 100, "+executed -timeout +budget +p50"},
		{`{"tool":"x@v1","status":"ok"}`, 0, "+executed -timeout +budget +p50"},
		{`{"tool":"x@v1","status":"ok"}`, 500, "+executed -timeout +budget -p50"},
		{`{"tool":"p","status":"ok"}`, 100, "+executed -timeout +p50"},
		{`{"tool":"x@v1","status":"ok"}`, 101, "+executed -timeout +budget -p50"},
		{`{"tool":"x@v1","status":"exec_error"}`, 501, "-executed -timeout -budget -p50"},
		{`{"tool":"x@v1","status":"timeout"}`, 20, "-executed +timeout -budget -p50"},
		{`{"tool":"x@v1","status":"timeout"}`, -1, "-executed +timeout -budget -p50"},
		{`{"tool":"x@v1","status":"ok"}`, -1, "+executed -timeout"},
		{`{"tool":"x@v1","status":"rejected_by_contract"}`, 3, "+rejected"},
		{`{"tool":"x@v1"}`, 3, ""},
		{`{"tool":"x","status":"ok"}`, 700, "+executed -timeout +budget"},
		{`{"tool":"y","status":"ok"}`, 700, "+executed -timeout"},
		{`{"tool":"z","status":"ok"}`, 700, "+executed -timeout"},
	} {
		var got callvet.StepScore
		s.Score(read(t, c.line), &got)
		s.Time(c.ms, &got)
		words := slices.DeleteFunc(strings.Fields(marksOf(got)), func(w string) bool {
			return !slices.Contains([]string{"executed", "timeout", "rejected", "budget", "p50"}, w[1:]) ||
				w == "-rejected"
		})
		if d := cmp.Diff(c.want, strings.Join(words, " ")); d != "" {
			t.Errorf("%s, %g ms: %s", c.line, c.ms, d)
		}
	}
}

func TestRateLimit(t *testing.T) {
	t.Parallel()
	s := scorer(t, StepConfig{Tools: tools()})
	for text, want := range map[string]bool{
		`"HTTP 429"`: true, `"429 Too Many Requests"`: true, `"Rate limit reached for gpt"`: true,
		`"RateLimitError: slow"`: true, `"rate-limited"`: true,
		`{"code":"rate_limit_exceeded"}`: true, `{"error":{"status":429}}`: true,
		`{"code":"ThrottlingException"}`: true, `"status=429"`: true,
		`{"errors":[{"code":"RESOURCE_EXHAUSTED"}]}`: true, `"too many requests"`: true, `"error 429: x"`: true,
		`"order 429 not found"`: false, `"4290"`: false, `{"order":429}`: false, `"upstream said no"`: false,
		`null`: false, `{"code":500}`: false,
		`"the tool has no rate"`: false, `"the tool has no rats"`: false, `"HTTP 419"`: false, `""`: false,
		`"` + strings.Repeat("x", 300) + `"`: false, `{"a":{"b":{"c":{"d":{"e":"too many requests"}}}}}`: false,
		`[[[["too many requests"]]]]`: true, `[[[[["too many requests"]]]]]`: false,
	} {
		var got callvet.StepScore
		s.Score(read(t, `{"tool":"get_refund_policy@v2","status":"exec_error","error":`+text+`}`), &got)
		if is := slices.Contains(strings.Fields(marksOf(got)), "+limited"); is != want {
			t.Errorf("%s: %v", text, is)
		}
	}
}

func TestSafety(t *testing.T) {
	t.Parallel()
	var args []string
	safe := scorer(t, StepConfig{Tools: tools(), Safe: func(tool string, v value.Value) (bool, bool) {
		args = append(args, string(v.Raw()))
		return tool != "bad@v1", tool != "dunno"
	}})
	for line, want := range map[string]string{
		`{"tool":"bad@v1"}`: "-", `{"tool":"pay","args":{"a":1}}`: "+", `{"tool":"dunno"}`: "?",
		`{"tool":"pay","args_raw":"{\"a\":2}"}`: "+",
	} {
		in := read(t, line)
		var got callvet.StepScore
		safe.Score(in, &got)
		yes, known := got.Get(callvet.StepSafe)
		if known != (want != "?") || yes != (want == "+") {
			t.Errorf("%s: %v, %v", line, yes, known)
		}
		if x := safe.Explain(in); slices.Contains(x.Reasons, "a rule of safety forbids the call") != (want == "-") {
			t.Errorf("%s: %v", line, x.Reasons)
		}
	}
	if !slices.Contains(args, `{"a":1}`) || !slices.Contains(args, `{"a":2}`) || !slices.Contains(args, "") {
		t.Errorf("the rules saw %q", args)
	}
}

func TestExplain(t *testing.T) {
	t.Parallel()
	s := scorer(t, StepConfig{Tools: tools()})
	x := s.Explain(
		read(t,
			`{"tool":"get_refund_policy@v3","args":{"country":"Argentina","extra":1},"result":{"window_days":14},"status":"ok",`+
				`"gold":{"needed":true,"args":{"country":"AR","product_type":"books"},"result_check":"window_days==30"}}`))
	all := strings.Join(x.Reasons, "\n")
	for _, want := range []string{
		"/country", "extra", `argument country is "Argentina", expected "AR"`,
		`argument product_type is missing, expected "books"`, "argument extra is not expected",
		"window_days==30 does not hold",
	} {
		if !strings.Contains(all, want) {
			t.Errorf("no %q in\n%s", want, all)
		}
	}
	if x.Call.State != callvet.StatePartial || len(x.Call.Args) != 3 || len(x.Call.Violations) == 0 {
		t.Errorf("%+v", x.Call)
	}
	if x := s.Explain(read(t, `{"tool":"get_refund_polizy","args":{}}`)); len(x.Reasons) != 1 ||
		!strings.Contains(x.Reasons[0], "nearest is get_refund_policy") {
		t.Errorf("%v", x.Reasons)
	}
	if x := s.Explain(read(t, `{"tool":"free","args":{},"status":"ok"}`)); len(x.Reasons) != 0 {
		t.Errorf("%v", x.Reasons)
	}
	s.Explain(read(t, `{"tool":"free","status":"ok","result":1,"gold":{"result_check":"a = 1"}}`))
	s.Explain(read(t, `{"tool":"free","status":"ok","result":1,"gold":{"result_check":"a = 1"}}`))
	if ps := s.Problems(); len(ps) != 1 || !strings.Contains(ps[0].Message, `"a = 1"`) {
		t.Errorf("problems: %v", ps)
	}
	var out callvet.StepScore
	s.Score(read(t, `{"tool":"get_refund_policy@v77"}`), &out)
	if s.UnknownVersions() != 1 || s.Fork().UnknownVersions() != 0 {
		t.Errorf("%d unknown versions", s.UnknownVersions())
	}
}

const benchLine = `{"task_id":"t_000000001","turn_id":3,"call_id":"t_000000001#3#1","tool":"get_refund_policy@v3","args":{"country":"AR","product_type":"electronics","amount":412.5},` +
	`"args_raw":"{\"country\":\"AR\",\"product_type\":\"electronics\",\"amount\":412.5}","accept_time_ms":173,` +
	`"result":{"window_days":30,"exceptions":["defecto de fabricación: 90 días"]},"error":null,"latency_ms":{"queue":2,"exec":24},"status":"ok",` +
	`"gold":{"needed":true,"args":GOLD,"result_check":"window_days>=0"},"tags":["refunds","es-AR"]}`

func BenchmarkScore(b *testing.B) {
	for name, gold := range map[string]string{
		"equal":     `{"country":"AR","product_type":"electronics","amount":412.5}`,
		"different": `{"product_type":"Electronics", "country":"BR","amount":412.5}`,
	} {
		in := read(b, strings.Replace(benchLine, "GOLD", gold, 1))
		s := scorer(b, StepConfig{Tools: tools()})
		var out callvet.StepScore
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				s.Score(in, &out)
			}
		})
	}
}

// TestSpells holds the comparison without decoding against decoding.
func TestSpells(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		text := rapid.StringMatching(`[a-c"\\\\/é{}:,]{0,24}`).Draw(rt, "text")
		other := text
		if rapid.Bool().Draw(rt, "other") {
			other = rapid.StringMatching(`[a-c"\\\\/é{}:,]{0,24}`).Draw(rt, "text")
		}
		quoted, err := json.Marshal(other)
		if err != nil {
			rt.Fatal(err)
		}
		if got := spells(quoted[1:len(quoted)-1], []byte(text)); got != (text == other) {
			rt.Fatalf("%s and %s: %v", quoted, text, got)
		}
	})
}

func FuzzScore(f *testing.F) {
	f.Add(`{"country":"AR","amount":1}`, `"{\"country\":\"AR\"}"`, `{"country":"ar"}`, `{"code":429}`, "a.b >= 1")
	f.Add(`[1]`, `"{}"`, `{}`, `"https://x"`, "exists(a)")
	f.Fuzz(func(t *testing.T, args, raw, gold, other, check string) {
		get := func(s string) value.Value {
			v, err := value.Parse([]byte(s))
			if err != nil {
				return value.Value{}
			}
			return v
		}
		text, err := json.Marshal(check)
		if err != nil {
			return
		}
		s, _ := NewStepScorer(StepConfig{
			Tools: tools(),
			Safe:  func(string, value.Value) (bool, bool) { return false, true },
		})
		in := &StepInput{
			Tool: []byte("get_refund_policy@v3"), Args: get(args), ArgsRaw: get(raw), GoldArgs: get(gold),
			GoldParams: get(other), Result: get(other), Error: get(other),
			GoldResult: get(args), ResultCheck: get(string(text)), Status: []byte("ok"), Needed: 1,
		}
		var a, b callvet.StepScore
		s.Score(in, &a)
		s.Explain(in)
		s.Score(in, &b)
		if a != b || a.True&^a.Known != 0 || a.Matched > a.Expected || a.Matched > a.Emitted {
			t.Errorf("%+v, then %+v", a, b)
		}
	})
}

func TestNoAllocation(t *testing.T) {
	for _, gold := range []string{
		`{"country":"AR","product_type":"electronics","amount":412.5}`,
		`{"product_type":"Electronics", "country":"BR","amount":412.5}`,
	} {
		in := read(t, strings.Replace(benchLine, "GOLD", gold, 1))
		s := scorer(t, StepConfig{Tools: tools()})
		var out callvet.StepScore
		if n := testing.AllocsPerRun(100, func() { s.Score(in, &out) }); n != 0 {
			t.Errorf("%v allocations a step", n)
		}
	}
}

// TestRulesOutliveTheirLine: the rules of a label are used again when the memory of its line has other text.
func TestRulesOutliveTheirLine(t *testing.T) {
	t.Parallel()
	scorer, _ := NewStepScorer(StepConfig{})
	buf := make([]byte, 0, 1<<10)
	for i, id := range []string{"1", "another"} {
		const label = `{"x":"one"}`
		buf = append(buf[:0], `{"id":"`+id+`","args":`+label+`,"gold":`+label+`,"scoring":{"mode":"strict"}}`...)
		line, err := value.Parse(buf)
		if err != nil {
			t.Fatal(err)
		}
		in := StepInput{Tool: []byte("f"), Needed: 1}
		in.Args, _ = line.Get("args")
		in.GoldArgs, _ = line.Get("gold")
		in.GoldScoring, _ = line.Get("scoring")
		var out callvet.StepScore
		scorer.Score(&in, &out)
		if right, known := out.Get(callvet.StepArgEM); !known || !right {
			t.Errorf("line %d: %s is not %[2]s (known %v)", i+1, label, known)
		}
	}
}
