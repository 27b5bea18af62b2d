// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package provider

import (
	"strings"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/repair"
	"github.com/callvet/callvet/value"
)

// fragments collects one call of a stream.
type fragments struct {
	id, name string
	args     strings.Builder
}

// chatDeltas reads a stream of Chat Completions.
type chatDeltas struct {
	doc           value.Doc
	content       strings.Builder
	reasoning     strings.Builder
	reasoningName string // the member it came under, under which it goes back
	details       reasoningDetails
	calls         []*fragments
	model, reason string
	usage         callvet.Usage
	done          bool
	refused       string // the model's own call, which the provider did not take
}

func (w *chat) deltas() deltas { return &chatDeltas{} }

func (d *chatDeltas) add(data []byte) (content, last bool, err error) {
	if string(data) == "[DONE]" {
		d.done = true
		return false, true, nil
	}
	if err := d.doc.Parse(data); err != nil {
		return false, false, err
	}
	root := d.doc.Root()
	if e, ok := root.Get("error"); ok && e.Kind() != value.Null {
		if d.refused = refusedCall(root); d.refused != "" {
			return true, true, nil
		}
		return false, false, noAnswer(root, "choices")
	}
	if s := at(root, "model").Str(); s != "" {
		d.model = s
	}
	for _, u := range []value.Value{at(root, "usage"), at(root, "x_groq", "usage")} {
		if u.Kind() == value.Object {
			d.usage = chatUsage(u)
			break
		}
	}
	choice, ok := at(root, "choices").First()
	if !ok {
		return false, false, nil
	}
	if s := at(choice, "finish_reason").Str(); s != "" {
		d.reason = s
	}
	return d.delta(at(choice, "delta")), false, nil
}

func (d *chatDeltas) delta(v value.Value) (content bool) {
	text, _ := chatText(at(v, "content"))
	if text == "" {
		text = at(v, "refusal").Str()
	}
	d.content.WriteString(text)
	content = text != ""
	for _, k := range [...]string{"reasoning_content", "reasoning"} {
		if s := at(v, k).Str(); s != "" {
			d.reasoning.WriteString(s)
			d.reasoningName, content = k, true
			break
		}
	}
	content = d.details.add(at(v, "reasoning_details")) || content
	calls := at(v, "tool_calls")
	for c, ok := calls.First(); ok; c, ok = calls.Next(c) {
		d.call(c)
		content = true
	}
	return content
}

// call adds a fragment to the call of its index; without one, a fragment with a
// name begins a call.
func (d *chatDeltas) call(c value.Value) {
	f := at(c, "function")
	i := len(d.calls) - 1
	if idx := at(c, "index"); idx.Kind() == value.Number {
		i = min(count(idx), len(d.calls))
	} else if at(f, "name").Str() != "" {
		i = len(d.calls)
	}
	if i < 0 || i == len(d.calls) {
		i = len(d.calls)
		d.calls = append(d.calls, &fragments{})
	}
	if id := at(c, "id").Str(); id != "" {
		d.calls[i].id = id
	}
	d.calls[i].name += at(f, "name").Str()
	d.calls[i].args.WriteString(rawArgs(at(f, "arguments")))
}

func (d *chatDeltas) finish(_ *query, resp *callvet.Response) error {
	if d.refused != "" {
		refuse(resp, d.refused)
		resp.Model = d.model
		return nil
	}
	if !d.done && d.reason == "" {
		return errStreamEnded
	}
	turn := callvet.Turn{Role: callvet.RoleAssistant, Content: d.content.String(), Reasoning: d.reasoning.String()}
	for _, f := range d.calls {
		turn.Calls = append(turn.Calls, repair.Call(f.id, f.name, f.args.String()))
	}
	if details := d.details.raw(); turn.Reasoning != "" || details != nil {
		raw := (&chat{}).message(nil, &turn)
		raw = raw[:len(raw)-1]
		if turn.Reasoning != "" {
			raw = appendText(appendMember(raw, d.reasoningName), turn.Reasoning)
		}
		if details != nil {
			raw = append(appendMember(raw, "reasoning_details"), details...)
		}
		turn.Raw = append(raw, '}')
	}
	if d.reason == "" { // [DONE] came, and no reason: nothing shows that the answer is whole
		resp.Why = callvet.ReasonCut
	}
	resp.Turns = []callvet.Turn{turn}
	resp.Model, resp.FinishReason, resp.Usage = d.model, d.reason, d.usage
	if d.usage == (callvet.Usage{}) {
		resp.Usage = chatUsage(value.Value{})
	}
	return nil
}
