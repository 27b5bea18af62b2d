// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package dialect

import (
	"slices"

	"github.com/callvet/callvet"
)

// exportPromptfoo writes a configuration with one test per case. The prompt is
// the chat itself, as a variable, so that every case keeps its own turns.
func exportPromptfoo(s *callvet.Suite) ([]byte, []callvet.Problem, error) {
	can := []Feature{
		"plans", "no calls", "several calls", "order", "max_extra_calls", "arguments", "calls without arguments given",
		"tools_not_called",
		"tools_called", "tools_acceptable", "tool_calls bounds", "response_contains", "response_contains_any",
		"response_not_contains", "response_matches",
		"max_latency_ms", "max_cost_usd", "description", "earlier turns", "fields", "tier", "skip",
		// The writer of assertions reports what of these cannot be carried.
		"argument matchers", "extra_args of a call", "several tools for one call", "counts", "all_of", "not",
		"min_scores", "scoring",
	}
	problems := append(LoseSuite(s), LoseTools(s)...)
	tests := [][]byte{}
	for i := range s.Cases {
		c := &s.Cases[i]
		problems = append(problems, LoseCase(c, can)...)
		w := newAssertWriter(s, c)
		switch own := w.original.Get("assert"); {
		case c.Skip == "":
			tests = append(tests, writePromptfooTest(s, c, Array(w.asserts()), nil))
		case own.Given(): // unchanged, since nothing in it was understood
			tests = append(tests, writePromptfooTest(s, c, own.Raw, w.original.Get("threshold").Raw))
		default:
			w.lose("skip", "the case is left out, which would run there: %s", c.Skip)
		}
		problems = append(problems, w.lost...)
	}
	var cfg, provider, doc Record
	if len(s.Tools) > 0 {
		cfg.Raw("tools", OpenAITools(s.Tools))
	}
	cfg.Str("tool_choice", s.Defaults.ToolChoice)
	provider.Str("id", "openai:chat:gpt-5-mini")
	provider.Raw("config", cfg.Bytes())
	doc.Str("description", s.Name)
	doc.Raw("prompts", QuoteAll([]string{"{{chat}}"}))
	doc.Raw("providers", Array([][]byte{provider.Bytes()}))
	doc.Raw("tests", Array(tests))
	return YAML(Node{Raw: doc.Bytes()}), problems, nil
}

func writePromptfooTest(s *callvet.Suite, c *callvet.Case, asserts, threshold []byte) []byte {
	var o, vars, meta Record
	o.Str("description", c.Description)
	if c.Description == "" {
		o.Str("description", c.ID)
	}
	turns := c.Input
	if s.SystemPrompt != "" {
		turns = slices.Insert(slices.Clone(turns), 0, callvet.Turn{Role: callvet.RoleSystem, Content: s.SystemPrompt})
	}
	chat := Quote(UserText(c))
	if len(turns) > 1 {
		chat = Quote(string(WriteTurns(turns))) // promptfoo parses a prompt that is a JSON list of messages
	}
	vars.Raw("chat", chat)
	o.Raw("vars", vars.Bytes())
	meta.Str("id", c.ID)
	meta.Str("tier", string(c.Tier))
	for _, k := range SortedKeys(c.Fields) {
		meta.Str(k, c.Fields[k])
	}
	o.Raw("metadata", meta.Bytes())
	o.Raw("assert", asserts)
	o.Raw("threshold", threshold)
	return o.Bytes()
}
