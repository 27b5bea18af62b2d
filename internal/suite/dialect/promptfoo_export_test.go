// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package dialect_test

import (
	"strings"
	"testing"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/suite/dialect"
	gocmp "github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// TestPromptfooRoundTrip: what was read from promptfoo is written so that it reads as the
// same again, and nothing of it is lost.
func TestPromptfooRoundTrip(t *testing.T) {
	t.Parallel()
	asserts := rapid.SampledFrom([]string{
		`{type: is-valid-openai-tools-call}`,
		`{type: not-is-valid-openai-tools-call}`,
		`{type: tool-call-f1, value: [search]}`,
		`{type: tool-call-f1, value: [search, reply], threshold: 0.6}`,
		`{type: not-tool-call-f1, value: [search, reply], threshold: 0.6}`,
		`{type: trajectory:tool-used, value: search}`,
		`{type: trajectory:tool-used, value: [search, "re*"]}`,
		`{type: trajectory:tool-used, value: {pattern: "s*", min: 2, max: 3}}`,
		`{type: not-trajectory:tool-used, value: [search, "re*"]}`,
		`{type: not-trajectory:tool-used, value: {name: search, min: 2}}`,
		`{type: not-trajectory:tool-used, value: {name: search, min: 2, max: 3}}`,
		`{type: trajectory:step-count, value: {type: tool, max: 3}}`,
		`{type: trajectory:step-count, value: {type: tool, min: 1}}`,
		`{type: trajectory:step-count, value: {type: tool, pattern: "s*", min: 0, max: 3}}`,
		`{type: not-trajectory:step-count, value: {type: tool, min: 2, max: 3}}`,
		`{type: trajectory:tool-sequence, value: [search, reply]}`,
		`{type: trajectory:tool-sequence, value: {mode: exact, steps: [{name: search}, "re*"]}}`,
		`{type: not-trajectory:tool-sequence, value: [reply, search]}`,
		`{type: trajectory:tool-args-match, value: {name: search, args: {q: a, items: [{a: 1}]}}}`,
		`{type: trajectory:tool-args-match, value: {name: search, mode: exact, args: {q: a, n: {b: 1}}, defaults: {page: 1, m: {x: 1}}, ignore: ["*_id", n2]}}`,
		`{type: trajectory:tool-args-match, value: {name: search, args: {q: 1}, defaults: {q: 1}}}`,
		`{type: not-trajectory:tool-args-match, value: {name: "s*", args: {q: a}, ignore: q2}}`,
		`{type: contains, value: x}`, `{type: not-contains, value: y}`, `{type: contains-any, value: [x, z]}`,
		`{type: latency, threshold: 100}`,
	})
	rapid.Check(t, func(t *rapid.T) {
		doc := "prompts: ['{{chat}}']\nproviders: ['openai:x']\ntests:\n  - vars: {chat: q}\n    assert:\n"
		for _, a := range rapid.SliceOfN(asserts, 1, 5).Draw(t, "assert") {
			doc += "      - " + a + "\n"
		}
		first, _, err := dialect.Import(dialect.Promptfoo, []byte(doc), "promptfooconfig.yaml", dialect.Options{})
		if err != nil {
			t.Fatal(err)
		}
		out, problems, err := dialect.Export(dialect.Promptfoo, first)
		if err != nil || len(problems) > 0 {
			t.Fatal(err, problems)
		}
		again, _, err := dialect.Import(dialect.Promptfoo, out, "promptfooconfig.yaml", dialect.Options{})
		if err != nil {
			t.Fatalf("%v in\n%s", err, out)
		}
		a, b := &first.Cases[0], &again.Cases[0]
		if diff := gocmp.Diff(a.Expect, b.Expect) + gocmp.Diff(a.Scoring, b.Scoring) +
			gocmp.Diff(a.Skip, b.Skip); diff != "" {
			t.Fatalf("%s\nof %s\nwas written\n%s", diff, doc, out)
		}
	})
}

// TestPromptfooReportsLosses: what has another meaning there is left out and reported.
func TestPromptfooReportsLosses(t *testing.T) {
	t.Parallel()
	two, zero := 2, 0
	call := func(name string) callvet.ExpectedCall { return callvet.ExpectedCall{Tools: []string{name}} }
	withArgs := callvet.ExpectedCall{Tools: []string{"a"}, Args: []byte(`{"x":1}`)}
	nth, either, matched := call("a"), callvet.ExpectedCall{Tools: []string{"a", "b"}}, call("a")
	nth.Nth = 2
	matched.Matchers = map[string]callvet.Matcher{"x": {Mode: "regex", Value: []byte(`"1"`)}}
	plan := func(order callvet.Order, calls ...callvet.ExpectedCall) []callvet.Plan {
		return []callvet.Plan{{Order: order, Calls: calls}}
	}
	strict := &callvet.Scoring{Mode: "strict"}
	for name, tt := range map[string]struct {
		e       callvet.Expect
		scoring *callvet.Scoring
		lost    string // "": nothing
		writes  string // what has to be in the file
		not     string // what must not
	}{
		"in order and nothing else": {
			callvet.Expect{Plans: plan(callvet.OrderInOrder, call("a"), call("b"))},
			nil,
			"", `mode: exact`, "in_order",
		},
		"in order with two others": {callvet.Expect{Plans: []callvet.Plan{{
			Order: callvet.OrderInOrder,
			Calls: []callvet.ExpectedCall{call("a")}, MaxExtraCalls: &two,
		}}}, nil, "", "max: 3", "exact"},
		"any order": {
			callvet.Expect{Plans: plan("", call("a"), call("b"))},
			nil, "", "max: 2",
			"sequence",
		},
		"a name twice": {callvet.Expect{ToolsCalled: []string{"a", "a"}}, nil, "", "min: 2", "f1"},
		"precision": {
			callvet.Expect{Plans: plan(callvet.OrderPrecision, call("a"))},
			nil, "order",
			"", "tool-used",
		},
		"one of two tools": {callvet.Expect{Plans: plan("", either)}, nil, "plans", "", "f1"},
		"the second call": {
			callvet.Expect{Counts: []callvet.CallCount{{Call: nth}}},
			nil, "counts", "",
			"tool-used",
		},
		"a matcher": {
			callvet.Expect{Counts: []callvet.CallCount{{Call: matched}}},
			strict, "counts",
			"", "args-match",
		},
		"arguments compared loosely": {
			callvet.Expect{Counts: []callvet.CallCount{{Call: withArgs}}},
			nil,
			"scoring.mode", "mode: exact", "partial",
		},
		"arguments": {
			callvet.Expect{Counts: []callvet.CallCount{{Call: withArgs}}},
			strict, "",
			"mode: exact", "partial",
		},
		"arguments that are forbidden": {
			callvet.Expect{Counts: []callvet.CallCount{{Call: withArgs, Max: &zero}}},
			strict, "", "not-trajectory:tool-args-match", "step-count",
		},
		"arguments twice": {
			callvet.Expect{Counts: []callvet.CallCount{{Call: withArgs, Min: &two}}},
			strict, "counts", "", "args-match",
		},
		"arguments of one of two": {
			callvet.Expect{Plans: plan("", withArgs, withArgs)},
			strict, "arguments",
			"args-match", "",
		},
		"a plan that must not be": {
			callvet.Expect{Not: plan("", call("a"), call("b"))},
			nil, "not", "",
			"sequence",
		},
		"two that must not be": {callvet.Expect{Not: []callvet.Plan{{
			Calls:  []callvet.ExpectedCall{call("a")},
			Counts: []callvet.CallCount{{Call: call("b")}},
		}}}, nil, "not", "", "tool-used"},
		"another score": {callvet.Expect{
			Plans:     plan("", call("a")),
			MinScores: map[string]float64{"call_f1": 0.5},
		}, nil, "min_scores.call_f1", "", ""},
		"one of several sets": {
			callvet.Expect{ToolsAcceptable: [][]string{{"a"}, {"b"}}},
			nil,
			"tools_acceptable", "", "f1",
		},
		"one set":     {callvet.Expect{ToolsAcceptable: [][]string{{"a"}}}, nil, "", "f1", ""},
		"repetitions": {callvet.Expect{MaxSameCalls: &two}, nil, "max_same_calls", "", ""},
		"names by letter case": {
			callvet.Expect{ToolsAcceptable: [][]string{{"a"}}},
			&callvet.Scoring{CaseSensitiveNames: true}, "scoring", "", "",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := &callvet.Suite{
				Name: "s",
				Cases: []callvet.Case{{
					ID: "c", Input: []callvet.Turn{{Role: callvet.RoleUser, Content: "q"}},
					Expect: tt.e, Scoring: tt.scoring,
				}},
			}
			out, problems, err := dialect.Export(dialect.Promptfoo, s)
			if err != nil {
				t.Fatal(err)
			}
			var lost []string
			for _, p := range problems {
				lost = append(lost, p.Key)
			}
			if got := strings.Join(lost, " "); got != tt.lost {
				t.Errorf("lost %q, want %q", got, tt.lost)
			}
			if text := strings.ReplaceAll(string(out), "\"", ""); !strings.Contains(text, tt.writes) || tt.not != "" &&
				strings.Contains(text, tt.not) {
				t.Errorf("want %q and no %q in\n%s", tt.writes, tt.not, text)
			}
		})
	}
}

// TestPromptfooSkippedStays: what was not understood goes back as it was, and is never
// written with another meaning.
func TestPromptfooSkippedStays(t *testing.T) {
	t.Parallel()
	doc := `prompts: ['{{chat}}']
providers: ['openai:x']
tests:
  - {vars: {chat: a}, threshold: 0.5, assert: [{type: trajectory:tool-used, value: search}, {type: trajectory:tool-used, value: reply}]}
  - {vars: {chat: b}, assert: [{type: trajectory:step-count, value: {type: command, min: 1}}]}
  - {vars: {chat: c}, assert: [{type: contains, value: x}, {type: javascript, value: "output.length > 3"}]}
`
	s, _, err := dialect.Import(dialect.Promptfoo, []byte(doc), "promptfooconfig.yaml", dialect.Options{})
	if err != nil {
		t.Fatal(err)
	}
	out, problems, err := dialect.Export(dialect.Promptfoo, s)
	if err != nil || len(problems) > 0 {
		t.Fatal(err, problems)
	}
	text := strings.ReplaceAll(string(out), "\"", "")
	for _, want := range []string{"threshold: 0.5", "type: command", "output.length > 3"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	s.Dialect = "callvet" // the same cases, written by hand
	out, problems, err = dialect.Export(dialect.Promptfoo, s)
	if err != nil || len(problems) != 3 || problems[0].Key != "skip" || problems[1].Key != "skip" ||
		problems[2].Key != "unsupported" {
		t.Fatal(err, problems)
	}
	if text := string(out); strings.Contains(text, "tool-used") || strings.Contains(text, "command") {
		t.Errorf("a skipped case is written\n%s", text)
	}
}
