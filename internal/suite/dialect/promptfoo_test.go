// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package dialect_test

import (
	"strings"
	"testing"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/suite/dialect"
	"github.com/callvet/callvet/score"
)

// TestPromptfooMeans holds imported assertions against attempts: each means what it means
// where it comes from, or the case is skipped and says why.
func TestPromptfooMeans(t *testing.T) {
	t.Parallel()
	call := func(tool, args string) callvet.Call { return callvet.Call{Tool: tool, Args: []byte(args)} }
	search, other := call("search", `{"q":"a","n":1}`), call("search", `{"q":"b"}`)
	reply := call("reply", `{}`)
	for _, tt := range []struct {
		name    string
		asserts string // separated by |
		calls   []callvet.Call
		want    callvet.Verdict
	}{
		{"short form of a sequence", `{type: trajectory:tool-sequence, value: [search, reply]}`, []callvet.Call{search, other, reply}, callvet.VerdictPass},
		{"short form in another order", `{type: trajectory:tool-sequence, value: [reply, search]}`, []callvet.Call{search, reply}, callvet.VerdictFail},
		{"steps by name and pattern", `{type: trajectory:tool-sequence, value: {mode: exact, steps: [{name: search}, {pattern: "re*"}]}}`, []callvet.Call{search, reply}, callvet.VerdictPass},
		{"exact with a call between", `{type: trajectory:tool-sequence, value: {mode: exact, steps: [search, reply]}}`, []callvet.Call{search, other, reply}, callvet.VerdictFail},
		{"a sequence that must not be, made", `{type: not-trajectory:tool-sequence, value: [search, reply]}`, []callvet.Call{search, other, reply}, callvet.VerdictFail},
		{"a sequence that must not be, turned round", `{type: not-trajectory:tool-sequence, value: [search, reply]}`, []callvet.Call{reply, search}, callvet.VerdictPass},
		{"one call for two assertions", `{type: trajectory:tool-args-match, value: {name: search, args: {q: a}}} | {type: trajectory:tool-args-match, value: {name: search, args: {n: 1}}}`, []callvet.Call{search}, callvet.VerdictPass},
		{"arguments of the second call", `{type: trajectory:tool-args-match, value: {name: search, args: {q: b}}}`, []callvet.Call{search, other}, callvet.VerdictPass},
		{"exact beside partial", `{type: trajectory:tool-args-match, value: {name: search, mode: exact, args: {q: a}}} | {type: trajectory:tool-args-match, value: {name: search, args: {q: a}}}`, []callvet.Call{search}, callvet.VerdictFail},
		{"exact beside partial, met", `{type: trajectory:tool-args-match, value: {name: search, mode: exact, args: {q: b}}} | {type: trajectory:tool-args-match, value: {name: search, args: {q: a}}}`, []callvet.Call{search, other}, callvet.VerdictPass},
		{"partial inside a list", `{type: trajectory:tool-args-match, value: {name: search, args: {items: [{a: 1}]}}}`, []callvet.Call{call("search", `{"items":[{"a":1,"b":2}]}`)}, callvet.VerdictPass},
		{"partial inside a longer list", `{type: trajectory:tool-args-match, value: {name: search, args: {items: [{a: 1}]}}}`, []callvet.Call{call("search", `{"items":[{"a":1},{"a":2}]}`)}, callvet.VerdictFail},
		{"a default spelled out", `{type: trajectory:tool-args-match, value: {name: search, mode: exact, args: {q: a}, defaults: {n: 1}}}`, []callvet.Call{search}, callvet.VerdictPass},
		{"a default with another value", `{type: trajectory:tool-args-match, value: {name: search, mode: exact, args: {q: a}, defaults: {n: 2}}}`, []callvet.Call{search}, callvet.VerdictFail},
		{"an argument ignored", `{type: trajectory:tool-args-match, value: {name: search, mode: exact, args: {q: a, n: 9}, ignore: n}}`, []callvet.Call{search}, callvet.VerdictPass},
		{"arguments ignored by a pattern", `{type: trajectory:tool-args-match, value: {name: get, mode: exact, args: {}, ignore: ["*_id"]}}`, []callvet.Call{call("get", `{"a_id":1,"b_id":2}`)}, callvet.VerdictPass},
		{"an argument beside those ignored", `{type: trajectory:tool-args-match, value: {name: get, mode: exact, args: {}, ignore: ["*_id"]}}`, []callvet.Call{call("get", `{"a_id":1,"x":2}`)}, callvet.VerdictFail},
		{"arguments that must not be sent", `{type: not-trajectory:tool-args-match, value: {name: search, args: {q: b}}}`, []callvet.Call{search, other}, callvet.VerdictFail},
		{"arguments that were not sent", `{type: not-trajectory:tool-args-match, value: {name: search, args: {q: c}}}`, []callvet.Call{search, other}, callvet.VerdictPass},
		{"not twice, called once", `{type: not-trajectory:tool-used, value: {name: search, min: 2}}`, []callvet.Call{search}, callvet.VerdictPass},
		{"not twice, called twice", `{type: not-trajectory:tool-used, value: {name: search, min: 2}}`, []callvet.Call{search, other}, callvet.VerdictFail},
		{"at most once", `{type: trajectory:tool-used, value: {name: search, max: 1}}`, []callvet.Call{search, other}, callvet.VerdictFail},
		{"a pattern", `{type: trajectory:tool-used, value: {pattern: "SEA*"}}`, []callvet.Call{search}, callvet.VerdictPass},
		{"a pattern that must not be", `{type: not-trajectory:tool-used, value: "sea*"}`, []callvet.Call{search}, callvet.VerdictFail},
		{"one call for two names", `{type: trajectory:tool-used, value: [search, "s*"]}`, []callvet.Call{search}, callvet.VerdictPass},
		{"part of a threshold", `{type: tool-call-f1, threshold: 0.6, value: [search, reply, search]}`, []callvet.Call{search, other}, callvet.VerdictPass},
		{"below a threshold", `{type: tool-call-f1, threshold: 0.7, value: [search, reply]}`, []callvet.Call{search}, callvet.VerdictFail},
		{"steps of one message", `{type: trajectory:tool-sequence, value: {mode: exact, steps: [[reply, search]]}}`, []callvet.Call{search, reply}, callvet.VerdictPass},
		{"steps of two messages", `{type: trajectory:tool-sequence, value: {mode: exact, steps: [[reply], [search]]}}`, []callvet.Call{search, reply}, callvet.VerdictFail},
		{"steps of a pattern", `{type: trajectory:step-count, value: {type: tool, pattern: "s*", max: 1}}`, []callvet.Call{search, reply}, callvet.VerdictPass},

		{"other steps", `{type: trajectory:step-count, value: {type: command, min: 1}}`, nil, callvet.VerdictNotRun},
		{"not between two bounds", `{type: not-trajectory:tool-used, value: {name: search, min: 1, max: 2}}`, nil, callvet.VerdictNotRun},
		{"bounds that exclude each other", `{type: trajectory:tool-used, value: {name: search, max: 0}}`, nil, callvet.VerdictNotRun},
		{"an F1 that must not be", `{type: not-tool-call-f1, value: [search]}`, nil, callvet.VerdictNotRun},
		{"two sequences", `{type: trajectory:tool-sequence, value: [search]} | {type: trajectory:tool-sequence, value: [reply]}`, nil, callvet.VerdictNotRun},
		{"messages with others between", `{type: trajectory:tool-sequence, value: [[search], [reply]]}`, nil, callvet.VerdictNotRun},
		{"a default that is expected too", `{type: trajectory:tool-args-match, value: {name: search, args: {n: 1}, defaults: {n: 1}}}`, nil, callvet.VerdictNotRun},
		{"a pattern with ? that no tool fits", `{type: trajectory:tool-used, value: {pattern: "s?"}}`, nil, callvet.VerdictNotRun},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			doc := "prompts: [q]\nproviders: ['openai:x']\ntests:\n  - assert:\n"
			for a := range strings.SplitSeq(tt.asserts, " | ") {
				doc += "      - " + a + "\n"
			}
			s, _, err := dialect.Import(dialect.Promptfoo, []byte(doc), "promptfooconfig.yaml", dialect.Options{})
			if err != nil {
				t.Fatal(err)
			}
			c := &s.Cases[0]
			if tt.want == callvet.VerdictNotRun {
				if !strings.Contains(c.Skip, "is not carried: ") {
					t.Errorf("skip is %q", c.Skip)
				}
				return
			}
			if c.Skip != "" {
				t.Fatal(c.Skip)
			}
			scorer, problems := score.New(s, score.Config{})
			if len(problems) > 0 {
				t.Fatal(problems)
			}
			tr := &callvet.Trace{Turns: []callvet.Turn{{Role: callvet.RoleAssistant, Calls: tt.calls}}, End: callvet.EndCalled}
			tr.Classify(false)
			if r := scorer.Score(c, tr); r.Verdict != tt.want {
				t.Errorf("%s %s, want %s", r.Verdict, r.Reason, tt.want)
			}
		})
	}
}
