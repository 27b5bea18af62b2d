// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package provider

import (
	"errors"
	"slices"
	"strings"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/message"
	"github.com/callvet/callvet/value"
)

// chat is OpenAI's Chat Completions API and compatible ones.
type chat struct {
	model string
	names names
	// usageOption asks for usage at the end of a stream.
	usageOption bool
}

func (w *chat) tools(ts *callvet.Toolset) []byte {
	b := []byte{'['}
	for i := range ts.Tools {
		t := &ts.Tools[i]
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, `{"type":"function","function":{"name":`...)
		b = appendText(b, t.Name)
		if t.Description != "" {
			b = appendText(appendMember(b, "description"), t.Description)
		}
		// Some providers demand parameters, also of a tool that takes none.
		b = append(append(appendMember(b, "parameters"), schema(t)...), '}', '}')
	}
	return append(b, ']')
}

// conversation appends {"model": …, "messages": […]; message writes each turn.
func (w *chat) conversation(b []byte, q *query, message func([]byte, *callvet.Turn) []byte) []byte {
	b = appendText(append(b, `{"model":`...), w.model)
	b = append(b, `,"messages":[`...)
	if q.req.System != "" {
		b = append(appendText(append(b, `{"role":"system","content":`...), q.req.System), '}', ',')
	}
	for i := range q.turns {
		b = append(message(b, &q.turns[i]), ',')
	}
	if b[len(b)-1] == ',' {
		b = b[:len(b)-1]
	}
	return append(b, ']')
}

func (w *chat) head(b []byte, q *query) []byte {
	b = w.conversation(b, q, w.message)
	b = appendSampling(b, &q.params, &w.names)
	if q.tools != nil {
		if q.params.ParallelCalls != nil {
			b = appendBool(appendMember(b, "parallel_tool_calls"), *q.params.ParallelCalls)
		}
		b = appendChoice(b, q.choice, `{"type":"function","function":{"name":`, "}}")
	}
	if _, taken := q.params.Extra["response_format"]; !taken && q.form != nil {
		b = append(appendForm(append(b, `,"response_format":{"type":"json_schema","json_schema":`...), q.form,
			`{"name":`), '}')
	}
	if q.stream {
		b = append(b, `,"stream":true`...)
		if w.usageOption {
			b = append(b, `,"stream_options":{"include_usage":true}`...)
		}
	}
	return appendExtra(b, &q.params, nil)
}

func appendBool(b []byte, v bool) []byte {
	if v {
		return append(b, "true"...)
	}
	return append(b, "false"...)
}

// appendChoice appends tool_choice in OpenAI's form; a name is written between open and end.
func appendChoice(b []byte, choice, open, end string) []byte {
	if choice == "" {
		return b
	}
	b = appendMember(b, "tool_choice")
	switch choice {
	case choiceAuto, choiceRequired, choiceNone:
		return appendText(b, choice)
	}
	return append(appendText(append(b, open...), choice), end...)
}

func (w *chat) message(b []byte, t *callvet.Turn) []byte {
	if t.Role == callvet.RoleAssistant && len(t.Raw) > 0 {
		return append(b, t.Raw...)
	}
	b = appendText(append(b, `{"role":`...), string(t.Role))
	if t.Role == callvet.RoleTool {
		b = appendText(appendMember(b, "tool_call_id"), t.CallID)
	}
	b = appendMember(b, "content")
	if t.Content == "" && len(t.Calls) > 0 {
		b = append(b, "null"...)
	} else {
		b = appendText(b, t.Content)
	}
	if len(t.Calls) > 0 {
		b = append(b, `,"tool_calls":[`...)
		for i := range t.Calls {
			c := &t.Calls[i]
			if i > 0 {
				b = append(b, ',')
			}
			b = append(appendText(append(b, `{"id":`...), c.ID), `,"type":"function","function":{"name":`...)
			b = append(appendText(b, c.Tool), `,"arguments":`...)
			b = append(appendText(b, payload(c)), '}', '}')
		}
		b = append(b, ']')
	}
	return append(b, '}')
}

func (w *chat) read(root value.Value, _ *query, resp *callvet.Response) error {
	choice, ok := at(root, "choices").First()
	if !ok {
		return noAnswer(root, "choices")
	}
	msg, ok := choice.Get("message")
	if !ok || msg.Kind() != value.Object {
		return noAnswer(choice, "message")
	}
	if end, found := choice.Get("finish_reason"); found && end.Kind() == value.Null &&
		at(root, "system_fingerprint").Str() == "fp_ollama" {
		return errNotDone
	}
	turn := callvet.Turn{Role: callvet.RoleAssistant, Raw: echo(msg), Parsed: callvet.ParsedOf(msg)}
	turn.Content, turn.Reasoning = chatText(at(msg, "content"))
	for _, k := range [...]string{"reasoning_content", "reasoning"} {
		if s := at(msg, k).Str(); s != "" {
			turn.Reasoning = s
			break
		}
	}
	if turn.Content == "" {
		turn.Content = at(msg, "refusal").Str()
	}
	turn.Calls = withOldCall(listed(at(msg, "tool_calls"), chatCall), at(msg, "function_call"))
	resp.Turns = []callvet.Turn{turn}
	resp.Model, resp.FinishReason = at(root, "model").Str(), message.FinishOf(choice)
	resp.Usage = chatUsage(at(root, "usage"))
	return nil
}

// echo is an answer's message in the form for later requests: without the members that only
// answers may have.
func echo(msg value.Value) []byte {
	var b []byte
	all := true
	for m, ok := msg.First(); ok; m, ok = msg.Next(m) {
		if answersOnly(m) {
			all = false
			continue
		}
		b = append(appendText(append(b, ','), m.Key()), ':')
		b = append(b, m.Raw()...)
	}
	if all {
		return slices.Clone(msg.Raw())
	}
	if len(b) == 0 {
		return nil
	}
	b[0] = '{'
	return append(b, '}')
}

// answersOnly reports whether a member of an answer is not allowed in requests: annotations, and
// empty members for calls and audio.
func answersOnly(m value.Value) bool {
	switch m.Key() {
	case "annotations":
		return true
	case "tool_calls":
		return m.Len() == 0
	case "function_call":
		return message.Empty(m)
	case "audio":
		return at(m, "id").Str() == ""
	}
	return false
}

// chatText reads a content that is a string or a list of parts.
func chatText(v value.Value) (text, reasoning string) {
	if v.Kind() == value.String {
		return v.Str(), ""
	}
	var content, thought strings.Builder
	for p, ok := v.First(); ok; p, ok = v.Next(p) {
		content.WriteString(at(p, "text").Str())
		if th := at(p, "thinking"); th.Kind() == value.Array {
			inner, _ := chatText(th)
			thought.WriteString(inner)
		} else {
			thought.WriteString(th.Str())
		}
	}
	return content.String(), thought.String()
}

func chatUsage(v value.Value) callvet.Usage {
	var r message.UsageReader
	if !r.Object(v) {
		return r.Done(callvet.Usage{})
	}
	u := callvet.Usage{
		InputTokens: r.Need(v, "prompt_tokens"), OutputTokens: r.Need(v, "completion_tokens"),
		CachedTokens: r.May(v, "prompt_tokens_details.cached_tokens", "prompt_cache_hit_tokens"),
		CacheWriteTokens: r.May(v, "prompt_tokens_details.cache_write_tokens",
			"prompt_tokens_details.cache_creation_tokens", "cache_creation_input_tokens"),
		ReasoningTokens: r.May(v, "completion_tokens_details.reasoning_tokens"),
	}
	// Some providers count reasoning separately, not as part of the completion.
	if n, ok := message.WholeTokens(at(v, "total_tokens")); ok && u.ReasoningTokens > 0 &&
		n == u.InputTokens+u.OutputTokens+u.ReasoningTokens {
		u.OutputTokens += u.ReasoningTokens
	}
	r.Total(v, "total_tokens", u.InputTokens+u.OutputTokens)
	return r.Done(u)
}

// noAnswer explains an answer without its main member: an error with status 200, or another format.
func noAnswer(v value.Value, member string) error {
	if e, ok := v.Get("error"); ok && e.Kind() != value.Null {
		code := count(at(e, "code"))
		if code < 400 || code > 599 {
			code = 500
		}
		f := faultOf(code)
		f.Message, f.Param = problem(v)
		return f
	}
	return errors.New("the answer has no " + member)
}
