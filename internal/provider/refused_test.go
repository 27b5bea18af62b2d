// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package provider

import (
	"io"
	"net/http"
	"testing"

	"github.com/callvet/callvet"
)

// TestRefusedCall: a call that the provider did not pass on is the model's own mistake, in one
// piece and in a stream; any other status 400 is a fault.
func TestRefusedCall(t *testing.T) {
	t.Parallel()
	const call = `{"error":{"code":"tool_use_failed","message":"no such parameter","failed_generation":"{\"name\": \"get_weather\", \"arguments\": {\"town\": 1}}"}}`
	for _, stream := range []bool{false, true} {
		f := serve(t, func(_ int, w http.ResponseWriter, _ *http.Request) {
			if stream {
				w.Header().Set("Content-Type", "text/event-stream")
				io.WriteString(w,
					"data: {\"model\":\"m-1\",\"choices\":[{\"delta\":{\"reasoning\":\"Hm.\"}}]}\n\nevent: error\ndata: "+call+"\n\n")
				return
			}
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(http.StatusBadRequest)
			io.WriteString(w, call)
		})
		m, _ := mustOpen(t, "groq/m", Config{BaseURL: f.URL, Stream: stream})
		resp := ask(t, m, &callvet.Request{Tools: weatherTools(), Turns: hello().Turns})
		if !resp.Unreadable || len(resp.Turns[0].Calls) != 0 ||
			resp.Turns[0].Content != `{"name": "get_weather", "arguments": {"town": 1}}` || resp.Usage.Known {
			t.Errorf("stream %v: %+v", stream, resp)
		}
	}
	f := serve(t, func(_ int, w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusBadRequest)
		io.WriteString(w, `{"error":{"code":"tool_use_failed","message":"no generation is told"}}`)
	})
	m, _ := mustOpen(t, "groq/m", Config{BaseURL: f.URL})
	_, err := m.Generate(t.Context(), hello())
	if got := asFault(t, err); got.Kind != callvet.FaultRequest || got.HTTP != 400 {
		t.Errorf("%+v", got)
	}
}

// TestEmptyFunctionCall: the empty form of old that some send with every message is no call.
func TestEmptyFunctionCall(t *testing.T) {
	t.Parallel()
	f := replies(t,
		`{"choices":[{"message":{"role":"assistant","content":"hi","function_call":{"name":"","arguments":""},"tool_calls":null},"finish_reason":"stop"}]}`)
	m, _ := mustOpen(t, "vllm/m", Config{BaseURL: f.URL})
	if resp := ask(t, m, hello()); len(resp.Turns[0].Calls) != 0 || resp.Turns[0].Content != "hi" {
		t.Errorf("%+v", resp.Turns)
	}
}
