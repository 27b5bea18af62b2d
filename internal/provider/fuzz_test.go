// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package provider

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"testing"
	"unicode/utf8"

	"github.com/callvet/callvet"
)

// body answers every request with the same bytes.
type body struct {
	bytes  []byte
	typ    string
	status int
}

func (b body) RoundTrip(r *http.Request) (*http.Response, error) {
	return &http.Response{
		StatusCode: b.status, Header: http.Header{"Content-Type": {b.typ}}, Request: r,
		ContentLength: -1, Body: io.NopCloser(bytes.NewReader(b.bytes)),
	}, nil
}

// FuzzAnswers gives any bytes as an answer on every wire: it must end in one
// valid turn, which can be sent back, or in a fault; never in a panic.
func FuzzAnswers(f *testing.F) {
	for _, s := range []string{
		chatAnswer, responsesAnswer, messagesAnswer, geminiAnswer, chatStream, messageStream,
		`{"choices":[{"message":{"tool_calls":[{"function":{"name":"{}","arguments":"\"\""}}]}}]}`,
		`{"output":[]}`, `{"content":[]}`, `[{"error":{"details":[{"retryDelay":"9e99s"}]}}]`, `{"candidates":[{}]}`,
	} {
		f.Add([]byte(s), uint8(0), false, uint16(200))
		f.Add([]byte(s), uint8(2), true, uint16(429))
	}
	specs := []string{"vllm/m", "openai-responses/gpt-5", "anthropic/m", "gemini/m"}
	tools := weatherTools()
	f.Fuzz(func(t *testing.T, answer []byte, wire uint8, stream bool, status uint16) {
		b := body{bytes: answer, typ: "application/json", status: 200 + int(status)%400}
		if stream {
			b.typ = "text/event-stream"
		}
		m, _ := mustOpen(t, specs[int(wire)%len(specs)],
			Config{APIKey: "secret-key-123", Stream: stream, HTTPClient: &http.Client{
				Transport:     b,
				CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
			}})
		req := &callvet.Request{Turns: []callvet.Turn{{Role: callvet.RoleUser, Content: "?"}}, Tools: tools}
		resp, err := m.Generate(context.Background(), req)
		if err != nil {
			var fault *callvet.Fault
			if !errors.As(err, &fault) || fault.Message == "" || fault.RetryAfter < 0 {
				t.Fatalf("%v is no good fault: %+v", err, fault)
			}
			return
		}
		if len(resp.Turns) != 1 || !utf8.ValidString(resp.Exchanges[0].Response) ||
			!json.Valid(resp.Exchanges[0].Request) {
			t.Fatalf("%+v", resp)
		}
		req.Turns = append(req.Turns, resp.Turns[0])
		for _, c := range resp.Turns[0].Calls {
			if c.ID == "" || c.Args == nil && c.ArgsRaw == "" {
				t.Fatalf("call %+v", c)
			}
			req.Turns = append(req.Turns,
				callvet.Turn{Role: callvet.RoleTool, CallID: c.ID, Tool: c.Tool, Content: "ok"})
		}
		sent, _ := m.(*model).encode(
			&query{req: req, turns: withIDs(req.Turns, m.(*model).fit), tools: m.(*model).wire.tools(tools)})
		if !json.Valid(sent) {
			t.Fatalf("the next request is not JSON: %s", sent)
		}
	})
}
