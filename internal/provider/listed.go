// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package provider

import (
	"strings"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/message"
	"github.com/callvet/callvet/value"
)

// listed reads the calls of a message or the call fragments of an event. An element that is not a
// call becomes an unreadable call, and so does a value in place of the list.
func listed[T any](list value.Value, one func(value.Value) T) []T {
	switch {
	case list.Kind() == value.Array:
	case message.Empty(list):
		return nil
	default:
		return []T{one(list)}
	}
	var out []T
	for c, ok := list.First(); ok; c, ok = list.Next(c) {
		out = append(out, one(c))
	}
	return out
}

// chatCall reads an element of tool_calls: a call of a function or of a custom tool.
func chatCall(c value.Value) callvet.Call {
	id := at(c, "id").Str()
	if custom := at(c, "custom"); customCall(c, custom) {
		return named(c, message.NewCustomCall(id, at(custom, "name").Str(), rawArgs(at(custom, "input"))))
	}
	f := at(c, "function")
	return named(c, message.NewCall(id, at(f, "name").Str(), rawArgs(at(f, "arguments"))))
}

// customCall reports whether an element is the call of a custom tool. Some servers write an empty
// one next to the function of every call.
func customCall(c, custom value.Value) bool {
	return custom.Kind() == value.Object && (at(custom, "name").Str() != "" || at(c, "function", "name").Str() == "")
}

// named is a call read from the record v. A call without a tool's name keeps the record: its
// arguments alone would not show the mistake.
func named(v value.Value, c callvet.Call) callvet.Call {
	if c.Nameless() {
		id := c.ID
		c = message.LostCall(v)
		c.ID = id
	}
	return c
}

// withOldCall adds a function_call, the older form of tool_calls. Some servers send an empty one
// with every message, some send a call in both forms.
func withOldCall(calls []callvet.Call, f value.Value) []callvet.Call {
	if message.Empty(f) {
		return calls
	}
	return message.MergeCalls(calls,
		[]callvet.Call{named(f, message.NewCall("", at(f, "name").Str(), rawArgs(at(f, "arguments"))))})
}

// strayCall reports whether an item of an answer is a call of an unknown type: by the name of its
// type, or by its members.
func strayCall(item value.Value) bool {
	if item.Kind() != value.Object || hosted(item) {
		return false
	}
	typ := at(item, "type").Str()
	_, args := item.Get("arguments")
	_, input := item.Get("input")
	return args || input || strings.HasSuffix(typ, "_call") || strings.HasSuffix(typ, "_use")
}

// hosted reports whether an item is the call of a tool that the provider runs itself.
func hosted(item value.Value) bool {
	switch at(item, "type").Str() {
	case "web_search_call", "file_search_call", "tool_search_call", "code_interpreter_call", "image_generation_call",
		"mcp_call", "server_tool_use", "mcp_tool_use":
		return true
	}
	return false
}
