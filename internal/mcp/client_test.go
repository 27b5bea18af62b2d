// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/callvet/callvet"
)

// honest is a server made with the SDK: its tools are of several kinds, on several pages.
func honest() *sdk.Server {
	s := sdk.NewServer(&sdk.Implementation{Name: "honest", Version: "1.2"},
		&sdk.ServerOptions{Instructions: "Be kind.", PageSize: 2})
	add := func(name, schema string, do func(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error)) {
		t := &sdk.Tool{Name: name, Description: "Does " + name, InputSchema: json.RawMessage(schema)}
		if name == "count" {
			t.OutputSchema = json.RawMessage(`{"type":"object","properties":{"n":{"type":"integer"}},"required":["n"]}`)
			t.Annotations = &sdk.ToolAnnotations{ReadOnlyHint: true, IdempotentHint: true}
		}
		s.AddTool(t, do)
	}
	got := func(text string) *sdk.CallToolResult {
		return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: text}}}
	}
	calls := &atomic.Int64{}
	add("echo", `{"type":"object","properties":{"zeta":{"type":"string"},"alpha":{"type":"string"}}}`,
		func(_ context.Context, r *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
			return got(string(r.Params.Arguments)), nil
		})
	add("fail", `{"type":"object"}`, func(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		r := got("seat taken")
		r.IsError = true
		return r, nil
	})
	add("count", `{"type":"object"}`, func(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		r := got("counted")
		r.StructuredContent = json.RawMessage(fmt.Sprintf(`{"z":1,"n":%d,"a":2}`, calls.Add(1)))
		if calls.Load() == 2 {
			r.StructuredContent = json.RawMessage(`{"n":"two"}`)
		}
		return r, nil
	})
	add("picture", `{"type":"object"}`, func(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		return &sdk.CallToolResult{Content: []sdk.Content{
			&sdk.TextContent{Text: "look"},
			&sdk.ImageContent{Data: []byte("x"), MIMEType: "image/png"},
		}}, nil
	})
	add("ask", `{"type":"object"}`, func(ctx context.Context, r *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		e, err := r.Session.Elicit(ctx,
			&sdk.ElicitParams{
				Message:         "Your password?",
				RequestedSchema: json.RawMessage(`{"type":"object","properties":{}}`),
			})
		if err != nil {
			return got("error: " + err.Error()), nil
		}
		_, err = r.Session.CreateMessage(ctx, &sdk.CreateMessageParams{MaxTokens: 1}) //nolint:staticcheck // servers of today ask for it
		return got(fmt.Sprintf("%s, sampled: %v", e.Action, err == nil)), nil
	})
	add("learn", `{"type":"object"}`, func(ctx context.Context, _ *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		s.AddTool(&sdk.Tool{Name: "learned", InputSchema: json.RawMessage(`{"type":"object"}`)},
			func(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
				return got("now I can"), nil
			})
		return got("learned"), nil
	})
	return s
}

// ways are the transports and versions under which the honest server is asked.
func ways(t *testing.T) map[string]Config {
	t.Helper()
	serve := func(h http.Handler) string {
		srv := httptest.NewServer(h)
		t.Cleanup(srv.Close)
		t.Cleanup(srv.CloseClientConnections)
		return srv.URL
	}
	stateful, stateless := honest(), honest()
	env := append(os.Environ(), "LIE=honest")
	return map[string]Config{
		"stdio":            {Command: []string{os.Args[0]}, Env: env},
		"stdio 2025-11-25": {Command: []string{os.Args[0]}, Env: env, Protocol: "2025-11-25"},
		"stdio 2024-11-05": {Command: []string{os.Args[0]}, Env: env, Protocol: "2024-11-05"},
		"streamable": {URL: serve(
			sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return stateful }, nil))},
		"stateless": {URL: serve(
			sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return stateless },
				&sdk.StreamableHTTPOptions{Stateless: true}))},
		"json": {URL: serve(
			sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return honest() },
				&sdk.StreamableHTTPOptions{JSONResponse: true}))},
		"sse": {URL: serve(sdk.NewSSEHandler(func(*http.Request) *sdk.Server { return honest() }, nil))},
	}
}

// TestNewestOverSSE: the newest version of the protocol has no SSE. It is refused before anything is sent.
func TestNewestOverSSE(t *testing.T) {
	t.Parallel()
	cfg := ways(t)["sse"]
	cfg.Protocol = sessionless
	for _, transport := range []string{SSE, ""} {
		cfg.Transport = transport
		s, err := Connect(t.Context(), cfg)
		if err == nil {
			t.Errorf("transport %q: connected by %+v", transport, s.Server())
			_ = s.Close()
		} else if transport == SSE && (!errors.Is(err, callvet.ErrInvalid) || !strings.Contains(err.Error(), "no SSE")) {
			t.Errorf("transport %q: %v", transport, err)
		}
	}
}

// TestSession: over every transport and version the tools, their schemas byte for byte, and what
// they answer are the same.
func TestSession(t *testing.T) {
	t.Parallel()
	for name, cfg := range ways(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, err := Connect(t.Context(), cfg)
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			want := Server{
				Name: "honest", Version: "1.2", Instructions: "Be kind.", Tools: true,
				Protocol: "2025-11-25", Transport: Streamable, Where: cfg.URL,
			}
			switch {
			case cfg.Protocol != "":
				want.Protocol = cfg.Protocol
			case name == "stdio" || name == "stateless":
				want.Protocol = "2026-07-28"
			}
			if cfg.URL == "" {
				want.Transport, want.Where = "stdio", s.Server().Where
			}
			if name == "sse" {
				want.Transport = SSE
			}
			if d := cmp.Diff(want, s.Server()); d != "" {
				t.Error(d)
			}
			l, err := s.List(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			var names []string
			for _, tool := range l.Tools {
				names = append(names, tool.Name)
			}
			if d := cmp.Diff("ask count echo fail learn picture", strings.Join(names, " ")); d != "" || l.Pages != 3 ||
				len(l.Problems) > 0 {
				t.Errorf("%s%d pages, %+v", d, l.Pages, l.Problems)
			}
			if got := string(
				l.Find(
					"echo").Parameters); got != `{"type":"object","properties":{"zeta":{"type":"string"},"alpha":{"type":"string"}}}` {
				t.Errorf("the order of keys is lost: %s", got)
			}
			if c := l.Find("count"); c.ReadOnly == nil || !*c.ReadOnly || c.Idempotent == nil ||
				l.Find("echo").ReadOnly != nil || c.Destructive != nil {
				t.Errorf("annotations: %+v", c)
			}
			for _, step := range []struct {
				tool, args string
				want       callvet.Reply
			}{
				{
					"echo", `{"z":1,"a":2.0}`,
					callvet.Reply{Status: "ok", Result: json.RawMessage(`"{\"z\":1,\"a\":2.0}"`)},
				},
				{"fail", ``, callvet.Reply{Status: "exec_error", Error: "seat taken"}},
				{"count", `{}`, callvet.Reply{Status: "ok", Result: json.RawMessage(`{"z":1,"n":1,"a":2}`)}},
				{
					"picture", `{}`,
					callvet.Reply{
						Status: "ok",
						Result: json.RawMessage(
							`[{"type":"text","text":"look"},{"type":"image","mimeType":"image/png","data":"eA=="}]`),
					},
				},
				{"none", `{}`, callvet.Reply{
					Status: "exec_error", Error: `unknown tool "none"`,
					Note: "an error of the protocol (-32602)",
				}},
			} {
				got, err := s.Call(t.Context(), step.tool, json.RawMessage(step.args))
				if err != nil {
					t.Fatal(step.tool, err)
				}
				got.Latency = 0
				if d := cmp.Diff(step.want, got); d != "" {
					t.Errorf("%s: %s", step.tool, d)
				}
			}
			ctx, cancel := context.WithCancel(t.Context())
			cancel()
			if _, err := s.Call(ctx, "echo", nil); !errors.Is(err, context.Canceled) {
				t.Errorf("canceled: %v", err)
			}
		})
	}
}

// TestRefused: a tool that asks for a model or the user is refused, and the answer has a note about
// it.
func TestRefused(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"stdio 2025-11-25", "streamable"} {
		s, err := Connect(t.Context(), ways(t)[name])
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		r, err := s.Call(t.Context(), "ask", nil)
		if err != nil || string(r.Result) != `"decline, sampled: false"` || !strings.Contains(r.Note, "refused") {
			t.Errorf("%s: %+v %v", name, r, err)
		}
	}
}

// TestWorld: a world notes what breaks the tool's own promise, and sees tools that come later.
func TestWorld(t *testing.T) {
	t.Parallel()
	for name, cfg := range ways(t) {
		// those over HTTP share a server
		if name == "json" || name == "sse" || name == "streamable" || name == "stateless" {
			continue
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := NewWorld(cfg)
			defer w.Close()
			ask := func(tool, result, note string) {
				t.Helper()
				r, err := w.Answer(t.Context(), callvet.Call{Tool: tool})
				if err != nil || string(r.Result) != result || !strings.Contains(r.Note, note) || note == "" &&
					r.Note != "" {
					t.Errorf("%s: %+v %s %v", tool, r, r.Result, err)
				}
			}
			ask("count", `{"z":1,"n":1,"a":2}`, "")
			ask("count", `{"n":"two"}`, "breaks the tool's own output schema")
			ask("learned", ``, "no tool of the MCP server")
			r, err := w.Answer(t.Context(), callvet.Call{Tool: "learn"})
			if err != nil || r.Status != callvet.StatusOK {
				t.Fatal(r, err)
			}
			for w.session.Changed() == 0 && t.Context().Err() == nil { // the server reports it at any time
				if _, err := w.Answer(t.Context(), callvet.Call{Tool: "echo"}); err != nil {
					t.Fatal(err)
				}
			}
			ask("learned", `"now I can"`, "")
			if err := w.Close(); err != nil {
				t.Error(err)
			}
			if _, err := w.Answer(t.Context(), callvet.Call{Tool: "echo"}); !errors.Is(err, callvet.ErrUnavailable) {
				t.Errorf("closed: %v", err)
			}
		})
	}
	if w := NewWorld(Config{}); w.Close() != nil {
		t.Error("a world that was never asked cannot be closed")
	}
}

// TestOtherHosts: no server leads to another host, by a redirect or by the address that one over
// SSE names for messages.
func TestOtherHosts(t *testing.T) {
	t.Parallel()
	var asked atomic.Int64
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked.Add(1) }))
	defer other.Close()
	for name, h := range map[string]http.HandlerFunc{
		"redirect": func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, other.URL, http.StatusTemporaryRedirect)
		},
		"sse": func(w http.ResponseWriter, r *http.Request) {
			if r.Method == http.MethodPost {
				http.NotFound(w, r)
				return
			}
			w.Header().Set("Content-Type", "text/event-stream")
			fmt.Fprintf(w, "event: endpoint\ndata: %s/messages\n\n", other.URL)
			_ = http.NewResponseController(w).Flush()
			<-r.Context().Done()
		},
	} {
		srv := httptest.NewServer(h)
		_, err := Connect(t.Context(), Config{URL: srv.URL, Transport: map[string]string{"sse": SSE}[name]})
		if err == nil || !strings.Contains(err.Error(), "another host is not asked") {
			t.Errorf("%s: %v", name, err)
		}
		srv.CloseClientConnections()
		srv.Close()
	}
	if asked.Load() != 0 {
		t.Errorf("the other host was asked %d times", asked.Load())
	}
}

// TestNoServer: an address that is not a server is reported as such.
func TestNoServer(t *testing.T) {
	t.Parallel()
	closed := httptest.NewServer(http.NotFoundHandler())
	closed.Close()
	missing := httptest.NewServer(http.NotFoundHandler())
	defer missing.Close()
	locked := httptest.NewServer(
		http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusUnauthorized) }))
	defer locked.Close()
	for _, tt := range []struct {
		cfg  Config
		kind callvet.FaultKind // "": err
		err  error
	}{
		{Config{}, "", callvet.ErrInvalid},
		{Config{URL: "ftp://x/"}, "", callvet.ErrInvalid},
		{Config{URL: "http://x/", Command: []string{"a"}}, "", callvet.ErrInvalid},
		{Config{URL: "http://x/", Transport: "pigeon"}, "", callvet.ErrInvalid},
		{Config{URL: "http://x/", Protocol: "1999-01-01"}, "", callvet.ErrInvalid},
		{Config{Command: []string{"callvet-has-no-such-command"}}, "", callvet.ErrNotFound},
		{Config{Command: []string{"false"}}, callvet.FaultProcess, nil},
		{Config{Command: []string{"sh", "-c", "echo hello; cat >/dev/null"}}, callvet.FaultMalformed, nil},
		{Config{URL: closed.URL}, callvet.FaultNetwork, nil},
		{Config{URL: missing.URL}, callvet.FaultNetwork, nil},
		{Config{URL: locked.URL}, callvet.FaultAuth, nil},
	} {
		_, err := Connect(t.Context(), tt.cfg)
		var f *callvet.Fault
		if tt.kind == "" && !errors.Is(err, tt.err) || tt.kind != "" && (!errors.As(err, &f) || f.Kind != tt.kind) {
			t.Errorf("%+v: %v", tt.cfg, err)
		}
	}
}
