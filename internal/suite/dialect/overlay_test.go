// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package dialect

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/callvet/callvet"
	"github.com/google/go-cmp/cmp"
)

// What changed is laid over the original; keys that callvet does not use, the
// way multi-turn settings are nested and the form of numbers stay.
func TestOverlay(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		dialect, doc, want string
		edit               func(*callvet.Suite)
	}{
		"tool suite": {
			Toolsuite,
			suiteOf(
				`{"prompt":"p","note":1.0,"expected_tool":"t","expected_params":{"a":1.0,"b":2},"param_scoring":"fuzzy","multi_turn":{"max_rounds":3}}`),
			suiteOf(
				`{"prompt":"p","note":1.0,"expected_tool":"t","expected_params":{"a":1.0,"b":3},"param_scoring":"strict","multi_turn":{"max_rounds":4,"optimal_hops":2}}`),
			func(s *callvet.Suite) {
				c := &s.Cases[0]
				c.Expect.Plans[0].Calls[0].Args = json.RawMessage(`{"a":1.0,"b":3}`)
				c.Scoring.Mode, c.MultiTurn.MaxRounds, c.MultiTurn.OptimalHops = "strict", 4, 2
			},
		},
		"eval case": {
			Forge,
			`[{"id":"gs-a-001","description":"d","x":[1.0],"input":{"message":"m"},"expect":{"toolsCalled":["a"],"responseContains":["{{seed:q}}"],"jsonValid":true}}]`,
			`[{"id":"gs-a-001","description":"d","x":[1.0],"input":{"message":"m"},"expect":{"toolsCalled":["a","b"],"responseContains":["{{seed:q}}"],"jsonValid":true}}]`,
			func(s *callvet.Suite) { s.Cases[0].Expect.ToolsAcceptable = [][]string{{"a", "b"}} },
		},
		"selection case": {
			Categories,
			`{"name":"n","config":{"k":1.0},"categories":[{"category_id":"c","test_cases":[{"id":"1","query":"q","expected_agents":["g"],"expected_tools":["a"]},{"id":"2","query":"q","expected_tools":[]}]},{"category_id":"d","test_cases":[]}]}`,
			`{"name":"n","config":{"k":1.0},"categories":[{"category_id":"c","test_cases":[{"id":"2","query":"q","expected_tools":[]}]},{"category_id":"d","test_cases":[{"id":"1","query":"q","expected_agents":["g"],"expected_tools":["a"]}]}]}`,
			func(s *callvet.Suite) { s.Cases[0].Fields["category"] = "d" },
		},
		"task": {
			Tasks, `{"task_id":"t","goal":"g","safety_rules":["r"],"gold_steps":[{"tool":"a@v1","args":{"n":1.0}}]}`,
			`{"task_id":"t","goal":"g","safety_rules":["r"],"gold_steps":[{"tool":"a@v1","args":{"n":2}}]}`,
			func(s *callvet.Suite) { s.Cases[0].Expect.Plans[0].Calls[0].Args = json.RawMessage(`{"n":2}`) },
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, _ := load(t, c.dialect, c.doc, Options{Seeds: json.RawMessage(`{"q":7}`)})
			c.edit(s)
			out, _, err := Export(c.dialect, s)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(decode(t, []byte(c.want)), decode(t, out)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// The system's suites expect routes, agents and tools. That is kept next to what a model that calls
// tools is judged by; cases that only a router can be asked are marked so.
func TestSelectionOfCategories(t *testing.T) {
	t.Parallel()
	src := `{"name":"n","config":{"scoring":{"route_correct_weight":0.2,"exact_match_weight":0.3},"test_agents":%s},"categories":[{"category_id":"c","test_cases":[
		{"id":"1","query":"q","expected_route":"action","expected_sub_route":"travel","expected_agents":["g"],"expected_tools":["a"],"acceptable_tools":["a","b"]},
		{"id":"2","query":"","expected_route":"smalltalk","expected_sub_route":null,"expected_agents":[],"expected_tools":[]},
		{"id":"3","query":"q","expected_route":"compare"}]}]}`
	for _, agents := range []string{"true", "false"} {
		s, _ := load(t, Categories, fmt.Sprintf(src, agents), Options{})
		want := []callvet.Selection{
			{
				Route: "action", SubRoute: "travel", Agents: []string{"g"}, Tools: []string{"a"},
				Acceptable: []string{"a", "b"},
			},
			{Route: "smalltalk", Agents: []string{}, Tools: []string{}},
			{Route: "compare"},
		}
		for i := range want {
			if agents == "false" {
				want[i].Agents = nil
			}
			c := s.Cases[i]
			if diff := cmp.Diff(&want[i], c.Expect.Selection); diff != "" {
				t.Error(diff)
			}
			if c.Selectable != (i > 0) || (c.Skip != "") != (i > 0) {
				t.Errorf("case %s: selectable %v, skip %q", c.ID, c.Selectable, c.Skip)
			}
		}
		route, exact := 0.2, 0.3
		if diff := cmp.Diff(&callvet.SelectionScoring{Route: &route, Exact: &exact},
			s.Defaults.Scoring.Selection); diff != "" {
			t.Error(diff)
		}
	}
}
