// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package message

import (
	"bytes"
	"cmp"
	"encoding/json"
	"slices"
	"strings"

	"github.com/callvet/callvet"
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

// Turns reads a message of a chat, an item of the Responses API, a message of Anthropic's, a
// content of Gemini's or a message of the GenAI conventions. A message with text and results gives
// several turns.
func Turns(m value.Value) []callvet.Turn {
	if m.Kind() == value.String {
		return []callvet.Turn{{Role: callvet.RoleUser, Content: m.Str()}}
	}
	if inner := First(m, "message"); inner.Kind() == value.Object && First(m, "role").Kind() == value.Invalid {
		m = inner
	}
	m, class := unwrapMessage(m)
	switch typ := Str(m, "type"); {
	case typ == "function_call_output" || typ == "custom_tool_call_output" || typ == "function_call_result":
		return []callvet.Turn{result(m)}
	case typ == "reasoning":
		return []callvet.Turn{{Role: callvet.RoleAssistant, Reasoning: Text(First(m, "summary", "content"))}}
	case strings.HasSuffix(typ, "_call") &&
		(First(m, "name").Kind() == value.String || typ == "function_call" || typ == "custom_tool_call"):
		return item(m)
	}
	if c, ok := HostedCall(m); ok {
		return []callvet.Turn{{Role: callvet.RoleAssistant, Calls: []callvet.Call{c}}}
	}
	return message(m, class)
}

// PieceTurns is Turns for a message that goes on in the next one of the list. Such a message may
// have ended with calls and contain none: that is no sign that one is missing.
func PieceTurns(m value.Value) []callvet.Turn {
	turns := Turns(m)
	for i := range turns {
		turns[i].Calls = slices.DeleteFunc(turns[i].Calls, func(c callvet.Call) bool {
			return c.Tool == "" && turns[i].Content+turns[i].Reasoning != ""
		})
	}
	return turns
}

// item reads a call of the Responses API; one of a server's tools has its result with it.
func item(m value.Value) []callvet.Turn {
	t := []callvet.Turn{{Role: callvet.RoleAssistant, Calls: messageOne(m)}}
	c := t[0].Calls[0]
	if e := First(m, "error"); e.Kind() != value.Invalid {
		Settle(&t[0].Calls[0], &callvet.Turn{Content: Text(e), Raw: FailedResult()})
	}
	if out := First(m, "output"); out.Kind() != value.Invalid {
		t = append(t, callvet.Turn{Role: callvet.RoleTool, CallID: c.ID, Tool: c.Tool, Content: resultText(out, "\n")})
	}
	return t
}

func message(m value.Value, role string) []callvet.Turn {
	t := callvet.Turn{Role: roleOf(m, role), Content: Text(First(m, "content"))}
	if t.Role == callvet.RoleTool && First(m, "parts").Kind() == value.Invalid {
		t.CallID, t.Tool = IDOf(m), Str(m, "name", "tool_name", "function")
		if c := First(m, "content"); c.Kind() == value.Array && hasResults(c) {
			return parts(c, &t) // the results are all that a tool says
		}
		t.Raw = recorded(m)
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
	if len(t.Calls) == 0 {
		t.Calls = listed(m)
	}
	if len(t.Calls) == 0 && hidden(m, &t, role, len(results)) {
		t.Calls = []callvet.Call{{}}
	}
	if t.Content == "" && len(t.Calls) == 0 && t.Reasoning == "" && len(results) > 0 {
		return results
	}
	if t.Role == callvet.RoleUser { // results answer what was said before the user's text
		return append(results, t)
	}
	return append([]callvet.Turn{t}, results...)
}

// hidden reports whether a message without a call must have had one. Either it ended with calls, or
// it has no text and may contain one, or its role is for calls alone. results is the number of its
// results.
func hidden(m value.Value, t *callvet.Turn, role string, results int) bool {
	if t.Role == callvet.RoleAssistant {
		return messageEnded(m) || t.Content+t.Reasoning == "" && results == 0 && strange(m, role)
	}
	return !t.Role.Known() && strings.Contains(strings.ToLower(role), "call")
}

// roleOf is the role of a message, by the name of its class where it has no role. A message with
// neither is the assistant's, and so is one of the type "message", or without a text: strange
// looks at it.
func roleOf(m value.Value, name string) callvet.Role {
	role := callvet.RoleOf(name)
	switch {
	case role.Known():
		return role
	case name == "":
		return callvet.RoleAssistant
	case First(m, "role").Kind() == value.String:
		return role
	}
	switch name {
	case "message", "text", "output_text", "TextMessage":
		return callvet.RoleAssistant
	}
	if Text(First(m, "content")) == "" {
		return callvet.RoleAssistant
	}
	return role
}

// listed returns the calls of a message outside its content.
func listed(m value.Value) []callvet.Call {
	more := First(m, "additional_kwargs")
	var calls []callvet.Call
	for _, list := range []value.Value{
		First(m, "tool_calls"), First(m, "toolCalls"), First(m, "toolInvocations"),
		First(more, "tool_calls"),
	} {
		if calls = CallsOf(list); len(calls) > 0 {
			break
		}
	}
	for _, from := range []value.Value{m, more} {
		if f := First(from, "function_call"); !Empty(f) { // some send an empty one with every message
			calls = MergeCalls(calls, messageOne(f))
			break
		}
	}
	return append(calls, CallsOf(First(m, "invalid_tool_calls"))...)
}

// strange reports whether a message without a text may contain a call all the same. Its role is not
// the assistant's, it has no content, or a member that is not read is named after tools or calls.
func strange(m value.Value, role string) bool {
	if callvet.RoleOf(role) != callvet.RoleAssistant && role != "message" {
		return true
	}
	if _, said := m.Get("content"); !said && First(m, "parts").Kind() == value.Invalid {
		return true
	}
	for e, ok := m.First(); ok; e, ok = m.Next(e) {
		key := strings.ToLower(e.Key())
		if e.Len() > 0 && (strings.Contains(key, "tool") || strings.Contains(key, "call") ||
			strings.Contains(key, "function")) && key != "tools" {
			return true
		}
	}
	return false
}

// messageEnded reports whether a message ended with calls according to its finish reason.
func messageEnded(m value.Value) bool {
	r := callvet.Response{FinishReason: FinishOf(m)}
	return r.LostCall()
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
	c = Grown(c)
	var d decoder
	var said []string
	before, seen := 0, 0 // what was said before the last result, and how many results there were
	for p, ok := c.First(); ok; p, ok = c.Next(p) {
		switch typ := Str(p, "type"); d.partOf(p) {
		case callPart:
			c, r := calledBy(p)
			t.Calls, results = append(t.Calls, c...), append(results, r...)
		case resultPart:
			r := result(p)
			if r.CallID == "" {
				r.CallID = t.CallID
			}
			results = append(results, r)
		case thoughtPart:
			t.Reasoning += thoughtOf(p)
		default:
			if s := Text(p); s != "" {
				said = append(said, s)
			} else if likeCall(p, typ) {
				t.Calls = append(t.Calls, callvet.Call{})
			}
		}
		if len(results) > seen {
			before, seen = len(said), len(results)
		}
	}
	// the answer, after the results
	if t.Role == callvet.RoleAssistant && before < len(said) && seen > 0 && len(t.Calls) > 0 {
		t.Content = strings.Join(said[:before], "\n")
		return append(results, callvet.Turn{Role: t.Role, Content: strings.Join(said[before:], "\n")})
	}
	t.Content = strings.Join(said, "\n")
	return results
}

// likeCall reports whether a part of an unknown form may be a call.
func likeCall(p value.Value, typ string) bool {
	return strings.Contains(typ, "tool") || strings.Contains(typ, "call") ||
		typ == "" && First(p, "toolName", "toolCallId", "input", "args", "arguments").Kind() != value.Invalid
}

// ToolMessage reads a result that is a message of LangChain's, in its envelope or not.
func ToolMessage(v value.Value) (callvet.Turn, bool) {
	h := HeldResult(v)
	if in := First(h, "output"); in.Kind() == value.Object && h.Len() == 1 {
		h = in
	}
	in := h
	if k := First(h, "kwargs"); k.Kind() == value.Object {
		in = k
	}
	if h.Kind() != value.Object || First(in, "tool_call_id").Kind() == value.Invalid ||
		First(in, "content").Kind() == value.Invalid {
		return callvet.Turn{}, false
	}
	turns := Turns(h)
	if len(turns) != 1 {
		return callvet.Turn{}, false
	}
	turns[0].CallID = Str(in, "tool_call_id")
	return turns[0], true
}

// calledBy reads a part that is a call. One of the AI SDK's user interface has its result next to it.
func calledBy(p value.Value) ([]callvet.Call, []callvet.Turn) {
	if f := First(p, "function_call", "functionCall", "toolUse"); f.Kind() == value.Object {
		return messageOne(f), nil
	}
	if c, ok := HostedCall(p); ok {
		return []callvet.Call{c}, nil
	}
	if in := First(p, "toolInvocation"); in.Kind() == value.Object { // of version 4
		p = in
	}
	c := callvet.Call{ID: IDOf(p), Tool: cmp.Or(uiTool(p), Str(p, "toolName"))}
	if c.Tool == "" || Str(p, "toolCallId") == "" {
		return messageOne(p), nil
	}
	c.Args, c.ArgsRaw = ArgsOf(First(p, "input", "args"))
	t := callvet.Turn{Role: callvet.RoleTool, CallID: c.ID, Tool: c.Tool}
	out := First(p, "output", "result")
	if text := Str(p, "errorText"); text != "" {
		t.Content, t.Raw = text, FailedResult()
	} else if t.Content = resultText(out, "\n"); out.Kind() == value.Invalid {
		return []callvet.Call{c}, nil
	}
	return []callvet.Call{c}, []callvet.Turn{t}
}

// result is the turn of a tool for a part, an item or a message with a result.
func result(p value.Value) callvet.Turn {
	t := resultTurn(p, "\n")
	p = resultIn(p)
	t.CallID, t.Tool = IDOf(p), Str(p, "name", "toolName")
	return t
}

// CallsOf reads a list of calls. One that cannot be read is a Call without a tool's name.
func CallsOf(v value.Value) []callvet.Call {
	if v.Kind() != value.Array {
		if Empty(v) {
			return nil
		}
		return messageOne(v)
	}
	var out []callvet.Call
	for e, ok := v.First(); ok; e, ok = v.Next(e) {
		out = append(out, messageOne(e)...)
	}
	return out
}

func messageOne(v value.Value) []callvet.Call {
	c, ok := CallOf(v)
	if !ok {
		id := c.ID
		c = LostCall(v)
		c.ID = id
	}
	return []callvet.Call{c}
}

// CallOf reads a call in any spelling; ok is false when it names no tool.
func CallOf(v value.Value) (c callvet.Call, ok bool) {
	if inner, has := v.Get("tool_call"); has && inner.Kind() == value.Object {
		v = inner
	}
	body := v
	if f, has := v.Get("function"); has && f.Kind() == value.Object {
		body = f
	}
	if c, ok = custom(v); ok {
		return c, !c.Nameless()
	}
	c = callvet.Call{
		ID:   IDOf(v),
		Tool: Str(body, "name", "toolName", "tool_name", "function_name", "function"),
	}
	for _, k := range []string{"arguments", "args", "input", "parameters", "kwargs", "tool_input"} {
		if a, has := body.Get(k); has {
			c.Args, c.ArgsRaw = ArgsOf(a)
			break
		}
	}
	return c, !c.Nameless()
}

// written is a text as it stands, any other value as JSON.
func written(v value.Value) string {
	if v.Kind() == value.String {
		return v.Str()
	}
	return string(v.Raw())
}

// ArgsOf reads arguments: a value as it stands, a string as the JSON it holds (an
// empty one as {}). args is nil when they are null (unknown), and when the
// string is not JSON, which then comes in raw.
func ArgsOf(v value.Value) (args json.RawMessage, raw string) {
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

// Tools reads tool definitions: OpenAI's, bare functions, Anthropic's and MCP's.
func Tools(v value.Value) []callvet.Tool {
	var out []callvet.Tool
	for e, ok := v.First(); ok; e, ok = v.Next(e) {
		out = append(out, Tool(e)...)
	}
	return out
}

// Tool reads one definition; nothing where it has no name.
func Tool(e value.Value) []callvet.Tool {
	if f := First(e, "function", "toolSpec"); f.Kind() == value.Object {
		e = f
	}
	t := callvet.Tool{Name: Str(e, "name"), Description: Str(e, "description")}
	if p := First(e, "parameters", "input_schema", "inputSchema", "parameters_json_schema"); p.Kind() == value.Object {
		// Amazon Bedrock's
		if in := First(p, "json"); in.Kind() == value.Object && First(p, "type").Kind() == value.Invalid {
			p = in
		}
		t.Parameters = json.RawMessage(p.Raw())
	}
	if t.Name == "" {
		return nil
	}
	return []callvet.Tool{t}
}
