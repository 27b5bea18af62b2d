// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package message_test

import (
	"testing"

	"github.com/callvet/callvet/internal/message"
	"github.com/callvet/callvet/value"
)

func TestLast(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ name, give, want string }{
		{"no reason", `{"text":"x"}`, ""},
		{"null", `{"choices":[{"finish_reason":null,"message":{"content":"x"}}]}`, ""},
		{"chat", `{"choices":[{"finish_reason":"length"},{"finish_reason":"stop"}]}`, "length"},
		{"chat as a text", `"{\"choices\":[{\"finish_reason\":\"length\"}]}"`, "length"},
		{"responses", `{"object":"response","status":"completed","output":[]}`, "completed"},
		{
			"responses, incomplete",
			`{"object":"response","status":"incomplete","incomplete_details":{"reason":"max_output_tokens"}}`,
			"max_output_tokens",
		},
		{
			"responses, incomplete without a reason", `{"status":"incomplete","incomplete_details":null,"output":[]}`,
			"incomplete",
		},
		{"responses, under way", `{"object":"response","status":"in_progress"}`, "in_progress"},
		{
			"an item of the responses",
			`[{"type":"reasoning"},{"type":"message","role":"assistant","status":"incomplete"}]`, "incomplete",
		},
		{
			"an item of an answer that is complete",
			`{"object":"response","status":"completed","output":[{"type":"message","status":"incomplete"}]}`,
			"incomplete",
		},
		{
			"an item of an answer without a status",
			`{"output":[{"type":"message","role":"assistant","status":"incomplete"}]}`, "incomplete",
		},
		{"responses, a status of a later version", `{"object":"response","status":"expired","output":[]}`, "expired"},
		{
			"openrouter, the reason of the provider alone",
			`{"choices":[{"finish_reason":null,"native_finish_reason":"length"}]}`, "length",
		},
		{"openrouter, both", `{"choices":[{"finish_reason":"stop","native_finish_reason":"eos"}]}`, "stop"},
		{"a status of something else", `{"status":"completed","text":"x"}`, ""},
		{"anthropic", `{"type":"message","stop_reason":"refusal","content":[]}`, "refusal"},
		{"gemini", `{"candidates":[{"finishReason":"SAFETY"}]}`, "SAFETY"},
		{"gemini, blocked", `{"promptFeedback":{"blockReason":"OTHER"}}`, "blocked: OTHER"},
		{
			"gemini, not blocked", `{"promptFeedback":{"blockReason":"OTHER"},"candidates":[{"finishReason":"STOP"}]}`,
			"STOP",
		},
		{
			"bedrock", `{"output":{"message":{"role":"assistant"}},"stopReason":"guardrail_intervened"}`,
			"guardrail_intervened",
		},
		{"ollama", `{"message":{},"done":true,"done_reason":"length"}`, "length"},
		{"ollama, a piece", `{"message":{},"done":false}`, "incomplete"},
		{"ai sdk", `{"finishReason":{"unified":"length","raw":"max"}}`, "length"},
		{"ai sdk, other", `{"finishReason":{"unified":"other","raw":"content_filter"}}`, "content_filter"},
		{"a list", `{"finish_reason":["length","stop"]}`, "length"},
		{"a list as a text", `{"finish_reasons":"[\"length\",\"stop\"]"}`, "length"},
		{"an object as a text", `{"finish_reason":"{\"unified\":\"length\"}"}`, "length"},
		{"a text that begins like a list", `{"finish_reason":"[length"}`, "[length"},
		{"one character", `{"finish_reason":"["}`, "["},
		{"messages as a text", `"[{\"role\":\"assistant\",\"finish_reason\":\"length\"}]"`, "length"},
		{"candidates that are none", `{"candidates":{"finishReason":"SAFETY"}}`, ""},
		{
			"a message with an id of its own",
			`[{"id":"x","type":"user","finish_reason":"length"},{"id":"y","type":"ai","finish_reason":"stop"}]`,
			"stop",
		},
		{
			"messages in envelopes",
			`[{"id":["langchain","AIMessage"],"kwargs":{"response_metadata":{"finish_reason":"length"}}},{"id":["langchain","HumanMessage"],"kwargs":{"response_metadata":{"finish_reason":"stop"}}}]`, "length",
		},
		{"a number", `{"finish_reason":2}`, "2"},
		{
			"langchain",
			`{"lc":1,"id":["langchain","AIMessage"],"kwargs":{"response_metadata":{"finish_reason":"length"}}}`,
			"length",
		},
		{"langsmith", `{"generations":[[{"text":"x","generation_info":{"finish_reason":"length"}}]]}`, "length"},
		{
			"langsmith, of the message",
			`{"generations":[[{"message":{"kwargs":{"response_metadata":{"stop_reason":"max_tokens"}}}}]]}`,
			"max_tokens",
		},
		{
			"messages: the last of the model counts",
			`[{"role":"assistant","finish_reason":"tool_calls"},{"role":"tool"},{"role":"assistant","finish_reason":"length"},{"role":"user","finish_reason":"x"}]`, "length",
		},
		{
			"messages: the last has none",
			`[{"role":"assistant","finish_reason":"tool_calls"},{"role":"assistant","content":"x"}]`, "",
		},
		{
			"messages of langchain",
			`[{"type":"ai","response_metadata":{"finish_reason":"length"}},{"type":"tool"}]`, "length",
		},
	} {
		v, err := value.Parse([]byte(tt.give))
		if err != nil {
			t.Fatalf("%s: %v", tt.name, err)
		}
		if got := message.LastFinish(v); got != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
}
