// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package redact

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/callvet/callvet"
)

// TestCasePlace: what is found is told with its place in the case, and only the first.
func TestCasePlace(t *testing.T) {
	t.Parallel()
	const known = "k3y-of-this-process"
	k := NewKeeper([]string{"SOME_API_KEY=" + known}, nil)
	call := func(args string) callvet.Case {
		return callvet.Case{Expect: callvet.Expect{Plans: []callvet.Plan{{Calls: []callvet.ExpectedCall{{Tools: []string{"f"}, Args: json.RawMessage(args)}}}}}}
	}
	for _, tt := range []struct {
		name, want string
		c          callvet.Case
	}{
		{"nothing", "", callvet.Case{Description: "a case"}},
		{"a member", "description", callvet.Case{Description: "with " + known}},
		{"a list", "tags[1]", callvet.Case{Tags: []string{"a", known, known}}},
		{
			"a member of an item", "input[1].content",
			callvet.Case{Input: []callvet.Turn{{Content: "Hello"}, {Content: known}}},
		},
		{"lists in lists", "expect.plans[0].calls[0].args.a[1][0].b", call(`{"a":[1,[{"b":"` + known + `"}]]}`)},
		{"a name with a dot", "expect.plans[0].calls[0].args.a.b", call(`{"a.b":"` + known + `"}`)},
		{"an empty name", "expect.plans[0].calls[0].args..b", call(`{"":{"b":"` + known + `"}}`)},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got := ""
			for _, p := range k.Case(&tt.c) {
				got += p.Key
			}
			if d := cmp.Diff(tt.want, got); d != "" {
				t.Error(d)
			}
		})
	}
}
