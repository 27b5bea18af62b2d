// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package message

import (
	"cmp"
	"strings"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/value"
)

// ofFramework names the form of the whole output of a framework for agents.
func ofFramework(v value.Value) Form {
	switch {
	case has(v, "jsonrpc") && (has(v, "result") || has(v, "error")):
		return FormA2A
	case isList(v, "newItems", "type"), isList(v, "new_items", "type"),
		isList(first(v, "state"), "generatedItems", "type"):
		return FormRunItems
	case isStep(v):
		return FormSteps
	case kindOf(v, "intermediate_steps") == value.Array, kindOf(v, "intermediateSteps") == value.Array:
		return FormExecutor
	}
	return FormUnreadable
}

// isStep reports whether v lists the steps of the AI SDK.
func isStep(v value.Value) bool {
	for _, key := range []string{"toolCalls", "toolResults", "finishReason"} {
		if isList(v, "steps", key) {
			return true
		}
	}
	return false
}

// LangChain returns the message of LangChain in v and its role, whichever of LangChain's ways of
// writing wraps it. ok is false when v is no message of LangChain.
func LangChain(v value.Value) (in value.Value, role callvet.Role, ok bool) {
	in, name := unwrapMessage(v)
	if role = callvet.RoleOf(name); !role.Known() {
		role = ""
	}
	return in, role, role != "" && has(in, "content") && (role != callvet.RoleTool || has(in, "tool_call_id"))
}

// unwrapMessage takes a message out of an envelope of LangChain: {lc, id: […, class], kwargs}, or
// {type, data}. The class, the role or the type names who wrote it.
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

// steps reads what generateText of the AI SDK gives: one step for each request of the model.
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

// sayJoined is say for a record that lists results next to its calls.
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

// executed reads what LangChain's AgentExecutor gives: actions with what was observed.
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

// grow adds turns of Element: the texts of an assistant before a tool answers are one turn.
func (d *decoder) grow(turns []callvet.Turn) {
	for _, t := range turns {
		n := len(d.resp.Turns)
		if t.Role == callvet.RoleAssistant && n > 0 && d.resp.Turns[n-1].Role == callvet.RoleAssistant {
			last := &d.resp.Turns[n-1]
			last.Content += t.Content
			last.Reasoning += t.Reasoning
			last.Calls = append(last.Calls, t.Calls...)
			continue
		}
		d.resp.Turns = append(d.resp.Turns, t)
	}
}

// a2a reads an answer of the Agent2Agent protocol: a message, or a task with what it made.
func (d *decoder) a2a(v value.Value) error {
	if e, ok := v.Get("error"); ok && truthy(e) {
		return faultOf(e, 0)
	}
	r := first(v, "result")
	if in, ok := firstOf(r, "task", "message"); ok && in.Kind() == value.Object { // the form of version 1
		r = in
	}
	switch end := A2AState(r); end {
	case "", "completed", "input-required", "auth-required":
		if d.resp.FinishReason = end; end != "" && end != "completed" {
			d.resp.FinishReason = callvet.FinishHITL
		}
	case "failed", "rejected", "canceled":
		return &callvet.Fault{
			Kind:    callvet.FaultServer,
			Message: "the task is " + end + ": " + textOf(first(first(first(r, "status"), "message"), "parts")),
		}
	default:
		return malformed("the task is not over: its state is " + end)
	}
	d.a2aTurns(r)
	d.resp.CallsUnknown = d.resp.CallsUnknown || d.o.Fields.Calls == ""
	d.resp.Turns = Attach(d.resp.Turns)
	if len(d.resp.Turns) == 0 {
		d.resp.Turns = []callvet.Turn{{Role: callvet.RoleAssistant}}
	}
	d.fromText()
	return nil
}

// A2AState is the state of a task of the Agent2Agent protocol or of an event that updates
// one, in the words of version 0.3; "" when v is something else.
func A2AState(v value.Value) string {
	s := first(first(v, "status"), "state").Str()
	s = strings.ReplaceAll(strings.ToLower(strings.TrimPrefix(s, "TASK_STATE_")), "_", "-")
	if s == "cancelled" {
		return "canceled"
	}
	return s
}

// A2ATurns returns the turns of a message, a task or an event of the Agent2Agent protocol, like
// those of Element. The user's texts are left out.
func A2ATurns(v value.Value, o Options) ([]callvet.Turn, error) {
	d := decoder{o: o, resp: &callvet.Response{}}
	d.a2aTurns(v)
	if d.fault != nil {
		return nil, d.fault
	}
	return d.resp.Turns, nil
}

func (d *decoder) a2aTurns(v value.Value) {
	said := false
	add := func(m value.Value) {
		if strings.HasSuffix(strings.ToLower(first(m, "role").Str()), "user") {
			return
		}
		parts := first(m, "parts")
		for p, ok := parts.First(); ok; p, ok = parts.Next(p) {
			said = true
			d.grow(d.a2aPart(p))
		}
	}
	for _, key := range []string{"history", "artifacts"} {
		list := first(v, key)
		for m, ok := list.First(); ok; m, ok = list.Next(m) {
			add(m)
		}
	}
	add(v)
	add(first(v, "artifact"))
	if !said {
		add(first(first(v, "status"), "message"))
	}
}

// a2aPart reads a text, or data: the protocol has no calls of its own, and agents that report
// theirs send them as data. Other data are a part of the answer's text.
func (d *decoder) a2aPart(p value.Value) []callvet.Turn {
	data, ok := p.Get("data")
	if !ok || data.Kind() != value.Object {
		return []callvet.Turn{{Role: callvet.RoleAssistant, Content: textOf(first(p, "text"))}}
	}
	if in, ok := data.Get("data"); ok && data.Len() == 1 && in.Kind() == value.Object { // protobuf's wrapper
		data = in
	}
	switch part := d.partOf(data); {
	case part == callPart || part == resultPart:
		return d.element(data)
	case has(data, "name") && has(data, "response"):
		return []callvet.Turn{d.result(data)}
	case HoldsCall(p, d.o.Tools):
		d.refuse("%s holds a call in a form that is not known", clip(p))
	}
	return []callvet.Turn{{Role: callvet.RoleAssistant, Content: string(data.Raw())}}
}
