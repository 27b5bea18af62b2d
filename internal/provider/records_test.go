// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package provider

import (
	"bytes"
	"errors"
	"net/http"
	"os"
	"strings"
	"testing"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/mutate"
)

// made is in every call of the answers below and nowhere else in them.
const made = "Reykjavik"

// answers are an answer of each wire with a text and a call; of a stream, its events.
func answers() map[string][]string {
	return map[string][]string{
		"vllm/m":             {`{"id":"1","model":"m","choices":[{"index":0,"finish_reason":"tool_calls","message":{"role":"assistant","content":"I look.","tool_calls":[{"id":"c1","type":"function","function":{"name":"get_weather","arguments":"{\"city\":\"Reykjavik\"}"}}]}}],"usage":{"prompt_tokens":9,"completion_tokens":4,"total_tokens":13}}`},
		"vllm/old":           {`{"id":"1","model":"m","choices":[{"index":0,"finish_reason":"function_call","message":{"role":"assistant","content":"I look.","function_call":{"name":"get_weather","arguments":"{\"city\":\"Reykjavik\"}"}}}],"usage":{"prompt_tokens":9,"completion_tokens":4}}`},
		"vllm/custom":        {`{"id":"1","model":"m","choices":[{"index":0,"finish_reason":"stop","message":{"role":"assistant","content":"I look.","tool_calls":[{"id":"c1","type":"custom","custom":{"name":"get_weather","input":"Reykjavik"}}]}}]}`},
		"openai-responses/m": {`{"id":"r","model":"m","status":"completed","output":[{"type":"reasoning","summary":[{"type":"summary_text","text":"Hm."}]},{"type":"message","role":"assistant","content":[{"type":"output_text","text":"I look."}]},{"type":"function_call","id":"f","call_id":"c1","name":"get_weather","arguments":"{\"city\":\"Reykjavik\"}"}],"usage":{"input_tokens":9,"output_tokens":4,"total_tokens":13}}`},
		"anthropic/m":        {`{"id":"m","type":"message","role":"assistant","model":"m","stop_reason":"tool_use","content":[{"type":"text","text":"I look."},{"type":"tool_use","id":"c1","name":"get_weather","input":{"city":"Reykjavik"}}],"usage":{"input_tokens":9,"output_tokens":4}}`},
		"gemini/m":           {`{"candidates":[{"content":{"role":"model","parts":[{"text":"I look."},{"functionCall":{"name":"get_weather","args":{"city":"Reykjavik"}}}]},"finishReason":"STOP"}],"usageMetadata":{"promptTokenCount":9,"candidatesTokenCount":4,"totalTokenCount":13},"modelVersion":"m"}`},
		"ollama/m":           {`{"model":"m","message":{"role":"assistant","content":"I look.","tool_calls":[{"id":"c1","function":{"name":"get_weather","arguments":{"city":"Reykjavik"}}}]},"done":true,"done_reason":"stop","prompt_eval_count":9,"eval_count":4}`},
		"vllm/m stream": {
			`{"id":"1","model":"m","choices":[{"index":0,"delta":{"role":"assistant","content":"I look."}}]}`,
			`{"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"c1","type":"function","function":{"name":"get_weather","arguments":"{\"city\":"}}]}}]}`,
			`{"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":"\"Reykjavik\"}"}}]}}]}`,
			`{"choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"}]}`,
			`{"choices":[],"usage":{"prompt_tokens":9,"completion_tokens":4,"total_tokens":13}}`,
		},
		"openai-responses/m stream": {
			`{"type":"response.created","response":{"id":"r","status":"in_progress"}}`,
			`{"type":"response.output_text.delta","output_index":0,"delta":"I look."}`,
			`{"type":"response.output_item.done","output_index":0,"item":{"type":"message","content":[{"type":"output_text","text":"I look."}]}}`,
			`{"type":"response.output_item.added","output_index":1,"item":{"type":"function_call","call_id":"c1","name":"get_weather","arguments":""}}`,
			`{"type":"response.function_call_arguments.delta","output_index":1,"delta":"{\"city\":\"Reykjavik\"}"}`,
			`{"type":"response.output_item.done","output_index":1,"item":{"type":"function_call","call_id":"c1","name":"get_weather","arguments":"{\"city\":\"Reykjavik\"}"}}`,
			`{"type":"response.completed","response":{"id":"r","model":"m","status":"completed","output":[{"type":"message","content":[{"type":"output_text","text":"I look."}]},{"type":"function_call","call_id":"c1","name":"get_weather","arguments":"{\"city\":\"Reykjavik\"}"}],"usage":{"input_tokens":9,"output_tokens":4}}}`,
		},
		"anthropic/m stream": {
			`{"type":"message_start","message":{"id":"m","model":"m","role":"assistant","content":[],"usage":{"input_tokens":9,"output_tokens":1}}}`,
			`{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}`,
			`{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"I look."}}`,
			`{"type":"content_block_stop","index":0}`,
			`{"type":"content_block_start","index":1,"content_block":{"type":"tool_use","id":"c1","name":"get_weather","input":{}}}`,
			`{"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":"{\"city\":\"Reykjavik\"}"}}`,
			`{"type":"content_block_stop","index":1}`,
			`{"type":"message_delta","delta":{"stop_reason":"tool_use"},"usage":{"output_tokens":4}}`,
			`{"type":"message_stop"}`,
		},
		"gemini/m stream": {
			`{"candidates":[{"content":{"role":"model","parts":[{"text":"I look."}]}}],"modelVersion":"m"}`,
			`{"candidates":[{"content":{"role":"model","parts":[{"functionCall":{"name":"get_weather","args":{"city":"Reykjavik"}}}]}}]}`,
			`{"candidates":[{"content":{"role":"model","parts":[]},"finishReason":"STOP"}],"usageMetadata":{"promptTokenCount":9,"candidatesTokenCount":4,"totalTokenCount":13}}`,
		},
		"ollama/m stream": {
			`{"model":"m","message":{"role":"assistant","content":"I look."},"done":false}`,
			`{"model":"m","message":{"role":"assistant","content":"","tool_calls":[{"id":"c1","function":{"name":"get_weather","arguments":{"city":"Reykjavik"}}}]},"done":false}`,
			`{"model":"m","message":{"role":"assistant","content":""},"done":true,"done_reason":"stop","prompt_eval_count":9,"eval_count":4}`,
		},
	}
}

// TestBadRecords leaves out and replaces every member of every answer: nothing panics, and an
// answer with a call in it is no abstention.
func TestBadRecords(t *testing.T) {
	t.Parallel()
	count := mutate.Count(os.Getenv, 250)
	for name, events := range answers() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			spec, stream := strings.CutSuffix(name, " stream")
			whole := outcomeOf(t, spec, stream, events)
			if whole != callvet.OutcomeCalled {
				t.Fatalf("unchanged it is %s", whole)
			}
			for i, event := range events {
				for c := range mutate.Some([]byte(event), count/len(events), mutate.Huge(count), uint64(i)) {
					changed := append([]string(nil), events...)
					changed[i] = string(c.Text)
					if got := outcomeOf(t, spec, stream, changed); got == callvet.OutcomeAbstained &&
						strings.Contains(strings.Join(changed, " "), made) {
						t.Errorf("event %d, %s: %s", i, c.String(), got)
					}
				}
			}
		})
	}
}

// outcomeOf is the outcome of an attempt with one answer.
func outcomeOf(t *testing.T, spec string, stream bool, events []string) callvet.Outcome {
	t.Helper()
	b := body{typ: "application/json", status: http.StatusOK, bytes: []byte(strings.Join(events, "\n"))}
	switch {
	case stream && strings.HasPrefix(spec, "ollama/"):
		b.typ = "application/x-ndjson"
	case stream:
		var text bytes.Buffer
		for _, e := range events {
			text.WriteString("data: " + e + "\n\n")
		}
		if strings.HasPrefix(spec, "vllm/") {
			text.WriteString("data: [DONE]\n\n")
		}
		b.typ, b.bytes = "text/event-stream", text.Bytes()
	}
	m, _ := mustOpen(t, spec, Config{APIKey: "secret-key-123", Stream: stream, HTTPClient: &http.Client{Transport: b}})
	trace := callvet.Trace{}
	resp, err := m.Generate(t.Context(),
		&callvet.Request{Turns: []callvet.Turn{{Role: callvet.RoleUser, Content: "?"}}, Tools: weatherTools()})
	if err != nil {
		if !errors.As(err, &trace.Fault) {
			t.Fatalf("%v is no fault", err)
		}
		return callvet.OutcomeError
	}
	why, fault := resp.Ending()
	trace.Turns, trace.FinishReason, trace.Fault = resp.Turns, resp.FinishReason, fault
	trace.Classify(why)
	return trace.Outcome
}

// TestEmptyCustomCall: some servers write an empty call of a custom tool next to each function.
func TestEmptyCustomCall(t *testing.T) {
	t.Parallel()
	f := replies(t, `{"choices":[{"finish_reason":"tool_calls","message":{"role":"assistant","tool_calls":[
		{"id":"1","type":"function","custom":{"input":"","name":""},"function":{"name":"get_weather","arguments":"{}"}}]}}]}`)
	m, _ := mustOpen(t, "openai/gpt-4.1", Config{BaseURL: f.URL})
	resp := ask(t, m, &callvet.Request{Tools: weatherTools()})
	if calls := resp.Turns[0].Calls; len(calls) != 1 || calls[0].Tool != "get_weather" || calls[0].Malformed() {
		t.Errorf("%+v", calls)
	}
}
