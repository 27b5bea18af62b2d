// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package provider

import (
	"bytes"
	"errors"
	"strings"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/message"
	"github.com/callvet/callvet/value"
)

// block is one content block of a streamed message.
type block struct {
	kind, id, name string
	start          []byte // as announced; a block without deltas has this form in later requests
	text           strings.Builder
	input          message.Pieces
	signature      strings.Builder
}

// messageDeltas reads a stream of Anthropic Messages.
type messageDeltas struct {
	doc           value.Doc
	blocks        []*block
	places        map[string]*block // the newest block of each index
	model, reason string
	usage         callvet.Usage
	counted       bool // the final count of the answer has arrived
	done          bool
}

func (w *messages) deltas() deltas { return &messageDeltas{places: map[string]*block{}} }

func (d *messageDeltas) add(data []byte) (content, last bool, err error) {
	if err := d.doc.Parse(data); err != nil {
		return false, false, err
	}
	root := d.doc.Root()
	switch at(root, "type").Str() {
	case "message_start":
		d.model = at(root, "message", "model").Str()
		d.usage = messagesUsage(at(root, "message", "usage"))
	case "content_block_start":
		d.start(at(root, "index"), at(root, "content_block"))
	case "content_block_delta":
		return true, false, d.delta(d.block(at(root, "index")), at(root, "delta"))
	case "message_delta":
		d.reason = at(root, "delta", "stop_reason").Str()
		d.final(at(root, "usage"))
	case "message_stop":
		d.done = true
		return false, true, nil
	case "error":
		return false, false, streamedError(root)
	}
	return false, false, nil
}

// final sets the final token counts: those at the start of the stream are preliminary. A repeated
// input count includes the results of the provider's own tools.
func (d *messageDeltas) final(v value.Value) {
	if v.Kind() == value.Invalid || v.Kind() == value.Null {
		return
	}
	d.counted = true
	if _, all := v.Get("input_tokens"); all {
		d.usage = messagesUsage(v)
		return
	}
	var r message.UsageReader
	u := d.usage
	if r.Object(v) {
		u.OutputTokens = r.Need(v, "output_tokens")
	}
	if u = r.Done(u); d.usage.Known || !u.Known {
		d.usage = u
	}
}

// streamedError converts a streamed error to the fault of the corresponding status.
func streamedError(root value.Value) *callvet.Fault {
	status := 500
	switch at(root, "error", "type").Str() {
	case "overloaded_error":
		status = statusOverloaded
	case "rate_limit_error":
		status = 429
	case "invalid_request_error":
		status = 400
	}
	f := faultOf(status)
	f.Message, f.Param = problem(root)
	return f
}

// start begins a block, which may already have all of its content. A call that is announced twice
// with the same id and index is one call.
func (d *messageDeltas) start(index, v value.Value) {
	place, id, name := string(index.Raw()), at(v, "id").Str(), at(v, "name").Str()
	b := d.places[place]
	if b == nil || id == "" || b.id != id || b.name != name {
		b = &block{kind: at(v, "type").Str(), id: id, name: name, start: bytes.Clone(v.Raw())}
		d.blocks = append(d.blocks, b)
		if index.Kind() != value.Invalid {
			d.places[place] = b
		}
	}
	b.input.Add(inputOf(at(v, "input")))
	b.text.WriteString(at(v, "text").Str())
	b.text.WriteString(at(v, "thinking").Str())
}

// block is the newest block of an index; the newest block if no block has the index.
func (d *messageDeltas) block(index value.Value) *block {
	if b := d.places[string(index.Raw())]; b != nil || len(d.blocks) == 0 {
		return b
	}
	return d.blocks[len(d.blocks)-1]
}

func (d *messageDeltas) delta(b *block, v value.Value) error {
	if b == nil {
		return errors.New("a delta before its block")
	}
	switch at(v, "type").Str() {
	case "text_delta":
		b.text.WriteString(at(v, "text").Str())
	case "input_json_delta":
		b.input.Add(rawArgs(at(v, "partial_json")))
	case "thinking_delta":
		b.text.WriteString(at(v, "thinking").Str())
	case "signature_delta":
		b.signature.WriteString(at(v, "signature").Str())
	}
	return nil
}

func (d *messageDeltas) finish(_ *query, resp *callvet.Response) error {
	if !d.done {
		return errStreamEnded
	}
	turn := callvet.Turn{Role: callvet.RoleAssistant}
	raw := []byte(`{"role":"assistant","content":[`)
	for i, b := range d.blocks {
		if i > 0 {
			raw = append(raw, ',')
		}
		switch s := b.text.String(); b.kind {
		case "text":
			turn.Content += s
			raw = append(appendText(append(raw, `{"type":"text","text":`...), s), '}')
		case "thinking":
			turn.Reasoning += s
			raw = appendText(append(raw, `{"type":"thinking","thinking":`...), s)
			raw = append(appendText(appendMember(raw, "signature"), b.signature.String()), '}')
		case "tool_use":
			c := message.NewCall(b.id, b.name, b.input.Text())
			turn.Calls = append(turn.Calls, c)
			raw = appendText(append(raw, `{"type":"tool_use","id":`...), b.id)
			raw = append(append(appendMember(appendText(appendMember(raw, "name"), b.name), "input"), object(&c)...),
				'}')
		default:
			raw = append(raw, b.start...)
			if start, err := value.Parse(b.start); err == nil &&
				(strayCall(start) || !hosted(start) && !b.input.Empty()) {
				turn.Calls = append(turn.Calls, message.LostCall(start))
			}
		}
	}
	if len(d.blocks) > 0 {
		turn.Raw = append(raw, ']', '}')
	}
	if d.reason == "" {
		resp.Why = callvet.ReasonCut
	}
	resp.Turns = []callvet.Turn{turn}
	resp.Model, resp.FinishReason, resp.Usage = d.model, d.reason, d.usage
	if !d.counted {
		resp.Usage = callvet.Usage{Note: "the stream has no final output_tokens"}
	}
	return nil
}
