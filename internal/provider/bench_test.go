// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package provider

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/callvet/callvet"
)

// canned answers without a network, so that what is measured is the client.
type canned struct{}

func (canned) RoundTrip(r *http.Request) (*http.Response, error) {
	if _, err := io.Copy(io.Discard, r.Body); err != nil {
		return nil, err
	}
	return &http.Response{
		StatusCode: 200, Header: http.Header{"Content-Type": {"application/json"}}, Request: r,
		ContentLength: int64(len(chatAnswer)), Body: io.NopCloser(strings.NewReader(chatAnswer)),
	}, nil
}

func benchRequest() *callvet.Request {
	tools := make([]callvet.Tool, 8)
	for i := range tools {
		tools[i] = weatherTools().Tools[0]
		tools[i].Name = fmt.Sprintf("get_weather_%d", i)
	}
	return &callvet.Request{
		System: "You are a helpful assistant that calls tools.",
		Turns:  []callvet.Turn{{Role: callvet.RoleUser, Content: "What is the weather like in Paris on Friday?"}},
		Tools:  callvet.NewToolset(tools), ToolChoice: "auto", Params: callvet.Params{Temperature: ptr(0.0)},
	}
}

func processCPU() time.Duration {
	var r syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &r) != nil {
		return 0
	}
	return time.Duration(r.Utime.Nano() + r.Stime.Nano())
}

// measure runs call and reports the CPU of the whole process (a server in it included).
func measure(b *testing.B, call func() error) {
	b.ReportAllocs()
	before := processCPU()
	for b.Loop() {
		if err := call(); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64((processCPU()-before).Nanoseconds())/1e3/float64(b.N), "cpu-us/op")
}

// BenchmarkGenerate compares Generate with a bare net/http request of the same
// bytes, without a network and against a local server.
func BenchmarkGenerate(b *testing.B) {
	ctx := context.Background()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "application/json")
		io.WriteString(w, chatAnswer)
	}))
	defer server.Close()
	for _, c := range []struct {
		name, url string
		client    *http.Client
	}{
		{"canned", "http://localhost:1", &http.Client{Transport: canned{}}},
		{"server", server.URL, NewHTTPClient()},
	} {
		m, _ := mustOpen(b, "openai/gpt-4.1-mini",
			Config{BaseURL: c.url, APIKey: "secret-key-123", HTTPClient: c.client})
		req := benchRequest()
		q := &query{req: req, turns: req.Turns, params: req.Params, choice: "auto", tools: (&chat{}).tools(req.Tools)}
		body, _ := m.(*model).encode(q)
		b.Run(c.name+"/bare", func(b *testing.B) {
			measure(b, func() error {
				r, err := http.NewRequestWithContext(ctx, http.MethodPost, c.url+"/chat/completions",
					bytes.NewReader(body))
				if err != nil {
					return err
				}
				r.Header.Set("Content-Type", "application/json")
				r.Header.Set("Authorization", "Bearer secret-key-123")
				res, err := c.client.Do(r)
				if err != nil {
					return err
				}
				defer res.Body.Close()
				_, err = io.ReadAll(res.Body)
				return err
			})
		})
		b.Run(c.name+"/generate", func(b *testing.B) {
			measure(b, func() error {
				_, err := m.Generate(ctx, req)
				return err
			})
		})
	}
}
