// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package peer

import (
	"slices"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/suite/dialect/tree"
)

// exportPromptfoo writes a configuration with one test per case. The prompt is
// the chat itself, as a variable, so that every case keeps its own turns.
func exportPromptfoo(s *callvet.Suite) ([]byte, []callvet.Problem, error) {
	can := []tree.Feature{
		"plans", "no calls", "several calls", "order", "max_extra_calls", "arguments", "calls without arguments given", "tools_not_called",
		"tools_called", "tool_calls bounds", "response_contains", "response_contains_any", "response_not_contains", "response_matches",
		"max_latency_ms", "max_cost_usd", "description", "earlier turns", "fields",
	}
	problems := append(tree.LoseSuite(s), tree.LoseTools(s)...)
	tests := make([][]byte, len(s.Cases))
	for i := range s.Cases {
		c := &s.Cases[i]
		problems = append(problems, tree.LoseCase(c, can)...)
		tests[i] = writePromptfooTest(s, c)
	}
	var cfg, provider, doc tree.Record
	if len(s.Tools) > 0 {
		cfg.Raw("tools", tree.OpenAITools(s.Tools))
	}
	cfg.Str("tool_choice", s.Defaults.ToolChoice)
	provider.Str("id", "openai:chat:gpt-5-mini")
	provider.Raw("config", cfg.Bytes())
	doc.Str("description", s.Name)
	doc.Raw("prompts", tree.QuoteAll([]string{"{{chat}}"}))
	doc.Raw("providers", tree.Array([][]byte{provider.Bytes()}))
	doc.Raw("tests", tree.Array(tests))
	return tree.YAML(tree.Node{Raw: doc.Bytes()}), problems, nil
}

func writePromptfooTest(s *callvet.Suite, c *callvet.Case) []byte {
	var o, vars, meta tree.Record
	o.Str("description", c.Description)
	if c.Description == "" {
		o.Str("description", c.ID)
	}
	turns := c.Input
	if s.SystemPrompt != "" {
		turns = slices.Insert(slices.Clone(turns), 0, callvet.Turn{Role: callvet.RoleSystem, Content: s.SystemPrompt})
	}
	chat := tree.Quote(tree.UserText(c))
	if len(turns) > 1 {
		chat = tree.Quote(string(tree.WriteTurns(turns))) // promptfoo parses a prompt that is a JSON list of messages
	}
	vars.Raw("chat", chat)
	o.Raw("vars", vars.Bytes())
	meta.Str("id", c.ID)
	meta.Str("tier", string(c.Tier))
	for _, k := range tree.SortedKeys(c.Fields) {
		meta.Str(k, c.Fields[k])
	}
	o.Raw("metadata", meta.Bytes())
	o.Raw("assert", tree.Array(promptfooAsserts(&c.Expect)))
	return o.Bytes()
}

func promptfooAsserts(e *callvet.Expect) [][]byte {
	var out [][]byte
	add := func(typ, key string, val []byte) {
		var o tree.Record
		o.Str("type", typ)
		if key != "" {
			o.Raw(key, val)
		}
		out = append(out, o.Bytes())
	}
	if len(e.Plans) > 0 {
		planAsserts(&e.Plans[0], add)
	}
	if e.ToolsCalled != nil {
		add("tool-call-f1", "value", tree.QuoteAll(e.ToolsCalled))
	}
	for _, t := range e.ToolsNotCalled {
		add("not-trajectory:tool-used", "value", tree.Quote(t))
	}
	if e.MinToolCalls != nil || e.MaxToolCalls != nil {
		var v tree.Record
		v.Str("type", "tool")
		v.Integer("min", e.MinToolCalls)
		v.Integer("max", e.MaxToolCalls)
		add("trajectory:step-count", "value", v.Bytes())
	}
	for _, s := range e.ResponseContains {
		add("contains", "value", tree.Quote(s))
	}
	for _, g := range e.ResponseContainsAny {
		add("contains-any", "value", tree.QuoteAll(g))
	}
	for _, s := range e.ResponseNotContains {
		add("not-contains", "value", tree.Quote(s))
	}
	for _, s := range e.ResponseMatches {
		add("regex", "value", tree.Quote(s))
	}
	var limits tree.Record
	limits.Number("latency", e.MaxLatencyMS)
	limits.Number("cost", e.MaxCostUSD)
	for _, l := range limits {
		add(l.Key, "threshold", l.Val)
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
		var v tree.Record
		v.Str("mode", map[bool]string{true: "exact", false: "in_order"}[p.Order == callvet.OrderStrict])
		v.Strs("steps", steps)
		add("trajectory:tool-sequence", "value", v.Bytes())
	case callvet.OrderSuperset:
		add("trajectory:tool-used", "value", tree.QuoteAll(steps))
	default:
		add("tool-call-f1", "value", tree.QuoteAll(steps))
	}
	for _, c := range p.Calls {
		if c.Args == nil || len(c.Tools) == 0 {
			continue
		}
		var v tree.Record
		v.Str("name", c.Tools[0])
		v.Raw("args", c.Args)
		v.Str("mode", "exact")
		add("trajectory:tool-args-match", "value", v.Bytes())
	}
}
