// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package message

import (
	"bytes"
	"cmp"
	"encoding/json"
	"slices"
	"strings"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/score/match"
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
	m, class := messageUnwrap(m)
	switch typ := Str(m, "type"); {
	case typ == "function_call_output" || typ == "custom_tool_call_output" || typ == "function_call_result":
		t := callvet.Turn{
			Role: callvet.RoleTool, CallID: callID(m), Tool: Str(m, "name"),
			Content: messageResultText(First(m, "output")), Raw: messageRecorded(m),
		}
		if typ == "function_call_result" && strings.HasPrefix(t.Content, agentsFailure) {
			t.Raw = FailedResult()
		}
		return []callvet.Turn{t}
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

// PieceTurns is Turns of a message that goes on in the next one of the list: that it ended with
// calls is no sign that one of its own is missing.
func PieceTurns(m value.Value) []callvet.Turn {
	turns := Turns(m)
	for i := range turns {
		turns[i].Calls = slices.DeleteFunc(turns[i].Calls, func(c callvet.Call) bool {
			return c.Tool == "" && turns[i].Content+turns[i].Reasoning != ""
		})
	}
	return turns
}

// agentsFailure begins what the OpenAI Agents SDK tells a model of a tool that threw; its
// histories say so nowhere else.
const agentsFailure = "An error occurred while running the tool."

// messageUnwrap takes a message out of an envelope of LangChain: {lc, id: […, class], kwargs}, or
// {type, data}. The class or the type tells whose message it is.
func messageUnwrap(m value.Value) (in value.Value, role string) {
	if in := First(m, "kwargs"); in.Kind() == value.Object {
		id := First(m, "id")
		for e, ok := id.First(); ok; e, ok = id.Next(e) {
			role = e.Str()
		}
		role = strings.TrimSuffix(strings.TrimSuffix(role, "Chunk"), "Message")
		if role == "Chat" || role == "" {
			role = Str(in, "role", "type")
		}
		return in, role
	}
	if in := First(m, "data"); in.Kind() == value.Object && First(in, "content").Kind() != value.Invalid {
		return in, Str(m, "type", "role")
	}
	return m, Str(m, "role", "type")
}

// callID is the id by which a call and its answer know each other. Items of the Responses
// API have an id of their own beside it.
func callID(v value.Value) string {
	return Str(v, "call_id", "callId", "tool_call_id", "toolCallId", "tool_use_id", "toolUseId", "id")
}

// item reads a call of the Responses API; one of a server's tools has its result with it.
func item(m value.Value) []callvet.Turn {
	t := []callvet.Turn{{Role: callvet.RoleAssistant, Calls: messageOne(m)}}
	c := t[0].Calls[0]
	if e := First(m, "error"); e.Kind() != value.Invalid {
		settle(&t[0].Calls[0], &callvet.Turn{Content: Text(e), Raw: FailedResult()})
	}
	if out := First(m, "output"); out.Kind() != value.Invalid {
		t = append(t, callvet.Turn{Role: callvet.RoleTool, CallID: c.ID, Tool: c.Tool, Content: messageResultText(out)})
	}
	return t
}

func message(m value.Value, role string) []callvet.Turn {
	t := callvet.Turn{Role: roleOf(m, role), Content: Text(First(m, "content"))}
	if t.Role == callvet.RoleTool && First(m, "parts").Kind() == value.Invalid {
		t.CallID, t.Tool = callID(m), Str(m, "name", "tool_name", "function")
		if c := First(m, "content"); c.Kind() == value.Array && hasResults(c) {
			return parts(c, &t) // the results are all that a tool says
		}
		t.Raw = messageRecorded(m)
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

// hidden reports whether a message without a call must have had one: it ended with calls, it has
// no text and may hold one, or its role is for calls alone. results is how many results it has.
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

// listed are the calls that a message has beside its content.
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

// strange reports whether a message that says nothing may hold a call all the same: it does
// not say whose it is, it has no content, or a member that is not read has the name of a tool's or a call's.
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

// messageEnded reports whether a message says that it ended with calls.
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
	var said []string
	before, seen := 0, 0 // what was said before the last result, and how many results there were
	for p, ok := c.First(); ok; p, ok = c.Next(p) {
		switch typ := Str(p, "type"); typ {
		case "tool_use", "tool_call", "tool-call", "server_tool_use", "mcp_tool_use", "function_call":
			t.Calls = append(t.Calls, messageOne(p)...)
		case "tool_result", "tool_call_response", "tool-result", "mcp_tool_result", "web_search_tool_result":
			r := result(p)
			if r.CallID == "" {
				r.CallID = t.CallID
			}
			results = append(results, r)
		case "tool-invocation": // of the AI SDK 4
			inner := First(p, "toolInvocation")
			c, r := shown(inner, Str(inner, "toolName"))
			t.Calls, results = append(t.Calls, c), append(results, r...)
		case "thinking", "reasoning":
			t.Reasoning += Text(First(p, "thinking", "text", "content", "reasoning"))
		default:
			if f := First(p, "function_call", "functionCall", "toolUse"); f.Kind() == value.Object {
				t.Calls = append(t.Calls, messageOne(f)...)
			} else if f := First(p, "function_response", "functionResponse", "toolResult"); f.Kind() == value.Object {
				results = append(results, result(f))
			} else if name := toolPart(p, typ); name != "" {
				c, r := shown(p, name)
				t.Calls, results = append(t.Calls, c), append(results, r...)
			} else if s := Text(p); s != "" {
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

// toolPart is the tool of a part of the AI SDK's UI messages: {type: "tool-NAME", toolCallId,
// input, output}, or {type: "dynamic-tool", toolName, …}; "" for any other part.
func toolPart(p value.Value, typ string) string {
	if Str(p, "toolCallId") == "" {
		return ""
	}
	if name, ok := strings.CutPrefix(typ, "tool-"); ok {
		return name
	}
	return Str(p, "toolName")
}

// shown reads such a part, which holds a call and what came of it.
func shown(p value.Value, name string) (callvet.Call, []callvet.Turn) {
	c := callvet.Call{ID: callID(p), Tool: name}
	c.Args, c.ArgsRaw = ArgsOf(First(p, "input", "args"))
	t := callvet.Turn{Role: callvet.RoleTool, CallID: c.ID, Tool: name}
	if text := Str(p, "errorText"); text != "" {
		t.Content, t.Raw = text, FailedResult()
		return c, []callvet.Turn{t}
	}
	if out := First(p, "output", "result"); out.Kind() != value.Invalid {
		t.Content = messageResultText(out)
		return c, []callvet.Turn{t}
	}
	return c, nil
}

func result(p value.Value) callvet.Turn {
	body := First(p, "content", "response", "result", "output", "tool_result")
	t := callvet.Turn{
		Role: callvet.RoleTool, CallID: callID(p), Tool: Str(p, "name", "toolName"),
		Raw: messageRecorded(p),
	}
	// The AI SDK says of an output what it is: {type: "json", value}.
	if typ, v := Str(body, "type"), First(body, "value", "reason"); v.Kind() != value.Invalid &&
		strings.Contains("text json content error-text error-json execution-denied", typ) {
		body = v
		if strings.HasPrefix(typ, "e") {
			t.Raw = FailedResult()
		}
	}
	t.Content = messageResultText(body)
	return t
}

// messageRecorded is Failed or Passed where a result records either, nil where it records neither.
func messageRecorded(v value.Value) json.RawMessage {
	if status := Str(v, "status"); match.Failed(v) || status == "error" || status == "failed" {
		return FailedResult()
	}
	if match.Passed(v) {
		return PassedResult()
	}
	return nil
}

// FailedResult marks a tool turn in its Raw as one of a call that failed, until Attach has given that
// to the call.
func FailedResult() json.RawMessage { return json.RawMessage(`{"is_error":true}`) }

// PassedResult is like Failed, for a call that is recorded as one that passed, whatever its result begins
// with.
func PassedResult() json.RawMessage { return json.RawMessage(`{"is_error":false}`) }

// messageResultText is a result's text: strings and text parts as such, other JSON as it stands.
func messageResultText(v value.Value) string {
	switch v.Kind() {
	case value.Invalid, value.Null:
		return ""
	case value.Array, value.Object:
		if t := Text(v); t != "" && (v.Kind() == value.Array || Str(v, "type") == "text") {
			return t
		}
		return string(v.Raw())
	case value.String:
		return v.Str()
	}
	return string(v.Raw())
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
	switch custom := First(v, "custom"); {
	case custom.Kind() == value.Object && Str(v, "type") == "custom":
		body = custom
		fallthrough
	case Str(v, "type") == "custom_tool_call":
		c = NewCustomCall(callID(v), Str(body, "name"), written(First(body, "input")))
		return c, !c.Nameless()
	}
	c = callvet.Call{
		ID:   callID(v),
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
			settle(c, t)
			t.Tool, t.CallID = c.Tool, c.ID
			open = append(open[:k], open[k+1:]...)
			break
		}
		t.Raw = nil
	}
	return turns
}

// Erred reports whether the turn of a tool is one of a call that failed: what is recorded of the
// call decides, else how the result begins.
func Erred(t *callvet.Turn) bool {
	return bytes.Equal(t.Raw, FailedResult()) || t.Raw == nil && match.IsError(t.Content)
}

func settle(c *callvet.Call, t *callvet.Turn) {
	text := t.Content
	if Erred(t) {
		c.Status, c.Error = callvet.StatusExecErr, cmp.Or(text, match.NoReason)
		return
	}
	if c.Status == "" {
		c.Status = callvet.StatusOK
	}
	c.Result = ResultJSON(text)
}

// ResultJSON is a tool's text as a JSON value: what it holds when it is JSON, else a string. An
// object or a list that can be repaired is JSON.
func ResultJSON(text string) json.RawMessage {
	in := []byte(text)
	if value.Valid(in) {
		return in
	}
	if t := bytes.TrimLeft(in, " \t\r\n"); len(t) > 0 && (t[0] == '{' || t[0] == '[') {
		if strict, _, ok := value.Repair(in); ok {
			return strict
		}
	}
	b, err := json.Marshal(text)
	if err != nil { // a string always marshals
		return nil
	}
	return b
}

// UsageOf reads the token counts of the common spellings, and money where cost has
// it under one of the names.
func UsageOf(u, cost value.Value, names ...string) callvet.Usage {
	var r UsageReader
	out := callvet.Usage{CostUSD: r.USD(cost, names...)}
	inputs := []string{"input_tokens", "prompt_tokens", "inputTokens", "promptTokens", "prompt_token_count", "input"}
	outputs := []string{
		"output_tokens", "completion_tokens", "outputTokens", "completionTokens",
		"candidates_token_count", "output",
	}
	if First(u, append(inputs, outputs...)...).Kind() == value.Invalid {
		return r.Money(out)
	}
	out.InputTokens, out.OutputTokens = r.Need(u, inputs...), r.Need(u, outputs...)
	out.ReasoningTokens = r.May(u, "reasoning_tokens", "completion_details.reasoning", "thoughts_token_count",
		"output_token_details.reasoning",
		"completion_tokens_details.reasoning_tokens", "output_tokens_details.reasoning_tokens")
	return r.Done(r.Caches(u, out, "cached_tokens", "cached_input_tokens", "input_token_details.cache_read",
		"input_tokens_cache_read", "prompt_details.cache_read",
		"prompt_tokens_details.cached_tokens", "input_tokens_details.cached_tokens"))
}

// UsageDetails is Usage of an object that may take tokens of a cache and reasoning out of input and
// output, as Langfuse does; the total shows whether that was done.
func UsageDetails(v value.Value) callvet.Usage {
	u := UsageOf(v, value.Value{})
	in, out, cache := 0, 0, 0
	for e, ok := v.First(); ok; e, ok = v.Next(e) {
		switch n := Int(v, e.Key()); {
		case strings.HasPrefix(e.Key(), "input"):
			in += n
		case strings.HasPrefix(e.Key(), "output"):
			out += n
		case strings.HasPrefix(e.Key(), "cache_"):
			cache += n
		}
	}
	total := Int(v, "total")
	if total == in+cache+out {
		in += cache
	}
	if total > 0 && total != u.InputTokens+u.OutputTokens && total == in+out {
		u = callvet.Usage{InputTokens: in, OutputTokens: out, Known: true}
		u.CachedTokens = Int(v, "input_cached_tokens", "input_cache_read", "cache_read_input_tokens")
		u.ReasoningTokens = Int(v, "output_reasoning_tokens", "output_reasoning")
		u.CacheWriteTokens = Int(v, "input_cache_creation", "input_cache_write", "cache_creation_input_tokens",
			"cache_write_input_tokens")
	}
	return u
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
