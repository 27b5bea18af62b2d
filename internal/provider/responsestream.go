// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package provider

import (
	"strings"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/message"
	"github.com/callvet/callvet/value"
)

// responseDeltas reads a stream of OpenAI's Responses. Its last event has the whole answer.
type responseDeltas struct {
	wire  *responses
	doc   value.Doc
	items []byte // of the output, each with a comma after it
	calls message.Calls
	text  strings.Builder
	whole []byte
}

func (w *responses) deltas() deltas { return &responseDeltas{wire: w} }

func (d *responseDeltas) add(data []byte) (content, last bool, err error) {
	if string(data) == "[DONE]" {
		return false, true, nil
	}
	if err := d.doc.Parse(data); err != nil {
		return false, false, err
	}
	root := d.doc.Root()
	switch kind := at(root, "type").Str(); {
	case kind == "response.output_item.done":
		d.items = append(append(d.items, at(root, "item").Raw()...), ',')
	case kind == "response.completed", kind == "response.incomplete", kind == "response.failed",
		kind == "response.cancelled":
		d.whole = append([]byte(nil), at(root, "response").Raw()...)
		return false, true, nil
	case kind == "error":
		return false, false, noAnswer(root, "response")
	case kind == "response.output_item.added" && at(root, "item", "type").Str() == "function_call":
		item := at(root, "item")
		d.calls.Add(message.Piece{
			Index: at(root, "output_index"), ID: at(item, "call_id").Str(), Name: at(item, "name").Str(),
			Args: rawArgs(at(item, "arguments")),
		})
		return true, false, nil
	case kind == "response.function_call_arguments.delta":
		d.calls.Add(message.Piece{Index: at(root, "output_index"), Args: rawArgs(at(root, "delta"))})
		return true, false, nil
	case kind == "response.output_text.delta":
		d.text.WriteString(at(root, "delta").Str())
		return true, false, nil
	case strings.HasSuffix(kind, ".delta"):
		return true, false, nil
	}
	return false, false, nil
}

func (d *responseDeltas) finish(q *query, resp *callvet.Response) error {
	if d.whole == nil {
		return errStreamEnded
	}
	if err := d.doc.Parse(d.whole); err != nil {
		return err
	}
	if err := d.fill(d.doc.Root(), q, resp); err != nil || len(resp.Turns[0].Calls) > 0 {
		return err
	}
	// Some servers send calls only in increments.
	turn := &resp.Turns[0]
	if turn.Calls = d.calls.List(q.req.Tools); turn.Content == "" {
		turn.Content = d.text.String()
	}
	if len(turn.Calls) > 0 {
		turn.Raw = nil
	}
	return nil
}

func (d *responseDeltas) fill(root value.Value, q *query, resp *callvet.Response) error {
	if at(root, "output").Len() > 0 || len(d.items) == 0 {
		return d.wire.read(root, q, resp)
	}
	// Some servers send the items only in increments.
	var list value.Doc
	if err := list.Parse(append(append([]byte{'['}, d.items[:len(d.items)-1]...), ']')); err != nil {
		return err
	}
	return d.wire.fill(root, list.Root(), resp)
}
