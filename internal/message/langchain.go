// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package message

import (
	"strings"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/value"
)

// LangChain returns the message of LangChain in v and its role, in any of LangChain's envelopes.
// ok is false when v is no message of LangChain.
func LangChain(v value.Value) (in value.Value, role callvet.Role, ok bool) {
	in, name := unwrapMessage(v)
	if role = callvet.RoleOf(name); !role.Known() {
		role = ""
	}
	return in, role, role != "" && has(in, "content") && (role != callvet.RoleTool || has(in, "tool_call_id"))
}

// unwrapMessage takes a message out of an envelope of LangChain: {lc, id: […, class], kwargs}, or
// {type, data}. The class, the role or the type names the author.
func unwrapMessage(m value.Value) (in value.Value, name string) {
	id := First(m, "id")
	if in := First(m, "kwargs"); in.Kind() == value.Object && (id.Kind() == value.Array || has(in, "content")) {
		for e, ok := id.First(); ok; e, ok = id.Next(e) {
			name = e.Str()
		}
		name = strings.TrimSuffix(strings.TrimSuffix(name, "Chunk"), "Message")
		if name == "Chat" || name == "" {
			name = Str(in, "role", "type")
		}
		return in, name
	}
	if in := First(m, "data"); in.Kind() == value.Object && First(in, "content").Kind() != value.Invalid {
		return in, Str(m, "type", "role")
	}
	return m, Str(m, "role", "type")
}

// IsMessage reports whether v is a message of a conversation.
func IsMessage(v value.Value) bool {
	if v.Kind() != value.Object {
		return false
	}
	_, _, ok := LangChain(v)
	return ok || first(v, "role").Kind() == value.String
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

func isExecutor(v value.Value) bool {
	return kindOf(v, "intermediate_steps") == value.Array || kindOf(v, "intermediateSteps") == value.Array
}

// executed reads a result of LangChain's AgentExecutor: actions with their observations.
func (d *decoder) executed(v value.Value) {
	list, _ := firstOf(v, "intermediate_steps", "intermediateSteps")
	for s, ok := list.First(); ok; s, ok = list.Next(s) {
		action, seen := first(s, "action"), first(s, "observation")
		if s.Kind() == value.Array {
			if action, ok = s.First(); ok {
				seen, _ = s.Next(action)
			}
		}
		c := d.one(action)
		if t := (callvet.Turn{Content: resultText(seen, "")}); seen.Kind() != value.Invalid && seen.Kind() != value.Null {
			Settle(&c, &t)
		}
		d.say("", []callvet.Call{c})
	}
	if text, _ := d.plainText(v); len(d.resp.Turns) == 0 {
		d.content(text)
	} else if t := textOf(text); t != "" {
		d.resp.Turns = append(d.resp.Turns, callvet.Turn{Role: callvet.RoleAssistant, Content: t})
	}
}
