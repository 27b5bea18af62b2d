// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package message

import (
	"cmp"
	"slices"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/value"
)

// chat reads a chat completion's first choice.
func (d *decoder) chat(v value.Value) error {
	choices, _ := v.Get("choices")
	c, ok := choices.First()
	if !ok {
		return malformed("a completion without choices")
	}
	m, ok := firstOf(c, "message", "delta")
	if !ok {
		return malformed("a choice without a message")
	}
	if d.ends(c); has(c, "delta") && !has(c, "message") && d.resp.FinishReason == "" {
		return malformed("one piece of a streamed answer, and not the answer")
	}
	t := d.message(m)
	if !t.Role.Known() { // its place in the answer makes it the model's
		t.Role = callvet.RoleAssistant
	}
	d.resp.Turns = append(d.resp.Turns, t)
	d.fromText()
	return nil
}

// message reads one message of a chat.
func (d *decoder) message(m value.Value) callvet.Turn {
	m, role, ok := LangChain(m)
	if r, told := m.Get("role"); told || !ok {
		role = callvet.RoleOf(cmp.Or(r.Str(), string(callvet.RoleAssistant)))
	}
	t := callvet.Turn{Role: role, Content: textOf(first(m, "content"))}
	if t.Content == "" {
		t.Content = textOf(first(m, "parts"))
	}
	if t.Role == callvet.RoleTool {
		id, _ := firstOf(m, "tool_call_id", "call_id", "tool_use_id", "toolCallId")
		name, _ := firstOf(m, "name", "tool", "tool_name")
		t.CallID, t.Tool, t.Raw = id.Str(), name.Str(), recorded(m)
		return t
	}
	if t.Content == "" {
		t.Content = first(m, "refusal").Str()
	}
	if r, ok := firstOf(m, "reasoning_content", "reasoning"); ok {
		t.Reasoning = textOf(r)
	}
	if calls, ok := firstOf(m, "tool_calls", "toolCalls", "calls"); ok {
		t.Calls = d.list(calls)
		if _, own := m.Get("tool_calls"); own {
			d.unnamed(calls, t.Calls)
		}
	}
	if f := first(m, "function_call"); !Empty(f) { // some send an empty one with every message
		t.Calls = MergeCalls(t.Calls, d.list(f))
	}
	if bad, ok := m.Get("invalid_tool_calls"); ok { // LangChain's, of arguments that are no JSON
		for _, c := range d.list(bad) {
			c.Error, c.Status = "", "" // the error is about the arguments: no tool has failed
			t.Calls = append(t.Calls, c)
		}
	}
	if list := partsOf(m); t.Role == callvet.RoleAssistant {
		d.calledIn(list, &t)
	}
	return t
}

// unnamed takes the names from those of the calls that a provider's list has as bare texts: a
// call there is an object.
func (d *decoder) unnamed(list value.Value, calls []callvet.Call) {
	i := 0
	for e, ok := list.First(); ok && list.Kind() == value.Array && i < len(calls); e, ok = list.Next(e) {
		if e.Kind() == value.String {
			calls[i] = LostCall(e)
		}
		i++
	}
}

// partsOf is the list of parts of a message; Invalid when it has none.
func partsOf(m value.Value) value.Value {
	for _, key := range []string{"content", "parts"} { // Gemini's
		if l, ok := m.Get(key); ok && l.Kind() == value.Array {
			return l
		}
	}
	return value.Value{}
}

// calledIn adds the calls and thoughts in the content list of a message.
func (d *decoder) calledIn(content value.Value, t *callvet.Turn) {
	for p, ok := content.First(); ok; p, ok = content.Next(p) {
		switch d.partOf(p) {
		case callPart:
			t.Calls = append(t.Calls, d.list(p)...)
		case thoughtPart:
			t.Reasoning += thoughtOf(p)
		case strangePart:
			if HoldsCall(p, d.o.Tools) || textOf(p) == "" {
				d.refuse("%s is no part of an answer", clip(p))
			}
		}
	}
}

func (d *decoder) anthropic(v value.Value) {
	t := d.message(v)
	t.Role = callvet.RoleAssistant
	d.resp.Turns = append(d.resp.Turns, t)
	d.fromText()
}

// fromText looks for calls in the text of the last turn when there were no
// native ones.
func (d *decoder) fromText() {
	n := len(d.resp.Turns)
	if n == 0 {
		return
	}
	for i := range d.resp.Turns {
		if len(d.resp.Turns[i].Calls) > 0 {
			return
		}
	}
	last := &d.resp.Turns[n-1]
	if last.Role != callvet.RoleAssistant {
		return
	}
	last.Calls = d.written(last.Content)
}

// responses reads the output items of OpenAI's Responses API.
func (d *decoder) responses(v value.Value) {
	d.parts(first(v, "output"))
	d.resp.FinishReason = cmp.Or(d.resp.FinishReason, LastFinish(v))
	d.fromText()
}

// gemini reads the first candidate of generateContent, or the parts alone.
func (d *decoder) gemini(v value.Value) {
	if list, ok := v.Get("candidates"); ok {
		d.ends(v) // a blocked prompt
		if v, ok = list.First(); !ok && d.resp.FinishReason == "" {
			d.refuse("a list of candidates without one")
			return
		}
	}
	d.ends(v)
	if c, ok := v.Get("content"); ok {
		v = c
	}
	d.parts(first(v, "parts"))
	d.fromText()
}

// messages reads a list of messages, {messages: […]} or bare.
func (d *decoder) messages(v value.Value) {
	if v.Kind() == value.Object {
		v, _ = v.Get("messages")
	}
	d.resp.FinishReason = cmp.Or(d.resp.FinishReason, LastFinish(v))
	keep, told := d.resp.Turns, []telling{}
	d.resp.Turns = nil
	for m, ok := v.First(); ok; m, ok = v.Next(m) {
		if !IsMessage(m) {
			d.item(m)
		} else if t := d.element(m); len(t) > 0 && t[0].Role != callvet.RoleSystem {
			d.resp.Turns = append(d.resp.Turns, t...)
		}
		in, _, _ := LangChain(m)
		for len(told) < len(d.resp.Turns) {
			t := &d.resp.Turns[len(told)]
			told = append(told, telling{
				usageOf(in),
				t.Role == callvet.RoleAssistant && len(t.Calls) == 0 && HoldsCall(m, d.o.Tools), m,
			})
		}
	}
	turns := withoutInput(d.resp.Turns, d.o.Input)
	told = told[len(told)-len(turns):]
	var spent []callvet.Usage
	for i := range turns {
		if turns[i].Role == callvet.RoleAssistant {
			spent = append(spent, told[i].spent)
		}
		if told[i].held {
			d.refuse("a message holds a call in a form that is not known")
		}
	}
	if len(turns) == 0 && v.Len() > 0 {
		d.refuse("the messages hold no answer")
	}
	d.resp.Turns, d.resp.Usage = append(keep, Attach(turns)...), SumUsage(spent)
	d.fromText()
	if called(d.resp.Turns) || d.resp.Unreadable {
		return
	}
	for i := range turns {
		h := holder{tools: d.o.Tools, texts: true}
		if h.value(told[i].whole); turns[i].Role == callvet.RoleAssistant && len(h.calls) > 0 {
			d.refuse("a message holds a call in a text, in a form that is not known")
		}
	}
}

// item reads an item of a history of the OpenAI Agents SDK.
func (d *decoder) item(m value.Value) {
	turns := d.element(m)
	h := holder{tools: d.o.Tools, texts: true}
	if d.grow(turns); !called(turns) {
		h.value(m)
	}
	if len(h.calls) > 0 {
		d.refuse("%s holds a call in a form that is not known", clip(m))
	}
}

// The content of a message in addition to its turn.
type telling struct {
	spent callvet.Usage
	held  bool // it contains a call, and none was read
	whole value.Value
}

// toolResults reads the results that Anthropic, Gemini and Bedrock put into user messages,
// and the AI SDK into those of tools.
func (d *decoder) toolResults(m value.Value) []callvet.Turn {
	list := partsOf(m)
	var out []callvet.Turn
	for p, ok := list.First(); ok; p, ok = list.Next(p) {
		if d.partOf(p) == resultPart {
			out = append(out, resultTurn(p, ""))
		}
	}
	return out
}

// withoutInput drops the turns that the target was given: as many as the input
// has when the roles agree, else everything up to the first user turn.
func withoutInput(turns, input []callvet.Turn) []callvet.Turn {
	given := slices.DeleteFunc(slices.Clone(input),
		func(t callvet.Turn) bool { return t.Role == callvet.RoleSystem })
	n := len(given)
	if n > 0 && n <= len(turns) &&
		slices.EqualFunc(turns[:n], given, func(t, in callvet.Turn) bool { return t.Role == in.Role }) {
		return turns[n:]
	}
	for i, t := range turns {
		if t.Role == callvet.RoleUser {
			return turns[i+1:]
		}
		if len(t.Calls) > 0 {
			break
		}
	}
	return turns
}
