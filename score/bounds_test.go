// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package score_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/score"
	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// judged scores an attempt at a case with an expectation in JSON. The messages are lists of calls,
// JSON too; a text is the answer.
func judged(t *testing.T, expect, scoring string, messages ...string) callvet.Result {
	t.Helper()
	c := callvet.Case{
		ID: "c", Input: []callvet.Turn{{Role: callvet.RoleUser, Content: "q"}},
		Scoring: &callvet.Scoring{},
	}
	if err := json.Unmarshal([]byte(expect), &c.Expect); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal([]byte(scoring), c.Scoring); err != nil {
		t.Fatal(err)
	}
	tr := &callvet.Trace{CaseID: "c", End: callvet.EndAnswered}
	for _, m := range messages {
		turn := callvet.Turn{Role: callvet.RoleAssistant}
		if !strings.HasPrefix(m, "[{") {
			turn.Content, tr.Answer = m, m
		} else if err := json.Unmarshal([]byte(m), &turn.Calls); err != nil {
			t.Fatal(err)
		}
		tr.Turns = append(tr.Turns, turn)
	}
	tr.Classify("")
	s, problems := compile(&callvet.Suite{Cases: []callvet.Case{c}})
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	return s[0].Score(tr)
}

const (
	search1 = `{"tool":"search","args":{"q":"a","n":1}}`
	search2 = `{"tool":"search","args":{"q":"b"}}`
	reply   = `{"tool":"reply","args":{}}`
	refused = `{"tool":"pay","args":{},"error":"refused"}`
	paid    = `{"tool":"pay","args":{},"result":"done"}`
)

func message(calls ...string) string { return "[" + strings.Join(calls, ",") + "]" }

func TestBoundsOnCalls(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, expect, scoring string
		messages              []string
		want                  string // verdict, class and what the reason holds
	}{
		{
			"at least one by itself", `{"counts":[{"call":{"tools":["search"]}}]}`, `{}`,
			[]string{message(reply, search1)},
			"pass",
		},
		{
			"none of at least one", `{"counts":[{"call":{"tools":["search"]}}]}`, `{}`,
			[]string{message(reply)},
			"fail wrong_tool at least 1 of search, got 0 of 1 calls",
		},
		{
			"no call of at least one", `{"counts":[{"call":{"tools":["search"]}}]}`, `{}`,
			[]string{"Hello"},
			"fail missed_call at least 1 of search",
		},
		{
			"exactly at most", `{"counts":[{"call":{"tools":["search"]},"max":2}]}`, `{}`,
			[]string{message(search1, search2)},
			"pass",
		},
		{
			"one above at most", `{"counts":[{"call":{"tools":["search"]},"max":1}]}`, `{}`,
			[]string{message(search1, search2)},
			"fail unneeded_call at most 1 of search, got 2 of 2 calls",
		},
		{
			"at most says nothing of at least", `{"counts":[{"call":{"tools":["search"]},"max":1}]}`, `{}`,
			[]string{"Hello"},
			"pass",
		},
		{
			"exactly at least", `{"counts":[{"call":{"tools":["search"]},"min":2}]}`, `{}`,
			[]string{message(search1, search2)},
			"pass",
		},
		{
			"one below at least", `{"counts":[{"call":{"tools":["search"]},"min":3}]}`, `{}`,
			[]string{message(search1, search2)},
			"fail wrong_tool at least 3",
		},
		{
			"a forbidden call with its arguments",
			`{"counts":[{"call":{"tools":["search"],"args":{"q":"b"}},"max":0}]}`,
			`{}`,
			[]string{message(search1, search2)},
			"fail unneeded_call at most 0 of search {\"q\":\"b\"}",
		},
		{
			"a forbidden call with other arguments",
			`{"counts":[{"call":{"tools":["search"],"args":{"q":"c"}},"max":0}]}`,
			`{}`,
			[]string{message(search1, search2)},
			"pass",
		},
		{
			"wrong arguments", `{"counts":[{"call":{"tools":["search"],"args":{"q":"c"}}}]}`, `{}`,
			[]string{message(search1)},
			"fail wrong_arguments at least 1 of search",
		},
		{
			"arguments of a tool that was not called",
			`{"counts":[{"call":{"tools":["search"],"args":{"q":"c"}}}]}`, `{}`,
			[]string{message(reply)},
			"fail wrong_tool at least 1 of search",
		},
		{
			"two met by one call",
			`{"counts":[{"call":{"tools":["search"],"args":{"q":"a"},"extra_args":"ignore"}},{"call":{"tools":["search"],"args":{"n":1},"extra_args":"ignore"}}]}`, `{}`,
			[]string{message(search1)},
			"pass",
		},
		{
			"extra arguments of one of two",
			`{"counts":[{"call":{"tools":["search"],"args":{"q":"a"},"extra_args":"ignore"}},{"call":{"tools":["search"],"args":{"q":"a"}}}]}`, `{}`,
			[]string{message(search1)},
			"fail wrong_arguments",
		},
		{
			"the call's own policy above that of the case",
			`{"counts":[{"call":{"tools":["search"],"args":{"q":"a"},"extra_args":"forbid"}}]}`,
			`{"extra_args":"ignore"}`,
			[]string{message(search1)},
			"fail wrong_arguments",
		},
		{
			"arguments that were not recorded", `{"counts":[{"call":{"tools":["search"],"args":{"q":"a"}}}]}`, `{}`,
			[]string{`[{"tool":"search"}]`},
			"not_run arguments were not recorded",
		},
		{
			"names alone of such a call", `{"counts":[{"call":{"tools":["search"]}}]}`, `{}`,
			[]string{`[{"tool":"search"}]`},
			"pass",
		},
		{
			"any tool", `{"counts":[{"call":{"tools":["*"]},"max":1}]}`, `{}`,
			[]string{message(search1, reply)},
			"fail unneeded_call at most 1 of *",
		},
		{
			"a pattern", `{"plans":[{"calls":[{"tools":["SEA*"],"args":{"q":"b"}}]}]}`, `{}`,
			[]string{message(search2)},
			"pass",
		},
		{
			"a pattern by letter case", `{"plans":[{"calls":[{"tools":["SEA*"]}]}]}`, `{"case_sensitive_names":true}`,
			[]string{message(search2)},
			"fail wrong_tool",
		},

		{
			"the first call", `{"counts":[{"call":{"tools":["search"],"args":{"q":"b"},"nth":1}}]}`, `{}`,
			[]string{message(search1, search2)},
			"fail wrong_arguments",
		},
		{
			"the second call", `{"counts":[{"call":{"tools":["search"],"args":{"q":"b"},"nth":2}}]}`, `{}`,
			[]string{message(search1, reply, search2)},
			"pass",
		},
		{
			"the last call",
			`{"plans":[{"calls":[{"tools":["search"],"args":{"q":"b"},"nth":-1}],"order":"superset"}]}`,
			`{}`,
			[]string{message(search1, search2, reply)},
			"pass",
		},
		{
			"the last but one", `{"counts":[{"call":{"tools":["search"],"args":{"q":"b"},"nth":-2}}]}`, `{}`,
			[]string{message(search1, search2)},
			"fail wrong_arguments",
		},
		{
			"a call that there is not", `{"counts":[{"call":{"tools":["search"],"nth":3}}]}`, `{}`,
			[]string{message(search1, search2)},
			"fail wrong_tool",
		},

		{
			"one message in another order",
			`{"plans":[{"calls":[{"tools":["reply"],"message":1},{"tools":["search"],"message":1}]}]}`, `{}`,
			[]string{message(search1, reply)},
			"pass",
		},
		{
			"two messages for one",
			`{"plans":[{"calls":[{"tools":["reply"],"message":1},{"tools":["search"],"message":1}]}]}`, `{}`,
			[]string{message(reply), message(search1)},
			"fail wrong_tool",
		},
		{
			"messages in order",
			`{"plans":[{"calls":[{"tools":["reply"],"message":1},{"tools":["search"],"message":2}]}]}`, `{}`,
			[]string{message(reply), "well", message(search1)},
			"pass",
		},
		{
			"messages turned round",
			`{"plans":[{"calls":[{"tools":["reply"],"message":1},{"tools":["search"],"message":2}]}]}`, `{}`,
			[]string{message(search1), message(reply)},
			"fail wrong_tool",
		},
		{
			"the last message", `{"counts":[{"call":{"tools":["reply"],"message":-1}}]}`, `{}`,
			[]string{message(search1), message(search2, reply)},
			"pass",
		},

		{
			"a sequence that must not be",
			`{"not":[{"calls":[{"tools":["search"]},{"tools":["reply"]}],"order":"in_order"}]}`, `{}`,
			[]string{message(search1, search2, reply)},
			"fail unneeded_call not search, then reply, got search, search, reply",
		},
		{
			"turned round", `{"not":[{"calls":[{"tools":["search"]},{"tools":["reply"]}],"order":"in_order"}]}`, `{}`,
			[]string{message(reply, search1)},
			"pass",
		},
		{
			"whatever else is called", `{"not":[{"calls":[{"tools":["reply"]}]}]}`, `{}`,
			[]string{message(search1, search2, reply)},
			"fail unneeded_call not reply",
		},
		{
			"by its name", `{"not":[{"name":"leak","calls":[{"tools":["search"]},{"tools":["reply"]}]}]}`, `{}`,
			[]string{message(reply, search1)},
			"fail unneeded_call not leak",
		},
		{
			"strictly, with one between",
			`{"not":[{"calls":[{"tools":["search"]},{"tools":["reply"]}],"order":"strict"}]}`, `{}`,
			[]string{message(search1, search2, reply)},
			"pass",
		},
		{
			"strictly", `{"not":[{"calls":[{"tools":["search"]},{"tools":["reply"]}],"order":"strict"}]}`, `{}`,
			[]string{message(search1, reply)},
			"fail unneeded_call not search, then reply",
		},
		{
			"with few others", `{"not":[{"calls":[{"tools":["search"]}],"max_extra_calls":0}]}`, `{}`,
			[]string{message(search1, reply)},
			"pass",
		},
		{"nothing called", `{"not":[{"calls":[]}]}`, `{}`, []string{"Hello"}, "fail missed_call not"},
		{"something called", `{"not":[{"calls":[]}]}`, `{}`, []string{message(reply)}, "pass"},

		{
			"outside two bounds, below", `{"not":[{"counts":[{"call":{"tools":["search"]},"min":2,"max":3}]}]}`, `{}`,
			[]string{message(search1)},
			"pass",
		},
		{
			"outside two bounds, above", `{"not":[{"counts":[{"call":{"tools":["search"]},"max":1}]}]}`, `{}`,
			[]string{message(search1, search2)},
			"pass",
		},
		{
			"outside two bounds, between", `{"not":[{"counts":[{"call":{"tools":["search"]},"min":2,"max":3}]}]}`, `{}`,
			[]string{message(search1, search2)},
			"fail unneeded_call not 2 to 3 of search",
		},
		{
			"both of a claim", `{"not":[{"counts":[{"call":{"tools":["search"]}},{"call":{"tools":["reply"]}}]}]}`,
			`{}`,
			[]string{message(search1, reply)},
			"fail unneeded_call not at least 1 of search and at least 1 of reply",
		},
		{
			"one of a claim", `{"not":[{"counts":[{"call":{"tools":["search"]}},{"call":{"tools":["reply"]}}]}]}`, `{}`,
			[]string{message(search1)},
			"pass",
		},
		{
			"calls and counts of a claim",
			`{"all_of":[{"calls":[{"tools":["search"]}],"counts":[{"call":{"tools":["reply"]},"max":0}]}]}`, `{}`,
			[]string{message(search1, reply)},
			"fail wrong_tool search and 0 to 0 of reply",
		},
		{
			"a score that must not be reached",
			`{"not":[{"calls":[{"tools":["search"]},{"tools":["reply"]}],"min_scores":{"tool_set_f1":0.6}}]}`, `{}`,
			[]string{message(search1)},
			"fail unneeded_call not search, reply, tool_set_f1 of at least 0.6",
		},
		{
			"a score that was not reached",
			`{"not":[{"calls":[{"tools":["search"]},{"tools":["reply"]}],"min_scores":{"tool_set_f1":0.7}}]}`, `{}`,
			[]string{message(search1)},
			"pass",
		},
		{
			"two sequences",
			`{"all_of":[{"calls":[{"tools":["search"]},{"tools":["reply"]}],"order":"in_order"},{"calls":[{"tools":["pay"]},{"tools":["reply"]}],"order":"in_order"}]}`, `{}`,
			[]string{message(search1, paid, reply)},
			"pass",
		},
		{
			"one of two sequences",
			`{"all_of":[{"calls":[{"tools":["search"]},{"tools":["reply"]}],"order":"in_order"},{"calls":[{"tools":["reply"]},{"tools":["pay"]}],"order":"in_order"}]}`, `{}`,
			[]string{message(search1, paid, reply)},
			"fail wrong_tool all_of: expected reply, then pay",
		},
		{
			"next to a plan",
			`{"plans":[{"calls":[{"tools":["search"]},{"tools":["reply"]}]}],"all_of":[{"calls":[{"tools":["reply"]},{"tools":["search"]}],"order":"strict"}]}`, `{}`,
			[]string{message(search1, reply)},
			"fail wrong_tool all_of",
		},
		{
			"arguments of a claim that were not recorded",
			`{"not":[{"calls":[{"tools":["search"],"args":{"q":"a"}}]}]}`,
			`{}`,
			[]string{`[{"tool":"search"}]`},
			"not_run arguments were not recorded",
		},
		{
			"a claim that such a call cannot meet",
			`{"not":[{"calls":[{"tools":["search"],"args":{"q":"a"}},{"tools":["reply"]}]}]}`, `{}`,
			[]string{`[{"tool":"search"}]`},
			"pass",
		},
		{
			"counts of a claim, not recorded",
			`{"all_of":[{"counts":[{"call":{"tools":["search"],"args":{"q":"a"}}}]}]}`,
			`{}`,
			[]string{`[{"tool":"search"}]`},
			"not_run arguments were not recorded",
		},

		{
			"repeated as often as may be", `{"max_same_calls":2}`, `{}`,
			[]string{message(search1, reply, search1)},
			"pass",
		},
		{
			"repeated once more", `{"max_same_calls":1}`, `{}`,
			[]string{message(search1, reply, search1)},
			"fail loop max_same_calls: expected 1, got 2 search",
		},
		{
			"the first of two that are repeated", `{"max_same_calls":1}`, `{}`,
			[]string{message(search1, reply, search1, reply)},
			"fail loop got 2 search",
		},
		{
			"the same arguments in other words", `{"max_same_calls":1}`, `{}`,
			[]string{message(`{"tool":"a","args":{"x":1.0,"y":["\u0041"]}}`, `{"tool":"A","args":{"y":["A"], "x":1}}`)},
			"fail loop got 2 A",
		},
		{
			"of three kinds the second", `{"max_same_calls":1}`, `{}`,
			[]string{message(search1, search2, reply, search2)},
			"fail loop got 2 search",
		},
		{
			"arguments that were not recorded are not the same", `{"max_same_calls":1}`, `{}`,
			[]string{`[{"tool":"search"},{"tool":"search"}]`},
			"pass",
		},
		{"other arguments", `{"max_same_calls":1}`, `{}`, []string{message(search1, search2)}, "pass"},

		{"as many requests as may be", `{"max_requests":2}`, `{}`, []string{message(search1), "Done."}, "pass"},
		{
			"one request more", `{"max_requests":1}`, `{}`,
			[]string{message(search1), "Done."},
			"fail budget max_requests: expected at most 1, got 2",
		},
		{"no request known", `{"max_requests":1}`, `{}`, nil, "not_run not measured"},

		{
			"a failed call counts", `{"counts":[{"call":{"tools":["pay"]},"max":1}]}`, `{}`,
			[]string{message(refused, paid)},
			"fail unneeded_call",
		},
		{
			"a failed call left out", `{"plans":[{"calls":[{"tools":["pay"]}]}]}`, `{"failed_calls":"ignore"}`,
			[]string{message(refused), message(paid)},
			"pass",
		},
		{
			"only failed calls", `{"counts":[{"call":{"tools":["pay"]}}]}`, `{"failed_calls":"ignore"}`,
			[]string{message(refused, refused)},
			"fail missed_call",
		},
		{
			"no errors, of all calls", `{"no_tool_errors":true}`, `{"failed_calls":"ignore"}`,
			[]string{message(refused, paid)},
			"fail incomplete no_tool_errors",
		},

		{
			"a condition of the task, met by the first call", `{"postconditions":["days == 30"]}`, `{}`,
			[]string{message(`{"tool":"find","status":"ok","result":{"days":30}}`, paid)},
			"pass",
		},
		{
			"met by no call", `{"postconditions":["days == 30"]}`, `{}`,
			[]string{message(`{"tool":"find","status":"ok","result":{"days":14}}`)},
			"fail incomplete postcondition: expected days == 30, got find gave",
		},
		{
			"one of two conditions met", `{"postconditions":["days == 30","ok == true"]}`, `{}`,
			[]string{message(`{"tool":"find","status":"ok","result":{"days":30}}`)},
			"fail incomplete expected ok == true",
		},
		{
			"a condition, and no call", `{"postconditions":["days == 30"]}`, `{}`,
			[]string{"It is 30."},
			"fail incomplete got no call",
		},
		{
			"a condition, and a result that is unknown", `{"postconditions":["days == 30"]}`, `{}`,
			[]string{message(search1, `{"tool":"find","status":"ok","result":{"days":14}}`)},
			"not_run the call of search has no result",
		},

		{
			"an answer of JSON", `{"response_json":{"mode":"subset","value":{"a":[1]}}}`, `{}`,
			[]string{"{\"b\":2, \"a\":[1.0]}"},
			"pass",
		},
		{"in a fence", `{"response_json":{"value":{"a":1}}}`, `{}`, []string{"```json\n{\"a\":1}\n```"}, "pass"},
		{
			"other JSON", `{"response_json":{"value":{"a":1}}}`, `{}`,
			[]string{`{"a":2}`},
			"fail answer response_json: expected {\"a\":1}, got {\"a\":2}",
		},
		{"no JSON", `{"response_json":{"value":{"a":1}}}`, `{}`, []string{"a is 1"}, "fail answer no JSON: a is 1"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			r := judged(t, tt.expect, tt.scoring, tt.messages...)
			got := strings.TrimSpace(string(r.Verdict) + " " + string(r.Class))
			head, outcome := tt.want, ""
			if i := strings.IndexByte(tt.want, ' '); i >= 0 && r.Class != "" {
				if j := strings.IndexByte(tt.want[i+1:], ' '); j >= 0 {
					head, outcome = tt.want[:i+1+j], tt.want[i+2+j:]
				}
			} else if i >= 0 {
				head, outcome = tt.want[:i], tt.want[i+1:]
			}
			if got != head || !strings.Contains(r.Reason, outcome) {
				t.Errorf("%s: %s\nwant %s: … %s …", got, r.Reason, head, outcome)
			}
		})
	}
}

// TestClaimOrItsOpposite: of what must hold and what must not, one passes and the other fails;
// where arguments were not recorded neither does either.
func TestClaimOrItsOpposite(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		tool := rapid.SampledFrom([]string{"a", "b", "c", "*"})
		args := rapid.SampledFrom([]string{"", `{"x":1}`, `{"x":2}`, `{}`})
		expected := rapid.Custom(func(t *rapid.T) callvet.ExpectedCall {
			c := callvet.ExpectedCall{
				Tools: []string{tool.Draw(t, "tool")}, Nth: rapid.IntRange(-2, 2).Draw(t, "nth"),
				Message: rapid.IntRange(-1, 1).Draw(t, "message"),
			}
			if s := args.Draw(t, "args"); s != "" {
				c.Args = json.RawMessage(s)
			}
			return c
		})
		claim := callvet.Plan{Order: rapid.SampledFrom([]callvet.Order{
			"", callvet.OrderStrict, callvet.OrderInOrder,
			callvet.OrderSubset, callvet.OrderSuperset, callvet.OrderSingle,
		}).Draw(t, "order")}
		if rapid.Bool().Draw(t, "with calls") {
			claim.Calls = rapid.SliceOfN(expected, 0, 3).Draw(t, "calls")
			if rapid.Bool().Draw(t, "with a score") {
				claim.MinScores = map[string]float64{rapid.SampledFrom(
					[]string{
						score.CallF1, score.ToolSetF1, score.SequenceF1, score.SequenceRecall,
						score.Position,
					}).Draw(t, "score"): rapid.Float64Range(0, 1).Draw(t, "least")}
			}
		}
		if claim.Calls == nil || rapid.Bool().Draw(t, "with counts") {
			claim.Counts = []callvet.CallCount{{
				Call: expected.Draw(t, "counted"),
				Min:  rapid.Ptr(rapid.IntRange(0, 2), true).Draw(t, "min"),
				Max:  rapid.Ptr(rapid.IntRange(0, 3), true).Draw(t, "max"),
			}}
		}
		tr := &callvet.Trace{End: callvet.EndCalled}
		for range rapid.IntRange(0, 3).Draw(t, "messages") {
			m := callvet.Turn{Role: callvet.RoleAssistant}
			for range rapid.IntRange(0, 2).Draw(t, "made") {
				c := callvet.Call{Tool: rapid.SampledFrom([]string{"a", "b", "C"}).Draw(t, "made tool")}
				if s := args.Draw(t, "made args"); s != "" {
					c.Args = json.RawMessage(s)
				}
				m.Calls = append(m.Calls, c)
			}
			tr.Turns = append(tr.Turns, m)
		}
		tr.Classify("")
		state := func(e callvet.Expect) callvet.AssertionState {
			cases, problems := compile(&callvet.Suite{Cases: []callvet.Case{{Expect: e}}})
			if len(problems) > 0 {
				t.Fatal(problems)
			}
			return cases[0].Score(tr).Assertions[0].State
		}
		must, mustNot := state(callvet.Expect{AllOf: []callvet.Plan{claim}}),
			state(callvet.Expect{Not: []callvet.Plan{claim}})
		want := map[callvet.AssertionState]callvet.AssertionState{
			callvet.AssertPassed: callvet.AssertFailed,
			callvet.AssertFailed: callvet.AssertPassed, callvet.AssertNotEvaluated: callvet.AssertNotEvaluated,
		}
		if mustNot != want[must] {
			t.Fatalf("all_of %s, not %s", must, mustNot)
		}
	})
}

func TestLeftOutCallsKeepTheirPlaces(t *testing.T) {
	t.Parallel()
	r := judged(t, `{"plans":[{"calls":[{"tools":["pay"]}]}]}`, `{"failed_calls":"ignore"}`,
		message(refused, search1, paid))
	var got []int
	for _, c := range r.Calls {
		got = append(got, c.Actual)
	}
	if diff := cmp.Diff([]int{2, 1}, got); diff != "" {
		t.Errorf("places in the attempt (-want +got):\n%s", diff)
	}
}

func TestScoresDecide(t *testing.T) {
	t.Parallel()
	abc := `"plans":[{"calls":[{"tools":["a"]},{"tools":["b"],"args":{"x":1}},{"tools":["c"]}],"order":"in_order"}]`
	call := func(name string) string { return `{"tool":"` + name + `","args":{"x":1}}` }
	for _, tt := range []struct {
		name, score string
		calls       []string
		want        float64
	}{
		{"all right", score.CallF1, []string{call("a"), call("b"), call("c")}, 1},
		{
			"wrong arguments are no right call", score.CallF1,
			[]string{call("a"), `{"tool":"b","args":{"x":2}}`, call("c")},
			4.0 / 6,
		},
		{"one more", score.CallF1, []string{call("a"), call("b"), call("c"), call("c")}, 6.0 / 7},
		{"kept in order", score.SequenceF1, []string{call("a"), call("x"), call("b")}, 4.0 / 6},
		{"turned round", score.SequenceF1, []string{call("c"), call("b"), call("a")}, 2.0 / 6},
		{"the longest list", score.SequenceF1, []string{call("b"), call("c"), call("a")}, 4.0 / 6},
		{"one call once", score.SequenceF1, []string{call("a"), call("a"), call("a")}, 2.0 / 6},
		{"nothing called", score.SequenceF1, nil, 0},
		{
			"of the expected ones", score.SequenceRecall,
			[]string{call("a"), call("x"), call("b"), call("y"), call("z")},
			2.0 / 3,
		},
		{"at their places", score.Position, []string{call("b"), call("x"), call("c"), call("a")}, 1.0 / 3},
		{"at their places, cut", score.Position, []string{call("a"), call("b")}, 2.0 / 3},
		{"names once each", score.ToolSetF1, []string{call("a"), call("a"), call("b"), call("x")}, 4.0 / 6},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			outcome := "nothing"
			if len(tt.calls) > 0 {
				outcome = message(tt.calls...)
			}
			asks := func(least float64) callvet.Result {
				b, err := json.Marshal(map[string]float64{tt.score: least})
				if err != nil {
					t.Fatal(err)
				}
				return judged(t, `{`+abc+`,"min_scores":`+string(b)+`}`, `{}`, outcome)
			}
			r := asks(tt.want)
			if got := r.Score(tt.score); !got.Scored || got.Value != tt.want {
				t.Fatalf("%s is %v, want %v", tt.score, got, tt.want)
			}
			if r.Verdict != callvet.VerdictPass && tt.want > 0 {
				t.Errorf("a score that is reached: %s %s", r.Verdict, r.Reason)
			}
			for _, a := range r.Assertions {
				if a.State != callvet.AssertPassed {
					t.Errorf("a score that is reached: %+v", a)
				}
			}
			if r := asks(min(tt.want+0.01, 1)); tt.want < 1 && r.Verdict != callvet.VerdictFail {
				t.Errorf("a score that is not reached: %s", r.Verdict)
			}
			if r := asks(0); (r.Verdict == callvet.VerdictPass) != (tt.score == score.CallF1 && tt.want == 1) {
				t.Errorf("0 leaves the verdict to the plan: %s", r.Verdict)
			}
		})
	}
	if r := judged(t,
		`{"plans":[{"calls":[]}],"min_scores":{"sequence_f1":1,"position":1,"call_f1":1,"tool_set_f1":1,"sequence_recall":1}}`, `{}`, "fine"); r.Verdict != callvet.VerdictPass {
		t.Errorf("nothing expected, nothing called: %s", r.Reason)
	}
	if r := judged(t, `{"plans":[{"calls":[{"tools":["a"]}]}],"min_scores":{"arg_accuracy":0.5}}`, `{}`,
		message(call("a"))); r.Verdict != callvet.VerdictPass || r.NotEvaluated != 1 {
		t.Errorf("a score that there is not: %s, %d not evaluated", r.Verdict, r.NotEvaluated)
	}
	r := judged(t, `{`+abc+`,"min_scores":{"tool_selection":0.5}}`, `{}`, message(call("a")))
	if r.Verdict != callvet.VerdictFail || len(r.Assertions) != 1 || r.Assertions[0].State != callvet.AssertFailed {
		t.Errorf("a third of a half, the first of the scores: %s %+v", r.Verdict, r.Assertions)
	}
	if r := judged(t, `{"min_scores":{"format":1}}`, `{}`, message(call("a"))); r.Verdict != callvet.VerdictPass {
		t.Errorf("a score without a plan: %s %s", r.Verdict, r.Reason)
	}
	if r := judged(t, `{`+abc+`,"min_scores":{"tool_f1":0.5}}`, `{}`,
		message(call("a"), call("x"))); r.Verdict != callvet.VerdictFail || r.Class == "" {
		t.Errorf("0.4 of 0.5: %s %s", r.Verdict, r.Class)
	}
}

func TestBoundsRefused(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		code string
		c    callvet.Case
	}{
		{"unknown-score", callvet.Case{Expect: callvet.Expect{MinScores: map[string]float64{"accuracy": 1}}}},
		{"unknown-score", callvet.Case{Expect: callvet.Expect{MinScores: map[string]float64{score.Miss: 1}}}},
		{"no-tool", callvet.Case{Expect: callvet.Expect{Counts: []callvet.CallCount{{}}}}},
		{
			"unknown-score",
			callvet.Case{Expect: callvet.Expect{AllOf: []callvet.Plan{{MinScores: map[string]float64{score.ArgF1: 1}}}}},
		},
		{"unknown-order", callvet.Case{Expect: callvet.Expect{Not: []callvet.Plan{{Order: "sorted"}}}}},
		{
			"unknown-mode",
			callvet.Case{Expect: callvet.Expect{ResponseJSON: &callvet.Matcher{
				Mode:  "like",
				Value: json.RawMessage(`1`),
			}}},
		},
		{"bad-failed-calls", callvet.Case{Scoring: &callvet.Scoring{FailedCalls: "drop"}}},
	} {
		_, problems := compile(&callvet.Suite{Cases: []callvet.Case{tt.c}})
		if len(problems) != 1 || problems[0].Code != tt.code {
			t.Errorf("want one %s: %v", tt.code, problems)
		}
	}
}

// TestTooManyCalls: lists of calls that would take more memory than a machine has are refused by name, and
// attempts at them are not judged.
func TestTooManyCalls(t *testing.T) {
	t.Parallel()
	calls := func(n int) []callvet.Call { return make([]callvet.Call, n) }
	plan := func(n int) callvet.Plan {
		p := callvet.Plan{Calls: make([]callvet.ExpectedCall, n)}
		for i := range p.Calls {
			p.Calls[i].Tools = []string{"f"}
		}
		return p
	}
	for _, tc := range []struct {
		name          string
		expect        callvet.Expect
		made          int
		problem, idle bool
		verdict       callvet.Verdict
	}{
		{
			"as many as can be",
			callvet.Expect{Plans: []callvet.Plan{plan(score.MaxExpectedCalls)}},
			score.MaxExpectedCalls, false, false, callvet.VerdictPass,
		},
		{
			"too many expected",
			callvet.Expect{Plans: []callvet.Plan{plan(score.MaxExpectedCalls + 1)}},
			1, true, true,
			callvet.VerdictNotRun,
		},
		{"too many excluded", callvet.Expect{Not: []callvet.Plan{plan(150_000)}}, 1, true, true, callvet.VerdictNotRun},
		{
			"too many counted",
			callvet.Expect{Counts: make([]callvet.CallCount, score.MaxExpectedCalls+1)},
			1, true, true,
			callvet.VerdictNotRun,
		},
		{"too many made", callvet.Expect{Plans: []callvet.Plan{plan(100)}}, 5_000, false, false, callvet.VerdictNotRun},
		{
			"many made, few expected",
			callvet.Expect{Plans: []callvet.Plan{plan(3)}},
			10_000, false, false,
			callvet.VerdictFail,
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			c := callvet.Case{ID: "c", Input: []callvet.Turn{{Role: callvet.RoleUser, Content: "q"}}, Expect: tc.expect}
			compiled, problems := compile(&callvet.Suite{Cases: []callvet.Case{c}})
			k := compiled[0]
			if got := len(problems) > 0 && problems[0].Code == "too-many-calls"; got != tc.problem {
				t.Errorf("problems: %+v", problems)
			}
			if why := k.Idle(false); (why != "") != tc.idle {
				t.Errorf("asked, or not, for: %q", why)
			}
			tr := &callvet.Trace{
				CaseID: "c",
				Turns:  []callvet.Turn{{Role: callvet.RoleAssistant, Calls: calls(tc.made)}}, End: callvet.EndAnswered,
			}
			for i := range tr.Turns[0].Calls {
				tr.Turns[0].Calls[i] = callvet.Call{Tool: "f", Args: json.RawMessage(`{}`)}
			}
			tr.Classify("")
			r, err := k.Judge(t.Context(), tr)
			if err != nil || r.Verdict != tc.verdict ||
				(tc.verdict == callvet.VerdictNotRun) != strings.Contains(r.Reason, "can be compared") {
				t.Errorf("%v: %s, %s", err, r.Verdict, r.Reason)
			}
		})
	}
}
