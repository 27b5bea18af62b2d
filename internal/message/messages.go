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
	keep, from := d.resp.Turns, []value.Value{} // the message of each turn
	d.resp.Turns = nil
	for m, ok := v.First(); ok; m, ok = v.Next(m) {
		if !IsMessage(m) {
			d.item(m)
		} else if t := d.element(m); len(t) > 0 && t[0].Role != callvet.RoleSystem {
			d.resp.Turns = append(d.resp.Turns, t...)
		}
		for len(from) < len(d.resp.Turns) {
			from = append(from, m)
		}
	}
	turns := withoutInput(d.resp.Turns, d.o.Input)
	from = from[len(from)-len(turns):]
	if len(turns) == 0 && v.Len() > 0 {
		d.refuse("the messages hold no answer")
	}
	d.resp.Usage = d.spent(turns, from)
	d.resp.Turns = append(keep, Attach(turns)...)
	d.fromText()
	if called(d.resp.Turns) || d.resp.Unreadable {
		return
	}
	for i := range turns {
		h := holder{tools: d.o.Tools, texts: true}
		if h.value(from[i]); turns[i].Role == callvet.RoleAssistant && len(h.calls) > 0 {
			d.refuse("a message holds a call in a text, in a form that is not known")
		}
	}
}

// spent is the usage of the messages of a model; from is the message of each turn. A message with
// a call that was not read is refused.
func (d *decoder) spent(turns []callvet.Turn, from []value.Value) callvet.Usage {
	var all []callvet.Usage
	for i := 0; i < len(turns); {
		begin, m := i, from[i]
		for i < len(turns) && from[i] == m {
			i++
		}
		if turns[begin].Role != callvet.RoleAssistant {
			continue
		}
		in, _, _ := LangChain(m)
		if all = append(all, usageOf(in)); !called(turns[begin:i]) && HoldsCall(m, d.o.Tools) {
			d.refuse("a message holds a call in a form that is not known")
		}
	}
	return SumUsage(all)
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

// withoutInput drops the turns of the input: as many as the input has when the roles agree, else
// everything up to the first user turn.
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
