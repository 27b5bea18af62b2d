// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
)

// scriptedModel serves the model behind every agent: Chat Completions, Responses and the
// Messages API, in one piece or streamed. It calls two tools at once, then a third, then
// it answers. The results in a request show the progress of a task, since some agents put the
// calls of all rounds into one message.
func scriptedModel() *httptest.Server {
	var n atomic.Int64
	return httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var body struct {
			Model    string
			Stream   bool
			Messages []scriptedItem
			Input    json.RawMessage
		}
		if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		var input []scriptedItem
		if json.Unmarshal(body.Input, &input) != nil {
			input = nil // a text
		}
		a := scriptedAnswer{id: n.Add(1), model: body.Model}
		a.reach(append(body.Messages, input...))
		events := a.responses
		switch {
		case strings.HasSuffix(r.URL.Path, "/messages"):
			writeJSON(w, a.message())
			return
		case strings.HasSuffix(r.URL.Path, "/responses") && !body.Stream:
			writeJSON(w, a.response())
			return
		case !strings.HasSuffix(r.URL.Path, "/responses") && !body.Stream:
			writeJSON(w, a.completion())
			return
		case !strings.HasSuffix(r.URL.Path, "/responses"):
			events = a.chunks
		}
		w.Header().Set("Content-Type", "text/event-stream")
		for _, e := range events() {
			fmt.Fprintf(w, "data: %s\n\n", e)
		}
	}))
}

// members is a JSON object that is written.
type members = map[string]any

func writeJSON(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	if err := json.NewEncoder(w).Encode(v); err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
	}
}

// scriptedItem is a message or an item of a request: only its results are read.
type scriptedItem struct {
	Role, Type string
	Content    json.RawMessage
}

type scriptedCall struct{ id, name, args string }

// scriptedAnswer is one answer of the model.
type scriptedAnswer struct {
	id          int64
	model, text string
	calls       []scriptedCall
}

// reach sets the next answer.
func (a *scriptedAnswer) reach(items []scriptedItem) {
	results := 0
	for _, it := range items {
		var parts []scriptedItem
		if json.Unmarshal(it.Content, &parts) != nil {
			parts = nil
		}
		for _, p := range append(parts, it) {
			if p.Role == "tool" || p.Type == "function_call_output" || p.Type == "tool_result" {
				results++
			}
		}
	}
	list := scriptedCalls()
	switch {
	case results == 0:
		list = list[:2]
	case results < 3:
		list = list[2:]
	default:
		list, a.text = nil, scriptedText+" because the seat is taken."
	}
	for i, c := range list {
		name, args, _ := strings.Cut(c, " ")
		a.calls = append(a.calls, scriptedCall{fmt.Sprintf("call_%d_%d", a.id, i), name, args})
	}
}

func (a *scriptedAnswer) completion() members {
	message, reason := members{"role": "assistant", "content": a.text, "refusal": nil, "annotations": []any{}}, "stop"
	if list := a.toolCalls(); len(list) > 0 {
		message["content"], message["tool_calls"], reason = nil, list, "tool_calls"
	}
	return members{
		"id": fmt.Sprintf("chatcmpl-%d", a.id), "object": "chat.completion", "created": 1760000000, "model": a.model,
		"usage":   chatUsage(),
		"choices": []any{members{"index": 0, "message": message, "logprobs": nil, "finish_reason": reason}},
	}
}

func (a *scriptedAnswer) toolCalls() []members {
	var out []members
	for i, c := range a.calls {
		out = append(out, members{
			"index": i, "id": c.id, "type": "function",
			"function": members{"name": c.name, "arguments": c.args},
		})
	}
	return out
}

// The usage of one request in the names of each API: 120 and 30 tokens, 64 of them cached and 12
// of reasoning.
func chatUsage() members {
	return members{
		"prompt_tokens": 120, "completion_tokens": 30, "total_tokens": 150,
		"prompt_tokens_details":     members{"cached_tokens": 64},
		"completion_tokens_details": members{"reasoning_tokens": 12},
	}
}

func (a *scriptedAnswer) chunks() []string {
	chunk := func(delta members, reason any, usage any) string {
		v := members{
			"id": fmt.Sprintf("chatcmpl-%d", a.id), "object": "chat.completion.chunk", "created": 1760000000,
			"model": a.model, "choices": []any{},
		}
		if usage != nil {
			v["usage"] = usage
		} else {
			v["choices"] = []any{members{"index": 0, "delta": delta, "finish_reason": reason}}
		}
		return written(v)
	}
	reason := "stop"
	out := []string{chunk(members{"role": "assistant", "content": a.text}, nil, nil)}
	for _, c := range a.toolCalls() {
		reason = "tool_calls"
		out = append(out, chunk(members{"tool_calls": []any{c}}, nil, nil))
	}
	return append(out, chunk(members{}, reason, nil), chunk(nil, nil, chatUsage()), "[DONE]")
}

func written(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err) // objects of texts and numbers only
	}
	return string(b)
}

func (a *scriptedAnswer) items() []members {
	var out []members
	if a.text != "" {
		content := []any{members{"type": "output_text", "text": a.text, "annotations": []any{}}}
		out = append(out, members{
			"id": fmt.Sprintf("msg_%d", a.id), "type": "message", "status": "completed",
			"role": "assistant", "content": content,
		})
	}
	for _, c := range a.calls {
		out = append(out, members{
			"id": "fc_" + c.id, "type": "function_call", "status": "completed", "call_id": c.id,
			"name": c.name, "arguments": c.args,
		})
	}
	return out
}

func (a *scriptedAnswer) response() members {
	return members{
		"id": fmt.Sprintf("resp_%d", a.id), "object": "response", "created_at": 1760000000, "status": "completed",
		"error": nil, "incomplete_details": nil,
		"instructions": nil, "max_output_tokens": nil, "model": a.model, "output": a.items(),
		"parallel_tool_calls": true, "previous_response_id": nil,
		"reasoning": members{"effort": nil, "summary": nil}, "store": true, "temperature": 1,
		"text": members{"format": members{"type": "text"}}, "tool_choice": "auto",
		"tools": []any{}, "top_p": 1, "truncation": "disabled", "user": nil, "metadata": members{}, "usage": members{
			"input_tokens": 120, "input_tokens_details": members{"cached_tokens": 64},
			"output_tokens": 30, "output_tokens_details": members{"reasoning_tokens": 12}, "total_tokens": 150,
		},
	}
}

func (a *scriptedAnswer) responses() []string {
	var out []string
	add := func(kind string, more members) {
		more["type"], more["sequence_number"] = kind, len(out)
		out = append(out, written(more))
	}
	begun := a.response()
	begun["status"], begun["output"], begun["usage"] = "in_progress", []any{}, nil
	add("response.created", members{"response": begun})
	for i, it := range a.items() {
		id, empty := it["id"], members{}
		for k, v := range it {
			empty[k] = v
		}
		empty["status"] = "in_progress"
		if it["type"] == "message" {
			part := members{"type": "output_text", "text": a.text, "annotations": []any{}}
			empty["content"] = []any{}
			add("response.output_item.added", members{"output_index": i, "item": empty})
			add("response.content_part.added",
				members{
					"item_id": id, "output_index": i, "content_index": 0,
					"part": members{"type": "output_text", "text": "", "annotations": []any{}},
				})
			add("response.output_text.delta",
				members{"item_id": id, "output_index": i, "content_index": 0, "delta": a.text})
			add("response.output_text.done",
				members{"item_id": id, "output_index": i, "content_index": 0, "text": a.text})
			add("response.content_part.done",
				members{"item_id": id, "output_index": i, "content_index": 0, "part": part})
		} else {
			empty["arguments"] = ""
			add("response.output_item.added", members{"output_index": i, "item": empty})
			add("response.function_call_arguments.delta",
				members{"item_id": id, "output_index": i, "delta": it["arguments"]})
			add("response.function_call_arguments.done",
				members{"item_id": id, "output_index": i, "arguments": it["arguments"]})
		}
		add("response.output_item.done", members{"output_index": i, "item": it})
	}
	add("response.completed", members{"response": a.response()})
	return out
}

func (a *scriptedAnswer) message() members {
	content, reason := []any{}, "end_turn"
	if a.text != "" {
		content = append(content, members{"type": "text", "text": a.text})
	}
	for _, c := range a.calls {
		content, reason = append(content,
			members{"type": "tool_use", "id": c.id, "name": c.name, "input": json.RawMessage(c.args)}), "tool_use"
	}
	return members{
		"id": fmt.Sprintf("msg_%d", a.id), "type": "message", "role": "assistant", "model": a.model, "content": content,
		"stop_reason": reason, "stop_sequence": nil,
		"usage": members{
			"input_tokens": 56, "cache_read_input_tokens": 64, "cache_creation_input_tokens": 0,
			"output_tokens": 30,
		},
	}
}
