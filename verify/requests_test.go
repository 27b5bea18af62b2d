// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"maps"
	"strings"
	"testing"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/contract"
)

// TestRequestRules: a body that breaks one rule is reported, and a correct body is not.
func TestRequestRules(t *testing.T) {
	t.Parallel()
	schema := func(text []byte) func(string, string) *contract.Schema {
		s, err := contract.Compile(text)
		if err != nil {
			t.Fatal(err)
		}
		return func(string, string) *contract.Schema { return s }
	}
	anything := schema([]byte(`{}`))
	openAI := client{schema: anything, more: moreOpenAI}
	anthropic := client{schema: anything, more: moreAnthropic}
	mistral := client{schema: schema(mistralRequest), more: moreMistral}
	gemini := client{schema: schema(geminiRequest), more: moreGemini}
	for _, c := range []struct {
		title             string
		by                *client
		path, model, body string
		wrong             string
	}{
		{
			"fine", &openAI, "/v1/chat/completions", "gpt-4.1",
			`{"messages":[{"role":"assistant","tool_calls":[{"id":"a"}]},{"role":"tool","tool_call_id":"a"}]}`, "",
		},
		{
			"result of another call", &openAI, "/v1/chat/completions", "gpt-4.1",
			`{"messages":[{"role":"assistant","tool_calls":[{"id":"a"}]},{"role":"tool","tool_call_id":"b"}]}`,
			"results",
		},
		{
			"id twice", &openAI, "/v1/responses", "gpt-5",
			`{"input":[{"type":"function_call","call_id":"a"},{"type":"function_call","call_id":"a"}]}`, "new one",
		},
		{"tools while it reasons", &openAI, "/v1/chat/completions", "gpt-5.6", `{"reasoning_effort":"low"}`, "reasons"},
		{"in the other API", &openAI, "/v1/responses", "gpt-5.6", `{"reasoning":{"effort":"low"}}`, ""},
		{"old limit", &openAI, "/v1/chat/completions", "o3", `{"max_tokens":1}`, "max_tokens"},
		{"unknown member", &openAI, "/v1/chat/completions", "gpt-4.1", `{"top_k":1}`, "top_k"},
		{
			"annotations", &openAI, "/v1/chat/completions", "gpt-4.1",
			`{"messages":[{"role":"assistant","annotations":[]}]}`, "annotations",
		},
		{"odd id", &anthropic, "", "", `{"messages":[{"content":[{"type":"tool_use","id":"a:1","input":{}}]}]}`, "a:1"},
		{
			"input is a list", &anthropic, "", "",
			`{"messages":[{"content":[{"type":"tool_use","id":"a","input":[]}]}]}`, "object",
		},
		{
			"error not marked", &anthropic, "", "",
			`{"messages":[{"content":[{"type":"tool_use","id":"a","input":{}},{"type":"tool_result","tool_use_id":"a","content":"{\"error\":1}"}]}]}`, "is_error",
		},
		{
			"long id", &mistral, "", "m",
			`{"model":"m","messages":[{"role":"assistant","tool_calls":[{"id":"call_12345","function":{"name":"f","arguments":"{}"}}]}]}`, "call_12345",
		},
		{
			"no parameters", &mistral, "", "m",
			`{"model":"m","messages":[{"role":"user","content":"?"}],"tools":[{"type":"function","function":{"name":"f"}}]}`, "parameters",
		},
		{
			"no signature", &gemini, "", "gemini-3-pro",
			`{"contents":[{"role":"model","parts":[{"functionCall":{"name":"f"}}]}]}`, "signature",
		},
		{
			"none needed", &gemini, "", "gemini-2.5-pro",
			`{"contents":[{"role":"model","parts":[{"functionCall":{"name":"f"}}]}]}`, "",
		},
		{
			"level in small letters", &gemini, "", "gemini-3-pro",
			`{"contents":[{"parts":[{"text":"?"}]}],"generationConfig":{"thinkingConfig":{"thinkingLevel":"low"}}}`,
			"thinkingLevel",
		},
	} {
		b := &sentBody{path: c.path, model: c.model, raw: []byte(c.body)}
		if err := json.Unmarshal(b.raw, &b.doc); err != nil {
			t.Fatal(err)
		}
		if got := c.by.wrong(b); (got == "") != (c.wrong == "") || !strings.Contains(got, c.wrong) {
			t.Errorf("%s: %q", c.title, got)
		}
	}
}

// TestCarried: a body without one of the required values is reported.
func TestCarried(t *testing.T) {
	t.Parallel()
	cl := client{name: "mistral", models: []string{"magistral-medium-latest"}}
	s := setting{
		model: cl.models[0], history: "system turn", choice: "get_weather", parallel: "false", temperature: "0.7",
		topP:   "0.9",
		effort: "high", seed: "7", stop: "4", limit: "500", stream: "true", system: "set",
	}
	b, err := cl.ask(t.Context(), &s, nil)
	if err != nil || b.lost != "" {
		t.Fatal(err, b.lost)
	}
	req := &callvet.Request{
		Params: s.params(), Turns: s.turns(), Tools: requestTools(), ToolChoice: s.choice,
		System: "Be brief.",
	}
	for name := range b.doc {
		if name == "model" || name == "messages" || name == "tools" { // the schema requires them
			continue
		}
		less := sentBody{path: b.path, raw: b.raw, doc: maps.Clone(b.doc)}
		delete(less.doc, name)
		if carried(&less, req, true) == "" {
			t.Errorf("the check does not notice that %s is not sent", name)
		}
	}
	for _, text := range []string{"Be brief.", "Use tools.", "Weather and time", "no-type", "A schema without"} {
		less := sentBody{path: b.path, raw: bytes.ReplaceAll(b.raw, []byte(text), nil), doc: b.doc}
		if carried(&less, req, true) == "" {
			t.Errorf("the check does not notice that %q is not sent", text)
		}
	}
}

// TestRequestMatrix: every value of every setting is drawn, and every body obeys the rules.
func TestRequestMatrix(t *testing.T) {
	t.Parallel()
	s, err := contract.Compile(mistralRequest)
	if err != nil {
		t.Fatal(err)
	}
	cl := client{
		name: "mistral", models: []string{"mistral-large-latest", "magistral-medium-latest"},
		schema: func(string, string) *contract.Schema { return s }, more: moreMistral,
	}
	seen, n := map[string]map[string]int{}, 0
	if err := cl.matrix(context.Background(), func(b *sentBody, item string) {
		n++
		if why := cl.wrong(b); why != "" {
			t.Errorf("%s: %s", item, why)
		}
	}, seen); err != nil {
		t.Fatal(err)
	}
	if n < requestsDue {
		t.Errorf("%d bodies", n)
	}
	for name, values := range map[string]int{
		"model": 2, "history": 8, "tool choice": 5, "parallel": 3,
		"temperature": 5, "top_p": 2, "effort": 8, "seed": 2, "stop": 3, "limit": 3, "stream": 2, "system": 2,
	} {
		if len(seen[name]) != values {
			t.Errorf("%s has the values %v", name, seen[name])
		}
	}
}
