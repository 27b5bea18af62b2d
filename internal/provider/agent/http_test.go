// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package agent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/message"
)

// show writes turns on one line each.
func show(turns []callvet.Turn) string {
	var b strings.Builder
	for _, t := range turns {
		fmt.Fprintf(&b, "%s %q", t.Role, t.Content)
		for _, c := range t.Calls {
			args := string(c.Args)
			if c.Args == nil {
				args = "?" + c.ArgsRaw
			}
			fmt.Fprintf(&b, " %s%s", c.Tool, args)
			if c.Result != nil || c.Error != "" {
				fmt.Fprintf(&b, "=%s%s", c.Result, c.Error)
			}
		}
		b.WriteString("\n")
	}
	return b.String()
}

func serve(t *testing.T, contentType string, status int, body string) string {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", contentType)
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}))
	t.Cleanup(s.Close)
	return s.URL
}

func ask(msg string) *callvet.Request {
	return &callvet.Request{CaseID: "c1", Turns: []callvet.Turn{{Role: callvet.RoleUser, Content: msg}}}
}

func TestHTTPShapes(t *testing.T) {
	t.Parallel()
	sse := func(parts ...string) string { return strings.Join(parts, "") }
	for name, tt := range map[string]struct {
		typ    string
		status int
		body   string
		want   string
		finish string
	}{
		"chat-sync": {
			"application/json", 200,
			`{"message":"It is 21.","toolCalls":[{"id":"t1","name":"get_weather","args":{"city":"Paris"},"result":{"temp":21}}],"warnings":[],"flags":[]}`,
			"assistant \"\" get_weather{\"city\":\"Paris\"}={\"temp\":21}\ntool \"{\\\"temp\\\":21}\"\nassistant \"It is 21.\"\n", "",
		},
		"names only": {
			"application/json", 200, `{"text":"ok","toolsCalled":["a","b"]}`,
			"assistant \"ok\" a? b?\n", "",
		},
		"chat completion": {
			"application/json", 200,
			`{"model":"m","choices":[{"message":{"role":"assistant","content":null,"tool_calls":[{"id":"x","type":"function","function":{"name":"f","arguments":"{\"a\": 1}"}}]},"finish_reason":"tool_calls"}]}`,
			"assistant \"\" f{\"a\": 1}\n", "tool_calls",
		},
		"messages with results": {
			"application/json", 200,
			`{"messages":[{"role":"user","content":"hi"},{"role":"assistant","content":"","tool_calls":[{"id":"x","function":{"name":"f","arguments":"{}"}}]},{"role":"tool","tool_call_id":"x","content":"7"},{"role":"assistant","content":"seven"}]}`,
			"assistant \"\" f{}=7\ntool \"7\"\nassistant \"seven\"\n", "",
		},
		"chat-sync, a call that failed": {
			"application/json", 200,
			`{"message":"Sorry.","toolCalls":[{"id":"t1","name":"get_weather","args":{"city":"Pariss"},"success":false},{"name":"b","args":{},"ok":false,"result":{"n":1},"reason":"late"},{"name":"c","args":{},"success":true,"result":{"success":false}}]}`,
			"assistant \"\" get_weather{\"city\":\"Pariss\"}=the tool answered with an error b{}={\"n\":1}late c{}={\"success\":false}\n" +
				"tool \"the tool answered with an error\"\ntool \"{\\\"n\\\":1}\"\ntool \"{\\\"success\\\":false}\"\nassistant \"Sorry.\"\n", "",
		},
		"messages with results that are errors": {
			"application/json", 200,
			`{"messages":[{"role":"assistant","content":"","tool_calls":[{"id":"x","function":{"name":"f","arguments":"{}"}},{"id":"y","function":{"name":"g","arguments":"{}"}}]},` +
				`{"role":"tool","tool_call_id":"x","content":"seat taken","status":"error"},{"role":"user","content":[{"type":"tool_result","tool_use_id":"y","content":"no","is_error":true}]},{"role":"assistant","content":"Sorry."}]}`,
			"assistant \"\" f{}=seat taken g{}=no\ntool \"seat taken\"\ntool \"no\"\nassistant \"Sorry.\"\n", "",
		},
		"events of a call that failed": {
			"text/event-stream", 200,
			"data: {\"type\":\"tool_call\",\"id\":\"a\",\"name\":\"f\",\"args\":{}}\n\ndata: {\"type\":\"tool_result\",\"id\":\"a\",\"success\":false,\"message\":\"offline\"}\n\ndata: {\"type\":\"done\",\"message\":\"Sorry.\"}\n\n",
			"assistant \"\" f{}=offline\ntool \"offline\"\nassistant \"Sorry.\"\n", "",
		},
		"text": {"text/plain", 200, "hello", "assistant \"hello\"\n", ""},
		"events": {
			"text/event-stream; charset=utf-8", 200, sse(
				"event: session\ndata: {\"sessionId\":\"s\"}\n\n",
				": keep-alive\n\n",
				"event: text_delta\ndata: {\"content\":\"Let me \"}\n\n",
				"event: text_delta\r\ndata: {\"delta\":\"look.\"}\r\n\r\n",
				"event: tool_call\ndata: {\"id\":\"1\",\"tool\":\"get_weather\",\"args\":{\"city\":\"Oslo\"}}\n\n",
				"event: tool_call\ndata: {\"id\":\"2\",\"tool\":\"get_time\",\"args\":{}}\n\n",
				"event: tool_result\ndata: {\"id\":\"2\",\"tool\":\"get_time\",\"result\":{\"t\":\"9\"}}\n\n",
				"event: tool_result\ndata: {\"id\":\"1\",\"tool\":\"get_weather\",\"error\":\"offline\"}\n\n",
				"event: tool_warning\ndata: {\"tool\":\"get_time\",\"message\":\"slow\"}\n\n",
				"event: text_delta\ndata: {\"content\":\"Done.\"}\n\n",
				"event: done\ndata: {\"usage\":{\"input_tokens\":3,\"output_tokens\":4}}\n\n",
			),
			"assistant \"Let me look.\" get_weather{\"city\":\"Oslo\"}=offline get_time{}={\"t\":\"9\"}\ntool \"{\\\"t\\\":\\\"9\\\"}\"\ntool \"offline\"\nassistant \"Done.\"\n", "",
		},
		"typed events": {"text/event-stream", 200, sse(
			"data: {\"type\":\"session\",\"id\":\"s\"}\n\n",
			"data: {\"type\":\"tool_call\",\"toolCall\":{\"id\":\"a\",\"name\":\"f\",\"input\":{\"x\":1}}}\n\n",
			"data: {\"type\":\"tool_result\",\"id\":\"a\",\"content\":[1]}\n\n",
			"data: {\"type\":\"done\",\"message\":\"fin\"}\n\n",
		), "assistant \"\" f{\"x\":1}=[1]\ntool \"[1]\"\nassistant \"fin\"\n", ""},
		"arguments in pieces": {"text/event-stream", 200, sse(
			"data: {\"type\":\"tool_call_start\",\"id\":\"a\",\"name\":\"f\",\"input\":{}}\n\n",
			"data: {\"type\":\"tool_call_start\",\"id\":\"b\",\"name\":\"g\"}\n\n",
			"data: {\"type\":\"tool_call_delta\",\"id\":\"a\",\"delta\":\"{\\\"x\\\"\"}\n\n",
			"data: {\"type\":\"tool_call_delta\",\"delta\":\"{}\"}\n\n",
			"data: {\"type\":\"tool_call_delta\",\"id\":\"a\",\"delta\":\":1}\"}\n\n",
			"data: {\"type\":\"tool_result\",\"id\":\"a\",\"content\":[1]}\n\n",
			"data: {\"type\":\"done\",\"message\":\"fin\"}\n\n",
		), "assistant \"\" f{\"x\":1}=[1] g{}\ntool \"[1]\"\nassistant \"fin\"\n", ""},
		"completion chunks": {"text/event-stream", 200, sse(
			"data: {\"choices\":[{\"delta\":{\"role\":\"assistant\",\"tool_calls\":[{\"index\":0,\"id\":\"q\",\"function\":{\"name\":\"f\",\"arguments\":\"{\\\"a\\\"\"}}]}}]}\n\n",
			"data: {\"choices\":[{\"delta\":{\"tool_calls\":[{\"index\":0,\"function\":{\"arguments\":\":2}\"}}]}}]}\n\n",
			"data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"tool_calls\"}]}\n\n",
			"data: [DONE]\n\n",
		), "assistant \"\" f{\"a\":2}\n", "tool_calls"},
		"pause event": {
			"text/event-stream", 200,
			"event: hitl\ndata: {\"tool\":\"delete_all\",\"args\":{\"id\":7},\"message\":\"Sure?\",\"resumeToken\":\"tok-123456\"}\n\n",
			"assistant \"Sure?\" delete_all{\"id\":7}\n", callvet.FinishHITL,
		},
		"pause status": {
			"application/json", 409,
			`{"error":"hitl","message":"Sure?","hitl":{"tool":"delete_all","args":{"id":7},"resumeToken":"tok-123456"}}`,
			"assistant \"Sure?\" delete_all{\"id\":7}\n", callvet.FinishHITL,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m, _, err := OpenHTTP(HTTPConfig{URL: serve(t, tt.typ, tt.status, tt.body)})
			if err != nil {
				t.Fatal(err)
			}
			resp, err := m.Generate(t.Context(), ask("hi"))
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(tt.want, show(resp.Turns)); d != "" {
				t.Error(d)
			}
			if resp.FinishReason != tt.finish || !resp.Complete || resp.Wall <= 0 || len(resp.Exchanges) != 1 {
				t.Errorf("finish %q, complete %v, wall %v", resp.FinishReason, resp.Complete, resp.Wall)
			}
			if strings.Contains(tt.typ, "event-stream") && tt.finish != callvet.FinishHITL && resp.FirstToken <= 0 {
				t.Error("no time to the first token")
			}
		})
	}
}

// What an agent reports of its usage is believed only where it can be true; the price of its work
// is apart from its tokens.
func TestHTTPUsage(t *testing.T) {
	t.Parallel()
	cents := 0.05
	for name, tt := range map[string]struct {
		body string
		want callvet.Usage
	}{
		"good": {
			`"usage":{"input_tokens":7,"output_tokens":2}`,
			callvet.Usage{InputTokens: 7, OutputTokens: 2, Known: true},
		},
		"per step": {
			`"usage":{"input_tokens":[3,[4]],"output_tokens":[1,1]}`,
			callvet.Usage{InputTokens: 7, OutputTokens: 2, Known: true},
		},
		"next to the answer": {
			`"input_tokens":7,"output_tokens":2,"cost_usd":0.05`,
			callvet.Usage{InputTokens: 7, OutputTokens: 2, Known: true, CostUSD: &cents},
		},
		"none":                 {`"x":1`, callvet.Usage{}},
		"money only":           {`"cost_usd":0.05`, callvet.Usage{CostUSD: &cents}},
		"a prompt is no count": {`"prompt":"hello","cached":true`, callvet.Usage{}},
		"one of two":           {`"usage":{"input_tokens":7}`, callvet.Usage{Note: "output_tokens is missing"}},
		"negative": {
			`"usage":{"input_tokens":-7,"output_tokens":2},"cost_usd":0.05`,
			callvet.Usage{CostUSD: &cents, Note: "input_tokens is -7, not a count of tokens"},
		},
		"a text": {
			`"usage":{"input_tokens":"7","output_tokens":2}`,
			callvet.Usage{Note: "input_tokens is \"7\", not a count of tokens"},
		},
		"a fraction": {
			`"usage":{"input_tokens":7.25,"output_tokens":2}`,
			callvet.Usage{Note: "input_tokens is 7.25, not a count of tokens"},
		},
		"one wrong step": {
			`"usage":{"input_tokens":[3,-4],"output_tokens":[1,1]}`,
			callvet.Usage{Note: "input_tokens is [3,-4], not a count of tokens"},
		},
		"huge": {
			`"usage":{"input_tokens":1e30,"output_tokens":2}`,
			callvet.Usage{Note: "input_tokens is 1e30, not a count of tokens"},
		},
		"no object": {`"usage":"much"`, callvet.Usage{Note: "the usage is \"much\", not an object"}},
		"negative money": {
			`"usage":{"input_tokens":7,"output_tokens":2,"cost":-1}`,
			callvet.Usage{InputTokens: 7, OutputTokens: 2, Known: true, Note: "cost is -1, not an amount of money"},
		},
		"money as text": {
			`"cost_usd":"0.05"`,
			callvet.Usage{Note: "cost_usd is \"0.05\", not an amount of money"},
		},
		"more money than exists": {`"cost_usd":1e18`, callvet.Usage{Note: "cost_usd is 1e18, not an amount of money"}},
	} {
		for typ, body := range map[string]string{
			"application/json": `{"message":"hi",` + tt.body + `}`,
			"text/event-stream": "data: {\"type\":\"text\",\"text\":\"hi\"}\n\ndata: {\"type\":\"done\"," +
				tt.body + "}\n\n",
		} {
			m, _, err := OpenHTTP(HTTPConfig{URL: serve(t, typ, 200, body)})
			if err != nil {
				t.Fatal(err)
			}
			resp, err := m.Generate(t.Context(), ask("hi"))
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(tt.want, resp.Usage); d != "" {
				t.Errorf("%s, %s: %s", name, typ, d)
			}
		}
	}
}

func TestHTTPFaults(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		typ    string
		status int
		body   string
		kind   callvet.FaultKind
		retry  bool
	}{
		"busy":           {"application/json", 429, `{"error":{"message":"slow down"}}`, callvet.FaultRateLimit, true},
		"down":           {"text/html", 502, "<html>bad gateway</html>", callvet.FaultServer, true},
		"who":            {"application/json", 401, `{"error":"no"}`, callvet.FaultAuth, false},
		"other conflict": {"application/json", 409, `{"error":"version clash"}`, callvet.FaultRequest, false},
		"redirect":       {"text/html", 302, "", callvet.FaultRequest, false},
		"half":           {"application/json", 200, `{"message":"x`, callvet.FaultMalformed, false},
		"html":           {"text/html", 200, "<html></html>", callvet.FaultMalformed, false},
		"nothing known":  {"application/json", 200, `{"ok":true}`, callvet.FaultMalformed, false},
		"empty":          {"application/json", 200, ``, callvet.FaultMalformed, false},
		"empty stream":   {"text/event-stream", 200, ": hi\n\n", callvet.FaultMalformed, false},
		"bad event": {
			"text/event-stream", 200, "event: tool_call\ndata: {\"name\":\n\n",
			callvet.FaultMalformed, false,
		},
		"cut in arguments": {
			"text/event-stream", 200,
			"data: {\"choices\":[{\"delta\":{\"tool_calls\":[{\"index\":0,\"id\":\"q\",\"function\":{\"name\":\"f\",\"arguments\":\"{\\\"city\\\": \\\"Pa\"}}]}}]}\n\n",
			callvet.FaultMalformed, false,
		},
		"cut after whole arguments": {
			"text/event-stream", 200,
			"data: {\"choices\":[{\"delta\":{\"tool_calls\":[{\"index\":0,\"function\":{\"name\":\"f\",\"arguments\":\"{}\"}}]}}]}\n\n", callvet.FaultMalformed, false,
		},
		"cut in text": {
			"text/event-stream", 200,
			"data: {\"choices\":[{\"delta\":{\"content\":\"It is\"}}]}\n\n", callvet.FaultMalformed, false,
		},
		"cut in an event": {
			"text/event-stream", 200,
			"event: tool_call\ndata: {\"name\":\"f\",\"args\":{\"city\":\"Pa", callvet.FaultMalformed, false,
		},
		"cut in a call event": {
			"text/event-stream", 200,
			"event: tool_call\ndata: {\"name\":\"f\",\"arguments\":\"{\\\"city\\\":\"}\n\n",
			callvet.FaultMalformed, false,
		},
		"cut in pieces of arguments": {
			"text/event-stream", 200,
			"event: tool_call_start\ndata: {\"id\":\"1\",\"name\":\"f\"}\n\nevent: tool_call_delta\ndata: {\"id\":\"1\",\"delta\":\"{\\\"city\\\":\"}\n\n", callvet.FaultMalformed, false,
		},
		"cut lines of chunks": {
			"application/x-ndjson", 200,
			"{\"choices\":[{\"delta\":{\"content\":\"It is\"}}]}\n", callvet.FaultMalformed, false,
		},
		"error event": {
			"text/event-stream", 200, "event: error\ndata: {\"message\":\"boom\"}\n\n",
			callvet.FaultServer, false,
		},
		"huge": {
			"application/json", 200, `{"message":"` + strings.Repeat("x", 5000) + `"}`,
			callvet.FaultTooLarge, false,
		},
		"huge stream": {
			"text/event-stream", 200, "data: " + strings.Repeat("x", 5000),
			callvet.FaultTooLarge, false,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m, _, err := OpenHTTP(HTTPConfig{URL: serve(t, tt.typ, tt.status, tt.body), MaxBytes: 4096})
			if err != nil {
				t.Fatal(err)
			}
			_, err = m.Generate(t.Context(), ask("hi"))
			var f *callvet.Fault
			if !errors.As(err, &f) || f.Kind != tt.kind || f.Retryable != tt.retry || len(f.Exchanges) != 1 {
				t.Fatalf("got %v (%+v), want %s", err, f, tt.kind)
			}
		})
	}
}

func TestHTTPEndsWithItsContext(t *testing.T) {
	t.Parallel()
	hang := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(w, "event: text_delta\ndata: {\"content\":\"a\"}\n\n")
		_ = http.NewResponseController(w).Flush()
		_, _ = io.Copy(io.Discard, r.Body)
		<-r.Context().Done()
	}))
	defer hang.Close()
	m, _, err := OpenHTTP(HTTPConfig{URL: hang.URL, Timeout: 50 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	var f *callvet.Fault
	if _, err = m.Generate(t.Context(), ask("hi")); !errors.As(err, &f) || f.Kind != callvet.FaultTimeout {
		t.Errorf("timeout: %v", err)
	}
	if m, _, err = OpenHTTP(HTTPConfig{URL: hang.URL, Timeout: time.Hour}); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err = m.Generate(ctx, ask("hi")); !errors.As(err, &f) || f.Kind != callvet.FaultCanceled {
		t.Errorf("cancel: %v", err)
	}
	hang.Close()
	if _, err = m.Generate(t.Context(), ask("hi")); !errors.As(err, &f) || f.Kind != callvet.FaultNetwork ||
		!f.Retryable {
		t.Errorf("refused: %v", err)
	}
}

func TestHTTPRequestAndSecrets(t *testing.T) {
	t.Parallel()
	const secret = "s3cr3t-\"value"
	var got map[string]json.RawMessage
	var auth, query string
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		auth, query = r.Header.Get("Authorization"), r.URL.Query().Get("key")
		_ = json.NewDecoder(r.Body).Decode(&got)
		w.Header().Set("Retry-After", "3")
		w.WriteHeader(429)
		b, _ := json.Marshal(map[string]string{"message": "bad key " + secret})
		_, _ = w.Write(b)
	}))
	defer s.Close()
	cfg := HTTPConfig{
		URL: s.URL + "/chat?key=plainkey9", Headers: map[string]string{"Authorization": "Bearer ${TOKEN}"},
		InputField: "q", SessionField: "sid", HistoryField: "messages", ToolsField: "tools",
		Body:   map[string]json.RawMessage{"opts": json.RawMessage(`{"k":["${TOKEN}"]}`)},
		Lookup: func(n string) (string, bool) { return secret, n == "TOKEN" },
	}
	m, target, err := OpenHTTP(cfg)
	if err != nil {
		t.Fatal(err)
	}
	req := ask("two")
	req.Turns = append([]callvet.Turn{
		{Role: callvet.RoleUser, Content: "one"},
		{Role: callvet.RoleAssistant, Content: "1"},
	}, req.Turns...)
	req.Tools = callvet.NewToolset([]callvet.Tool{{Name: "f"}})
	_, err = m.Generate(t.Context(), req)
	var f *callvet.Fault
	if !errors.As(err, &f) || f.RetryAfter != 3*time.Second {
		t.Fatalf("fault %+v", f)
	}
	if auth != "Bearer "+secret || query != "plainkey9" || string(got["q"]) != `"two"` ||
		!strings.Contains(string(got["opts"]), `s3cr3t-\"value`) {
		t.Errorf("sent %s %s %s", auth, query, got)
	}
	if !strings.Contains(string(got["messages"]), `"one"`) || !strings.Contains(string(got["tools"]), `"name":"f"`) ||
		len(got["sid"]) < 10 {
		t.Errorf("sent %s", got)
	}
	kept := fmt.Sprintf("%s %s %s %+v %v", f.Message, f.Exchanges[0].Request, f.Exchanges[0].Response, target,
		f.Exchanges[0].Error)
	if strings.Contains(kept, "s3cr3t") || strings.Contains(kept, "plainkey9") ||
		!strings.Contains(kept, req.Tools.Hash) {
		t.Errorf("kept %s", kept)
	}
	if m, _, err = OpenHTTP(HTTPConfig{URL: s.URL}); err != nil {
		t.Fatal(err)
	}
	if _, err = m.Generate(t.Context(), req); !errors.As(err, &f) || f.Kind != callvet.FaultUnsupport {
		t.Errorf("history without a field: %v", err)
	}
	for _, bad := range []struct {
		HTTPConfig
		kind error
	}{
		{HTTPConfig{URL: "ftp://x"}, callvet.ErrInvalid},
		{HTTPConfig{URL: "http://h/${NOPE"}, callvet.ErrInvalid},
		{HTTPConfig{URL: "http://h/${NOPE}"}, callvet.ErrDenied},
		{HTTPConfig{URL: "http://h", Headers: map[string]string{"A": "${NOPE}"}}, callvet.ErrDenied},
	} {
		if _, _, err := OpenHTTP(bad.HTTPConfig); !errors.Is(err, bad.kind) {
			t.Errorf("OpenHTTP(%+v): %v", bad.HTTPConfig, err)
		}
	}
}

// TestUnracedTooManyValues: an answer that may be JSON, of more values than are read, is too large;
// it is not malformed, and it is not requested again.
func TestUnracedTooManyValues(t *testing.T) {
	t.Parallel()
	dense := []byte("[" + strings.Repeat("0,", 1<<22) + "0]")
	for name, read := range map[string]func() error{
		"whole": func() error { _, err := whole(dense, "application/json", message.Options{}); return err },
		"lines": func() error { _, _, err := joined(dense); return err },
	} {
		var f *callvet.Fault
		if err := read(); !errors.As(err, &f) || f.Kind != callvet.FaultTooLarge ||
			!strings.Contains(f.Message, "more than 4194304 values") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestUnreported: a text, and an answer of the Agent2Agent protocol without calls, do not tell
// whether a tool was called; answers in forms that have calls do.
func TestUnreported(t *testing.T) {
	t.Parallel()
	const a2aText = `{"jsonrpc":"2.0","id":"1","result":{"message":{"role":"ROLE_AGENT","parts":[{"text":"Done."}]}}}`
	const a2aCall = `{"jsonrpc":"2.0","id":"1","result":{"message":{"role":"ROLE_AGENT","parts":[{"data":{"name":"f","args":{}}},{"text":"Done."}]}}}`
	for name, tt := range map[string]struct {
		typ, body string
		calls     string // the setting
		want      bool
	}{
		"a text":                           {"text/plain; charset=utf-8", "Done.", "", true},
		"a text that is a call":            {"text/plain", `f(a=1)`, "", false},
		"a text that is JSON":              {"text/plain", `{"text":"Done."}`, "", true},
		"JSON":                             {"application/json", `{"text":"Done."}`, "", true},
		"JSON that is a text":              {"application/json", `"Done."`, "", true},
		"JSON, calls have a place":         {"application/json", `{"text":"Done."}`, "calls", false},
		"JSON with an empty list of calls": {"application/json", `{"text":"Done.","toolsUsed":[]}`, "", false},
		"JSON with no list of calls":       {"application/json", `{"text":"Done.","tool_calls":null}`, "", false},
		"JSON next to an envelope's calls": {
			"application/json",
			`{"response":{"text":"Done."},"tool_calls":[]}`, "", false,
		},
		"JSON in an envelope": {"application/json", `{"response":{"text":"Done."}}`, "", true},
		"a message": {
			"application/json",
			`{"role":"assistant","content":"Done."}`, "", false,
		},
		"a completion": {
			"application/json",
			`{"choices":[{"message":{"content":"Done."},"finish_reason":"stop"}]}`, "", false,
		},
		"an answer of Converse": {
			"application/json",
			`{"output":{"message":{"role":"assistant","content":[{"text":"Done."}]}},"stopReason":"end_turn"}`, "",
			false,
		},
		"an event that is a record of a text": {
			"text/event-stream",
			"data: {\"response\":\"Done.\"}\n\ndata: [DONE]\n\n", "", true,
		},
		"events of texts": {
			"text/event-stream",
			"data: Do\n\ndata: ne.\n\ndata: [DONE]\n\n", "", true,
		},
		"events of texts and one that is not": {
			"text/event-stream",
			"data: Done.\n\nevent: done\ndata: {}\n\n", "", false,
		},
		"a message of A2A":                    {"application/json", a2aText, "", true},
		"a message of A2A with a call":        {"application/json", a2aCall, "", false},
		"a stream of A2A":                     {"text/event-stream", "data: " + a2aText + "\n\n", "", true},
		"a stream of A2A with a call":         {"text/event-stream", "data: " + a2aCall + "\n\n", "", false},
		"a stream of A2A, calls have a place": {"text/event-stream", "data: " + a2aText + "\n\n", "calls", false},
	} {
		m, _, err := OpenHTTP(HTTPConfig{URL: serve(t, tt.typ, 200, tt.body), Output: message.Fields{Calls: tt.calls}})
		if err != nil {
			t.Fatal(err)
		}
		req := ask("?")
		req.Tools = callvet.NewToolset([]callvet.Tool{{Name: "f"}})
		resp, err := m.Generate(t.Context(), req)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if resp.UnknownCalls() != tt.want {
			t.Errorf("%s: untold is %v: %s", name, resp.UnknownCalls(), show(resp.Turns))
		}
	}
}

// TestConnectionLost: a connection that ends in the middle of an answer is an error for every
// protocol, also where the events that came would be an answer of their own. Only the event
// that ends an answer makes the rest of a connection needless.
func TestConnectionLost(t *testing.T) {
	t.Parallel()
	for name, tt := range protocolStreams() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			resp, err := Stream(strings.NewReader(strings.Join(tt.events, "")), "", message.Options{},
				time.Now(), time.Now)
			if err != nil {
				t.Fatal(err)
			}
			for n := 1; n <= len(tt.events); n++ {
				s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
					w.Header().Set("Content-Type", "text/event-stream")
					_, _ = io.WriteString(w, strings.Join(tt.events[:n], ""))
					_ = http.NewResponseController(w).Flush()
					panic(http.ErrAbortHandler)
				}))
				m, _, err := OpenHTTP(HTTPConfig{URL: s.URL})
				if err != nil {
					t.Fatal(err)
				}
				got, err := m.Generate(t.Context(), ask("?"))
				s.Close()
				var f *callvet.Fault
				switch {
				case err == nil && show(got.Turns) != show(resp.Turns):
					t.Errorf("lost after %d of %d events: %s", n, len(tt.events), show(got.Turns))
				case err == nil && strings.HasPrefix(name, "LangGraph") || err == nil &&
					strings.HasPrefix(name, "OpenAI"):
					t.Errorf("lost after %d of %d events: no error", n, len(tt.events))
				case err != nil && !errors.As(err, &f):
					t.Errorf("lost after %d of %d events: %v", n, len(tt.events), err)
				}
			}
		})
	}
}

// TestRepairedAnswers: what other programs write where JSON has no such value is read, and noted,
// in answers of every form.
func TestRepairedAnswers(t *testing.T) {
	t.Parallel()
	const called = `{"tool_calls":[{"name":"f","args":{"x":NaN,"y":"\ud83d"}}],"output":"done"}`
	opts := message.Options{}
	for name, read := range map[string]func() (*callvet.Response, error){
		"whole": func() (*callvet.Response, error) { return whole([]byte(called), "application/json", opts) },
		"printed": func() (*callvet.Response,
			error,
		) {
			return printed([]byte(called+"\n"), opts, time.Now(), time.Now)
		},
		"lines": func() (*callvet.Response, error) {
			return printed([]byte(`{"role":"user","content":"x"}`+"\n"+
				`{"role":"assistant","tool_calls":[{"name":"f","args":{"x":NaN,"y":"\ud83d"}}]}`), opts,
				time.Now(), time.Now)
		},
	} {
		resp, err := read()
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		var args []string
		for i := range resp.Turns {
			for _, c := range resp.Turns[i].Calls {
				args = append(args, string(c.Args))
			}
		}
		if d := cmp.Diff([]string{`{"x":"NaN","y":"\uFFFD"}`}, args); d != "" ||
			!slices.Contains(resp.Notes, "read with a lone surrogate, NaN or Infinity") {
			t.Errorf("%s: %s, notes %q", name, d, resp.Notes)
		}
	}
}
