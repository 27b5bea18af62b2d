// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package provider

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/callvet/callvet"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// streams answers every request with these events.
func streams(t *testing.T, events string) *fake {
	t.Helper()
	return serve(t, func(_ int, w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		io.WriteString(w, events)
	})
}

const chatStream = `: a comment

data: {"model":"m-1","choices":[{"delta":{"role":"assistant","content":"","reasoning_content":"Hm."}}]}

data: {"choices":[{"delta":{"content":"One "}}]}

data: {"choices":[{"delta":{"content":"moment."}}]}

data: {"choices":[{"delta":{"tool_calls":[{"index":0,"id":"a","type":"function","function":{"name":"get_weather","arguments":"{\"city\":"}}]}}]}

data: {"choices":[{"delta":{"tool_calls":[{"index":1,"id":"b","function":{"name":"get_time","arguments":"{\"tz\":"}}]}}]}

data: {"choices":[{"delta":{"tool_calls":[{"index":0,"function":{"arguments":"\"Oslo\"}"}}]}}]}

data: {"choices":[{"delta":{},"finish_reason":"tool_calls"}]}

data: {"choices":[],"usage":{"prompt_tokens":10,"completion_tokens":5,"total_tokens":15}}

data: [DONE]

`

const messageStream = `event: message_start
data: {"type":"message_start","message":{"id":"msg_1","model":"m-1","usage":{"input_tokens":10,"output_tokens":1}}}

event: content_block_start
data: {"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":""}}

event: content_block_delta
data: {"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"Hm."}}

event: content_block_delta
data: {"type":"content_block_delta","index":0,"delta":{"type":"signature_delta","signature":"c2ln"}}

event: content_block_stop
data: {"type":"content_block_stop","index":0}

event: ping
data: {"type":"ping"}

data: {"type":"content_block_start","index":1,"content_block":{"type":"text","text":""}}

data: {"type":"content_block_delta","index":1,"delta":{"type":"text_delta","text":"One moment."}}

data: {"type":"content_block_start","index":2,"content_block":{"type":"tool_use","id":"a","name":"get_weather","input":{}}}

data: {"type":"content_block_delta","index":2,"delta":{"type":"input_json_delta","partial_json":"{\"city\":"}}

data: {"type":"content_block_delta","index":2,"delta":{"type":"input_json_delta","partial_json":"\"Oslo\"}"}}

data: {"type":"content_block_start","index":3,"content_block":{"type":"tool_use","id":"b","name":"get_time","input":{}}}

data: {"type":"content_block_delta","index":3,"delta":{"type":"input_json_delta","partial_json":"{\"tz\":"}}

data: {"type":"message_delta","delta":{"stop_reason":"max_tokens"},"usage":{"output_tokens":5}}

data: {"type":"message_stop"}

`

const responseStream = `event: response.created
data: {"type":"response.created","response":{"id":"r","status":"in_progress","output":[]}}

data: {"type":"response.output_text.delta","delta":"One moment."}

data: {"type":"response.output_item.done","item":{"type":"function_call"}}

data: {"type":"response.incomplete","response":{"model":"m-1","status":"incomplete","incomplete_details":{"reason":"max_tokens"},"output":[{"type":"reasoning","summary":[{"text":"Hm."}]},{"type":"message","content":[{"type":"output_text","text":"One moment."}]},{"type":"function_call","call_id":"a","name":"get_weather","arguments":"{\"city\":\"Oslo\"}"},{"type":"function_call","call_id":"b","name":"get_time","arguments":"{\"tz\":"}],"usage":{"input_tokens":10,"output_tokens":5,"total_tokens":15}}}

data: {"type":"after the end"}

`

// itemStream has the items of the output only in increments.
const itemStream = `data: {"type":"response.reasoning_summary_text.delta","delta":"Hm."}

data: {"type":"response.output_item.done","item":{"type":"reasoning","summary":[{"text":"Hm."}]}}

data: {"type":"response.output_item.done","item":{"type":"message","content":[{"type":"output_text","text":"One moment."}]}}

data: {"type":"response.output_item.done","item":{"type":"function_call","call_id":"a","name":"get_weather","arguments":"{\"city\":\"Oslo\"}"}}

data: {"type":"response.output_item.done","item":{"type":"function_call","call_id":"b","name":"get_time","arguments":"{\"tz\":"}}

data: {"type":"response.completed","response":{"model":"m-1","status":"completed","output":[],"usage":{"input_tokens":10,"output_tokens":5,"total_tokens":15}}}

`

const geminiStream = `data: {"candidates":[{"content":{"role":"model","parts":[{"text":"H","thought":true}]}}],"modelVersion":"m-1","usageMetadata":{"promptTokenCount":10}}

data: {"candidates":[{"content":{"parts":[{"text":"m.","thought":true},{"text":"One "}]}}]}

data: {"candidates":[{"content":{"parts":[{"text":"mo"},{"text":"ment."}]}}]}

data: {"candidates":[{"content":{"parts":[{"functionCall":{"id":"a","name":"get_weather","args":{"city":"Oslo"}},"thoughtSignature":"c2ln"}]}}]}

data: {"candidates":[{"content":{"parts":[{"functionCall":{"id":"b","name":"get_time","args":"{\"tz\":"}}]},"finishReason":"STOP"}],"usageMetadata":{"promptTokenCount":10,"candidatesTokenCount":5,"totalTokenCount":15}}

`

// TestStreams puts answers together from fragments; broken arguments stay broken.
func TestStreams(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ title, spec, events, finish, echo string }{
		{"chat", "vllm/m", chatStream, "tool_calls", `"reasoning_content":"Hm."`},
		{
			"messages", "anthropic/m", messageStream, "max_tokens",
			`{"type":"thinking","thinking":"Hm.","signature":"c2ln"}`,
		},
		{
			"responses", "openai-responses/m", responseStream, "max_tokens",
			`{"type":"reasoning","summary":[{"text":"Hm."}]}`,
		},
		{
			"responses, items on the way", "openai-responses/m", itemStream, "completed",
			`{"type":"reasoning","summary":[{"text":"Hm."}]}`,
		},
		{
			"gemini", "gemini/m", geminiStream, "STOP",
			`{"role":"model","parts":[{"text":"Hm.","thought":true},{"text":"One moment."},{"functionCall":{"id":"a","name":"get_weather","args":{"city":"Oslo"}},"thoughtSignature":"c2ln"}`,
		},
	} {
		t.Run(c.title, func(t *testing.T) {
			t.Parallel()
			f := streams(t, c.events)
			m, _ := mustOpen(t, c.spec, Config{BaseURL: f.URL, Stream: true})
			resp := ask(t, m, hello())
			want := callvet.Turn{
				Role: callvet.RoleAssistant, Content: "One moment.", Reasoning: "Hm.",
				Calls: []callvet.Call{
					{ID: "a", Tool: "get_weather", Args: json.RawMessage(`{"city":"Oslo"}`)},
					{ID: "b", Tool: "get_time", ArgsRaw: `{"tz":`},
				},
			}
			if c.spec == "gemini/m" { // arguments are no text there, so a text is one inside
				want.Calls[1].ArgsRaw = `"{\"tz\":"`
			}
			turn := resp.Turns[0]
			if d := cmp.Diff(want, turn, cmpopts.IgnoreFields(callvet.Turn{}, "Raw")); d != "" {
				t.Errorf("turn (-want +got):\n%s", d)
			}
			usage := callvet.Usage{InputTokens: 10, OutputTokens: 5, Known: true}
			if d := cmp.Diff(usage, resp.Usage); d != "" || resp.FinishReason != c.finish || resp.Model != "m-1" {
				t.Errorf("%+v %s", resp, d)
			}
			if resp.FirstToken <= 0 || !strings.HasPrefix(c.events, resp.Exchanges[0].Response) ||
				len(resp.Exchanges[0].Response) < len(c.events)-40 {
				t.Errorf("first token after %v, kept %q", resp.FirstToken, resp.Exchanges[0].Response)
			}
			if strings.Contains(string(f.bodies[0]), `"stream":true`) == (c.spec == "gemini/m") {
				t.Errorf("sent %s", f.bodies[0])
			}
			if !json.Valid(turn.Raw) || !strings.Contains(string(turn.Raw), c.echo) {
				t.Errorf("raw %s", turn.Raw)
			}
		})
	}
}

func TestStreamFaults(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		title, spec, events string
		kind                callvet.FaultKind
	}{
		{"cut", "vllm/m", chatStream[:400], callvet.FaultMalformed},
		{"half an event", "vllm/m", "data: {\"choices\":[\n\n", callvet.FaultMalformed},
		{"error", "vllm/m", "data: {\"error\":{\"message\":\"boom\",\"code\":429}}\n\n", callvet.FaultRateLimit},
		{"empty", "vllm/m", "", callvet.FaultMalformed},
		{
			"too large", "vllm/m", strings.Repeat(`data: {"choices":[{"delta":{"content":"aaaaaaaa"}}]}`+"\n\n", 1000),
			callvet.FaultTooLarge,
		},
		{"cut message", "anthropic/m", messageStream[:900], callvet.FaultMalformed},
		{
			"overloaded", "anthropic/m",
			"event: error\ndata: {\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\",\"message\":\"x\"}}\n\n",
			callvet.FaultServer,
		},
		{"cut response", "openai-responses/m", responseStream[:200], callvet.FaultMalformed},
		{
			"failed response", "openai-responses/m",
			"data: {\"type\":\"response.failed\",\"response\":{\"status\":\"failed\",\"error\":{\"code\":\"server_error\",\"message\":\"x\"}}}\n\n", callvet.FaultServer,
		},
		{
			"error in a response", "openai-responses/m",
			"data: {\"type\":\"error\",\"error\":{\"message\":\"slow\",\"code\":429}}\n\n", callvet.FaultRateLimit,
		},
		{"cut gemini", "gemini/m", geminiStream[:200], callvet.FaultMalformed},
		{
			"error of gemini", "gemini/m", "data: {\"error\":{\"code\":503,\"message\":\"busy\"}}\n\n",
			callvet.FaultServer,
		},
		{
			"stray delta", "anthropic/m", "data: {\"type\":\"content_block_delta\",\"delta\":{}}\n\n",
			callvet.FaultMalformed,
		},
	} {
		t.Run(c.title, func(t *testing.T) {
			t.Parallel()
			f := streams(t, c.events)
			m, _ := mustOpen(t, c.spec, Config{BaseURL: f.URL, Stream: true, MaxBody: 16 << 10})
			_, err := m.Generate(context.Background(), hello())
			if got := asFault(t, err); got.Kind != c.kind || !got.Retryable && c.kind != callvet.FaultTooLarge ||
				len(got.Exchanges) != 1 {
				t.Errorf("fault %+v", got)
			}
		})
	}
	// What a stream of Messages began to count is not what it counted in the end.
	f := streams(t, strings.Replace(messageStream, `"usage":{"output_tokens":5}`,
		`"usage":{"input_tokens":70,"cache_read_input_tokens":7,"output_tokens":5}`, 1))
	m, _ := mustOpen(t, "anthropic/m", Config{BaseURL: f.URL, Stream: true})
	if d := cmp.Diff(callvet.Usage{InputTokens: 77, OutputTokens: 5, CachedTokens: 7, Known: true},
		ask(t, m, hello()).Usage); d != "" {
		t.Error(d)
	}
	// Groq has its own name for usage.
	f = streams(t, strings.Replace(chatStream, `"usage":{"prompt_tokens":10,"completion_tokens":5,"total_tokens":15}`,
		`"x_groq":{"usage":{"prompt_tokens":10,"completion_tokens":5,"total_tokens":15}}`, 1))
	m, _ = mustOpen(t, "groq/m", Config{BaseURL: f.URL, Stream: true})
	if d := cmp.Diff(callvet.Usage{InputTokens: 10, OutputTokens: 5, Known: true}, ask(t, m, hello()).Usage); d != "" {
		t.Error(d)
	}
	// A server that does not stream answers whole.
	f = replies(t, chatAnswer)
	m, _ = mustOpen(t, "vllm/m", Config{BaseURL: f.URL, Stream: true})
	if resp := ask(t, m, hello()); len(resp.Turns[0].Calls) != 1 || resp.FirstToken != 0 {
		t.Errorf("%+v", resp)
	}
}

// TestByteOrderMark: an answer that begins with a byte order mark is read as without it, in one
// piece and in events.
func TestByteOrderMark(t *testing.T) {
	t.Parallel()
	for stream, body := range map[bool]string{
		false: `{"choices":[{"finish_reason":"stop","message":{"role":"assistant","content":"hi"}}]}`,
		true:  "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"hi\"},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n",
	} {
		srv := serve(t, func(_ int, w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type",
				map[bool]string{false: "application/json", true: "text/event-stream"}[stream])
			io.WriteString(w, "\ufeff"+body)
		})
		m, _ := mustOpen(t, "vllm/m", Config{BaseURL: srv.URL, Stream: stream})
		resp := ask(t, m, &callvet.Request{Turns: []callvet.Turn{{Role: callvet.RoleUser, Content: "x"}}})
		if len(resp.Turns) != 1 || resp.Turns[0].Content != "hi" {
			t.Errorf("stream %v: %+v", stream, resp.Turns)
		}
	}
}

// TestHalvesOfACharacter: a character that a server divided between two events is one again,
// in texts and in arguments; half a character stays one that is not known, with a note, and a
// backslash is none.
func TestHalvesOfACharacter(t *testing.T) {
	t.Parallel()
	const lone = "read with a lone surrogate"
	const begin,
		end = `{"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"a","function":{"name":"get_weather","arguments":""}}]}}]}`, `{"choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"}]}`
	part := func(text string) string {
		return `{"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":"` + text + `"}}]}}]}`
	}
	for name, c := range map[string]struct {
		parts []string
		args  string
		note  string
	}{
		"divided":             {[]string{`{\"city\":\"a \ud83d`, `\udecb b\"}`}, `{"city":"a 🛋 b"}`, ""},
		"twice":               {[]string{`{\"city\":\"\uD83D`, `\uDECB\ud83d`, `\udecb\"}`}, `{"city":"🛋🛋"}`, ""},
		"whole":               {[]string{`{\"city\":\"\ud83d\udecb`, `\"}`}, `{"city":"🛋"}`, ""},
		"escaped in the text": {[]string{`{\"city\":\"\\ud83d`, `\\udecb\"}`}, `{"city":"\ud83d\udecb"}`, ""},
		"the second is lost":  {[]string{`{\"city\":\"a \ud83d`, ` b\"}`}, "{\"city\":\"a \uFFFD b\"}", lone},
		"the first is lost":   {[]string{`{\"city\":\"a `, `\udecb b\"}`}, "{\"city\":\"a \uFFFD b\"}", lone},
		"it ends with half":   {[]string{`{\"city\":\"a\ud83d\"}`}, "{\"city\":\"a\uFFFD\"}", lone},
	} {
		events := append([]string{begin}, c.parts...)
		for i, p := range c.parts {
			events[i+1] = part(p)
		}
		text := "data: " + strings.Join(append(events, end, "[DONE]"), "\n\ndata: ") + "\n\n"
		f := serve(t, func(_ int, w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/event-stream")
			io.WriteString(w, text)
		})
		m, _ := mustOpen(t, "compatible/m", Config{BaseURL: f.URL, Stream: true})
		resp, err := m.Generate(t.Context(), &callvet.Request{Tools: weatherTools(), Turns: hello().Turns})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if got := string(resp.Turns[0].Calls[0].Args); got != c.args || strings.Join(resp.Notes, "; ") != c.note {
			t.Errorf("%s: %s, %q", name, got, resp.Notes)
		}
	}
}
