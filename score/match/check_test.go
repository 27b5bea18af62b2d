// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package match

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/value"
)

func parse(t testing.TB, s string) value.Value {
	t.Helper()
	v, err := value.Parse([]byte(s))
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func TestPath(t *testing.T) {
	t.Parallel()
	v := parse(t, `{"a":{"b":[{"c":1},{"c":2},{"d":3}]},"x y":[[4]]}`)
	for path, want := range map[string]string{
		"a.b[0].c": "1", "a.b[].c": "1 2", "a.b[*].d": "3", "a.b[3].c": "", "a.b.c": "", "x y[0][0]": "4",
		"a.b[2]": `{"d":3}`, "none": "",
	} {
		p, err := ParsePath(path)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, f := range p.Find(v) {
			got = append(got, string(f.Raw()))
		}
		if s := strings.Join(got, " "); s != want {
			t.Errorf("%s: %s, want %s", path, s, want)
		}
	}
	for _, path := range []string{"", ".", "a.", "a..b", "a[", "a[x]", "a[-1]"} {
		if _, err := ParsePath(path); err == nil {
			t.Errorf("%q is read", path)
		}
	}
}

// TestPlantIsFound holds Plant against Find.
func TestPlantIsFound(t *testing.T) {
	t.Parallel()
	var tree any
	for _, path := range []string{"a.b[2].c", "a.b[0]", "d[].e", "a.f"} {
		p, err := ParsePath(path)
		if err != nil {
			t.Fatal(err)
		}
		tree = p.Plant(tree, json.RawMessage(`"`+path+`"`))
		b, err := json.Marshal(tree)
		if err != nil {
			t.Fatal(err)
		}
		if found := p.Find(parse(t, string(b))); len(found) != 1 || found[0].Str() != path {
			t.Errorf("%s: %v in %s", path, found, b)
		}
	}
	b, err := json.Marshal(tree)
	if err != nil {
		t.Fatal(err)
	}
	const want = `{"a":{"b":["a.b[0]",null,{"c":"a.b[2].c"}],"f":"a.f"},"d":[{"e":"d[].e"}]}`
	if diff := cmp.Diff(want, string(b)); diff != "" {
		t.Error(diff)
	}
}

func TestNames(t *testing.T) {
	t.Parallel()
	type e = callvet.Expect
	none := [][]string{{callvet.NoTools}, {"a", "b"}}
	for _, c := range []struct {
		names  Names
		expect e
		want   bool
	}{
		{Names{Names: []string{"a", "B", "a"}}, e{ToolsCalled: []string{"b", "a", "A"}}, true},
		{Names{Names: []string{"a", "B"}, Exact: true}, e{ToolsCalled: []string{"a", "b"}}, false},
		{Names{Names: []string{"a"}}, e{ToolsCalled: []string{"a", "a"}}, false},
		{Names{}, e{ToolsCalled: []string{}}, true},
		{Names{Unreadable: true}, e{ToolsCalled: []string{}}, false},
		{Names{}, e{ToolsAcceptable: none}, true},
		{Names{Unreadable: true}, e{ToolsAcceptable: none}, false},
		{Names{Names: []string{"b", "a", "a"}}, e{ToolsAcceptable: none}, true},
		{Names{Names: []string{"a"}}, e{ToolsAcceptable: none}, false},
		{Names{Names: []string{"a", "b", "c"}}, e{ToolsAcceptable: none}, false},
		{Names{Names: []string{callvet.NoTools}}, e{ToolsAcceptable: none}, false},
		{Names{Names: []string{"A"}}, e{ToolsNotCalled: []string{"a"}}, false},
		{Names{Names: []string{"a", "a"}}, e{MinToolCalls: ptr(2), MaxToolCalls: ptr(2)}, true},
		{Names{Names: []string{"a"}}, e{MinToolCalls: ptr(2)}, false},
	} {
		got := c.names.Assert(nil, &c.expect)
		if len(got) == 0 {
			t.Errorf("%+v: nothing asserted", c.expect)
		}
		for _, a := range got {
			if a.State != callvet.Asserted(c.want) {
				t.Errorf("%+v: %+v", c.names, a)
			}
		}
	}
}

func ptr[T any](v T) *T { return &v }

func TestBudgetSkipsWhatWasNotMeasured(t *testing.T) {
	t.Parallel()
	limits := &callvet.Expect{MaxLatencyMS: ptr(10.0), MaxTokens: ptr(5), MaxCostUSD: ptr(0.5)}
	got := Budget(nil, limits, &callvet.Trace{Usage: callvet.Usage{OutputTokens: 6, Known: true}})
	want := []callvet.Assertion{
		{
			Name: "max_latency_ms", Layer: callvet.LayerBudget, State: callvet.AssertNotEvaluated, Reason: "not measured",
			Expected: "at most 10",
		},
		{
			Name: "max_tokens", Layer: callvet.LayerBudget, State: callvet.AssertFailed, Expected: "at most 5",
			Actual: "6",
		},
		{
			Name: "max_cost_usd", Layer: callvet.LayerBudget, State: callvet.AssertNotEvaluated, Reason: "not measured",
			Expected: "at most 0.5",
		},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
