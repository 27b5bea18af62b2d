// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package message

import (
	"cmp"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/value"
)

func isChat(v value.Value) bool { return kindOf(v, "choices") == value.Array }

// chat reads a chat completion's first choice.
func (d *decoder) chat(v value.Value) {
	choices, _ := v.Get("choices")
	c, ok := choices.First()
	if !ok {
		d.refuse("a completion without choices")
		return
	}
	m, ok := firstOf(c, "message", "delta")
	if !ok {
		d.refuse("a choice without a message")
		return
	}
	if d.ends(c); has(c, "delta") && !has(c, "message") && d.resp.FinishReason == "" {
		d.refuse("one piece of a streamed answer, and not the answer")
		return
	}
	t := d.answer(m)
	if !t.Role.Known() { // its place in the answer makes it the model's
		t.Role = callvet.RoleAssistant
	}
	d.resp.Turns = append(d.resp.Turns, t)
	d.fromText()
}

func isResponses(v value.Value) bool {
	return kindOf(v, "output") == value.Array && (isList(v, "output", "type") || first(v, "object").Str() == "response")
}

// responses reads the output items of OpenAI's Responses API.
func (d *decoder) responses(v value.Value) {
	d.parts(first(v, "output"))
	d.resp.FinishReason = cmp.Or(d.resp.FinishReason, LastFinish(v))
	d.fromText()
}

func isRunItems(v value.Value) bool {
	return isList(v, "newItems", "type") || isList(v, "new_items", "type") ||
		isList(first(v, "state"), "generatedItems", "type")
}

// runItems reads a result of the OpenAI Agents SDK: the items that the run made.
func (d *decoder) runItems(v value.Value) {
	state := first(v, "state")
	list, ok := firstOf(v, "newItems", "new_items")
	if !ok {
		list, _ = state.Get("generatedItems")
	}
	for e, ok := list.First(); ok; e, ok = list.Next(e) {
		raw, ok := firstOf(e, "rawItem", "raw_item")
		if !ok {
			raw = e
		}
		d.grow(d.element(raw))
	}
	d.resp.Turns = Attach(d.resp.Turns)
	if len(d.resp.Turns) == 0 {
		final, _ := firstOf(v, "finalOutput", "final_output")
		d.text(textOf(final))
	}
	for _, from := range []value.Value{v, state} {
		if m, ok := firstOf(from, "modelResponses", "rawResponses", "raw_responses"); ok {
			d.resp.FinishReason = LastFinish(m)
		}
	}
	if m, ok := state.Get("modelResponses"); ok {
		d.resp.Usage = usages(m)
	}
	d.fromText()
}
