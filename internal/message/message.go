// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package message

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/value"
)

// Turns reads a message, a part or an item of a stored conversation: of a chat, of the Responses
// API, of Anthropic, Gemini or Bedrock, of a framework, or of the GenAI conventions. A message
// with text and results becomes several turns. An unreadable call becomes a call without a tool's
// name.
func Turns(m value.Value) []callvet.Turn { return kept().element(m) }

// kept is a decoder of stored conversations.
func kept() *decoder { return &decoder{o: Options{Kept: true}} }

// PieceTurns is Turns for a message that continues in the next message of the list. Its finish
// reason may be calls although it contains none: that is no sign of a missing call.
func PieceTurns(m value.Value) []callvet.Turn {
	turns := Turns(m)
	for i := range turns {
		turns[i].Calls = slices.DeleteFunc(turns[i].Calls, func(c callvet.Call) bool {
			return c.Tool == "" && turns[i].Content+turns[i].Reasoning != ""
		})
	}
	return turns
}

// Element reads one message, part or item of an answer as turns: a turn of a tool is not joined
// with its call (Settle does that). ok is false when v has no known form.
func Element(v value.Value, o Options) (turns []callvet.Turn, ok bool) {
	d := decoder{o: o, resp: &callvet.Response{}}
	turns = d.element(v)
	return turns, d.fault == nil && turns != nil
}

func (d *decoder) element(v value.Value) []callvet.Turn {
	if d.o.Kept && v.Kind() == value.String {
		return []callvet.Turn{{Role: callvet.RoleUser, Content: v.Str()}}
	}
	if d.o.Kept && First(v, "role").Kind() == value.Invalid {
		if in := First(v, "message"); in.Kind() == value.Object {
			v = in
		} else if in := First(v, "content"); kindOf(in, "parts") == value.Array { // a candidate
			v = in
		}
	}
	m, class := unwrapMessage(v)
	item := isItem(m)
	if !item && IsMessage(v) {
		return d.ofMessage(m, class)
	}
	p := d.partOf(m)
	if d.o.Kept && !item && d.isKept(m, p) {
		return d.ofMessage(m, class)
	}
	switch p {
	case textPart:
		return []callvet.Turn{{Role: callvet.RoleAssistant, Content: d.textOf(m)}}
	case thoughtPart:
		return []callvet.Turn{{Role: callvet.RoleAssistant, Reasoning: d.thoughtOf(m)}}
	case callPart:
		c, results := d.calledBy(m)
		return append([]callvet.Turn{{Role: callvet.RoleAssistant, Calls: []callvet.Call{c}}}, results...)
	case resultPart:
		return []callvet.Turn{d.result(m)}
	case otherPart:
		return []callvet.Turn{}
	}
	d.refuse("%s is no part of an answer", clip(v))
	return nil
}

// isKept reports whether a kept value is read as a message. p is its kind as a part. A span of a
// trace has a name and an input like a call, and a type of its own.
func (d *decoder) isKept(m value.Value, p part) bool {
	typ := strings.ToLower(Str(m, "type"))
	if p != callPart {
		return p <= otherPart || typ == "message"
	}
	_, around := wrapped(m)
	known := typ == "" || typ == "tool" || typ == "function" || callType(typ) || around || uiTool(m) != ""
	return !known || First(m, "content").Kind() != value.Invalid
}

// isItem reports whether v is an item of the Responses API or of an agent, with any role: a call,
// the result of one, or reasoning.
func isItem(v value.Value) bool {
	switch typ := Str(v, "type"); typ {
	case "function_call_output", "custom_tool_call_output", "function_call_result", "reasoning", "function_call",
		"custom_tool_call":
		return true
	default:
		_, hosted := HostedCall(v)
		return hosted || strings.HasSuffix(typ, "_call") && First(v, "name").Kind() == value.String
	}
}

// ofMessage returns the turns of a message: its own turn, and a turn for each result in it.
func (d *decoder) ofMessage(m value.Value, class string) []callvet.Turn {
	t, results := d.message(m, class)
	if !t.Role.Known() && !d.o.Kept {
		d.unknownRole(m, &t)
		return append([]callvet.Turn{}, results...)
	}
	return around(&t, results)
}

// Parts reads the parts of a kept message of a role, such as the blocks of Bedrock.
func Parts(list value.Value, role callvet.Role) []callvet.Turn {
	t := callvet.Turn{Role: role}
	return around(&t, kept().within(list, &t))
}

// around puts the turn of a message before the results in it. Results in a user's message answer
// calls from before the user's text.
func around(t *callvet.Turn, results []callvet.Turn) []callvet.Turn {
	switch {
	case len(results) > 0 && t.Content == "" && len(t.Calls) == 0 && t.Reasoning == "":
		return results
	case t.Role == callvet.RoleUser:
		return append(results, *t)
	}
	return append([]callvet.Turn{*t}, results...)
}

// unknownRole leaves out a message with an unknown role, such as error: no model wrote it. A
// message with a call is refused, because the call was made.
func (d *decoder) unknownRole(v value.Value, t *callvet.Turn) {
	if len(t.Calls) > 0 || HoldsCall(v, d.o.Tools) || strings.Contains(strings.ToLower(string(t.Role)), "call") {
		d.refuse("a message of the unknown role %q holds a call", clipText(string(t.Role), longest))
		return
	}
	d.resp.Notes = append(d.resp.Notes,
		"a message of the role "+strconv.Quote(clipText(string(t.Role), longest))+" was left out")
}

// answer reads a message that is a whole answer as one turn. The results in it are of tools that the provider ran.
func (d *decoder) answer(m value.Value) callvet.Turn {
	m, class := unwrapMessage(m)
	t, more := d.message(m, class)
	for i := range more {
		if more[i].Role == callvet.RoleAssistant {
			t.Content += more[i].Content
		}
	}
	return t
}

// message reads a message without an envelope: its turn, and the turns of the results in it.
func (d *decoder) message(m value.Value, class string) (t callvet.Turn, results []callvet.Turn) {
	content := First(m, "content")
	t = callvet.Turn{Role: roleOf(m, class)}
	if content.Kind() != value.Array {
		t.Content = d.textOf(content)
	}
	if t.Role == callvet.RoleTool && First(m, "parts").Kind() == value.Invalid {
		t.CallID, t.Tool, t.Raw = Str(m, answerKeys()...), Str(m, "name", "tool_name", "tool", "function"), recorded(m)
		if d.o.Kept {
			t.CallID = IDOf(m)
		}
		if results = d.within(content, &t); len(results) > 0 {
			t.Content = "" // a tool's message contains only results
		}
		return t, results
	}
	t.Reasoning = d.textOf(First(m, "reasoning_content", "reasoning"))
	for _, list := range []value.Value{content, First(m, "parts")} {
		results = append(results, d.within(list, &t)...)
	}
	if t.Content == "" {
		t.Content = Str(m, "refusal")
	}
	t.Calls = MergeCalls(d.listed(m), t.Calls)
	if d.o.Kept && len(t.Calls) == 0 && hidden(m, &t, class, len(results)) {
		t.Calls = []callvet.Call{{}}
	}
	return t, results
}

// roleOf is the role of a message, by the name of its class where it has no role. A message with
// neither is the assistant's, and so is a message of the type "message", or without a text:
// strange checks it.
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

// within adds the text, the reasoning and the calls in the parts of a message to its turn. It
// returns the turns of the results among them. In an answer with calls, the text after the last
// result is a turn of its own.
func (d *decoder) within(list value.Value, t *callvet.Turn) (results []callvet.Turn) {
	if list.Kind() != value.Array {
		return nil
	}
	list = Grown(list)
	speaks := t.Role == callvet.RoleAssistant || d.o.Kept && t.Role != callvet.RoleTool
	var said []string
	before, seen := 0, 0 // the length of the text before the last result, and the number of results
	for e, ok := list.First(); ok; e, ok = list.Next(e) {
		switch p := d.partOf(e); {
		case p == resultPart:
			r := d.result(e)
			r.CallID = cmp.Or(r.CallID, t.CallID)
			results = append(results, r)
		case p == callPart && (speaks || d.namesCall(e)):
			c, r := d.calledBy(e)
			t.Calls, results = append(t.Calls, c), append(results, r...)
		case p == thoughtPart && speaks:
			t.Reasoning += d.thoughtOf(e)
		default:
			text := d.textOf(e)
			if text != "" {
				said = append(said, text)
			}
			if speaks {
				d.stray(e, p, text, t)
			}
		}
		if len(results) > seen {
			before, seen = len(said), len(results)
		}
	}
	rest := len(said)
	if t.Role == callvet.RoleAssistant && before < len(said) && seen > 0 && len(t.Calls) > 0 {
		rest = before
		results = append(results, callvet.Turn{Role: t.Role, Content: strings.Join(said[rest:], d.separator())})
	}
	if len(said) > 0 {
		t.Content = strings.Join(said[:rest], d.separator())
	}
	return results
}

// namesCall reports whether a part of a tool's message is a call: the content of a result is
// data, but Gemini's wrapper marks a call.
func (d *decoder) namesCall(e value.Value) bool { return d.o.Kept && has(e, "functionCall") }

// stray checks an unknown part of a message: it may be a call.
func (d *decoder) stray(e value.Value, p part, text string, t *callvet.Turn) {
	typ := Str(e, "type")
	switch {
	case !d.o.Kept:
		if p == strangePart && (text == "" || HoldsCall(e, d.o.Tools)) {
			d.refuse("%s is no part of an answer", clip(e))
		}
	case text == "" && (strings.Contains(typ, "tool") || strings.Contains(typ, "call") ||
		typ == "" && First(e, "toolName", "toolCallId", "input", "args", "arguments").Kind() != value.Invalid):
		t.Calls = append(t.Calls, callvet.Call{})
	}
}

// listed returns the calls of a message outside its content.
func (d *decoder) listed(m value.Value) []callvet.Call {
	var calls []callvet.Call
	for _, key := range [...]string{"tool_calls", "toolCalls", "calls", "toolInvocations"} {
		list := First(m, key)
		if calls = d.list(list); key == "tool_calls" {
			unnamed(list, calls)
		}
		if len(calls) > 0 {
			break
		}
	}
	more := First(m, "additional_kwargs") // LangChain's
	if len(calls) == 0 {
		calls = d.list(First(more, "tool_calls"))
	}
	for _, from := range []value.Value{m, more} {
		if f := First(from, "function_call"); !Empty(f) { // some send an empty one with every message
			calls = MergeCalls(calls, d.list(f))
			break
		}
	}
	for _, c := range d.list(First(m, "invalid_tool_calls")) { // LangChain's, of arguments that are no JSON
		c.Error, c.Status = "", "" // the error is about the arguments: no tool has failed
		calls = append(calls, c)
	}
	return calls
}

// unnamed removes the names of calls that a provider's list contains as bare texts: in this list
// only objects are calls.
func unnamed(list value.Value, calls []callvet.Call) {
	i := 0
	for e, ok := list.First(); ok && list.Kind() == value.Array && i < len(calls); e, ok = list.Next(e) {
		if e.Kind() == value.String {
			calls[i] = LostCall(e)
		}
		i++
	}
}

// hidden reports whether a message without a call must have had one: its finish reason is calls,
// or it has no text and may contain a call, or its role is only for calls. results is the number
// of its results.
func hidden(m value.Value, t *callvet.Turn, role string, results int) bool {
	if t.Role == callvet.RoleAssistant {
		ended := callvet.Response{FinishReason: FinishOf(m)}
		return ended.LostCall() || t.Content+t.Reasoning == "" && results == 0 && strange(m, role)
	}
	return !t.Role.Known() && strings.Contains(strings.ToLower(role), "call")
}

// strange reports whether a message without a text may contain a call. Its role is not the
// assistant's, it has no content, or a member that is not read is named after tools or calls.
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
