// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package message

import (
	"bytes"
	"encoding/json"
	"strings"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/usage"
	"github.com/callvet/callvet/score/check"
	"github.com/callvet/callvet/value"
)

// First gives the first of the named members that is there and not null.
func First(v value.Value, keys ...string) value.Value {
	for _, k := range keys {
		if m, ok := v.Get(k); ok && m.Kind() != value.Null {
			return m
		}
	}
	return value.Value{}
}

// Str is the text of the first of the named members that is a string.
func Str(v value.Value, keys ...string) string {
	for _, k := range keys {
		if m, ok := v.Get(k); ok && m.Kind() == value.String {
			return m.Str()
		}
	}
	return ""
}

// ID is a string's text or a number's literal.
func ID(v value.Value) string {
	if v.Kind() == value.Number {
		return string(v.Raw())
	}
	return v.Str()
}

// Float is the number of the first of the named members that is one; nil when none is.
func Float(v value.Value, keys ...string) *float64 {
	for _, k := range keys {
		if m, ok := v.Get(k); ok {
			if f, ok := m.Float(); ok {
				return &f
			}
		}
	}
	return nil
}

// Int is Float cut to a whole number; 0 when there is none.
func Int(v value.Value, keys ...string) int {
	if f := Float(v, keys...); f != nil && *f >= 0 && *f < 1<<40 {
		return int(*f)
	}
	return 0
}

// Text is what a content says: a string, or the texts of its parts one per line.
func Text(v value.Value) string {
	switch v.Kind() {
	case value.String:
		return v.Str()
	case value.Object:
		if t := First(v, "text", "content", "thinking"); t.Kind() != value.Invalid {
			return Text(t)
		}
	case value.Array:
		var parts []string
		for e, ok := v.First(); ok; e, ok = v.Next(e) {
			switch Str(e, "type") {
			case "thinking", "reasoning", "tool_use", "tool_call", "tool_result", "tool_call_response":
				continue
			}
			if t := Text(e); t != "" {
				parts = append(parts, t)
			}
		}
		return strings.Join(parts, "\n")
	}
	return ""
}

// Turns reads a message of a chat, an item of the Responses API, a message of
// Anthropic's, a content of Gemini's or a message of the GenAI conventions. A
// message that carries results beside text gives several turns.
func Turns(m value.Value) []callvet.Turn {
	if m.Kind() == value.String {
		return []callvet.Turn{{Role: callvet.RoleUser, Content: m.Str()}}
	}
	if inner := First(m, "message"); inner.Kind() == value.Object && First(m, "role").Kind() == value.Invalid {
		m = inner
	}
	switch typ := Str(m, "type"); {
	case typ == "function_call_output" || typ == "custom_tool_call_output":
		return []callvet.Turn{{Role: callvet.RoleTool, CallID: Str(m, "call_id"), Content: resultText(First(m, "output")), Raw: failure(m)}}
	case typ == "reasoning":
		return []callvet.Turn{{Role: callvet.RoleAssistant, Reasoning: Text(First(m, "summary", "content"))}}
	case strings.HasSuffix(typ, "_call") && First(m, "name").Kind() == value.String:
		return item(m)
	}
	return message(m)
}

// item reads a call of the Responses API; one of a server's tools has its result with it.
func item(m value.Value) []callvet.Turn {
	c, _ := Call(m)
	if id := Str(m, "call_id"); id != "" {
		c.ID = id
	}
	t := []callvet.Turn{{Role: callvet.RoleAssistant, Calls: []callvet.Call{c}}}
	if e := First(m, "error"); e.Kind() != value.Invalid {
		settle(&t[0].Calls[0], Text(e), true)
	}
	if out := First(m, "output"); out.Kind() != value.Invalid {
		t = append(t, callvet.Turn{Role: callvet.RoleTool, CallID: c.ID, Tool: c.Tool, Content: resultText(out)})
	}
	return t
}

func message(m value.Value) []callvet.Turn {
	t := callvet.Turn{Role: Role(Str(m, "role", "type")), Content: Text(First(m, "content"))}
	if t.Role == callvet.RoleTool && First(m, "parts").Kind() == value.Invalid {
		t.CallID, t.Tool = Str(m, "tool_call_id", "call_id", "tool_use_id", "toolCallId", "id"), Str(m, "name", "tool_name", "function")
		if c := First(m, "content"); c.Kind() == value.Array && hasResults(c) {
			return parts(c, &t) // the results are all that a tool says
		}
		t.Raw = failure(m)
		return []callvet.Turn{t}
	}
	if t.Content == "" {
		t.Content = Str(m, "refusal")
	}
	t.Reasoning = Text(First(m, "reasoning_content", "reasoning"))
	var results []callvet.Turn
	for _, k := range []string{"content", "parts"} {
		if c := First(m, k); c.Kind() == value.Array {
			results = append(results, parts(c, &t)...)
		}
	}
	if calls := First(m, "tool_calls", "toolCalls"); calls.Kind() == value.Array && len(t.Calls) == 0 {
		t.Calls = Calls(calls)
	} else if f := First(m, "function_call"); f.Kind() == value.Object {
		t.Calls = append(t.Calls, one(f)...)
	}
	if t.Content == "" && len(t.Calls) == 0 && t.Reasoning == "" && len(results) > 0 {
		return results
	}
	if t.Role == callvet.RoleUser { // results answer what was said before the user's text
		return append(results, t)
	}
	return append([]callvet.Turn{t}, results...)
}

func hasResults(c value.Value) bool {
	for p, ok := c.First(); ok; p, ok = c.Next(p) {
		if strings.HasPrefix(Str(p, "type"), "tool") {
			return true
		}
	}
	return false
}

// parts adds calls, text and reasoning of content parts to t and gives the
// results among them as turns.
func parts(c value.Value, t *callvet.Turn) (results []callvet.Turn) {
	var said []string
	for p, ok := c.First(); ok; p, ok = c.Next(p) {
		switch typ := Str(p, "type"); typ {
		case "tool_use", "tool_call", "tool-call", "server_tool_use", "mcp_tool_use":
			t.Calls = append(t.Calls, one(p)...)
		case "tool_result", "tool_call_response", "tool-result", "mcp_tool_result", "web_search_tool_result":
			r := result(p)
			if r.CallID == "" {
				r.CallID = t.CallID
			}
			results = append(results, r)
		case "thinking", "reasoning":
			t.Reasoning += Text(First(p, "thinking", "text", "content", "reasoning"))
		default:
			if f := First(p, "function_call", "functionCall"); f.Kind() == value.Object {
				t.Calls = append(t.Calls, one(f)...)
			} else if f := First(p, "function_response", "functionResponse"); f.Kind() == value.Object {
				results = append(results, result(f))
			} else if s := Text(p); s != "" {
				said = append(said, s)
			}
		}
	}
	t.Content = strings.Join(said, "\n")
	return results
}

func result(p value.Value) callvet.Turn {
	body := First(p, "content", "response", "result", "output", "tool_result")
	t := callvet.Turn{
		Role: callvet.RoleTool, Content: resultText(body), CallID: Str(p, "tool_use_id", "tool_call_id", "toolCallId", "call_id", "id"),
		Tool: Str(p, "name", "toolName"),
	}
	t.Raw = failure(p)
	return t
}

// failure is Failed where the record of a result says that the call failed, nil elsewhere.
func failure(v value.Value) json.RawMessage {
	if status := Str(v, "status"); check.Failed(v) || status == "error" || status == "failed" {
		return Failed()
	}
	return nil
}

// Failed marks a tool turn in its Raw until Attach has given its error to the call.
func Failed() json.RawMessage { return json.RawMessage(`{"is_error":true}`) }

// resultText is a result's text: strings and text parts as such, other JSON as it stands.
func resultText(v value.Value) string {
	switch v.Kind() {
	case value.Invalid, value.Null:
		return ""
	case value.Array, value.Object:
		if t := Text(v); t != "" && v.Kind() == value.Array {
			return t
		}
		return string(v.Raw())
	case value.String:
		return v.Str()
	}
	return string(v.Raw())
}

// Role reads the names that formats have for the four roles.
func Role(s string) callvet.Role {
	switch strings.ToLower(s) {
	case "user", "human":
		return callvet.RoleUser
	case "system", "developer":
		return callvet.RoleSystem
	case "tool", "function", "tool_result":
		return callvet.RoleTool
	}
	return callvet.RoleAssistant
}

// Calls reads a list of calls.
func Calls(v value.Value) []callvet.Call {
	var out []callvet.Call
	for e, ok := v.First(); ok; e, ok = v.Next(e) {
		out = append(out, one(e)...)
	}
	return out
}

func one(v value.Value) []callvet.Call {
	if c, ok := Call(v); ok {
		return []callvet.Call{c}
	}
	return nil
}

// Call reads a call in any spelling; ok is false when it names no tool.
func Call(v value.Value) (c callvet.Call, ok bool) {
	if inner, has := v.Get("tool_call"); has && inner.Kind() == value.Object {
		v = inner
	}
	body := v
	if f, has := v.Get("function"); has && f.Kind() == value.Object {
		body = f
	}
	c = callvet.Call{
		ID:   Str(v, "id", "tool_call_id", "toolCallId", "call_id", "tool_use_id"),
		Tool: Str(body, "name", "toolName", "tool_name", "function_name", "function"),
	}
	for _, k := range []string{"arguments", "args", "input", "parameters", "kwargs", "tool_input"} {
		if a, has := body.Get(k); has {
			c.Args, c.ArgsRaw = Args(a)
			break
		}
	}
	return c, c.Tool != ""
}

// Args reads arguments: a value as it stands, a string as the JSON it holds (an
// empty one as {}). args is nil when they are null (unknown), and when the
// string is not JSON, which then comes in raw.
func Args(v value.Value) (args json.RawMessage, raw string) {
	switch v.Kind() {
	case value.Invalid, value.Null:
		return nil, ""
	case value.String:
	default:
		return json.RawMessage(v.Raw()), ""
	}
	b := bytes.TrimSpace([]byte(v.Str()))
	switch {
	case len(b) == 0:
		return json.RawMessage("{}"), ""
	case !value.Valid(b):
		return nil, v.Str()
	}
	return b, ""
}

// Attach gives each call the turn that answers it: by id, else, where the turn
// has none, the earliest call without an answer (of the same tool when told).
func Attach(turns []callvet.Turn) []callvet.Turn {
	var open []*callvet.Call
	for i := range turns {
		t := &turns[i]
		for j := range t.Calls {
			open = append(open, &t.Calls[j])
		}
		if t.Role != callvet.RoleTool {
			continue
		}
		for k, c := range open {
			if t.CallID != "" && c.ID != t.CallID || t.CallID == "" && t.Tool != "" && c.Tool != t.Tool {
				continue
			}
			settle(c, t.Content, t.Raw != nil)
			t.Tool, t.CallID = c.Tool, c.ID
			open = append(open[:k], open[k+1:]...)
			break
		}
		t.Raw = nil
	}
	return turns
}

func settle(c *callvet.Call, text string, failed bool) {
	if failed {
		c.Status, c.Error = callvet.StatusExecErr, text
		if text == "" {
			c.Error = "the tool answered with an error"
		}
		return
	}
	if c.Status == "" {
		c.Status = callvet.StatusOK
	}
	c.Result = Result(text)
}

// Result is a tool's text as a JSON value: what it holds when it is JSON, else a string.
func Result(text string) json.RawMessage {
	if b := []byte(text); value.Valid(b) {
		return b
	}
	b, err := json.Marshal(text)
	if err != nil { // a string always marshals
		return nil
	}
	return b
}

// Merge joins neighboring assistant turns, as item lists have them: reasoning,
// text and calls of one answer.
func Merge(turns []callvet.Turn) []callvet.Turn {
	var out []callvet.Turn
	for _, t := range turns {
		n := len(out)
		if n == 0 || t.Role != callvet.RoleAssistant || out[n-1].Role != callvet.RoleAssistant {
			out = append(out, t)
			continue
		}
		p := &out[n-1]
		p.Content, p.Reasoning = lines(p.Content, t.Content), lines(p.Reasoning, t.Reasoning)
		p.Calls = append(p.Calls, t.Calls...)
	}
	return out
}

func lines(a, b string) string {
	if a == "" || b == "" {
		return a + b
	}
	return a + "\n" + b
}

// Usage reads the token counts of the common spellings, and money where cost tells
// it under one of the names.
func Usage(u, cost value.Value, names ...string) callvet.Usage {
	var r usage.Reader
	out := callvet.Usage{CostUSD: r.USD(cost, names...)}
	inputs := []string{"input_tokens", "prompt_tokens", "inputTokens", "promptTokens", "prompt_token_count", "input"}
	outputs := []string{"output_tokens", "completion_tokens", "outputTokens", "completionTokens", "candidates_token_count", "output"}
	if First(u, append(inputs, outputs...)...).Kind() == value.Invalid {
		return r.Money(out)
	}
	out.InputTokens, out.OutputTokens = r.Need(u, inputs...), r.Need(u, outputs...)
	out.ReasoningTokens = r.May(u, "reasoning_tokens", "completion_details.reasoning", "thoughts_token_count",
		"completion_tokens_details.reasoning_tokens", "output_tokens_details.reasoning_tokens")
	out.CachedTokens = r.May(u, "cached_tokens", "cache_read_input_tokens", "input_tokens_cache_read", "prompt_details.cache_read",
		"prompt_tokens_details.cached_tokens", "input_tokens_details.cached_tokens")
	return r.Done(out)
}

// Tools reads tool definitions: OpenAI's, bare functions, Anthropic's and MCP's.
func Tools(v value.Value) []callvet.Tool {
	var out []callvet.Tool
	for e, ok := v.First(); ok; e, ok = v.Next(e) {
		if f := First(e, "function"); f.Kind() == value.Object {
			e = f
		}
		t := callvet.Tool{Name: Str(e, "name"), Description: Str(e, "description")}
		if p := First(e, "parameters", "input_schema", "inputSchema", "parameters_json_schema"); p.Kind() == value.Object {
			t.Parameters = json.RawMessage(p.Raw())
		}
		if t.Name != "" {
			out = append(out, t)
		}
	}
	return out
}

// Seen remembers turns, so that the history which every request of a model
// repeats counts once.
type Seen map[string]bool

// Fresh gives the turns that were not seen before. A call counts as seen, under
// whatever id, when a model was noted to make it with the same arguments.
func (s Seen) Fresh(turns []callvet.Turn) []callvet.Turn {
	var out []callvet.Turn
	for _, t := range turns {
		if !s[identity(t)] && !s.made(t.Calls) {
			out = append(out, t)
		}
	}
	for _, t := range out { // only now: a history may say the same twice
		s[identity(t)] = true
	}
	return out
}

// Note marks turns as seen and gives them all: what a model answers is new even
// when it says the same again.
func (s Seen) Note(turns []callvet.Turn) []callvet.Turn {
	for _, t := range turns {
		s[identity(t)] = true
		for _, c := range t.Calls {
			s[making(c)] = true
		}
	}
	return turns
}

func (s Seen) made(calls []callvet.Call) bool {
	for _, c := range calls {
		if !s[making(c)] {
			return false
		}
	}
	return len(calls) > 0
}

func making(c callvet.Call) string {
	var b bytes.Buffer
	if json.Compact(&b, c.Args) != nil {
		return "call\x00" + c.Tool + "\x00" + c.ArgsRaw
	}
	return "call\x00" + c.Tool + "\x00" + b.String()
}

// identity is the ids of a turn's calls, or of the call it answers, where there
// are any: formats differ in the text they keep beside them.
func identity(t callvet.Turn) string {
	if t.Role == callvet.RoleTool && t.CallID != "" {
		return "tool\x00" + t.CallID
	}
	k, ids := string(t.Role), false
	for _, c := range t.Calls {
		k += "\x00" + c.ID + "\x00" + c.Tool
		ids = ids || c.ID != ""
	}
	if ids {
		return k
	}
	return k + "\x00" + t.Content
}
