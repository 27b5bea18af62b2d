// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package evidence

import "encoding/json"

// reply is the answer of a model, in no provider's form.
type reply struct {
	text, thought string
	call          bool
	stop          string
	absent, null  bool
}

func (c *cell) reply() reply {
	r := reply{stop: c.stop, absent: c.absent, null: c.null}
	switch c.content {
	case words:
		r.text = answerText
	case reasoning:
		r.thought = answerThought
	case aCall:
		r.call = true
	}
	return r
}

// ended is an object with the finish reason under a name.
func (r *reply) ended(o object, key string) object {
	switch {
	case r.absent:
	case r.null:
		o[key] = nil
	default:
		o[key] = r.stop
	}
	return o
}

// orNull is a text, or null for none.
func orNull(s string) any {
	if s == "" {
		return nil
	}
	return s
}

func arguments() object { return object{"city": theCity} }

func argumentsText() string {
	b, _ := json.Marshal(arguments()) // of strings
	return string(b)
}

func chatCall() object {
	return object{
		"index": 0, "id": "call_1", "type": "function",
		"function": object{"name": theTool, "arguments": argumentsText()},
	}
}

// chatMessage is a message of chat completions.
func chatMessage(r reply) object {
	m := object{"role": "assistant", "content": orNull(r.text)}
	if r.thought != "" {
		m["reasoning_content"] = r.thought
	}
	if r.call {
		m["tool_calls"] = list{chatCall()}
	}
	return m
}

var chatUsage = object{"prompt_tokens": 12, "completion_tokens": 5, "total_tokens": 17}

func chatBody(r reply) object {
	return object{
		"id": "c", "object": "chat.completion", "model": "m",
		"choices": list{r.ended(object{"index": 0, "message": chatMessage(r)}, "finish_reason")}, "usage": chatUsage,
	}
}

func chatChunks(r reply) []any {
	chunk := func(delta object) object {
		return object{
			"id": "c", "object": "chat.completion.chunk", "model": "m",
			"choices": list{object{"index": 0, "delta": delta}},
		}
	}
	out := []any{chunk(object{"role": "assistant"})}
	if r.thought != "" {
		out = append(out, chunk(object{"reasoning_content": r.thought}))
	}
	for _, half := range halves(r.text) {
		out = append(out, chunk(object{"content": half}))
	}
	if r.call {
		out = append(out, chunk(object{"tool_calls": list{chatCall()}}))
	}
	last := object{
		"id": "c", "model": "m",
		"choices": list{r.ended(object{"index": 0, "delta": object{}}, "finish_reason")},
	}
	return append(out, last, object{"id": "c", "model": "m", "choices": list{}, "usage": chatUsage})
}

// halves cuts a text into two parts, for more than one event of a stream.
func halves(s string) []string {
	if s == "" {
		return nil
	}
	runes := []rune(s)
	return []string{string(runes[:len(runes)/2]), string(runes[len(runes)/2:])}
}

// blocks are the content of Anthropic's messages.
func blocks(r reply) list {
	out := list{}
	if r.thought != "" {
		out = append(out, object{"type": "thinking", "thinking": r.thought, "signature": "s"})
	}
	if r.text != "" {
		out = append(out, object{"type": "text", "text": r.text})
	}
	if r.call {
		out = append(out, object{"type": "tool_use", "id": "toolu_1", "name": theTool, "input": arguments()})
	}
	return out
}

func messageBody(r reply) object {
	m := object{
		"id": "m", "type": "message", "role": "assistant", "model": "m", "content": blocks(r),
		"usage": object{"input_tokens": 12, "output_tokens": 5},
	}
	return r.ended(m, "stop_reason")
}

func messageEvents(r reply) []any {
	out := []any{object{"type": "message_start", "message": object{
		"id": "m", "type": "message", "role": "assistant", "model": "m", "content": list{}, "stop_reason": nil,
		"usage": object{"input_tokens": 12, "output_tokens": 1},
	}}}
	for i, b := range blocks(r) {
		block := b.(object)
		start, deltas := object{"type": block["type"]}, []object{}
		switch block["type"] {
		case "thinking":
			start["thinking"] = ""
			deltas = append(deltas, object{"type": "thinking_delta", "thinking": r.thought},
				object{"type": "signature_delta", "signature": "s"})
		case "text":
			start["text"] = ""
			for _, half := range halves(r.text) {
				deltas = append(deltas, object{"type": "text_delta", "text": half})
			}
		default:
			start["id"], start["name"], start["input"] = block["id"], block["name"], object{}
			deltas = append(deltas, object{"type": "input_json_delta", "partial_json": argumentsText()})
		}
		out = append(out, object{"type": "content_block_start", "index": i, "content_block": start})
		for _, d := range deltas {
			out = append(out, object{"type": "content_block_delta", "index": i, "delta": d})
		}
		out = append(out, object{"type": "content_block_stop", "index": i})
	}
	return append(out, object{
		"type": "message_delta", "delta": r.ended(object{}, "stop_reason"),
		"usage": object{"output_tokens": 5},
	}, object{"type": "message_stop"})
}

// parts are the parts of Gemini's content.
func parts(r reply) list {
	out := list{}
	if r.thought != "" {
		out = append(out, object{"text": r.thought, "thought": true})
	}
	if r.text != "" {
		out = append(out, object{"text": r.text})
	}
	if r.call {
		out = append(out, object{"functionCall": object{"name": theTool, "args": arguments()}})
	}
	return out
}

func geminiBody(r reply) object {
	c := object{"content": object{"role": "model", "parts": parts(r)}, "index": 0}
	return object{
		"candidates":    list{r.ended(c, "finishReason")},
		"usageMetadata": object{"promptTokenCount": 12, "candidatesTokenCount": 5, "totalTokenCount": 17},
		"modelVersion":  "m",
	}
}

func geminiChunks(r reply) []any {
	var out []any
	for _, p := range parts(r) {
		out = append(out,
			object{"candidates": list{object{"content": object{"role": "model", "parts": list{p}}, "index": 0}}})
	}
	last := geminiBody(reply{stop: r.stop, absent: r.absent, null: r.null})
	return append(out, last)
}

func ollamaMessage(r reply) object {
	m := object{"role": "assistant", "content": r.text}
	if r.thought != "" {
		m["thinking"] = r.thought
	}
	if r.call {
		m["tool_calls"] = list{object{"function": object{"name": theTool, "arguments": arguments()}}}
	}
	return m
}

func ollamaBody(r reply) object {
	return r.ended(object{
		"model": "m", "message": ollamaMessage(r), "done": true, "prompt_eval_count": 12,
		"eval_count": 5,
	}, "done_reason")
}

func ollamaChunks(r reply) []any {
	first := object{"model": "m", "message": ollamaMessage(r), "done": false}
	return []any{first, ollamaBody(reply{stop: r.stop, absent: r.absent, null: r.null})}
}

// items are the output of the Responses API.
func items(r reply) list {
	out := list{}
	if r.thought != "" {
		out = append(out, object{
			"type": "reasoning", "id": "rs_1",
			"summary": list{object{"type": "summary_text", "text": r.thought}},
		})
	}
	if r.text != "" {
		out = append(out, object{
			"type": "message", "id": "msg_1", "role": "assistant",
			"content": list{object{"type": "output_text", "text": r.text, "annotations": list{}}},
		})
	}
	if r.call {
		out = append(out, object{
			"type": "function_call", "id": "fc_1", "call_id": "call_1", "name": theTool,
			"arguments": argumentsText(), "status": "completed",
		})
	}
	return out
}

// inDetails are the finish reasons that the Responses API reports as the reason of an incomplete
// answer.
var inDetails = map[string]bool{"max_output_tokens": true, "content_filter": true}

// responseBody has the finish reason in the place of the Responses API: in its status, or as the
// reason why it is incomplete.
func responseBody(r reply) object {
	o := object{
		"id": "resp_1", "object": "response", "model": "m", "output": items(r),
		"usage": object{"input_tokens": 12, "output_tokens": 5, "total_tokens": 17},
	}
	if !r.absent && inDetails[r.stop] {
		o["status"], o["incomplete_details"] = "incomplete", object{"reason": r.stop}
		return o
	}
	if r.stop == "failed" {
		o["output"], o["error"] = list{}, object{"code": "server_error", "message": "it broke"}
	}
	return r.ended(o, "status")
}

// responsesStatus reports whether the Responses API has a finish reason.
func responsesStatus(c *cell) bool {
	switch c.stop {
	case "failed":
		return c.content == empty
	case "completed", "incomplete", "cancelled", "in_progress", "":
		return true
	}
	return inDetails[c.stop]
}

func responseEvents(r reply) []any {
	body := responseBody(r)
	out := []any{object{
		"type": "response.created",
		"response": object{
			"id": "resp_1", "object": "response", "model": "m", "status": "in_progress",
			"output": list{},
		},
	}}
	for i, it := range items(r) {
		item := it.(object)
		out = append(out, object{"type": "response.output_item.added", "output_index": i, "item": item})
		if item["type"] == "message" {
			for _, half := range halves(r.text) {
				out = append(out, object{
					"type": "response.output_text.delta", "output_index": i, "content_index": 0,
					"item_id": "msg_1", "delta": half,
				})
			}
		}
		out = append(out, object{"type": "response.output_item.done", "output_index": i, "item": item})
	}
	switch status := body["status"]; status {
	case "completed", "incomplete", "failed":
		out = append(out, object{"type": "response." + status.(string), "response": body})
	}
	return out
}
