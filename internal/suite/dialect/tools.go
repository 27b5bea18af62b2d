// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package dialect

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/callvet/callvet"
)

// tools reads a list of tool definitions in any of the three usual forms:
// OpenAI's {type, function}, MCP's {name, inputSchema} and the flat {name,
// parameters}.
func (r *reader) tools(v node, key string) []callvet.Tool {
	if !v.given() {
		return nil
	}
	if v.kind() != '[' {
		r.report(v.off, "wrong-type", key, "", "%s must be a list of tools, not %s", key, kindName(v))
		return nil
	}
	out := []callvet.Tool{}
	for _, e := range v.elements() {
		if t, ok := r.tool(e); ok {
			out = append(out, t)
		}
	}
	return out
}

func (r *reader) tool(n node) (callvet.Tool, bool) {
	if n.kind() != '{' {
		r.report(n.off, "wrong-type", "tools", "", "a tool must be an object, not %s", kindName(n))
		return callvet.Tool{}, false
	}
	if typ, _ := n.get("type").text(); typ != "" && typ != "function" && !n.has("name") && !n.has("function") {
		r.notCarried(n.off, "tools", "a tool of type %q is run by its provider, there is nothing to call", typ)
		return callvet.Tool{}, false
	}
	body := n
	if f := n.get("function"); f.kind() == '{' {
		body = f
	}
	o := r.loose(body)
	t := callvet.Tool{Name: o.str("name"), Version: o.scalar("version"), Description: o.str("description")}
	if t.Name == "" {
		r.report(n.off, "missing-key", "name", `a tool looks like {"type":"function","function":{"name":…,"parameters":…}}`, "a tool has no name")
		return t, false
	}
	if p, k := o.first("parameters", "inputSchema", "input_schema"); p.given() {
		if p.kind() != '{' && p.kind() != 't' && p.kind() != 'f' {
			r.report(p.off, "wrong-type", k, "", "%s of tool %q must be a JSON Schema, not %s", k, t.Name, kindName(p))
		} else {
			t.Parameters = copyRaw(p)
		}
	}
	a := r.loose(body.get("annotations"))
	if v, given := a.boolean("readOnlyHint"); given {
		t.ReadOnly = &v
	}
	if v, given := a.boolean("idempotentHint"); given {
		t.Idempotent = &v
	}
	return t, true
}

// openAITools writes tools in OpenAI's form; versions, flags and budgets are
// callvet's own and are listed by loseTools.
func openAITools(tools []callvet.Tool) []byte {
	items := make([][]byte, len(tools))
	for i, t := range tools {
		var f, o record
		f.str("name", t.Name)
		f.str("description", t.Description)
		f.raw("parameters", t.Parameters)
		o.str("type", "function")
		o.raw("function", f.bytes())
		items[i] = o.bytes()
	}
	return array(items)
}

// toolCache parses equal tool lists once: files with one list per line repeat it.
type toolCache struct {
	raw   []byte
	tools []callvet.Tool
}

func (c *toolCache) read(r *reader, v node) []callvet.Tool {
	if c.raw == nil || !bytes.Equal(c.raw, v.raw) {
		c.raw, c.tools = v.raw, r.tools(v, "tools")
	}
	return c.tools
}

// loseTools lists what of tools OpenAI's form cannot say.
func loseTools(s *callvet.Suite) []callvet.Problem {
	var lost []string
	for _, t := range s.Tools {
		if t.Version != "" || t.ReadOnly != nil || t.Idempotent != nil || t.RateLimit != nil || t.LatencyBudgetMS != nil || t.Safety != nil || len(t.Tags) > 0 {
			lost = append(lost, t.Name)
		}
	}
	if len(lost) == 0 {
		return nil
	}
	return []callvet.Problem{{
		Code: "not-carried", Warning: true, Key: "tools",
		Message: fmt.Sprintf("version, flags, limits and tags of %s are not carried: the format has no place for them", strings.Join(lost, ", ")),
	}}
}

// feature is something a case asserts or sets that a dialect may not be able to say.
type feature string

// features lists what a case uses beyond an input, an id and a description.
func features(c *callvet.Case) []feature {
	e := &c.Expect
	var out []feature
	add := func(f feature, used bool) {
		if used {
			out = append(out, f)
		}
	}
	add("plans", e.Plans != nil)
	add("any_of plans", len(e.Plans) > 1)
	for i := range e.Plans {
		planFeatures(&e.Plans[i], add)
	}
	add("tools_called", e.ToolsCalled != nil)
	add("tools_acceptable", e.ToolsAcceptable != nil)
	add("tools_not_called", len(e.ToolsNotCalled) > 0)
	add("tool_calls bounds", e.MinToolCalls != nil || e.MaxToolCalls != nil)
	add("no_tool_errors", e.NoToolErrors)
	add("tool_params", len(e.ToolParams) > 0)
	add("response_non_empty", e.ResponseNonEmpty)
	add("response_contains", len(e.ResponseContains) > 0)
	add("response_contains_any", len(e.ResponseContainsAny) > 0)
	add("response_not_contains", len(e.ResponseNotContains) > 0)
	add("response_matches", len(e.ResponseMatches) > 0)
	add("no_ungrounded_numbers", e.NoUngroundedNumbers)
	add("max_latency_ms", e.MaxLatencyMS != nil)
	add("max_tokens", e.MaxTokens != nil)
	add("max_cost_usd", e.MaxCostUSD != nil)
	add("rubric", len(e.Rubric) > 0)
	add("multi_turn", c.MultiTurn != nil)
	if m := c.MultiTurn; m != nil {
		add("required_prerequisites", len(m.RequiredPrerequisites) > 0 || m.PrerequisitesOrdered)
	}
	add("mocks", len(c.Mocks) > 0)
	add("mocks by arguments, sequence or error", slices.ContainsFunc(c.Mocks, elaborate))
	add("scoring", c.Scoring != nil)
	add("context", c.Context != "")
	add("as_of", c.AsOf != "")
	add("tags", len(c.Tags) > 0)
	add("fields", len(c.Fields) > 0)
	add("tools of the case", c.Tools != nil || c.ToolNames != nil)
	add("tool_choice", c.ToolChoice != "")
	add("earlier turns", len(c.Input) > 1)
	add("description", c.Description != "")
	return slices.Compact(slices.Sorted(slices.Values(out)))
}

func planFeatures(p *callvet.Plan, add func(feature, bool)) {
	add("several calls", len(p.Calls) > 1)
	add("no calls", len(p.Calls) == 0)
	add("order", p.Order != "" && p.Order != callvet.OrderAny)
	add("max_extra_calls", p.MaxExtraCalls != nil)
	for i := range p.Calls {
		c := &p.Calls[i]
		add("several tools for one call", len(c.Tools) > 1)
		add("argument matchers", len(c.Matchers) > 0)
		add("call order (after), optional calls", len(c.After) > 0 || c.Optional)
		add("result_check", c.ResultCheck != "")
		add("calls without arguments given", c.Args == nil)
		add("arguments", c.Args != nil)
	}
}

func elaborate(m callvet.Mock) bool {
	return m.Args != nil || len(m.Replies) != 1 || m.Replies[0].Error != "" || m.Replies[0].LatencyMS != 0 || m.Replies[0].Result == nil
}

// loseCase lists what of a case a dialect cannot say.
func loseCase(c *callvet.Case, can []feature) []callvet.Problem {
	var out []callvet.Problem
	for _, f := range features(c) {
		if !slices.Contains(can, f) {
			out = append(out, callvet.Problem{
				Position: c.Position, Code: "not-carried", Warning: true, Case: c.ID, Key: string(f),
				Message: fmt.Sprintf("%s is not carried: the format has no place for it", f),
			})
		}
	}
	return out
}

// userText is the input when it is a single user turn.
func userText(c *callvet.Case) string {
	for i := len(c.Input) - 1; i >= 0; i-- {
		if c.Input[i].Role == callvet.RoleUser {
			return c.Input[i].Content
		}
	}
	return ""
}

func userInput(text string) []callvet.Turn {
	return []callvet.Turn{{Role: callvet.RoleUser, Content: text}}
}
