// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package dialect

import (
	"slices"

	"github.com/callvet/callvet"
)

// exportPromptfoo writes a configuration with one test per case. The prompt is
// the chat itself, as a variable, so that every case keeps its own turns.
func exportPromptfoo(s *callvet.Suite) ([]byte, []callvet.Problem, error) {
	can := []feature{
		"plans", "no calls", "several calls", "order", "max_extra_calls", "arguments", "calls without arguments given", "tools_not_called",
		"tools_called", "tool_calls bounds", "response_contains", "response_contains_any", "response_not_contains", "response_matches",
		"max_latency_ms", "max_cost_usd", "description", "earlier turns", "fields",
	}
	problems := append(loseSuite(s), loseTools(s)...)
	tests := make([][]byte, len(s.Cases))
	for i := range s.Cases {
		c := &s.Cases[i]
		problems = append(problems, loseCase(c, can)...)
		tests[i] = writePromptfooTest(s, c)
	}
	var cfg, provider, doc record
	if len(s.Tools) > 0 {
		cfg.raw("tools", openAITools(s.Tools))
	}
	cfg.str("tool_choice", s.Defaults.ToolChoice)
	provider.str("id", "openai:chat:gpt-5-mini")
	provider.raw("config", cfg.bytes())
	doc.str("description", s.Name)
	doc.raw("prompts", quoteAll([]string{"{{chat}}"}))
	doc.raw("providers", array([][]byte{provider.bytes()}))
	doc.raw("tests", array(tests))
	return yamlText(node{raw: doc.bytes()}), problems, nil
}

func writePromptfooTest(s *callvet.Suite, c *callvet.Case) []byte {
	var o, vars, meta record
	o.str("description", c.Description)
	if c.Description == "" {
		o.str("description", c.ID)
	}
	turns := c.Input
	if s.SystemPrompt != "" {
		turns = slices.Insert(slices.Clone(turns), 0, callvet.Turn{Role: callvet.RoleSystem, Content: s.SystemPrompt})
	}
	chat := quote(userText(c))
	if len(turns) > 1 {
		chat = quote(string(writeTurns(turns))) // promptfoo parses a prompt that is a JSON list of messages
	}
	vars.raw("chat", chat)
	o.raw("vars", vars.bytes())
	meta.str("id", c.ID)
	meta.str("tier", string(c.Tier))
	for _, k := range sortedKeys(c.Fields) {
		meta.str(k, c.Fields[k])
	}
	o.raw("metadata", meta.bytes())
	o.raw("assert", array(promptfooAsserts(&c.Expect)))
	return o.bytes()
}

func promptfooAsserts(e *callvet.Expect) [][]byte {
	var out [][]byte
	add := func(typ, key string, val []byte) {
		var o record
		o.str("type", typ)
		if key != "" {
			o.raw(key, val)
		}
		out = append(out, o.bytes())
	}
	if len(e.Plans) > 0 {
		planAsserts(&e.Plans[0], add)
	}
	if e.ToolsCalled != nil {
		add("tool-call-f1", "value", quoteAll(e.ToolsCalled))
	}
	for _, t := range e.ToolsNotCalled {
		add("not-trajectory:tool-used", "value", quote(t))
	}
	if e.MinToolCalls != nil || e.MaxToolCalls != nil {
		var v record
		v.str("type", "tool")
		v.integer("min", e.MinToolCalls)
		v.integer("max", e.MaxToolCalls)
		add("trajectory:step-count", "value", v.bytes())
	}
	for _, s := range e.ResponseContains {
		add("contains", "value", quote(s))
	}
	for _, g := range e.ResponseContainsAny {
		add("contains-any", "value", quoteAll(g))
	}
	for _, s := range e.ResponseNotContains {
		add("not-contains", "value", quote(s))
	}
	for _, s := range e.ResponseMatches {
		add("regex", "value", quote(s))
	}
	var limits record
	limits.number("latency", e.MaxLatencyMS)
	limits.number("cost", e.MaxCostUSD)
	for _, l := range limits {
		add(l.key, "threshold", l.val)
	}
	return out
}

func planAsserts(p *callvet.Plan, add func(typ, key string, val []byte)) {
	if len(p.Calls) == 0 {
		add("not-is-valid-openai-tools-call", "", nil)
		return
	}
	add("is-valid-openai-tools-call", "", nil)
	var steps []string
	for _, c := range p.Calls {
		if len(c.Tools) > 0 {
			steps = append(steps, c.Tools[0])
		}
	}
	switch p.Order {
	case callvet.OrderStrict, callvet.OrderInOrder:
		var v record
		v.str("mode", map[bool]string{true: "exact", false: "in_order"}[p.Order == callvet.OrderStrict])
		v.strs("steps", steps)
		add("trajectory:tool-sequence", "value", v.bytes())
	case callvet.OrderSuperset:
		add("trajectory:tool-used", "value", quoteAll(steps))
	default:
		add("tool-call-f1", "value", quoteAll(steps))
	}
	for _, c := range p.Calls {
		if c.Args == nil || len(c.Tools) == 0 {
			continue
		}
		var v record
		v.str("name", c.Tools[0])
		v.raw("args", c.Args)
		v.str("mode", "exact")
		add("trajectory:tool-args-match", "value", v.bytes())
	}
}
