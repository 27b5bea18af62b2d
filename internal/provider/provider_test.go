// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package provider

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/callvet/callvet"
	"github.com/google/go-cmp/cmp"
)

// Update is flag -update, for the tests of both packages.
var Update = flag.Bool("update", false, "rewrite the golden files")

// fake is a model server that keeps what it was asked.
type fake struct {
	*httptest.Server
	mu       sync.Mutex
	requests []*http.Request
	bodies   [][]byte
}

func serve(t testing.TB, answer func(n int, w http.ResponseWriter, r *http.Request)) *fake {
	t.Helper()
	f := &fake{}
	f.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		b, _ := io.ReadAll(r.Body)
		f.mu.Lock()
		f.requests, f.bodies = append(f.requests, r), append(f.bodies, b)
		n := len(f.bodies)
		f.mu.Unlock()
		answer(n, w, r)
	}))
	t.Cleanup(f.Close)
	return f
}

// replies answers every request with this JSON.
func replies(t testing.TB, body string) *fake {
	t.Helper()
	return serve(t, func(_ int, w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json; charset=utf-8")
		io.WriteString(w, body)
	})
}

func mustOpen(t testing.TB, spec string, cfg Config) (callvet.Model, callvet.Target) {
	t.Helper()
	m, target, err := Open(spec, cfg)
	if err != nil {
		t.Fatal(err)
	}
	return m, target
}

func ask(t *testing.T, m callvet.Model, req *callvet.Request) *callvet.Response {
	t.Helper()
	resp, err := m.Generate(context.Background(), req)
	if err != nil {
		t.Fatal(err)
	}
	return resp
}

func asFault(t *testing.T, err error) *callvet.Fault {
	t.Helper()
	var f *callvet.Fault
	if !errors.As(err, &f) {
		t.Fatalf("error %v is no fault", err)
	}
	return f
}

func ptr[T any](v T) *T { return &v }

// weatherTools have properties in an order that sorting would change.
func weatherTools() *callvet.Toolset {
	return callvet.NewToolset([]callvet.Tool{
		{
			Name: "get_weather", Description: "Weather \"now\" for a place.",
			Parameters: json.RawMessage(
				`{"type": "object", "properties": {"unit": {"enum": ["c","f"]}, "city": {"type": "string"}}, "required": ["city"]}`),
		},
		{Name: "get_time"},
	})
}

// longRequest is a conversation with everything a wire has to carry.
func longRequest() *callvet.Request {
	return &callvet.Request{
		System: "Be brief.",
		Turns: []callvet.Turn{
			{Role: callvet.RoleUser, Content: "Weather and time in Zürich?\n"},
			{Role: callvet.RoleAssistant, Content: "I'll look.", Calls: []callvet.Call{
				{ID: "call_abc", Tool: "get_weather", Args: json.RawMessage(`{"city":"Zürich"}`)},
				{Tool: "get_time", ArgsRaw: `{"tz":`},
			}},
			{Role: callvet.RoleTool, CallID: "call_abc", Tool: "get_weather", Content: `{"temp":21}`},
			{Role: callvet.RoleTool, Tool: "get_time", Content: "12:00"},
			{Role: callvet.RoleUser, Content: "And tomorrow?"},
		},
		Tools: weatherTools(), ToolChoice: "required",
	}
}

func allParams() callvet.Params {
	return callvet.Params{
		Temperature: ptr(0.0), TopP: ptr(0.9), MaxTokens: ptr(256), Seed: ptr(int64(7)), ReasoningEffort: "low",
		ParallelCalls: ptr(false), Stop: []string{"END"},
		Extra: map[string]json.RawMessage{"top_k": json.RawMessage(`40`)},
	}
}

func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	var pretty bytes.Buffer
	if err := json.Indent(&pretty, got, "", "  "); err != nil {
		t.Fatalf("request is not JSON: %v\n%s", err, got)
	}
	pretty.WriteByte('\n')
	file := filepath.Join("testdata", name+".json")
	if *Update {
		if err := os.WriteFile(file, pretty.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(string(want), pretty.String()); d != "" {
		t.Errorf("%s (-want +got):\n%s", file, d)
	}
}

// clock is a fixed time.
func clock() time.Time { return time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC) }
