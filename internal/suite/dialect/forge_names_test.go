// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package dialect

import (
	"encoding/json"
	"testing"

	"github.com/callvet/callvet"
	"github.com/google/go-cmp/cmp"
)

// TestForgeNames: toolsCalled is a set of names. A native list counts each call, which such a file
// expresses by its bounds.
func TestForgeNames(t *testing.T) {
	t.Parallel()
	s, _ := load(t, Forge,
		`[{"id":"gs-a-001","description":"d","input":{"message":"m"},"expect":{"toolsCalled":["a","b"]}},
		{"id":"gs-a-002","description":"d","input":{"message":"m"},"expect":{"toolsCalled":[]}}]`, Options{})
	var got []callvet.Expect
	for i := range s.Cases {
		got = append(got, s.Cases[i].Expect)
	}
	if diff := cmp.Diff([]callvet.Expect{
		{ToolsAcceptable: [][]string{{"a", "b"}}},
		{ToolsAcceptable: [][]string{{callvet.NoTools}}},
	}, got); diff != "" {
		t.Error(diff)
	}
	three, many := 3, -1
	names := func(names ...string) (p callvet.Plan) {
		for _, n := range names {
			p.Calls = append(p.Calls, callvet.ExpectedCall{Tools: []string{n}})
		}
		return p
	}
	open := names("a")
	open.MaxExtraCalls = &many
	for _, c := range []struct {
		name string
		of   callvet.Expect
		want string
	}{
		{"a set", callvet.Expect{ToolsAcceptable: [][]string{{"a", "b"}}}, `{"toolsCalled":["a","b"]}`},
		{"two sets", callvet.Expect{ToolsAcceptable: [][]string{{"a"}, {"b"}}}, `{"toolsAcceptable":[["a"],["b"]]}`},
		{
			"no tool",
			callvet.Expect{ToolsAcceptable: [][]string{{callvet.NoTools}}},
			`{"toolsAcceptable":[["__none__"]]}`,
		},
		{
			"each call once",
			callvet.Expect{ToolsCalled: []string{"a", "b"}},
			`{"toolsCalled":["a","b"],"maxToolCalls":2}`,
		},
		{
			"a call twice",
			callvet.Expect{ToolsCalled: []string{"a", "a"}, MaxToolCalls: &three},
			`{"toolsCalled":["a"],"minToolCalls":2,"maxToolCalls":2}`,
		},
		{"no call", callvet.Expect{ToolsCalled: []string{}}, `{"toolsAcceptable":[["__none__"]]}`},
		{
			"a plan",
			callvet.Expect{Plans: []callvet.Plan{names("a", "a")}},
			`{"toolsCalled":["a"],"minToolCalls":2,"maxToolCalls":2}`,
		},
		{"a plan that allows more", callvet.Expect{Plans: []callvet.Plan{open}}, `{"toolsCalled":["a"]}`},
	} {
		o := writeForgeExpect(&c.of, false)
		var have, want any
		if err := json.Unmarshal(o.Bytes(), &have); err != nil {
			t.Fatal(c.name, err)
		}
		if err := json.Unmarshal([]byte(c.want), &want); err != nil {
			t.Fatal(c.name, err)
		}
		if diff := cmp.Diff(want, have); diff != "" {
			t.Errorf("%s: %s", c.name, diff)
		}
	}
}
