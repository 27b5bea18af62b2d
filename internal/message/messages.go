// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package message

import (
	"cmp"
	"slices"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/value"
)

func isMessages(v value.Value) bool {
	if v.Kind() == value.Array {
		e, ok := v.First()
		return !ok || IsMessage(e)
	}
	return kindOf(v, "messages") == value.Array
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
		told = append(told, d.tells(m, d.resp.Turns[len(told):])...)
	}
	turns := withoutInput(d.resp.Turns, d.o.Input)
	told = told[len(told)-len(turns):]
	var spent []callvet.Usage
	for i := range turns {
		if told[i].counts {
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
	spent  callvet.Usage
	counts bool // the first turn of a model's message has the usage of all
	held   bool // it contains a call, and none was read
	whole  value.Value
}

// tells returns what a message has in addition to its turns, for each of them.
func (d *decoder) tells(m value.Value, turns []callvet.Turn) []telling {
	in, _, _ := LangChain(m)
	held := !called(turns) && HoldsCall(m, d.o.Tools)
	counted := false
	out := make([]telling, len(turns))
	for i := range turns {
		speaks := turns[i].Role == callvet.RoleAssistant
		out[i] = telling{usageOf(in), speaks && !counted, speaks && held, m}
		counted = counted || speaks
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
