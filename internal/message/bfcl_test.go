// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package message

import (
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/mutate"
	"github.com/callvet/callvet/value"
)

// recordings have one call each, of which the arguments are nowhere else.
func recordings() map[string]string {
	const call = `{"id":"c1","type":"function","function":{"name":"get_weather","arguments":"{\"city\":\"Reykjavik\"}"}}`
	return map[string]string{
		"chat":        `{"case_id":"a","choices":[{"finish_reason":"tool_calls","message":{"role":"assistant","content":"I look.","tool_calls":[` + call + `]}}],"usage":{"prompt_tokens":9,"completion_tokens":4}}`,
		"envelope":    `{"custom_id":"a","response":{"status_code":200,"body":{"choices":[{"finish_reason":"tool_calls","message":{"role":"assistant","content":"I look.","tool_calls":[` + call + `]}}]}}}`,
		"old":         `{"case_id":"a","choices":[{"finish_reason":"stop","message":{"role":"assistant","content":"I look.","function_call":{"name":"get_weather","arguments":"{\"city\":\"Reykjavik\"}"}}}]}`,
		"custom":      `{"case_id":"a","choices":[{"finish_reason":"stop","message":{"role":"assistant","content":"I look.","tool_calls":[{"id":"c1","type":"custom","custom":{"name":"get_weather","input":"Reykjavik"}}]}}]}`,
		"responses":   `{"case_id":"a","status":"completed","output":[{"type":"message","content":[{"type":"output_text","text":"I look."}]},{"type":"function_call","call_id":"c1","name":"get_weather","arguments":"{\"city\":\"Reykjavik\"}"}]}`,
		"anthropic":   `{"case_id":"a","stop_reason":"tool_use","content":[{"type":"text","text":"I look."},{"type":"tool_use","id":"c1","name":"get_weather","input":{"city":"Reykjavik"}}]}`,
		"gemini":      `{"case_id":"a","candidates":[{"content":{"role":"model","parts":[{"text":"I look."},{"functionCall":{"name":"get_weather","args":{"city":"Reykjavik"}}}]},"finishReason":"STOP"}]}`,
		"messages":    `{"case_id":"a","messages":[{"role":"user","content":"Q"},{"role":"assistant","content":"I look.","tool_calls":[` + call + `]},{"role":"tool","tool_call_id":"c1","content":"cold"},{"role":"assistant","content":"Cold."}]}`,
		"plain":       `{"case_id":"a","text":"I look.","calls":[{"name":"get_weather","arguments":{"city":"Reykjavik"},"result":"cold"}]}`,
		"toolsCalled": `{"case_id":"a","output":"I look.","toolsCalled":[{"name":"get_weather","input":{"city":"Reykjavik"}}]}`,
		"promptfoo": `{"promptIdx":0,"testIdx":0,"response":{"output":{"content":"I look.","tool_calls":[` +
			call + `]}}}`,
		"ai-sdk":    `{"case_id":"a","text":"Cold.","steps":[{"text":"I look.","toolCalls":[{"toolCallId":"c1","toolName":"get_weather","input":{"city":"Reykjavik"}}],"toolResults":[{"toolCallId":"c1","toolName":"get_weather","output":"cold"}]}]}`,
		"executor":  `{"case_id":"a","output":"Cold.","intermediate_steps":[[{"tool":"get_weather","tool_input":{"city":"Reykjavik"},"log":""},"cold"]]}`,
		"run items": `{"case_id":"a","newItems":[{"type":"tool_call_item","rawItem":{"type":"function_call","callId":"c1","name":"get_weather","arguments":"{\"city\":\"Reykjavik\"}"}},{"type":"message_output_item","rawItem":{"type":"message","role":"assistant","content":[{"type":"output_text","text":"Cold."}]}}]}`,
		"trace":     `{"case_id":"a","target":"m","outcome":"called","turns":[{"role":"assistant","content":"I look.","calls":[{"id":"c1","tool":"get_weather","args":{"city":"Reykjavik"}}]}],"end":"called"}`,
		"a2a":       `{"jsonrpc":"2.0","id":"1","result":{"kind":"task","status":{"state":"completed"},"artifacts":[{"parts":[{"kind":"data","data":{"id":"1","name":"get_weather","args":{"city":"Reykjavik"}}},{"kind":"text","text":"Cold."}]}]}}`,
	}
}

// TestBadRecords leaves out and replaces every member of every recording: nothing panics, and a
// recording with a call in it is no abstention.
func TestBadRecords(t *testing.T) {
	t.Parallel()
	count := mutate.Count(os.Getenv, 400)
	for name, text := range recordings() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := outcomeOf(t, []byte(text)); got != callvet.OutcomeCalled {
				v, _ := value.Parse([]byte(text))
				_, err := Decode(v, Options{})
				t.Fatalf("unchanged it is %s: %v", got, err)
			}
			for c := range mutate.Some([]byte(text), count, mutate.Huge(count), 1) {
				if got := outcomeOf(t, c.Text); got == callvet.OutcomeAbstained &&
					strings.Contains(string(c.Text), "Reykjavik") {
					t.Errorf("%s: %s", c.String(), got)
				}
			}
		})
	}
}

// outcomeOf is the outcome of an attempt with a recording.
func outcomeOf(t *testing.T, text []byte) callvet.Outcome {
	t.Helper()
	v, err := value.Parse(text)
	if err != nil {
		return callvet.OutcomeError
	}
	trace := callvet.Trace{}
	resp, err := Decode(v, Options{
		Tools: &callvet.Toolset{Tools: []callvet.Tool{{Name: "get_weather"}}},
		Input: []callvet.Turn{{Role: callvet.RoleUser, Content: "Q"}},
	})
	if err != nil {
		if !errors.As(err, &trace.Fault) {
			t.Fatalf("%v is no fault", err)
		}
		return callvet.OutcomeError
	}
	why, fault := resp.Ending()
	if resp.UnknownCalls() {
		return callvet.OutcomeError // where calls are asked for
	}
	trace.Turns, trace.FinishReason, trace.Fault, trace.Decision = resp.Turns, resp.FinishReason, fault, resp.Decision
	trace.Classify(why)
	return trace.Outcome
}
