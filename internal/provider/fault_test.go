// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package provider

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/callvet/callvet"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

func hello() *callvet.Request {
	return &callvet.Request{Turns: []callvet.Turn{{Role: callvet.RoleUser, Content: "hi"}}, Tools: weatherTools()}
}

func TestFaults(t *testing.T) {
	t.Parallel()
	const jsonType = "application/json"
	for _, c := range []struct {
		title     string
		status    int
		typ, body string
		want      callvet.Fault
	}{
		{
			"rate limit", 429, jsonType,
			`{"error":{"message":"Slow down.","type":"requests","code":"rate_limit_exceeded"}}`,
			callvet.Fault{Kind: callvet.FaultRateLimit, Message: "requests: Slow down.", Retryable: true},
		},
		{
			"no money", 429, jsonType,
			`{"error":{"message":"You exceeded your quota.","type":"insufficient_quota","code":"insufficient_quota"}}`,
			callvet.Fault{Kind: callvet.FaultRateLimit, Message: "insufficient_quota: You exceeded your quota."},
		},
		{
			"overloaded", 529, jsonType, `{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`,
			callvet.Fault{Kind: callvet.FaultServer, Message: "overloaded_error: Overloaded", Retryable: true},
		},
		{
			"500 html", 500, "text/html", "<html>\n<h1>Oops</h1></html>",
			callvet.Fault{Kind: callvet.FaultServer, Message: "<html> <h1>Oops</h1></html>", Retryable: true},
		},
		{"502 empty", 502, "", "", callvet.Fault{Kind: callvet.FaultServer, Message: "Bad Gateway", Retryable: true}},
		{
			"auth", 401, jsonType,
			`{"error":{"message":"Incorrect API key provided: secret-key-123.","type":"invalid_request_error"}}`,
			callvet.Fault{
				Kind:    callvet.FaultAuth,
				Message: "invalid_request_error: Incorrect API key provided: [redacted].",
			},
		},
		{
			"bad parameter", 400, jsonType,
			`{"error":{"message":"Unsupported value.","param":"temperature","code":"unsupported_value"}}`,
			callvet.Fault{Kind: callvet.FaultRequest, Message: "Unsupported value.", Param: "temperature"},
		},
		{
			"validation list", 422, jsonType, `{"detail":[{"loc":["body","seed"],"msg":"not an integer"}]}`,
			callvet.Fault{Kind: callvet.FaultRequest, Message: "not an integer at body.seed", Param: "body.seed"},
		},
		{
			"plain error", 404, jsonType, `{"error":"model 'x' not found"}`,
			callvet.Fault{Kind: callvet.FaultRequest, Message: "model 'x' not found"},
		},
		{
			"error list", 400, jsonType, `[{"error":{"code":400,"message":"Bad schema.","status":"INVALID_ARGUMENT"}}]`,
			callvet.Fault{Kind: callvet.FaultRequest, Message: "Bad schema."},
		},
		{"conflict", 409, jsonType, `{}`, callvet.Fault{Kind: callvet.FaultRequest, Message: "{}", Retryable: true}},
		{
			"request timeout", 408, jsonType, ``,
			callvet.Fault{Kind: callvet.FaultTimeout, Message: "Request Timeout", Retryable: true},
		},
		{
			"redirect", 302, "", "",
			callvet.Fault{
				Kind:    callvet.FaultRequest,
				Message: "redirected to https://elsewhere.example/: set that as the base URL",
			},
		},
		{
			"html", 200, "text/html", "<html>Sign in</html>",
			callvet.Fault{
				Kind:    callvet.FaultMalformed,
				Message: "the answer is text/html, not JSON: <html>Sign in</html>", Retryable: true,
			},
		},
		{
			"wrong content type", 200, "text/plain", chatAnswer,
			callvet.Fault{Kind: callvet.FaultMalformed, Retryable: true},
		},
		{
			"half JSON", 200, jsonType, chatAnswer[:200],
			callvet.Fault{
				Kind:    callvet.FaultMalformed,
				Message: "the answer is not JSON: byte 200: a string is not closed", Retryable: true,
			},
		},
		{
			"empty", 200, jsonType, "",
			callvet.Fault{
				Kind: callvet.FaultMalformed, Message: "the answer is not JSON: byte 0: unexpected end",
				Retryable: true,
			},
		},
		{
			"invalid UTF-8 in no string", 200, jsonType, chatWith("{\"content\":\xff}"),
			callvet.Fault{
				Kind:    callvet.FaultMalformed,
				Message: "the answer is not JSON: byte 46: unexpected character 'ÿ'", Retryable: true,
			},
		},
		{
			"other JSON", 200, jsonType, `{"ok":true}`,
			callvet.Fault{Kind: callvet.FaultMalformed, Message: "the answer has no choices", Retryable: true},
		},
		{
			"no message", 200, jsonType, `{"choices":[{"text":"old"}]}`,
			callvet.Fault{Kind: callvet.FaultMalformed, Message: "the answer has no message", Retryable: true},
		},
		{
			"error with 200", 200, jsonType, `{"error":{"message":"Provider returned 429","code":429}}`,
			callvet.Fault{Kind: callvet.FaultRateLimit, HTTP: 429, Message: "Provider returned 429", Retryable: true},
		},
	} {
		t.Run(c.title, func(t *testing.T) {
			t.Parallel()
			f := serve(t, func(_ int, w http.ResponseWriter, _ *http.Request) {
				w.Header()["Content-Type"] = nil
				if c.typ != "" {
					w.Header().Set("Content-Type", c.typ)
				}
				if c.status == 302 {
					w.Header().Set("Location", "https://elsewhere.example/")
				}
				w.WriteHeader(c.status)
				io.WriteString(w, c.body)
			})
			m, _ := mustOpen(t, "openai/gpt-4.1-mini", Config{BaseURL: f.URL, APIKey: "secret-key-123"})
			_, err := m.Generate(context.Background(), hello())
			got := asFault(t, err)
			if c.want.HTTP == 0 {
				c.want.HTTP = c.status
			}
			ignore := cmpopts.IgnoreFields(callvet.Fault{}, "Exchanges", "AtMostUSD")
			if c.want.Message == "" {
				ignore = cmpopts.IgnoreFields(callvet.Fault{}, "Exchanges", "AtMostUSD", "Message")
			}
			if got.Billable() != (got.AtMostUSD != nil) {
				t.Errorf("%s may be billed: %t, and its cost is bounded: %t", got.Kind, got.Billable(),
					got.AtMostUSD != nil)
			}
			if d := cmp.Diff(&c.want, got, ignore); d != "" {
				t.Errorf("fault (-want +got):\n%s", d)
			}
			if len(got.Exchanges) != 1 || len(f.bodies) != 1 {
				t.Fatalf("%d exchanges, %d requests", len(got.Exchanges), len(f.bodies))
			}
			ex := got.Exchanges[0]
			if ex.HTTP != c.status || ex.Error == "" || !utf8.ValidString(ex.Response) ||
				strings.Contains(ex.Response, "secret-key") || ex.Request == nil {
				t.Errorf("exchange %+v", ex)
			}
			if want := strings.ReplaceAll(strings.ToValidUTF8(c.body, "\uFFFD"), "secret-key-123",
				redacted); ex.Response != want {
				t.Errorf("kept %q, want %q", ex.Response, want)
			}
		})
	}
}

func TestUnracedTooLarge(t *testing.T) {
	t.Parallel()
	for _, chunked := range []bool{false, true} {
		f := serve(t, func(_ int, w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			big := chatWith(`{"content":"` + strings.Repeat("é", 5<<20) + `"}`)
			if !chunked {
				w.Header().Set("Content-Length", fmt.Sprint(len(big)))
			}
			io.WriteString(w, big)
		})
		m, _ := mustOpen(t, "vllm/m", Config{BaseURL: f.URL})
		_, err := m.Generate(context.Background(), hello())
		got := asFault(t, err)
		if got.Kind != callvet.FaultTooLarge || got.Retryable {
			t.Errorf("fault %+v", got)
		}
		kept := got.Exchanges[0].Response
		if !strings.HasSuffix(kept, "é…truncated") || len(kept) > keptBody+16 || len(kept) < keptBody-16 {
			t.Errorf("kept %d bytes, ending %q", len(kept), kept[len(kept)-20:])
		}
		m, _ = mustOpen(t, "vllm/m", Config{BaseURL: f.URL, MaxBody: 16 << 20})
		if resp := ask(t, m, hello()); len(resp.Turns[0].Content) != 10<<20 {
			t.Error("a large answer under the limit was not read whole")
		}
	}
}

func TestNoAnswer(t *testing.T) {
	t.Parallel()
	hang := serve(t, func(_ int, _ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
	drop := serve(t, func(_ int, w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", "1000")
		w.Header().Set("Content-Type", "application/json")
		io.WriteString(w, `{"choices":[`)
		w.(http.Flusher).Flush()
		panic(http.ErrAbortHandler)
	})
	closed, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	closed.Close()
	gone, cancel := context.WithCancel(context.Background())
	cancel()
	late, cancelLate := context.WithTimeout(context.Background(), 20*time.Millisecond)
	defer cancelLate()
	for _, c := range []struct {
		title, url string
		ctx        context.Context
		timeout    time.Duration
		kind       callvet.FaultKind
	}{
		{"own deadline", hang.URL, context.Background(), 20 * time.Millisecond, callvet.FaultTimeout},
		{"caller's deadline", hang.URL, late, 0, callvet.FaultTimeout},
		{"canceled", hang.URL, gone, 0, callvet.FaultCanceled},
		{"refused", "http://" + closed.Addr().String(), context.Background(), 0, callvet.FaultNetwork},
		{"cut connection", drop.URL, context.Background(), 0, callvet.FaultNetwork},
	} {
		t.Run(c.title, func(t *testing.T) {
			m, _ := mustOpen(t, "vllm/m", Config{BaseURL: c.url, Timeout: c.timeout})
			_, err := m.Generate(c.ctx, hello())
			f := asFault(t, err)
			if f.Kind != c.kind || f.Retryable != (c.kind != callvet.FaultCanceled) {
				t.Errorf("fault %+v", f)
			}
			if c.title == "cut connection" && f.Exchanges[0].Response != `{"choices":[` {
				t.Errorf("the part that came is lost: %q", f.Exchanges[0].Response)
			}
		})
	}
}

func TestRetryAfter(t *testing.T) {
	t.Parallel()
	now := clock()
	for _, c := range []struct {
		header []string
		body   string
		want   time.Duration
	}{
		{[]string{"retry-after", "7"}, `{}`, 7 * time.Second},
		{[]string{"retry-after", "0.5"}, `{}`, 500 * time.Millisecond},
		{[]string{"retry-after-ms", "250", "retry-after", "1"}, `{}`, 250 * time.Millisecond},
		{[]string{"retry-after", now.Add(30 * time.Second).Format(http.TimeFormat)}, `{}`, 30 * time.Second},
		{[]string{"retry-after", now.Add(-time.Minute).Format(http.TimeFormat)}, `{}`, 0},
		{[]string{"retry-after", "soon"}, `{}`, 0},
		{[]string{"retry-after", "-3"}, `{}`, 0},
		{[]string{"retry-after", "NaN"}, `{}`, 0},
		{[]string{
			"x-ratelimit-remaining-requests", "0", "x-ratelimit-reset-requests", "6m0s",
			"x-ratelimit-remaining-tokens", "99", "x-ratelimit-reset-tokens", "120ms",
		}, `{}`, 6 * time.Minute},
		{
			[]string{"x-ratelimit-reset-requests", "2s", "x-ratelimit-reset-tokens", "120ms"},
			`{}`,
			120 * time.Millisecond,
		},
		{[]string{
			"anthropic-ratelimit-tokens-remaining", "0", "anthropic-ratelimit-tokens-reset",
			now.Add(9 * time.Second).Format(time.RFC3339),
		}, `{}`, 9 * time.Second},
		{[]string{"x-ratelimit-reset", fmt.Sprint(now.Add(4 * time.Second).UnixMilli())}, `{}`, 4 * time.Second},
		{
			nil, `{"error":{"details":[{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"17s"}]}}`,
			17 * time.Second,
		},
		{nil, `{}`, 0},
	} {
		f := serve(t, func(_ int, w http.ResponseWriter, _ *http.Request) {
			for i := 0; i < len(c.header); i += 2 {
				w.Header().Set(c.header[i], c.header[i+1])
			}
			w.WriteHeader(429)
			io.WriteString(w, c.body)
		})
		m, _ := mustOpen(t, "vllm/m", Config{BaseURL: f.URL, Now: clock})
		_, err := m.Generate(context.Background(), hello())
		if got := asFault(t, err).RetryAfter; got != c.want {
			t.Errorf("%v %s: wait %v, want %v", c.header, c.body, got, c.want)
		}
	}
}

// TestRequiredFallback falls back to auto only where the provider names
// tool_choice, and asks for required only once then.
func TestRequiredFallback(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		title    string
		status   int
		body     string
		requests int // sent by two Generate calls
		choice   string
	}{
		{"param", 400, `{"error":{"message":"Not supported.","param":"tool_choice"}}`, 3, "auto"},
		{"message", 422, `{"error":{"message":"tool_choice must be auto"}}`, 3, "auto"},
		{"another parameter", 400, `{"error":{"message":"Not supported.","param":"seed"}}`, 2, ""},
		{"rate limit", 429, `{"error":{"message":"tool_choice"}}`, 2, ""},
		{"auth", 401, `{"error":{"message":"tool_choice"}}`, 2, ""},
		{"server", 500, `{"error":{"message":"tool_choice"}}`, 2, ""},
	} {
		t.Run(c.title, func(t *testing.T) {
			t.Parallel()
			var f *fake
			f = serve(t, func(n int, w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", "application/json")
				if strings.Contains(string(f.bodies[n-1]), `"tool_choice":"required"`) {
					w.WriteHeader(c.status)
					io.WriteString(w, c.body)
					return
				}
				io.WriteString(w, chatAnswer)
			})
			m, _ := mustOpen(t, "vllm/m", Config{BaseURL: f.URL})
			for i := range 2 {
				req := hello()
				req.ToolChoice = "required"
				resp, err := m.Generate(context.Background(), req)
				if c.choice == "" {
					if asFault(t, err).HTTP != c.status {
						t.Errorf("fault %v", err)
					}
					continue
				}
				if err != nil {
					t.Fatal(err)
				}
				if resp.ToolChoice != c.choice || len(resp.Exchanges) != 2-i {
					t.Errorf("used %q in %d exchanges", resp.ToolChoice, len(resp.Exchanges))
				}
			}
			if len(f.bodies) != c.requests {
				t.Errorf("%d requests, want %d", len(f.bodies), c.requests)
			}
		})
	}
}

// TestDefaultTemperature: a temperature is left out where the provider refuses it, whoever
// asked for it.
func TestDefaultTemperature(t *testing.T) {
	t.Parallel()
	zero := 0.0
	for _, c := range []struct {
		title    string
		cfg      Config
		status   int
		body     string
		requests int // sent by two Generate calls
		fault    bool
	}{
		{
			"param",
			Config{DefaultTemperature: &zero},
			400,
			`{"error":{"message":"Not supported.","param":"temperature"}}`, 3, false,
		},
		{
			"message",
			Config{DefaultTemperature: &zero},
			400,
			`{"error":{"message":"Unsupported value: 'temperature' does not support 0 with this model."}}`, 3, false,
		},
		{
			"another parameter",
			Config{DefaultTemperature: &zero},
			400,
			`{"error":{"message":"Not supported.","param":"seed"}}`, 2, true,
		},
		{"server", Config{DefaultTemperature: &zero}, 500, `{"error":{"message":"temperature"}}`, 2, true},
		{
			"asked for",
			Config{Params: callvet.Params{Temperature: &zero}, DefaultTemperature: &zero},
			400,
			`{"error":{"message":"no","param":"temperature"}}`, 3, false,
		},
	} {
		t.Run(c.title, func(t *testing.T) {
			t.Parallel()
			var f *fake
			f = serve(t, func(n int, w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", "application/json")
				if strings.Contains(string(f.bodies[n-1]), `"temperature":0`) {
					w.WriteHeader(c.status)
					io.WriteString(w, c.body)
					return
				}
				io.WriteString(w, chatAnswer)
			})
			c.cfg.BaseURL = f.URL
			m, target := mustOpen(t, "vllm/m", c.cfg)
			for i := range 2 {
				req := hello()
				req.Params = target.Params
				resp, err := m.Generate(context.Background(), req)
				if c.fault {
					if asFault(t, err).HTTP != c.status {
						t.Errorf("fault %v", err)
					}
					continue
				}
				if err != nil {
					t.Fatal(err)
				}
				if len(resp.Exchanges) != 2-i || len(resp.Omitted) != 1 || resp.Omitted[0] != "temperature" {
					t.Errorf("omitted %v in %d exchanges", resp.Omitted, len(resp.Exchanges))
				}
			}
			if len(f.bodies) != c.requests {
				t.Errorf("%d requests, want %d", len(f.bodies), c.requests)
			}
		})
	}
}

// TestSecrets searches the key in everything that is stored.
func TestSecrets(t *testing.T) {
	t.Parallel()
	const key = "sk-live-0123456789abcdef"
	for _, status := range []int{200, 500} {
		f := serve(t, func(_ int, w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(status)
			fmt.Fprintf(w, `{"error":{"message":"headers were {\"Authorization\": %q}","code":500}}`,
				r.Header.Get("Authorization"))
		})
		m, target := mustOpen(t, "openai/gpt-4.1-mini", Config{BaseURL: f.URL, APIKey: key})
		req := hello()
		req.Turns[0].Content = "my key is " + key
		_, err := m.Generate(context.Background(), req)
		fault := asFault(t, err)
		all := fmt.Sprintf("%+v %s %+v", fault, fault.Exchanges[0].Request, target)
		if strings.Contains(all, key) {
			t.Errorf("%s is in %s", key, all)
		}
		if !strings.Contains(string(f.bodies[0]), key) {
			t.Error("what is sent must not be changed")
		}
	}
}
