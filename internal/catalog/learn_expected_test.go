// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package catalog

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/retrieve"
)

// A name that no target can return is reported before the run, once.
func TestExpected(t *testing.T) {
	t.Parallel()
	rules, err := retrieve.NewRules(retrieve.RouteSettings{
		Rules: []retrieve.RouteRule{
			{Route: "action", SubRoute: "travel", Patterns: []string{"x"}},
			{Route: "knowledge", Patterns: []string{"y"}},
		},
		Default: "other", SubRoutes: map[string]string{"knowledge": "facts"},
	})
	if err != nil {
		t.Fatal(err)
	}
	c := &retrieve.Catalogue{Agents: []retrieve.Agent{{Name: "rail"}, {Name: "sky"}}}
	var cases []callvet.Case
	for _, s := range []callvet.Selection{
		{Route: "action", SubRoute: "travel", Agents: []string{"rail"}},
		{Route: "acton"},
		{Route: "acton", Agents: []string{"ski"}},
		{Route: "action", SubRoute: "data"},
		{Route: "knowledge", SubRoute: "facts"},
		{Route: "other"},
		{},
	} {
		cases = append(cases, callvet.Case{Expect: callvet.Expect{Selection: &s}})
	}
	var got []string
	for _, p := range ExpectedRoutes("s.json", append(cases, callvet.Case{}), c, rules) {
		if !p.Warning {
			t.Errorf("%v is no warning", p)
		}
		got = append(got, p.Code+": "+p.Error())
	}
	want := []string{
		`unknown-route: s.json: 2 cases expect the route "acton", which nothing leads to (did you mean "action"?)`,
		`unknown-agent: s.json: 1 case expects the agent "ski", which the catalogue does not have (did you mean "sky"?)`,
		`unknown-sub-route: s.json: 1 case expects the sub-route "action/data", which nothing leads to (there are action/travel, knowledge/facts)`,
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	if got := ExpectedRoutes("s.json", cases, &retrieve.Catalogue{}, nil); got != nil {
		t.Errorf("no such layer is decided: %v", got)
	}
}
