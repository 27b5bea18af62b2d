// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package message

import (
	"cmp"
	"strings"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/value"
)

func isSteps(v value.Value) bool {
	return isList(v, "steps", "toolCalls") || isList(v, "steps", "toolResults") || isList(v, "steps", "finishReason")
}

// steps reads a result of generateText of the AI SDK: one step for each request of the model.
func (d *decoder) steps(v value.Value) {
	list := first(v, "steps")
	d.resp.FinishReason = cmp.Or(FinishOf(v), LastFinish(list))
	var spent []callvet.Usage
	for s, ok := list.First(); ok; s, ok = list.Next(s) {
		spent = append(spent, usageOf(s))
		if c := first(s, "content"); c.Kind() == value.Array && c.Len() > 0 {
			d.parts(c)
			continue
		}
		calls, _ := firstOf(s, callKeys()...)
		d.sayJoined(s, textOf(first(s, "text")), d.list(calls))
	}
	d.resp.Turns = Attach(d.resp.Turns)
	if n, text := len(d.resp.Turns), textOf(first(v, "text")); text != "" &&
		(n == 0 || d.resp.Turns[n-1].Content == "" || d.resp.Turns[n-1].Role == callvet.RoleTool) {
		d.grow([]callvet.Turn{{Role: callvet.RoleAssistant, Content: text}})
	}
	if !has(v, "usage") && !has(v, "totalUsage") {
		d.resp.Usage = SumUsage(spent)
	}
	d.fromText()
}

// sayJoined appends turns like say, for a record that lists results next to its calls.
func (d *decoder) sayJoined(v value.Value, text string, calls []callvet.Call) {
	list, _ := firstOf(v, "toolResults", "tool_results")
	for e, ok := list.First(); ok; e, ok = list.Next(e) {
		t := d.result(e)
		for i := range calls {
			if c := &calls[i]; c.ID == t.CallID && t.CallID != "" && c.Result == nil && c.Error == "" {
				Settle(c, &t)
				break
			}
		}
	}
	d.say(text, calls)
}

// uiTool returns the tool that a part of a message of the AI SDK's user interface calls. The type
// of such a part is "tool-" and the name. It returns "" for other parts.
func uiTool(e value.Value) string {
	name, ok := strings.CutPrefix(first(e, "type").Str(), "tool-")
	if !ok || !has(e, "toolCallId") || has(e, "toolName") {
		return ""
	}
	// tool-call, tool-result and tool-error are parts of model messages, which have no state.
	if !has(e, "state") && (!has(e, "input") || name == "call" || name == "result" || name == "error") {
		return ""
	}
	return name
}
