// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package provider

import (
	"strings"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/message"
	"github.com/callvet/callvet/value"
)

// chatDeltas reads a stream of Chat Completions.
type chatDeltas struct {
	doc           value.Doc
	content       strings.Builder
	reasoning     strings.Builder
	reasoningName string // the name of its member, also used in later requests
	details       reasoningDetails
	calls         message.ChatCalls
	model, reason string
	usage         callvet.Usage
	done          bool
	refused       string // the model's call, which the provider rejected
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
	if s := message.FinishOf(choice); s != "" {
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
	return d.calls.Add(v) > 0 || content
}

func (d *chatDeltas) finish(q *query, resp *callvet.Response) error {
	if d.refused != "" {
		refuse(resp, d.refused)
		resp.Model = d.model
		return nil
	}
	if !d.done && d.reason == "" {
		return errStreamEnded
	}
	turn := callvet.Turn{Role: callvet.RoleAssistant, Content: d.content.String(), Reasoning: d.reasoning.String()}
	turn.Calls = d.calls.List(q.req.Tools)
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
	if d.reason == "" { // [DONE] without a finish reason does not prove that the answer is complete
		resp.Why = callvet.ReasonCut
	}
	resp.Turns = []callvet.Turn{turn}
	resp.Model, resp.FinishReason, resp.Usage = d.model, d.reason, d.usage
	if d.usage == (callvet.Usage{}) {
		resp.Usage = chatUsage(value.Value{})
	}
	return nil
}
