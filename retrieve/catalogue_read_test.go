// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package retrieve_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/retrieve"
)

func TestLoad(t *testing.T) {
	t.Parallel()
	got, problems, err := retrieve.LoadCatalogue("c.json", []byte(`{"name":"c","color":"red",
		"primary_namespaces":[["tools","trafik"]],"fallback_namespaces":[["tools"]],
		"agents":[{"name":"trafik","keywords":["väg"],"namespace":["agents","trafik"],"primary_namespaces":[["tools","trafik"]]}],
		"tools":[
			{"name":"koer","title":"Köer","description":"Köer på väg.","keywords":["kö"],"example_queries":["Är det kö?"],"namespace":["tools","trafik"],
			 "parameters":{"type":"object","properties":{"väg":{"type":"string"}}},"category":"väg","route":"action","sub_route":"travel","agents":["trafik","vag"],"annotations":{"readOnlyHint":true}},
			{"tool_id":"farja","name":"Färjor","description":null}]}`))
	if err != nil {
		t.Fatal(err)
	}
	yes := true
	want := &retrieve.Catalogue{
		Name: "c", Primary: [][]string{{"tools", "trafik"}}, Fallback: [][]string{{"tools"}},
		Agents: []retrieve.Agent{{
			Name: "trafik", Keywords: []string{"väg"}, Namespace: []string{"agents", "trafik"},
			Primary: [][]string{{"tools", "trafik"}},
		}},
		Entries: []retrieve.Entry{
			{
				Tool: callvet.Tool{
					Name: "koer", Description: "Köer på väg.",
					Parameters: []byte(`{"type":"object","properties":{"väg":{"type":"string"}}}`), ReadOnly: &yes,
				},
				Title: "Köer", Keywords: []string{"kö"}, Examples: []string{"Är det kö?"},
				Namespace: []string{"tools", "trafik"}, Agents: []string{"trafik", "vag"},
			},
			{Tool: callvet.Tool{Name: "farja"}, Title: "Färjor"},
		},
		Homes: map[string]retrieve.Home{"koer": {
			Category: "väg", Route: "action", SubRoute: "travel",
			Agents: []string{"trafik", "vag"},
		}, "farja": {}},
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	var codes []string
	for _, p := range problems {
		codes = append(codes, p.Code+" "+p.Key)
	}
	if d := cmp.Diff([]string{"unknown-key color", "unknown-agent vag"}, codes); d != "" {
		t.Error(d)
	}
	joined(t)
	x, err := retrieve.New(context.Background(), retrieve.Default(), got.Entries)
	if err != nil {
		t.Fatal(err)
	}
	if r, err := x.Search(context.Background(), "färjor", 1); err != nil || len(r.Hits) != 1 ||
		r.Hits[0].ID != "farja" {
		t.Errorf("a title is not found: %v, %v", r.Hits, err)
	}
}

// joined checks the agents of a tool that lists none, and the routes of agents.
func joined(t *testing.T) {
	t.Helper()
	c, problems, err := retrieve.LoadCatalogue("c.json", []byte(`{"route_agents":{"action":["a","b"]},
		"agents":[{"name":"a","primary_namespaces":[["t","x"]],"fallback_namespaces":[["t"]],"intent":{"patterns":["\\bkarta\\b"],"routes":["action"],"always":true}},
			{"name":"b","primary_namespaces":[["t","x"],["t","y"]]}],
		"tools":[{"name":"1","namespace":["t","x","z"]},{"name":"2","namespace":["t","z"]},{"name":"3","namespace":["u"]},{"name":"4","namespace":["t","y"],"agents":["a"]}]}`))
	if err != nil || len(problems) > 0 {
		t.Fatal(err, problems)
	}
	var got [][]string
	for _, e := range c.Entries {
		got = append(got, e.Agents)
	}
	if d := cmp.Diff([][]string{{"a", "b"}, {"a"}, nil, {"a"}}, got); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff(&retrieve.AgentIntent{Patterns: []string{`\bkarta\b`}, Routes: []string{"action"}, Always: true},
		c.Agents[0].Intent); d != "" || !cmp.Equal(c.RouteAgents, map[string][]string{"action": {"a", "b"}}) {
		t.Errorf("%s %v", d, c.RouteAgents)
	}
}

func TestLoadRefuses(t *testing.T) {
	t.Parallel()
	for name, data := range map[string]string{
		"no JSON": `{`, "no tools": `{}`, "empty": `[]`, "scalar": `3`, "tool without name": `[{"description":"x"}]`,
		"name is a number": `[{"name":1}]`,
		"twice":            `[{"name":"a"},{"name":"a"}]`, "keywords are text": `[{"name":"a","keywords":"k"}]`,
		"agent without name":  `{"tools":[{"name":"a"}],"agents":[{}]}`,
		"namespaces are flat": `{"tools":[{"name":"a"}],"primary_namespaces":["tools"]}`,
		"key twice":           `[{"name":"a","name":"b"}]`, "tool is text": `["a"]`,
		"intent without patterns": `{"tools":[{"name":"a"}],"agents":[{"name":"b","intent":{"always":true}}]}`,
		"intent for nothing":      `{"tools":[{"name":"a"}],"agents":[{"name":"b","intent":{"patterns":["x"]}}]}`,
	} {
		if _, _, err := retrieve.LoadCatalogue("c.json", []byte(data)); !errors.Is(err, callvet.ErrInvalid) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Other formats of lists of tools.
func TestLoadForms(t *testing.T) {
	t.Parallel()
	const schema = `{"type":"object","properties":{"q":{"type":"string"}}}`
	want := []retrieve.Entry{{Tool: callvet.Tool{Name: "search", Description: "d", Parameters: []byte(schema)}}}
	for name, data := range map[string]string{
		"OpenAI's list": `[{"type":"function","function":{"name":"search","description":"d","parameters":` +
			schema + `,"strict":true}}]`,
		"OpenAI's request": `{"tools":[{"type":"function","name":"search","description":"d","parameters":` +
			schema + `}]}`,
		"the older request": `{"functions":[{"name":"search","description":"d","parameters":` + schema + `}]}`,
		"Anthropic's list": `[{"type":"custom","name":"search","description":"d","input_schema":` + schema +
			`,"cache_control":{"type":"ephemeral"}}]`,
		"MCP's list": `{"tools":[{"name":"search","description":"d","inputSchema":` + schema +
			`,"annotations":{"openWorldHint":true}}],"nextCursor":null}`,
		"MCP's answer": `{"jsonrpc":"2.0","id":1,"result":{"tools":[{"name":"search","description":"d","inputSchema":` +
			schema + `}]}}`,
		"by name":  `{"tools":{"search":{"description":"d","parameters":` + schema + `}}}`,
		"one tool": `{"name":"search","description":"d","parameters":` + schema + `}`,
		"one of OpenAI's": `{"type":"function","function":{"name":"search","description":"d","parameters":` +
			schema + `}}`,
		"a tool file": `{"tool_name":"search","description":"d","args":` + schema +
			`,"rate_limits":{"calls":1,"per_seconds":1},"safety_constraints":{}}`,
		"a byte order mark": "\ufeff" + `[{"name":"search","description":"d","parameters":` + schema + `}]`,
	} {
		c, problems, err := retrieve.LoadCatalogue("c.json", []byte(data))
		if err != nil || len(problems) > 0 {
			t.Errorf("%s: %v %v", name, err, problems)
			continue
		}
		if d := cmp.Diff(want, c.Entries); d != "" {
			t.Errorf("%s: %s", name, d)
		}
	}
	c, problems, err := retrieve.LoadCatalogue("c.json",
		[]byte(`{"tools":[{"name":"a","version":3,"side_effects":true,"idempotence":false}],"nextCursor":"x"}`))
	if err != nil || len(problems) != 1 || problems[0].Code != "truncated" {
		t.Error(err, problems)
	}
	no := false
	if d := cmp.Diff(callvet.Tool{Name: "a", Version: "3", ReadOnly: &no, Idempotent: &no},
		c.Entries[0].Tool); d != "" {
		t.Error(d)
	}
}

// One reading reports all mistakes, with their places and the tool that they are in.
func TestLoadMistakes(t *testing.T) {
	t.Parallel()
	c, problems, err := retrieve.LoadCatalogue("c.json",
		[]byte(
			"{\"tools\": [\n {\"name\":\"å\",\"description\":5,\"namespace\":\"x\"},\n {\"name\":\"b\"},\n {\"name\":\"b\"},\n {\"description\":\"d\"},\n \"e\",\n"+
				" {\"name\":\"f\",\"parameters\":{},\"args\":{}, \"read_only\":1}],\n\"agents\":[{\"name\":\"g\",\"keywords\":[1]}]}"))
	if !errors.Is(err, callvet.ErrInvalid) ||
		err.Error() != `read catalogue: invalid: c.json:2:28: tool å: description is 5, not text, and 7 mistakes more` {
		t.Error(err)
	}
	var got []string
	for _, p := range problems {
		if p.Warning {
			t.Errorf("a warning: %v", p)
		}
		got = append(got, p.Error())
	}
	want := []string{
		`c.json:2:28: tool å: description is 5, not text`,
		`c.json:2:42: tool å: namespace is "x", not a list`,
		`c.json:4:2: tool b is there twice (remove or rename one)`,
		`c.json:5:2: tool 4: it has no name`,
		`c.json:6:2: tool 5: the tool is "e", not an object`,
		`c.json:7:37: tool f: it has two schemas (keep one)`,
		`c.json:7:53: tool f: read_only is 1, not true or false`,
		`c.json:8:35: agent g: keywords is 1, not text`,
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	if c == nil || len(c.Entries) != 3 {
		t.Errorf("what could be read: %+v", c)
	}
	_, problems, err = retrieve.LoadCatalogue("c.json",
		[]byte("[1"+strings.Repeat(",1", retrieve.MaxCatalogueProblems+1)+"]"))
	if len(problems) != retrieve.MaxCatalogueProblems+1 ||
		problems[len(problems)-1].Message != "2 mistakes more are not listed" || err == nil ||
		!strings.Contains(err.Error(), "101 mistakes more") {
		t.Error(len(problems), err)
	}
	_, problems, err = retrieve.LoadCatalogue("c.json",
		[]byte(
			`{"agents":[{"name":"g","intent":{"patterns":["("],"always":true}},{"name":"g"}],"route_agents":{"r":["g","h"]},"tools":[{"name":"a"}]}`))
	got = nil
	for _, p := range problems {
		got = append(got, p.Code)
	}
	if d := cmp.Diff([]string{"bad-pattern", "duplicate-agent", "unknown-agent"}, got); d != "" || err == nil {
		t.Error(d, problems, err)
	}
	if _, _, err := retrieve.LoadCatalogue("c.json", []byte(`"x"`)); err == nil ||
		!strings.Contains(err.Error(),
			`c.json:1:1: the catalogue is "x", not a list of tools, or an object with tools`) {
		t.Error(err)
	}
	if _, _, err := retrieve.LoadCatalogue("c.json", []byte("[\n{]")); err == nil ||
		!strings.Contains(err.Error(), "c.json:2:2: not valid JSON") {
		t.Error(err)
	}
}

func FuzzLoad(f *testing.F) {
	f.Add([]byte(`{"tools":[{"name":"a","keywords":["b"],"agents":["c"]}],"agents":[{"name":"c"}]}`))
	f.Add([]byte(`[{"tool_id":"a","name":"A"}]`))
	f.Add([]byte(`{"result":{"tools":{"a":{"function":{"function":{"args":1}}}}}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		c, _, err := retrieve.LoadCatalogue("f", data)
		if err == nil && (len(c.Entries) == 0 || len(c.Homes) != len(c.Entries)) {
			t.Errorf("%d entries, %d homes", len(c.Entries), len(c.Homes))
		}
	})
}
