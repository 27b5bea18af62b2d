// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package message

import (
	"slices"
	"strings"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/value"
)

// part is the kind of an element of an answer.
type part int

const (
	strangePart part = iota // nothing known
	otherPart               // it has a type of its own, neither a text nor a call
	textPart
	thoughtPart
	callPart
	resultPart
)

// partOf sorts the elements of answers: parts of Anthropic, Gemini, Bedrock and the AI SDK,
// items of OpenAI's Responses, calls of chat completions, and bare calls.
func (d *decoder) partOf(e value.Value) part {
	if e.Kind() == value.String {
		return textPart
	}
	if e.Kind() != value.Object {
		return strangePart
	}
	in, around := wrapped(e)
	if around {
		e = in
	}
	typ := strings.ReplaceAll(first(e, "type").Str(), "-", "_")
	switch typ {
	case "text", "output_text", "refusal", "message":
		return textPart
	case "thinking", "redacted_thinking", "reasoning":
		return thoughtPart
	case "tool_error", "function_call_output", "function_call_result", "custom_tool_call_output", "tool_call_response":
		return resultPart
	}
	if strings.HasSuffix(typ, "tool_result") { // of a tool that the provider ran, too
		return resultPart
	}
	if uiTool(e) != "" {
		return callPart
	}
	if _, ok := HostedCall(e); ok {
		return callPart
	}
	switch {
	case has(e, "functionResponse"), has(e, "toolResult"), kindOf(e, "function_response") == value.Object:
		return resultPart
	case first(e, "thought").Kind() == value.Bool && first(e, "thought").Bool():
		return thoughtPart
	case d.isCall(e, typ):
		return callPart
	case callType(typ), around, typ == "" && strayCall(e), has(e, "arguments"), has(e, "args"):
		return callPart // of a tool that is not named
	case typ != "":
		return otherPart
	case kindOf(e, "text") == value.String:
		return textPart
	case has(e, "codeExecutionResult"), has(e, "inlineData"), has(e, "fileData"), has(e, "cachePoint"),
		has(e, "reasoningContent"):
		return otherPart
	}
	return strangePart
}

// strayCall reports whether a part contains a call that is no object.
func strayCall(e value.Value) bool {
	for m, ok := e.First(); ok; m, ok = e.Next(m) {
		if wordOf(m) == callWord && !Empty(m) {
			return true
		}
	}
	return false
}

// isCall distinguishes calls from definitions of tools and from other objects with a name: a call
// also has arguments, or its type is that of a call.
func (d *decoder) isCall(e value.Value, typ string) bool {
	body := e
	if f, ok := e.Get("function"); ok && f.Kind() == value.Object {
		body = f
	}
	name, ok := d.member(body, d.o.Fields.Name, nameKeys())
	if !ok || name.Kind() != value.String {
		m, single := e.First()
		return single && e.Len() == 1 && m.Kind() == value.Object && d.o.Tools.Find(m.Key()) != nil // {name: arguments}
	}
	if _, schema := first(body, "parameters").Get("properties"); schema {
		return false // a definition
	}
	if _, ok := d.member(body, d.o.Fields.Args, argsKeys()); ok {
		return true
	}
	return callType(typ) || body.Kind() == value.Object && has(e, "function") && typ == "function"
}

// callType reports whether a type is that of a call.
func callType(typ string) bool {
	var buf [40]byte
	name := string(spelled(buf[:0], []byte(typ)))
	return strings.HasSuffix(name, "call") || strings.HasSuffix(name, "tooluse") || name == "mcpapprovalrequest" ||
		name == "toolexecution"
}

// parts reads the elements of an answer into turns. An element that is no part makes the answer
// unreadable. So do parts if none is a text, a thought, a call or a result.
func (d *decoder) parts(list value.Value) {
	list = Grown(list)
	t := callvet.Turn{Role: callvet.RoleAssistant}
	flush := func() {
		if t.Content != "" || t.Calls != nil || t.Reasoning != "" {
			d.resp.Turns = append(append(d.resp.Turns, t), ToolTurns(t.Calls)...)
		}
		t = callvet.Turn{Role: callvet.RoleAssistant}
	}
	known := list.Len() == 0
	for e, ok := list.First(); ok; e, ok = list.Next(e) {
		p := d.partOf(e)
		known = known || p > otherPart
		switch p {
		case strangePart:
			if !d.isAnswer(e) {
				d.refuse("%s is no part of an answer", clip(e))
				break
			}
			known = true
			flush()
			d.object(e)
		case otherPart:
			if first(e, "type").Str() == "step-start" { // a request of the AI SDK
				flush()
			}
		case textPart:
			if ended(t.Calls) {
				flush()
			}
			t.Content += d.textOf(e)
		case thoughtPart:
			t.Reasoning += d.thoughtOf(e)
		case callPart:
			t.Calls = append(t.Calls, d.one(e))
		case resultPart:
			flush()
			d.resp.Turns = append(d.resp.Turns, d.result(e))
		}
	}
	if !known {
		d.refuse("%s says nothing and calls nothing that is known", clip(list))
	}
	if flush(); len(d.resp.Turns) == 0 {
		d.resp.Turns = append(d.resp.Turns, t)
	}
	d.resp.Turns = Attach(d.resp.Turns)
}

// ended reports whether one of the calls has its answer.
func ended(calls []callvet.Call) bool {
	return slices.ContainsFunc(calls, func(c callvet.Call) bool { return c.Result != nil || c.Error != "" })
}

// content reads an answer of an unknown kind. It may be a text, a list of parts, calls or
// messages, a message, a call, or a provider's object.
func (d *decoder) content(v value.Value) {
	switch v.Kind() {
	case value.String:
		d.text(v.Str())
	case value.Array:
		if e, ok := v.First(); ok && IsMessage(e) {
			d.messages(v)
			return
		}
		d.parts(v)
		d.fromText()
	case value.Object:
		d.object(v)
	default:
		d.refuse("%s is not an answer", clip(v))
	}
}

func (d *decoder) object(v value.Value) {
	defer d.ends(v)
	vendor := vendorOf(v)
	switch {
	case vendor.body || vendor.inner:
		vendor.read(d, v)
	case has(v, "role"), has(v, "tool_calls"), has(v, "toolCalls"):
		t := d.answer(v)
		if !t.Role.Known() && !has(v, "role") {
			t.Role = callvet.RoleAssistant
		}
		if !t.Role.Known() {
			d.refuse("a message of the unknown role %q is not an answer", clipText(string(t.Role), longest))
			return
		}
		d.resp.Turns = append(d.resp.Turns, t)
		d.fromText()
	case d.partOf(v) == callPart:
		d.say("", d.list(v))
	default:
		if !d.record(v) {
			d.refuse("%s is not an answer", clip(v))
		}
	}
}

// isAnswer reports whether an object is a provider's answer, a message or a call.
func (d *decoder) isAnswer(v value.Value) bool {
	return v.Kind() == value.Object &&
		(has(v, "role") || has(v, "tool_calls") || has(v, "toolCalls") || vendorOf(v).form != FormPlain ||
			d.partOf(v) == callPart)
}
