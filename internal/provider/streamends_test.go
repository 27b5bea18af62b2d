// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package provider

import (
	"testing"

	"github.com/callvet/callvet"
	"github.com/google/go-cmp/cmp"
)

// TestStreamEnds holds what a stream shows of its end, of its words, and of when they began.
func TestStreamEnds(t *testing.T) {
	t.Parallel()
	type read struct {
		Text, Reasoning string
		Calls           int
		Why             callvet.Reason
		First, Raw      bool // a time to the first token; a turn as the provider wrote it
	}
	message := func(reason string, blocks ...string) string {
		all := append([]string{`{"type":"message_start","message":{"usage":{"input_tokens":1,"output_tokens":1}}}`},
			blocks...)
		return events(append(all, `{"type":"message_delta","delta":{"stop_reason":`+reason+
			`},"usage":{"output_tokens":1}}`, `{"type":"message_stop"}`)...)
	}
	const text = `{"type":"content_block_start","index":0,"content_block":{"type":"text","text":"Yes."}}`
	const chatText = `{"choices":[{"index":0,"delta":{"content":"Yes."}}]}`
	const completed = `{"type":"response.completed","response":{"status":"completed","output":[]}}`
	const cut = callvet.ReasonCut
	for name, c := range map[string]struct {
		spec, stream string
		want         read
	}{
		"chat that ended": {
			"vllm/m",
			events(chatText, `{"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}`, "[DONE]"),
			read{"Yes.", "", 0, "", true, false},
		},
		"chat without a reason": {
			"vllm/m", events(chatText, "[DONE]"),
			read{"Yes.", "", 0, cut, true, false},
		},
		"messages that ended": {
			"anthropic/m", message(`"end_turn"`, text),
			read{"Yes.", "", 0, "", false, true},
		},
		"messages without a reason": {
			"anthropic/m", message("null", text),
			read{"Yes.", "", 0, cut, false, true},
		},
		"messages with an unknown call": {
			"anthropic/m",
			message(`"end_turn"`,
				`{"type":"content_block_start","index":0,"content_block":{"type":"other_tool_use","id":"a","name":"f","input":{}}}`),
			read{"", "", 1, "", false, false},
		},
		"messages with a hosted tool": {
			"anthropic/m",
			message(`"end_turn"`,
				`{"type":"content_block_start","index":0,"content_block":{"type":"server_tool_use","id":"a","name":"web_search","input":{}}}`, text),
			read{"Yes.", "", 0, "", false, true},
		},
		"Gemini that ended": {
			"gemini/m",
			events(`{"candidates":[{"content":{"parts":[{"text":"Yes."}]},"finishReason":"STOP"}]}`),
			read{"Yes.", "", 0, "", true, true},
		},
		"Gemini with an empty reason": {
			"gemini/m",
			events(`{"candidates":[{"content":{"parts":[{"text":"Yes."}]},"finishReason":""}]}`),
			read{"Yes.", "", 0, cut, true, true},
		},
		"Gemini without parts": {
			"gemini/m",
			events(`{"candidates":[{"content":{"role":"model"},"finishReason":"STOP"}]}`),
			read{"", "", 0, "", false, false},
		},
		"Ollama with words": {"ollama/m", `{"message":{"content":"Yes."}}` + "\n" +
			`{"message":{"content":""},"done":true,"done_reason":"stop"}` + "\n", read{"Yes.", "", 0, "", true, false}},
		"Ollama with thoughts": {"ollama/m", `{"message":{"thinking":"Hm."}}` + "\n" +
			`{"message":{"content":""},"done":true,"done_reason":"stop"}` + "\n", read{"", "Hm.", 0, "", true, false}},
		"Ollama with a call": {
			"ollama/m",
			`{"message":{"tool_calls":[{"function":{"name":"get_time","arguments":{}}}]}}` + "\n" +
				`{"message":{"content":""},"done":true,"done_reason":"stop"}` + "\n",
			read{"", "", 1, "", true, false},
		},
		"Ollama with nothing": {"ollama/m", `{"message":{"content":""}}` + "\n" +
			`{"message":{"content":""},"done":true,"done_reason":"stop"}` + "\n", read{"", "", 0, "", false, false}},
		"responses with text on the way": {
			"openai-responses/m",
			events(`{"type":"response.output_text.delta","delta":"Yes."}`,
				`{"type":"response.reasoning_summary_text.delta","delta":"Hm."}`, completed),
			read{"Yes.", "", 0, "", true, true},
		},
		"responses with text in both": {
			"openai-responses/m",
			events(`{"type":"response.output_text.delta","delta":"Ye"}`,
				`{"type":"response.completed","response":{"status":"completed","output":[{"type":"message","content":[{"type":"output_text","text":"Yes."}]}]}}`),
			read{"Yes.", "", 0, "", true, true},
		},
		"responses with a call on the way": {
			"openai-responses/m",
			events(
				`{"type":"response.output_item.added","output_index":1,"item":{"type":"function_call","call_id":"a","name":"get_time","arguments":"{}"}}`, completed),
			read{"", "", 1, "", true, false},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := streams(t, c.stream)
			// which is just enough
			m, _ := mustOpen(t, c.spec, Config{BaseURL: f.URL, Stream: true, MaxBody: int64(len(c.stream))})
			resp := ask(t, m, hello())
			turn := resp.Turns[0]
			got := read{turn.Content, turn.Reasoning, len(turn.Calls), resp.Why, resp.FirstToken > 0, turn.Raw != nil}
			if d := cmp.Diff(c.want, got); d != "" {
				t.Errorf("-want +got: %s, raw %s", d, turn.Raw)
			}
		})
	}
}
