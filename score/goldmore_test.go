// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package score_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/callvet/callvet"
)

// TestGoldOutsideThePlan: where a plan allows more calls, the gold attempt makes those that the
// case asks for next to it.
func TestGoldOutsideThePlan(t *testing.T) {
	t.Parallel()
	const none = "none"
	for _, tt := range []struct{ name, expect, want string }{
		{"at least three", `{"plans":[{"calls":[{"tools":["a"]}],"order":"superset"}],"min_tool_calls":3}`, "a a a"},
		{"at least one", `{"plans":[{"calls":[{"tools":["a"]}],"order":"superset"}],"min_tool_calls":1}`, "a"},
		{
			"as many as a plan allows",
			`{"plans":[{"calls":[{"tools":["a"]}],"max_extra_calls":1}],"min_tool_calls":2}`, "a a",
		},
		{
			"exactly these names",
			`{"plans":[{"calls":[{"tools":["b"]}],"order":"recall"}],"tools_called":["a","b","b"]}`,
			"b a b",
		},
		{
			"the first set that holds the plan",
			`{"plans":[{"calls":[{"tools":["b"]}],"order":"superset"}],"tools_acceptable":[["a"],["B","c"]]}`, "b c",
		},
		{
			"a plan without calls that allows more",
			`{"plans":[{"calls":[],"order":"superset"}],"min_tool_calls":1}`, `"Done."`,
		},
		{"a plan that allows no more", `{"plans":[{"calls":[{"tools":["a"]}]}],"min_tool_calls":2}`, "a"},
		{"calls that are counted", `{"plans":[{"calls":[{"tools":["a"]}]}],"counts":[{"call":{"tools":["a"]}}]}`, "a"},
		{
			"calls that are counted with a plan that allows more",
			`{"plans":[{"calls":[{"tools":["a"]}],"order":"superset"}],"counts":[{"call":{"tools":["b"]}}]}`, none,
		},
		{
			"calls that are counted by their arguments",
			`{"plans":[{"calls":[{"tools":["a"]}]}],"counts":[{"call":{"tools":["a"],"args":{"x":1}}}]}`, none,
		},
		{
			"calls that are counted next to one of two plans",
			`{"plans":[{"calls":[{"tools":["a"]}]},{"calls":[{"tools":["b"]}]}],"counts":[{"call":{"tools":["b"]}}]}`,
			none,
		},
		{
			"a sequence next to a plan in any order",
			`{"plans":[{"calls":[{"tools":["a"]},{"tools":["b"]}]}],"all_of":[{"calls":[{"tools":["b"]},{"tools":["a"]}],"order":"in_order"}]}`, none,
		},
		{
			"a plan that meets what must not be",
			`{"plans":[{"calls":[{"tools":["a"]}]}],"not":[{"calls":[{"tools":["a"]}]}]}`, "a",
		},
		{
			"plans that must not be met",
			`{"plans":[{"calls":[{"tools":["a"]}]}],"not":[{"calls":[{"tools":["b"]}]}]}`, "a",
		},
		{"no call twice", `{"plans":[{"calls":[{"tools":["a"]}]}],"max_same_calls":1}`, none},
		{
			"no call twice, with arguments",
			`{"plans":[{"calls":[{"tools":["a"],"args":{"x":1}}]}],"max_same_calls":1}`,
			"a{\"x\":1}",
		},
		{
			"no call twice, with one of two values",
			`{"plans":[{"calls":[{"tools":["a"],"matchers":{"x":{"mode":"any_of","value":[1,2]}}}]}],"max_same_calls":1}`, none,
		},
		{"an answer of JSON", `{"plans":[{"calls":[{"tools":["a"]}]}],"response_json":{"value":{}}}`, none},
		{"a pattern", `{"plans":[{"calls":[{"tools":["a*"]}]}]}`, none},
		{"a place", `{"plans":[{"calls":[{"tools":["a"],"nth":1}]}]}`, none},
		{"a message", `{"plans":[{"calls":[{"tools":["a"],"message":1}]}]}`, none},
	} {
		var e callvet.Expect
		if err := json.Unmarshal([]byte(tt.expect), &e); err != nil {
			t.Fatal(err)
		}
		c := callvet.Case{ID: "c", Input: []callvet.Turn{{Role: callvet.RoleUser, Content: "q"}}, Expect: e}
		s, _ := compile(&callvet.Suite{Cases: []callvet.Case{c}})
		tr, ok := s[0].Gold()
		ok = ok && s[0].Ground(&tr)
		got := none
		if ok {
			got = shown(&tr)
		}
		if got != tt.want {
			t.Errorf("%s: %s, want %s", tt.name, got, tt.want)
		}
		if r := s[0].Score(&tr); ok && (r.Verdict == callvet.VerdictPass) != !strings.HasPrefix(tt.name, "a plan ") {
			t.Errorf("%s: %s %s", tt.name, r.Verdict, r.Reason)
		}
	}
}
