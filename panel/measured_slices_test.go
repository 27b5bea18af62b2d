// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package panel

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/callvet/callvet"
)

// Of n cases that all changed one way the mid-p of McNemar's test is 2^-n. The slices
// a, b and c with 8, 6 and 5 such cases have 1/256, 1/64 and 1/32; Holm multiplies the
// smallest with 3 and the next with 2, and the last is no smaller than that.
func TestSlicesOfAMetricAreOneFamily(t *testing.T) {
	t.Parallel()
	side := func(right float64) *Ledger {
		led := NewLedger("run", []string{"m"}, nil)
		led.Measure("arg_em", MetricCost)
		for _, s := range []struct {
			value string
			cases int
		}{{"a", 8}, {"b", 6}, {"c", 5}} {
			for i := range s.cases {
				in := []SliceID{{Key: "tool", Value: s.value}}
				led.Observe(0, fmt.Sprint(s.value, i), in, []Observation{{Metric: 0, Sum: right, N: 1}})
			}
		}
		return led
	}
	type adjusted struct {
		Value   string
		P, Holm float64
	}
	var got []adjusted
	c := Diff(side(1), side(0), 0)
	for _, m := range c.Targets[0].Measured {
		if m.Overall.PHolm != nil {
			t.Errorf("%s: the overall change is of no family", m.Metric)
		}
		for _, s := range m.Slices {
			if s.PHolm == nil {
				t.Fatalf("%s=%s: p %v is not adjusted", s.Key, s.Value, s.P)
			}
			got = append(got, adjusted{s.Value, s.P, *s.PHolm})
		}
	}
	if diff := cmp.Diff([]adjusted{{"a", 1. / 256, 3. / 256}, {"b", 1. / 64, 2. / 64}, {"c", 1. / 32, 2. / 64}},
		got); diff != "" {
		t.Error(diff)
	}
}

// TestFamilies: a case is in the families of the tools that it expects, which are what
// their contracts say, or their tags.
func TestFamilies(t *testing.T) {
	t.Parallel()
	tools := []callvet.Tool{
		{Name: "pay", Family: "money", Tags: []string{"x"}},
		{Name: "refund", Family: "money"},
		{Name: "weather", Tags: []string{"world", "free"}},
		{Name: "ping"},
	}
	own := oneCall("own tools", "pay")
	own.Tools = []callvet.Tool{{Name: "pay", Family: "own"}}
	call := oneCall("says it", "pay")
	call.Fields = map[string]string{"tool_family": "said"}
	cases := []callvet.Case{
		oneCall("one", "pay"), oneCall("tags", "weather"), oneCall("none", "ping"), own, call,
		{ID: "names", Expect: callvet.Expect{ToolsCalled: []string{"pay", "refund"}}},
		{ID: "sets", Expect: callvet.Expect{ToolsAcceptable: [][]string{{"pay"}, {"weather"}, {callvet.NoTools}}}},
		{ID: "selection", Expect: callvet.Expect{Selection: &callvet.Selection{Tools: []string{"weather"}}}},
	}
	want := map[string]string{
		"one": "money", "tags": "world free", "none": "", "own tools": "own", "says it": "said", "names": "money",
		"sets": "money world free", "selection": "world free",
	}
	families := callvet.FamiliesOf(tools)
	for i := range cases {
		var got []string
		for _, id := range memberships([]string{"tool_family"}, &cases[i], families) {
			got = append(got, id.value)
		}
		if s := strings.Join(got, " "); s != want[cases[i].ID] {
			t.Errorf("%s: %q, want %q", cases[i].ID, s, want[cases[i].ID])
		}
	}
	if missing, known := MissingSlices([]string{"tool_family", "color"}, tools,
		pointers(cases)); cmp.Diff([]string{"color"}, missing) != "" || !slices.Contains(known, "tool_family") {
		t.Errorf("missing %v of %v", missing, known)
	}
	if missing, _ := MissingSlices([]string{"called_tool", "expected_tool"}, tools, pointers(cases)); len(missing) > 0 {
		t.Error(missing)
	}
	if missing, _ := MissingSlices([]string{"tool_family"}, nil, pointers(cases[:3])); len(missing) != 1 {
		t.Errorf("without families: %v", missing)
	}
}
