// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package evidence

import (
	"context"
	"errors"
	"maps"
	"slices"
)

// form is a form of answer in a recording or from an agent.
type form struct {
	name string
	body func(reply) any
	// reasons: the form has a place for a finish reason. thoughts: it has one for
	// reasoning. unknown: it has no place for calls.
	reasons, thoughts, unknown bool
	// has leaves out cells that the form cannot express; nil: none.
	has func(*cell) bool
}

// cells returns the cells that a form can express.
func (f *form) cells() []cell {
	all := silent()
	if f.reasons {
		all = matrix()
	}
	return slices.DeleteFunc(all, func(k cell) bool {
		return k.content == reasoning && !f.thoughts || k.content == aCall && f.unknown || f.has != nil && !f.has(&k)
	})
}

func bodyOf(of func(reply) object) func(reply) any { return func(r reply) any { return of(r) } }

// plainCall is a call as a name and arguments.
func plainCalls(r reply) list {
	out := list{}
	if r.call {
		out = append(out, object{"name": theTool, "arguments": arguments()})
	}
	return out
}

// langChain is a message of LangChain, with the finish reason in its metadata.
func langChain(r reply) object {
	m := object{
		"type": "ai", "content": r.text, "tool_calls": list{},
		"response_metadata": r.ended(object{"model_name": "m"}, "finish_reason"),
	}
	if r.call {
		m["tool_calls"] = list{object{"name": theTool, "args": arguments(), "id": "call_1", "type": "tool_call"}}
	}
	return m
}

// step is a step of the AI SDK.
func step(r reply) object {
	content := list{}
	if r.thought != "" {
		content = append(content, object{"type": "reasoning", "text": r.thought})
	}
	if r.text != "" {
		content = append(content, object{"type": "text", "text": r.text})
	}
	calls := list{}
	if r.call {
		call := object{"type": "tool-call", "toolCallId": "call_1", "toolName": theTool, "input": arguments()}
		content, calls = append(content, call), append(calls, call)
	}
	return r.ended(object{"text": r.text, "content": content, "toolCalls": calls, "toolResults": list{}},
		"finishReason")
}

func answerForms() []form {
	return []form{
		{name: "chat completion", body: bodyOf(chatBody), reasons: true, thoughts: true},
		{
			name: "response", body: bodyOf(responseBody), reasons: true, thoughts: true,
			has: func(k *cell) bool { return responsesStatus(k) && k.stop != "failed" },
		},
		{name: "message", body: bodyOf(messageBody), reasons: true, thoughts: true},
		{name: "candidate", body: bodyOf(geminiBody), reasons: true, thoughts: true},
		{name: "Converse", reasons: true, body: func(r reply) any {
			content := list{}
			if r.text != "" {
				content = append(content, object{"text": r.text})
			}
			if r.call {
				content = append(content,
					object{"toolUse": object{"toolUseId": "t1", "name": theTool, "input": arguments()}})
			}
			return r.ended(object{
				"output": object{"message": object{"role": "assistant", "content": content}},
				"usage":  object{"inputTokens": 12, "outputTokens": 5},
			}, "stopReason")
		}},
		{name: "steps", reasons: true, thoughts: true, body: func(r reply) any {
			return r.ended(object{"text": r.text, "steps": list{step(r)}}, "finishReason")
		}},
		{name: "messages of LangChain", reasons: true, body: func(r reply) any {
			return object{"messages": list{object{"type": "human", "content": question}, langChain(r)}}
		}},
		{name: "text and calls", reasons: true, body: func(r reply) any {
			return r.ended(object{"text": r.text, "calls": plainCalls(r)}, "finish_reason")
		}},
		{name: "messages", thoughts: true, body: func(r reply) any {
			return object{"messages": list{object{"role": "user", "content": question}, chatMessage(r)}}
		}},
		{name: "executor", body: func(r reply) any {
			steps := list{}
			if r.call {
				steps = append(steps, list{object{"tool": theTool, "tool_input": arguments(), "log": ""}, nil})
			}
			return object{"output": r.text, "intermediate_steps": steps}
		}},
		{
			name: "items of a run", has: func(k *cell) bool { return k.content == words || k.content == aCall },
			body: func(r reply) any {
				item := object{
					"type": "message_output_item",
					"rawItem": object{
						"type": "message", "role": "assistant", "status": "completed",
						"content": list{object{"type": "output_text", "text": r.text}},
					},
				}
				if r.call {
					item = object{
						"type": "tool_call_item",
						"rawItem": object{
							"type": "function_call", "callId": "call_1", "name": theTool,
							"arguments": argumentsText(),
						},
					}
				}
				return object{"newItems": list{item}}
			},
		},
	}
}

// recordedForms are forms that only a recording has.
func recordedForms() []form {
	return []form{
		{name: "row of promptfoo", reasons: true, body: func(r reply) any {
			out := any(r.text)
			if r.call {
				out = list{chatCall()}
			}
			return object{"promptIdx": 0, "testIdx": 0, "response": r.ended(object{"output": out}, "finishReason")}
		}},
		{name: "row of a batch", reasons: true, thoughts: true, body: func(r reply) any {
			return object{"response": object{"status_code": 200, "body": chatBody(r)}}
		}},
	}
}

// rowOf is a body as a row of a recording.
func rowOf(id string, body any) any {
	row, _ := body.(object)
	out := object{}
	maps.Copy(out, row)
	if row["promptIdx"] != nil {
		out["metadata"] = object{"case_id": id}
	} else {
		out["case_id"] = id
	}
	return out
}

// heldRow is a row that contains a body.
func heldRow(id string, body any) any { return object{"case_id": id, "output": body} }

// recorded returns callvet's reading of a recording, by the ids of its rows.
func (c *checker) recorded(ctx context.Context, ids []string, row func(i int) any) (map[string]*seen, error) {
	var rows []any
	for i := range ids {
		rows = append(rows, row(i))
	}
	if err := c.write("suite.json", suite(ids)); err != nil {
		return nil, err
	}
	if err := c.lines("recorded.jsonl", rows); err != nil {
		return nil, err
	}
	return c.evaluated(ctx, "suite.json", "recorded:recorded.jsonl")
}

// overRecordings reads a recording in each form, of all its cells: bodies as rows, and rows that
// contain bodies.
func overRecordings(ctx context.Context, c *checker) error {
	over := func(f *form, how string, row func(string, any) any) error {
		cells := f.cells()
		all, err := c.recorded(ctx, idsOf(cells), func(i int) any { return row(cells[i].id, f.body(cells[i].reply())) })
		for i := range cells {
			c.is(f.name+how+": "+cells[i].String(), all[cells[i].id], cells[i].right(false))
		}
		return err
	}
	text := form{
		name: "text", has: func(k *cell) bool { return k.content != aCall },
		body: func(r reply) any { return r.text },
	}
	err := over(&text, "", heldRow)
	for _, f := range recordedForms() {
		err = errors.Join(err, over(&f, "", rowOf))
	}
	for _, f := range answerForms() {
		err = errors.Join(err, over(&f, "", rowOf))
		if f.name != "executor" { // its text is under the name of the row's own output
			err = errors.Join(err, over(&f, ", held", heldRow))
		}
	}
	return err
}
