// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package message_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/message"
	"github.com/callvet/callvet/value"
)

// ending is how an answer ended according to its record.
func ending(t *testing.T, record string, o message.Options) string {
	t.Helper()
	v, err := value.Parse([]byte(record))
	if err != nil {
		t.Fatalf("%s: %v", record, err)
	}
	resp, err := message.Decode(v, o)
	var fault *callvet.Fault
	if errors.As(err, &fault) {
		return "fault " + string(fault.Kind)
	}
	why, fault := resp.Ending()
	switch {
	case fault != nil:
		return "fault " + string(fault.Kind)
	case why != "":
		return string(why)
	case resp.FinishReason == "":
		return "not recorded"
	case resp.UnknownCalls():
		return "untold"
	}
	return "ended"
}

// TestStops holds that every form of a recorded answer keeps why it ended, whatever is around it.
func TestStops(t *testing.T) {
	t.Parallel()
	const chat = `{"choices":[{"message":{"role":"assistant","content":"hello"},"finish_reason":REASON}]}`
	for name, form := range map[string]string{
		"chat":                           chat,
		"a batch":                        `{"custom_id":"c","response":{"status_code":200,"body":` + chat + `}}`,
		"under output":                   `{"case_id":"c","output":` + chat + `}`,
		"anthropic":                      `{"type":"message","content":[{"type":"text","text":"hello"}],"stop_reason":REASON}`,
		"anthropic under output":         `{"case_id":"c","output":{"type":"message","role":"assistant","content":[{"type":"text","text":"hello"}],"stop_reason":REASON}}`,
		"gemini":                         `{"candidates":[{"content":{"parts":[{"text":"hello"}]},"finishReason":REASON}]}`,
		"gemini under output":            `{"case_id":"c","output":{"candidates":[{"content":{"parts":[{"text":"hello"}]},"finishReason":REASON}]}}`,
		"converse":                       `{"output":{"message":{"role":"assistant","content":[{"text":"hello"}]}},"stopReason":REASON}`,
		"cohere":                         `{"message":{"role":"assistant","content":[{"type":"text","text":"hello"}]},"finish_reason":REASON}`,
		"ollama":                         `{"message":{"role":"assistant","content":"hello"},"done":true,"done_reason":REASON}`,
		"messages":                       `{"messages":[{"role":"user","content":"hi"},{"role":"assistant","content":"hello","finish_reason":REASON}]}`,
		"messages, bare":                 `[{"role":"user","content":"hi"},{"role":"assistant","content":"hello","stop_reason":REASON}]`,
		"messages of LangChain":          `{"messages":[{"type":"human","content":"hi"},{"type":"ai","content":"hello","response_metadata":{"finish_reason":REASON}}]}`,
		"a message":                      `{"role":"assistant","content":"hello","finish_reason":REASON}`,
		"plain":                          `{"text":"hello","finish_reason":REASON}`,
		"the AI SDK":                     `{"text":"hello","finishReason":REASON,"steps":[{"text":"hello","toolCalls":[]}]}`,
		"steps of the AI SDK":            `{"steps":[{"text":"hello","toolCalls":[],"finishReason":REASON}]}`,
		"steps of the AI SDK 6":          `{"steps":[{"text":"hello","toolCalls":[],"finishReason":{"unified":REASON,"raw":null}}]}`,
		"promptfoo":                      `{"promptIdx":0,"response":{"output":"hello","finishReason":REASON}}`,
		"promptfoo, with a raw answer":   `{"promptIdx":0,"response":{"output":"hello","raw":` + chat + `}}`,
		"promptfoo, with a whole answer": `{"promptIdx":0,"response":{"output":` + chat + `}}`,
	} {
		for reason, want := range map[string]string{
			`"stop"`: "ended", `"COMPLETE"`: "ended", `"length"`: "token_limit", `"MAX_TOKENS"`: "token_limit",
			`"model_length"`: "context_window", `"content-filter"`: "fault content_filter",
			`"refusal"`: "fault refusal", `"error"`: "fault failed", `"tool_use"`: "fault malformed",
			`"new"`: "fault unknown", `null`: "not recorded", `""`: "not recorded",
		} {
			if got := ending(t, strings.Replace(form, "REASON", reason, 1), message.Options{}); got != want {
				t.Errorf("%s, %s: %s, want %s", name, reason, got, want)
			}
		}
	}
}

// TestOtherStops holds forms that record the end of an answer in other words, and records that
// count calls without listing them.
func TestOtherStops(t *testing.T) {
	t.Parallel()
	response := func(status string) string {
		return `{"object":"response",` + status +
			`,"output":[{"type":"message","role":"assistant","content":[{"type":"output_text","text":"hello"}]}]}`
	}
	for record, want := range map[string]string{
		response(`"status":"completed"`): "ended",
		response(`"status":"incomplete","incomplete_details":{"reason":"max_output_tokens"}`): "token_limit",
		response(`"status":"incomplete","incomplete_details":{"reason":"content_filter"}`):    "fault content_filter",
		response(`"status":"failed"`):                                 "fault failed",
		response(`"status":"cancelled"`):                              "fault dropped",
		response(`"status":"in_progress"`):                            "fault unknown",
		`{"promptFeedback":{"blockReason":"SAFETY"}}`:                 "fault content_filter",
		`{"promptFeedback":{"blockReason":"SAFETY"},"candidates":[]}`: "fault content_filter",
		`{"choices":[{"message":{"role":"assistant","content":"<think>Hm.</think>"},"finish_reason":"stop"}]}`: "reasoning_only",
		`{"candidates":[]}`: "fault malformed",
		`{"candidates":[{"finishReason":"MAX_TOKENS"}]}`:                                                         "token_limit",
		`{"choices":[{"delta":{"content":"hel"},"finish_reason":null}]}`:                                         "fault malformed",
		`{"message":{"role":"assistant","content":"hel"},"done":false}`:                                          "cut_off",
		`{"promptIdx":0,"response":{"output":"no","finishReason":"stop","guardrails":{"flagged":true}}}`:         "fault content_filter",
		`{"promptIdx":0,"response":{"output":"no","finishReason":"stop","guardrails":{"flagged":false}}}`:        "ended",
		`{"jsonrpc":"2.0","result":{"status":{"state":"completed"},"artifacts":[{"parts":[{"text":"hello"}]}]}}`: "untold",
		`{"state":{"generatedItems":[{"type":"message_output_item","rawItem":{"type":"message","role":"assistant","status":"incomplete","content":[{"type":"output_text","text":"hel"}]}}],
			"modelResponses":[{"output":[{"type":"message","role":"assistant","status":"incomplete","content":[]}]}]}}`: "cut_off",
		// a row of BFCL: its rules count it as no call
		`{"id":"c","result":""}`:                                                                    "ended",
		`{"response":"Done.","stats":{"tools":{"totalCalls":2}}}`:                                   "fault malformed",
		`{"response":"Done.","stats":{"tools":{"totalCalls":0}}}`:                                   "not recorded",
		`{"content":"hel","stop_type":"limit"}`:                                                     "token_limit",
		`{"content":"hello","stop_type":"eos"}`:                                                     "untold",
		`{"text":"Done.","num_tool_calls":1}`:                                                       "fault malformed",
		`{"text":"Done.","usage":{"tool_calls":1}}`:                                                 "fault malformed",
		`{"text":"Done.","calls":[{"name":"f","arguments":{}}],"stats":{"tools":{"totalCalls":1}}}`: "not recorded",
	} {
		if got := ending(t, record, message.Options{Agent: true}); got != want {
			t.Errorf("%s: %s, want %s", record, got, want)
		}
	}
}

// TestStopsInText: a recorded output that is the text of a body keeps why it ended, and the events of a stream leave
// unknown what was called. A model's own JSON is an answer.
func TestStopsInText(t *testing.T) {
	t.Parallel()
	for output, want := range map[string]string{
		`{"choices":[{"message":{"role":"assistant","content":"hel"},"finish_reason":"length"}]}`:                     "token_limit",
		`{"choices":[{"message":{"role":"assistant","content":"hello"},"finish_reason":"stop"}]}`:                     "ended",
		`{"candidates":[{"content":{"parts":[{"text":"hel"}]},"finishReason":"MAX_TOKENS"}]}`:                         "token_limit",
		`{"type":"message","content":[{"type":"text","text":"hel"}],"stop_reason":"max_tokens"}`:                      "token_limit",
		`{"object":"response","status":"incomplete","incomplete_details":{"reason":"max_output_tokens"},"output":[]}`: "token_limit",
		`{"content":"hel","stop_type":"limit"}`:                                                                       "token_limit",
		`{"city":"Paris","status":"incomplete"}`:                                                                      "not recorded",
		"data: the numbers of May":                                                                                    "not recorded",
	} {
		text, err := json.Marshal(output)
		if err != nil {
			t.Fatal(err)
		}
		if got := ending(t, `{"id":"a","output":`+string(text)+`}`, message.Options{}); got != want {
			t.Errorf("%s: %s, want %s", output, got, want)
		}
	}
	for text, untold := range map[string]bool{
		"data: {\"choices\":[{\"delta\":{\"content\":\"hel\"}}]}\n\ndata: [DONE]\n": true,
		"event: message_start\ndata: {\"type\":\"message_start\"}\n":                true,
		": a comment\n\nid: 1\ndata: {\"a\":1}\n":                                   true,
		"data: the numbers of May\n":                                                false,
		"Events have lines such as\ndata: {\"a\":1}":                                false,
	} {
		raw, err := json.Marshal(map[string]string{"id": "a", "output": text})
		if err != nil {
			t.Fatal(err)
		}
		v, err := value.Parse(raw)
		if err != nil {
			t.Fatal(err)
		}
		if resp, err := message.Decode(v, message.Options{}); err != nil || resp.UnknownCalls() != untold {
			t.Errorf("%q: %+v, %v", text, resp, err)
		}
	}
}

// TestStatesOfA2A: a task that waits for a person has an end of its own.
func TestStatesOfA2A(t *testing.T) {
	t.Parallel()
	for state, want := range map[string]string{
		"completed": "completed", "input-required": callvet.FinishHITL,
		"TASK_STATE_AUTH_REQUIRED": callvet.FinishHITL, "": "",
	} {
		v, err := value.Parse([]byte(`{"jsonrpc":"2.0","result":{"status":{"state":"` + state +
			`"},"artifacts":[{"parts":[{"text":"hello"}]}]}}`))
		if err != nil {
			t.Fatal(err)
		}
		resp, err := message.Decode(v, message.Options{})
		if err != nil || resp.FinishReason != want {
			t.Errorf("%s: %+v, %v, want %s", state, resp, err, want)
		}
	}
}
