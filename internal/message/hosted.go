// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package message

import (
	"encoding/json"
	"strings"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/value"
)

// IDOf returns the id of the call that v is, answers or is about; a call and its answer have the
// same one. It returns "" when v has none. Items of the Responses API have an id of their own next
// to it.
func IDOf(v value.Value) string { return Str(v, append(answerKeys(), "id")...) }

// answerKeys are the members that have the id of the call that a result answers.
func answerKeys() []string {
	return []string{"call_id", "callId", "tool_call_id", "toolCallId", "tool_use_id", "toolUseId"}
}

// HostedCall reads the call of a tool that has no name but that of its type, such as web_search of
// a web_search_call: most are carried out by the provider. Its input is in the item under names of
// its own, and becomes the arguments. ok is false for other items.
func HostedCall(item value.Value) (c callvet.Call, ok bool) {
	if code, ok := item.Get("executableCode"); ok && code.Kind() == value.Object {
		return callvet.Call{ID: IDOf(item), Tool: "code_execution", Args: json.RawMessage(code.Raw())}, true
	}
	typ, _ := item.Get("type")
	tool, ok := strings.CutSuffix(strings.ReplaceAll(typ.Str(), "-", "_"), "_call")
	switch tool {
	case "", "tool", "function", "custom_tool", "mcp":
		return c, false // it has a name
	}
	if !ok {
		return c, false
	}
	args := []byte{'{'}
	for m, ok := item.First(); ok; m, ok = item.Next(m) {
		switch m.Key() {
		case "type", "id", "call_id", "callId", "status", "result", "results", "output", "outputs", "error",
			"pending_safety_checks":
			continue
		}
		if len(args) > 1 {
			args = append(args, ',')
		}
		name, _ := json.Marshal(m.Key())
		args = append(append(append(args, name...), ':'), m.Raw()...)
	}
	return callvet.Call{ID: IDOf(item), Tool: tool, Args: append(args, '}')}, true
}
