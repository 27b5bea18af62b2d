// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package evidence

import (
	"context"
	"path/filepath"
)

// answers finds the cell that the request names, and prints its answer.
const answers = `id=$(grep -o 'cell-[0-9][0-9][0-9][0-9]' | tail -n 1)
cat "answers/$id.json"
`

// textForms are answers of agents without a place for calls: a text shows the answer, but not that
// nothing was called.
func textForms() []form {
	return []form{
		{
			name: "text alone", unknown: true, reasons: true,
			body: func(r reply) any { return r.ended(object{"text": r.text}, "finish_reason") },
		},
		{name: "response and statistics", unknown: true, body: func(r reply) any {
			return object{"session_id": "s", "response": r.text, "stats": object{"tools": object{"totalCalls": 2}}}
		}},
		{name: "message of an agent", unknown: true, body: func(r reply) any {
			return object{
				"jsonrpc": "2.0", "id": "1",
				"result": object{"message": object{
					"messageId": "m", "role": "ROLE_AGENT",
					"parts": list{object{"text": r.text}},
				}},
			}
		}},
	}
}

// streamed returns the events of the AI SDK's UI message stream.
func uiEvents(r reply) []any {
	out := []any{object{"type": "start"}, object{"type": "start-step"}}
	if r.thought != "" {
		out = append(out, object{"type": "reasoning-start", "id": "r"},
			object{"type": "reasoning-delta", "id": "r", "delta": r.thought},
			object{"type": "reasoning-end", "id": "r"})
	}
	if r.text != "" {
		out = append(out, object{"type": "text-start", "id": "t"})
		for _, half := range halves(r.text) {
			out = append(out, object{"type": "text-delta", "id": "t", "delta": half})
		}
		out = append(out, object{"type": "text-end", "id": "t"})
	}
	if r.call {
		out = append(out,
			object{"type": "tool-input-available", "toolCallId": "call_1", "toolName": theTool, "input": arguments()})
	}
	return append(out, object{"type": "finish-step"}, r.ended(object{"type": "finish"}, "finishReason"))
}

// overAgents sends requests to an agent over HTTP and to an agent command, in each form.
func overAgents(ctx context.Context, c *checker) error {
	for _, f := range append(answerForms(), textForms()...) {
		cells := f.cells()
		bodies := map[string]string{}
		for i := range cells {
			id := cells[i].id
			bodies[id] = inJSON(f.body(cells[i].reply()))
			if err := c.write(filepath.Join("answers", id+".json"), bodies[id]); err != nil {
				return err
			}
		}
		if err := c.write("suite.json", suite(idsOf(cells))); err != nil {
			return err
		}
		if err := c.write("answer.sh", answers); err != nil {
			return err
		}
		srv := server(func(id string, _ bool) (string, string) { return "application/json", bodies[id] })
		for _, target := range []string{srv.URL + "/agent", "exec:sh answer.sh"} {
			how := map[bool]string{true: "HTTP", false: "command"}[target != "exec:sh answer.sh"]
			all, err := c.evaluated(ctx, "suite.json", target)
			if err != nil {
				srv.Close()
				return err
			}
			for i := range cells {
				k := &cells[i]
				right := []end{k.right(false)}
				if f.unknown && right[0].outcome == byItself.outcome {
					right = nil
				}
				if f.unknown {
					right = append(right, fault("malformed"), notKnown)
				}
				c.is(how+", "+f.name+": "+k.String(), all[k.id], right...)
			}
		}
		srv.Close()
	}
	return overStreams(ctx, c)
}

// overStreams sends requests to an agent that streams.
func overStreams(ctx context.Context, c *checker) error {
	cells := matrix()
	replies := map[string]reply{}
	for i := range cells {
		replies[cells[i].id] = cells[i].reply()
	}
	if err := c.write("suite.json", suite(idsOf(cells))); err != nil {
		return err
	}
	framed := dataLines("data: [DONE]\n\n")
	srv := server(func(id string, _ bool) (string, string) {
		return "text/event-stream",
			framed(uiEvents(replies[id]))
	})
	defer srv.Close()
	all, err := c.evaluated(ctx, "suite.json", srv.URL+"/agent", "--agent", "preset=ai-sdk")
	if err != nil {
		return err
	}
	for i := range cells {
		k := &cells[i]
		right := []end{k.right(true)}
		if k.is == notRecorded { // the last event of the stream need not have a reason
			right = append(right, k.right(false))
		}
		c.is("stream of the AI SDK: "+k.String(), all[k.id], right...)
	}
	return nil
}
