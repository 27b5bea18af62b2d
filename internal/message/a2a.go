// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package message

import (
	"strings"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/value"
)

func isA2A(v value.Value) bool { return has(v, "jsonrpc") && (has(v, "result") || has(v, "error")) }

// a2a reads an answer of the Agent2Agent protocol: a message, or a task with its artifacts.
func (d *decoder) a2a(v value.Value) {
	if e, ok := v.Get("error"); ok && truthy(e) {
		d.fail(faultOf(e, 0))
		return
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
		d.fail(&callvet.Fault{
			Kind:    callvet.FaultServer,
			Message: "the task is " + end + ": " + textOf(first(first(first(r, "status"), "message"), "parts")),
		})
		return
	default:
		d.refuse("the task is not over: its state is %s", end)
		return
	}
	d.a2aTurns(r)
	d.resp.CallsUnknown = d.resp.CallsUnknown || d.o.Fields.Calls == ""
	d.resp.Turns = Attach(d.resp.Turns)
	if len(d.resp.Turns) == 0 {
		d.resp.Turns = []callvet.Turn{{Role: callvet.RoleAssistant}}
	}
	d.fromText()
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
