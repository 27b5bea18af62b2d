// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package native

import (
	"cmp"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/doc"
)

// Contract is a tool of a tool file with the places that its file's name is
// held against; a place is that of the whole tool where the key is missing.
type Contract struct {
	Tool                          callvet.Tool
	At, Name, Version, Parameters callvet.Position
}

// contractKeys are what a tool file says beside what a tool in a suite does:
// the names of Evaluating Tool Calling, "Tool schema (contract)", and what the
// interfaces of models add.
const contractKeys = toolKeys +
	" tool_family tool_name args schema inputSchema input_schema idempotence side_effects rate_limits latency_budget safety_constraints" +
	" type function toolSpec strict annotations"

// ReadContracts decodes a tool file: one tool, a list of tools, or a mapping
// with tools, which a suite, a catalogue, a list from an MCP server and a request to a
// model are. Tools may also be a mapping of names to them. alone tells that the file is
// one tool itself.
func ReadContracts(d *doc.File) (tools []Contract, alone bool, problems []callvet.Problem) {
	r := &reader{doc: d, format: "tool", beside: true}
	r.duplicates()
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
		r.each(list, func(_ int, v *doc.Node) { take(v, "") })
	case list.Kind == doc.Map:
		r.fields(list, "", func(name string, v *doc.Node) bool {
			take(v, name)
			return true
		})
	default:
		r.wrongKind(list, "a list of tools")
	}
	return tools, alone, r.done()
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

// ReadMocks reads a file of mocks: a list of them, a mapping of tools to what they give, or
// the two under mocks and mock_responses as a suite has them.
func ReadMocks(d *doc.File) ([]callvet.Mock, []callvet.Problem) {
	r := &reader{doc: d, format: "suite", beside: true}
	r.duplicates()
	n := &d.Root
	switch {
	case n.Kind == doc.List:
		return r.mocks(n), r.problems
	case n.Kind != doc.Map:
		r.wrongKind(n, "mocks")
		return nil, r.problems
	case n.Get("mocks") == nil && n.Get("mock_responses") == nil:
		return r.mockResponses(n), r.problems
	}
	var out []callvet.Mock
	r.fields(n, "mocks mock_responses", func(key string, v *doc.Node) bool {
		if key == "mocks" {
			out = append(out, r.mocks(v)...)
		} else {
			out = append(out, r.mockResponses(v)...)
		}
		return true
	})
	return out, r.problems
}

// contractList is where a file lists its tools; nil when it is one itself.
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

// contract reads one tool; name is the key that it stands under, if any.
func (r *reader) contract(n *doc.Node, name string) (c Contract, ok bool) {
	if n.Kind != doc.Map {
		r.wrongKind(n, "a tool definition")
		return c, false
	}
	c.At = r.doc.Position(n.At)
	c.Name, c.Version, c.Parameters = c.At, c.At, c.At
	r.fields(n, contractKeys, func(key string, v *doc.Node) bool {
		switch key {
		case "type":
			r.choice(v, "function", "custom")
		case "function", "toolSpec":
			r.fields(v, contractKeys, func(key string, v *doc.Node) bool { return r.contractField(&c, key, v) })
		default:
			return r.contractField(&c, key, v)
		}
		return true
	})
	for _, key := range []string{"tool_id", "id"} { // then its name is its title
		if id := n.Get(key); id != nil && id.Kind == doc.String {
			c.Tool.Name, c.Name = id.Text(), r.doc.Position(id.At)
		}
	}
	if c.Tool.Name = cmp.Or(c.Tool.Name, name); c.Tool.Name == "" {
		r.problem(n.At, "no-name", `"tool_name": "get_refund_policy"`, "the tool has no name")
		return c, false
	}
	return c, true
}

func (r *reader) contractField(c *Contract, key string, v *doc.Node) bool {
	t := &c.Tool
	switch key {
	case "name", "tool_name":
		if t.Name != "" && t.Name != v.Text() {
			r.problem(v.At, "conflicting-keys", "keep one", "the tool has two names")
		}
		c.Name = r.doc.Position(v.At)
		t.Name = r.str(v)
	case "version":
		c.Version = r.doc.Position(v.At)
		return r.toolField(t, key, v)
	case "args", "schema", "parameters", "inputSchema", "input_schema":
		c.Parameters = r.doc.Position(v.At)
		return r.toolField(t, "parameters", v)
	case "idempotence":
		return r.toolField(t, "idempotent", v)
	case "side_effects":
		r.sideEffects(t, v)
	case "read_only":
		before := t.ReadOnly
		t.ReadOnly = r.boolPtr(v)
		r.contradicts(v, before, t.ReadOnly)
	case "tool_family":
		return r.toolField(t, "family", v)
	case "rate_limits":
		return r.toolField(t, "rate_limit", v)
	case "latency_budget", "latency_budget_ms":
		r.latencyBudget(t, v)
	case "safety_constraints":
		return r.toolField(t, "safety", v)
	case "tool_id", "id", "examples": // a catalogue's
	case "strict", "cache_control", "$schema", "execution": // for the model's interface, or for editors
	default:
		return r.toolField(t, key, v)
	}
	return true
}

// sideEffects is read_only the other way round.
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
		r.problem(v.At, "conflicting-keys", "keep read_only", "read_only and side_effects contradict each other")
	}
}

// latencyBudget reads a number, which is for nine of ten executions, or p50 and p90.
func (r *reader) latencyBudget(t *callvet.Tool, n *doc.Node) {
	if n.Kind != doc.Map {
		t.LatencyBudgetMS = r.number(n, 0)
		return
	}
	r.fields(n, "p50 p90", func(key string, v *doc.Node) bool {
		switch key {
		case "p50":
			t.LatencyP50MS = r.number(v, 0)
		case "p90":
			t.LatencyBudgetMS = r.number(v, 0)
		default:
			return false
		}
		return true
	})
	if t.LatencyP50MS != nil && t.LatencyBudgetMS != nil && *t.LatencyP50MS > *t.LatencyBudgetMS {
		r.problem(n.At, "out-of-range", "p90 is at least p50", "the budget's p50 is above its p90")
	}
}
