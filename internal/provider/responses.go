// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package provider

import (
	"cmp"
	"slices"
	"strings"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/message"
	"github.com/callvet/callvet/value"
)

// responses is OpenAI's Responses API, used without server-side state.
type responses struct {
	model string
	names names
	// reasons: the model reasons, so that its encrypted reasoning is requested and included in
	// later requests.
	reasons bool
}

func (w *responses) tools(ts *callvet.Toolset) []byte {
	b := []byte{'['}
	for i := range ts.Tools {
		t := &ts.Tools[i]
		if i > 0 {
			b = append(b, ',')
		}
		b = appendText(append(b, `{"type":"function","name":`...), t.Name)
		if t.Description != "" {
			b = appendText(appendMember(b, "description"), t.Description)
		}
		b = append(appendMember(b, "parameters"), schema(t)...)
		// Without this the API rewrites the schema and forces every parameter.
		b = append(b, `,"strict":false}`...)
	}
	return append(b, ']')
}

func (w *responses) head(b []byte, q *query) []byte {
	b = appendText(append(b, `{"model":`...), w.model)
	if q.req.System != "" {
		b = appendText(appendMember(b, "instructions"), q.req.System)
	}
	b = append(b, `,"input":[`...)
	for i := range q.turns {
		b = w.items(b, &q.turns[i])
	}
	if b[len(b)-1] == ',' {
		b = b[:len(b)-1]
	}
	b = append(b, `],"store":false`...)
	if w.reasons {
		b = append(b, `,"include":["reasoning.encrypted_content"]`...)
	}
	b = appendSampling(b, &q.params, &w.names)
	if _, taken := q.params.Extra["reasoning"]; !taken && q.params.ReasoningEffort != "" {
		b = append(appendText(append(b, `,"reasoning":{"effort":`...), q.params.ReasoningEffort), '}')
	}
	if _, taken := q.params.Extra["text"]; !taken && q.form != nil {
		b = append(appendForm(append(b, `,"text":{"format":`...), q.form, `{"type":"json_schema","name":`), '}')
	}
	if q.stream {
		b = append(b, `,"stream":true`...)
	}
	if q.tools != nil {
		if q.params.ParallelCalls != nil {
			b = appendBool(appendMember(b, "parallel_tool_calls"), *q.params.ParallelCalls)
		}
		b = appendChoice(b, q.choice, `{"type":"function","name":`, "}")
	}
	return appendExtra(b, &q.params, nil)
}

// items appends a turn's input items, each with a comma after it.
func (w *responses) items(b []byte, t *callvet.Turn) []byte {
	if t.Role == callvet.RoleTool {
		b = appendText(append(b, `{"type":"function_call_output","call_id":`...), t.CallID)
		return append(appendText(appendMember(b, "output"), t.Content), '}', ',')
	}
	if inner := strings.TrimSpace(string(t.Raw)); len(inner) > 2 && inner[0] == '[' {
		return append(append(b, inner[1:len(inner)-1]...), ',')
	}
	if t.Content != "" || len(t.Calls) == 0 {
		b = appendText(append(b, `{"role":`...), string(t.Role))
		b = append(appendText(appendMember(b, "content"), t.Content), '}', ',')
	}
	for i := range t.Calls {
		c := &t.Calls[i]
		b = appendText(append(b, `{"type":"function_call","call_id":`...), c.ID)
		b = appendText(appendMember(b, "name"), c.Tool)
		b = append(appendText(appendMember(b, "arguments"), payload(c)), '}', ',')
	}
	return b
}

func (w *responses) read(root value.Value, _ *query, resp *callvet.Response) error {
	out, ok := root.Get("output")
	if !ok || out.Kind() != value.Array || at(root, "status").Str() == "failed" {
		return noAnswer(root, "output")
	}
	return w.fill(root, out, resp)
}

// fill reads the items of an answer's output.
func (w *responses) fill(root, out value.Value, resp *callvet.Response) error {
	turn := callvet.Turn{Role: callvet.RoleAssistant, Raw: slices.Clone(out.Raw())}
	var content, thought strings.Builder
	for item, more := out.First(); more; item, more = out.Next(item) {
		switch at(item, "type").Str() {
		case "message":
			writeTexts(&content, at(item, "content"), "text", "refusal")
		case "reasoning":
			writeTexts(&thought, at(item, "summary"), "text")
		case "function_call":
			c := message.NewCall(at(item, "call_id").Str(), at(item, "name").Str(), rawArgs(at(item, "arguments")))
			turn.Calls = append(turn.Calls, named(item, c))
		case "custom_tool_call":
			c := message.NewCustomCall(at(item, "call_id").Str(), at(item, "name").Str(), rawArgs(at(item, "input")))
			turn.Calls = append(turn.Calls, named(item, c))
		default:
			if strayCall(item) {
				turn.Calls = append(turn.Calls, message.LostCall(item))
			}
		}
	}
	turn.Content, turn.Reasoning = content.String(), thought.String()
	resp.Turns = []callvet.Turn{turn}
	resp.Model, resp.FinishReason = at(root, "model").Str(), cmp.Or(message.FinishOf(root), at(root, "status").Str())
	resp.Usage = responsesUsage(at(root, "usage"))
	return nil
}

func responsesUsage(v value.Value) callvet.Usage {
	var r message.UsageReader
	if !r.Object(v) {
		return r.Done(callvet.Usage{})
	}
	u := callvet.Usage{
		InputTokens: r.Need(v, "input_tokens"), OutputTokens: r.Need(v, "output_tokens"),
		CachedTokens:     r.May(v, "input_tokens_details.cached_tokens"),
		CacheWriteTokens: r.May(v, "input_tokens_details.cache_write_tokens"),
		ReasoningTokens:  r.May(v, "output_tokens_details.reasoning_tokens"),
	}
	r.Total(v, "total_tokens", u.InputTokens+u.OutputTokens)
	return r.Done(u)
}

func writeTexts(to *strings.Builder, parts value.Value, names ...string) {
	for p, ok := parts.First(); ok; p, ok = parts.Next(p) {
		for _, n := range names {
			to.WriteString(at(p, n).Str())
		}
	}
}
