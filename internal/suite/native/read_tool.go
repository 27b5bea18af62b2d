// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package native

import (
	"cmp"
	"reflect"
	"slices"
	"strings"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/doc"
)

// Contract is a tool of a tool file with the places of the keys that are compared with the file's
// name. Where a key is missing, the place is the place of the whole tool.
type Contract struct {
	Tool                          callvet.Tool
	At, Name, Version, Parameters callvet.Position
}

// contractKeys are the keys of a tool file that a tool in a suite does not have. They are the names
// of Evaluating Tool Calling, "Tool schema (contract)", additions of the interfaces of models, and
// the keys of a catalogue for selection.
const contractKeys = "tool_family tool_name args schema idempotence side_effects rate_limits latency_budget " +
	"safety_constraints strict tool_id id examples cache_control $schema execution keywords example_queries namespace " +
	"category route sub_route agents"

// ReadContracts decodes a tool file: one tool, a list of tools, or a mapping with tools. A suite,
// a catalogue, a list from an MCP server and a request to a model are such mappings. Tools may
// also be a mapping of names to tools. alone: the whole file is one tool.
func ReadContracts(d *doc.File) (tools []Contract, alone bool, problems []callvet.Problem) {
	r := newReader(d, "tool")
	r.Duplicates()
	take := func(v *doc.Node, name string) {
		if c, ok := r.contract(v, name); ok {
			tools = append(tools, c)
		}
	}
	list := contractList(&d.Root)
	switch {
	case list == nil:
		take(&d.Root, "")
		alone = len(tools) > 0
	case list.Kind == doc.List:
		r.Each(list, func(_ int, v *doc.Node) { take(v, "") })
	case list.Kind == doc.Map:
		r.Fields(list, nil, func(name string, v *doc.Node) bool {
			take(v, name)
			return true
		})
	default:
		r.WrongKind(list, "a list of tools")
	}
	return tools, alone, r.Done()
}

// ReadTools is ReadContracts without the places.
func ReadTools(d *doc.File) ([]callvet.Tool, []callvet.Problem) {
	read, _, problems := ReadContracts(d)
	var tools []callvet.Tool
	for i := range read {
		tools = append(tools, read[i].Tool)
	}
	return tools, problems
}

// ReadMocks reads a file of mocks: a list of mocks, a mapping of tools to results, or both under
// mocks and mock_responses as in a suite.
func ReadMocks(d *doc.File) ([]callvet.Mock, []callvet.Problem) {
	r := newReader(d, "suite")
	r.Duplicates()
	n := &d.Root
	var out []callvet.Mock
	switch {
	case n.Kind == doc.List:
		r.into("mocks", n, &out)
	case n.Kind != doc.Map:
		r.WrongKind(n, "mocks")
	case n.Get("mocks") == nil && n.Get("mock_responses") == nil:
		out = r.mockResponses(n)
	default:
		r.Fields(n, []string{"mocks", "mock_responses"}, func(key string, v *doc.Node) bool {
			switch key {
			case "mocks":
				r.into("mocks", v, &out)
			case "mock_responses":
				out = append(out, r.mockResponses(v)...)
			}
			return key == "mocks" || key == "mock_responses"
		})
	}
	return out, r.Problems
}

// contractList is the list of a file's tools; nil when the file is one tool itself.
func contractList(n *doc.Node) *doc.Node {
	if n.Kind != doc.Map {
		return n
	}
	if n.Get("name") != nil || n.Get("tool_name") != nil {
		// a suite and a catalogue have a name, too
		if n.Get("cases") == nil && n.Get("test_cases") == nil && n.Get("tools") == nil {
			return nil
		}
	}
	if result := n.Get("result"); result != nil && result.Get("tools") != nil { // of JSON-RPC
		return result.Get("tools")
	}
	if bedrock := n.Get("toolConfig"); bedrock != nil && bedrock.Get("tools") != nil {
		return bedrock.Get("tools")
	}
	if list := n.Get("tools"); list != nil {
		return list
	}
	return n.Get("functions")
}

// contract reads one tool; name is its key in a mapping, if any.
func (r *reader) contract(n *doc.Node, name string) (c Contract, ok bool) {
	if n.Kind != doc.Map {
		r.WrongKind(n, "a tool definition")
		return c, false
	}
	c.At = r.File.Position(n.At)
	c.Name, c.Version, c.Parameters = c.At, c.At, c.At
	r.Members(forms()["tool"], n, reflect.ValueOf(&c.Tool).Elem(), func(key string, v *doc.Node) bool {
		return r.contractField(&c, key, v)
	}, strings.Fields(contractKeys)...)
	for _, key := range []string{"tool_id", "id"} { // then its name is its title
		if id := n.Get(key); id != nil && id.Kind == doc.String {
			c.Tool.Name, c.Name = id.Text(), r.File.Position(id.At)
		}
	}
	if c.Tool.Name = cmp.Or(c.Tool.Name, name); c.Tool.Name == "" {
		r.Note(n.At, "no-name", `"tool_name": "get_refund_policy"`, "the tool has no name")
		return c, false
	}
	return c, true
}

// contractField reads the keys that have different names or forms in a tool file, or the place.
func (r *reader) contractField(c *Contract, key string, v *doc.Node) bool {
	t := &c.Tool
	as := func(key string) bool {
		return r.toolField(t, key, v) || r.Member(forms()["tool"], key, v, reflect.ValueOf(t).Elem(), nil)
	}
	switch key {
	case "type":
		r.Choice(v, "function", "custom")
	case "name", "tool_name":
		if t.Name != "" && t.Name != v.Text() {
			r.Note(v.At, "conflicting-keys", "keep one", "the tool has two names")
		}
		c.Name = r.File.Position(v.At)
		t.Name = r.Str(v)
	case "version":
		c.Version = r.File.Position(v.At)
		return as(key)
	case "args", "schema", "parameters", "inputSchema", "input_schema":
		c.Parameters = r.File.Position(v.At)
		return as("parameters")
	case "idempotence":
		return as("idempotent")
	case "side_effects":
		r.sideEffects(t, v)
	case "read_only":
		before := t.ReadOnly
		t.ReadOnly = r.boolPtr(v)
		r.contradicts(v, before, t.ReadOnly)
	case "tool_family":
		return as("family")
	case "rate_limits":
		return as("rate_limit")
	case "latency_budget", "latency_budget_ms":
		r.latencyBudget(t, v)
	case "safety_constraints":
		return as("safety")
	default:
		return slices.Contains(strings.Fields(contractKeys), key) || r.toolField(t, key, v)
	}
	return true
}

// sideEffects is the opposite of read_only.
func (r *reader) sideEffects(t *callvet.Tool, v *doc.Node) {
	yes := r.boolPtr(v)
	if yes == nil {
		return
	}
	before, only := t.ReadOnly, !*yes
	t.ReadOnly = &only
	r.contradicts(v, before, t.ReadOnly)
}

func (r *reader) contradicts(v *doc.Node, before, now *bool) {
	if before != nil && now != nil && *before != *now {
		r.Note(v.At, "conflicting-keys", "keep read_only", "read_only and side_effects contradict each other")
	}
}

// latencyBudget reads a number, which is for nine of ten executions, or p50 and p90.
func (r *reader) latencyBudget(t *callvet.Tool, n *doc.Node) {
	amount := forms()["tool"].Key("latency_budget_ms").Shape
	if n.Kind != doc.Map {
		r.Read(amount, n, reflect.ValueOf(&t.LatencyBudgetMS).Elem())
		return
	}
	r.Fields(n, []string{"p50", "p90"}, func(key string, v *doc.Node) bool {
		switch key {
		case "p50":
			r.Read(amount, v, reflect.ValueOf(&t.LatencyP50MS).Elem())
		case "p90":
			r.Read(amount, v, reflect.ValueOf(&t.LatencyBudgetMS).Elem())
		default:
			return false
		}
		return true
	})
	if t.LatencyP50MS != nil && t.LatencyBudgetMS != nil && *t.LatencyP50MS > *t.LatencyBudgetMS {
		r.Note(n.At, "out-of-range", "p90 is at least p50", "the budget's p50 is above its p90")
	}
}

// tools appends definitions to the existing ones. A definition without a name is left out.
func (r *reader) tools(tools *[]callvet.Tool, n *doc.Node) {
	if n.Kind == doc.Null {
		return
	}
	r.Each(n, func(_ int, v *doc.Node) {
		var t callvet.Tool
		if v.Kind != doc.Map {
			r.WrongKind(v, "a tool definition")
			return
		}
		r.Members(forms()["tool"], v, reflect.ValueOf(&t).Elem(),
			func(key string, v *doc.Node) bool { return r.toolField(&t, key, v) })
		if t.Name == "" {
			r.Note(v.At, "no-name", "", "the tool has no name")
			return
		}
		*tools = append(*tools, t)
	})
}

// toolField reads the keys of a tool that have a form of their own.
func (r *reader) toolField(t *callvet.Tool, key string, v *doc.Node) bool {
	switch key {
	case "parameters", "inputSchema", "input_schema":
		r.schema(t, v)
	case "declared":
		return v.Kind == doc.Null
	default:
		return false
	}
	return true
}

func (r *reader) schema(t *callvet.Tool, n *doc.Node) {
	if t.Parameters != nil {
		r.Note(n.At, "conflicting-keys", "keep one", "the tool has two schemas")
	}
	if in := n.Get("json"); in != nil && in.Kind == doc.Map && len(n.Names) == 1 { // Amazon Bedrock's
		n = in
	}
	switch n.Kind {
	case doc.Null:
	case doc.Map, doc.Bool:
		t.Parameters = n.JSON()
	default:
		r.WrongKind(n, "a JSON Schema")
	}
}

func (r *reader) rateLimitFits(n *doc.Node, l *callvet.RateLimit) {
	if l.Calls == 0 || l.PerSeconds == 0 {
		r.Note(n.At, "incomplete", "rate_limit: {calls: 10, per_seconds: 60}",
			"a rate limit needs calls and per_seconds above 0")
	}
}
