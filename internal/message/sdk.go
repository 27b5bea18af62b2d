// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package message

import (
	"bytes"
	"slices"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/value"
)

// HeldResult is the JSON in a string, else the value itself.
func HeldResult(v value.Value) value.Value {
	if v.Kind() != value.String {
		return v
	}
	text := v.Bytes()
	if in, err := value.Parse(text); err == nil {
		return in
	}
	if t := bytes.TrimLeft(text, " \t\r\n"); len(t) > 0 && (t[0] == '{' || t[0] == '[') { // no prose, such as "NaN"
		if in, _, err := value.Read(text); err == nil {
			return in
		}
	}
	return v
}

// Said reads a request or an answer that an SDK stored. Its forms are messages in {messages} or
// {output}, bare or in lists of lists, an answer of a provider in {choices}, {candidates} or
// {generations}, a message, and a text. A text gets the given role.
func Said(v value.Value, role callvet.Role) []callvet.Turn {
	v = HeldResult(v)
	switch v.Kind() {
	case value.Array:
		return list(v, role)
	case value.Object:
		return object(v, role)
	case value.String:
		if t := v.Str(); t != "" {
			return []callvet.Turn{{Role: role, Content: t}}
		}
	}
	return nil
}

func list(v value.Value, role callvet.Role) []callvet.Turn {
	first, _ := v.First()
	switch {
	case first.Kind() == value.Array: // one request, or one answer, per list
		return list(first, role)
	case First(first, "toolName", "toolCallId").Kind() != value.Invalid && Str(first, "type") != "tool-result":
		return []callvet.Turn{{Role: callvet.RoleAssistant, Calls: CallsOf(v)}}
	}
	v = GrownMessages(v)
	var out []callvet.Turn
	for e, ok := v.First(); ok; e, ok = v.Next(e) {
		switch {
		case e.Kind() == value.String:
			out = append(out, callvet.Turn{Role: role, Content: e.Str()})
		case callsTool(out, Str(e, "role")): // Langfuse's LangChain callback writes the tool's name as the role
			out = append(out, callvet.Turn{
				Role: callvet.RoleTool, Tool: Str(e, "role"),
				Content: resultText(First(e, "content"), "\n"),
			})
		case isMessage(e):
			out = append(out, Turns(e)...)
		default:
			out = append(out, object(e, role)...)
		}
	}
	return out
}

// callsTool reports whether a turn calls a tool.
func callsTool(turns []callvet.Turn, tool string) bool {
	return slices.ContainsFunc(turns, func(t callvet.Turn) bool {
		return slices.ContainsFunc(t.Calls, func(c callvet.Call) bool { return c.Tool == tool })
	})
}

func isMessage(v value.Value) bool {
	return First(v, "role", "parts", "tool_calls", "kwargs", "message").Kind() != value.Invalid ||
		Str(v, "type") != "" && First(v, "text").Kind() == value.Invalid
}

func object(v value.Value, role callvet.Role) []callvet.Turn {
	var before []callvet.Turn
	if sys := Text(First(v, "system", "instructions")); sys != "" {
		before = []callvet.Turn{{Role: callvet.RoleSystem, Content: sys}}
	}
	for _, k := range []string{"messages", "generations", "choices", "candidates", "output", "contents", "input"} {
		if m := First(v, k); m.Kind() == value.Array && m.Len() > 0 {
			return append(before, list(m, role)...)
		}
	}
	switch {
	case First(v, "toolCalls").Kind() == value.Array && Str(v, "role") == "":
		return []callvet.Turn{{
			Role: callvet.RoleAssistant, Content: Str(v, "text"),
			Calls: CallsOf(First(v, "toolCalls")),
		}}
	case isMessage(v), First(v, "content").Kind() != value.Invalid:
		return Turns(v)
	}
	if t := Text(First(v, "prompt", "input")); t != "" {
		return append(before, callvet.Turn{Role: callvet.RoleUser, Content: t})
	}
	if t := Text(v); t != "" {
		return []callvet.Turn{{Role: role, Content: t}}
	}
	return nil
}
