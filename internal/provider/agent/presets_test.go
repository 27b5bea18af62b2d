// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package agent

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/callvet/callvet"
)

// sent gives the body that an agent gets, with its session in the place of *, and the one
// that is kept.
func sent(t *testing.T, cfg HTTPConfig, turns ...callvet.Turn) (body, kept string, header http.Header) {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		b, _ := io.ReadAll(r.Body)
		body, header = string(b), r.Header
		_, _ = io.WriteString(w, `{"message":"ok"}`)
	}))
	defer s.Close()
	cfg.URL = s.URL
	m, _, err := OpenHTTP(cfg)
	if err != nil {
		t.Fatal(err)
	}
	req := &callvet.Request{CaseID: "c", Turns: turns, Tools: callvet.NewToolset([]callvet.Tool{{Name: "f"}})}
	resp, err := m.Generate(t.Context(), req)
	if err != nil {
		t.Fatal(err)
	}
	id := session("", req)
	return strings.ReplaceAll(body, id, "*"), strings.ReplaceAll(string(resp.Exchanges[0].Request), id, "*"), header
}

// TestRequestBody: settings are paths into a template; a preset is one that ships.
func TestRequestBody(t *testing.T) {
	t.Parallel()
	body := func(s string) map[string]json.RawMessage {
		m := map[string]json.RawMessage{}
		if err := json.Unmarshal([]byte(s), &m); err != nil {
			t.Fatal(err)
		}
		return m
	}
	hi := []callvet.Turn{{Role: callvet.RoleUser, Content: "Hi"}}
	talk := []callvet.Turn{
		hi[0],
		{Role: callvet.RoleAssistant, Calls: []callvet.Call{{ID: "1", Tool: "f", Args: json.RawMessage(`{"a":1}`)}}},
		{Role: callvet.RoleTool, CallID: "1", Tool: "f", Content: "7"},
		{Role: callvet.RoleAssistant, Content: "Seven."},
		{Role: callvet.RoleUser, Content: "More"},
	}
	call := `[{"id":"1","type":"function","function":{"name":"f","arguments":"{\"a\":1}"}}]`
	for name, tt := range map[string]struct {
		cfg   HTTPConfig
		turns []callvet.Turn
		want  string
	}{
		"no setting": {HTTPConfig{}, hi, `{"message":"Hi"}`},
		"a name": {
			HTTPConfig{InputField: "q", SessionField: "sid", Body: body(`{"n":1.50}`)},
			hi,
			`{"n":1.50,"q":"Hi","sid":"*"}`,
		},
		"a path": {
			HTTPConfig{InputField: "input.messages.0.content"},
			hi,
			`{"input":{"messages":[{"content":"Hi"}]}}`,
		},
		"a path into a template": {
			HTTPConfig{
				InputField: "input.messages.1.content",
				Body: body(
					`{"input":{"messages":[{"role":"system","content":"Be short."},{"role":"user"}]},"stream":true}`),
			},
			hi,
			`{"input":{"messages":[{"content":"Be short.","role":"system"},{"content":"Hi","role":"user"}]},"stream":true}`,
		},
		"the next place of a list": {HTTPConfig{InputField: "m.1", Body: body(`{"m":["x"]}`)}, hi, `{"m":["x","Hi"]}`},
		"tools": {
			HTTPConfig{ToolsField: "config.tools"},
			hi,
			`{"config":{"tools":[{"type":"function","function":{"name":"f"}}]},"message":"Hi"}`,
		},
		"history": {
			HTTPConfig{HistoryField: "x.messages"},
			talk,
			`{"message":"More","x":{"messages":[{"role":"user","content":"Hi"},{"role":"assistant","content":"","tool_calls":` + call + `},{"role":"tool","content":"7","tool_call_id":"1","name":"f"},{"role":"assistant","content":"Seven."},{"role":"user","content":"More"}]}}`,
		},

		"ai-sdk": {
			HTTPConfig{Preset: "ai-sdk"},
			hi,
			`{"id":"*","messages":[{"id":"*-0","role":"user","parts":[{"type":"text","text":"Hi"}]}],"trigger":"submit-message"}`,
		},
		"ai-sdk, a conversation": {
			HTTPConfig{Preset: "ai-sdk"},
			talk,
			`{"id":"*","messages":[{"id":"*-0","role":"user","parts":[{"type":"text","text":"Hi"}]},` +
				`{"id":"*-1","role":"assistant","parts":[{"type":"tool-f","toolCallId":"1","state":"output-available","input":{"a":1},"output":"7"}]},` +
				`{"id":"*-3","role":"assistant","parts":[{"type":"text","text":"Seven."}]},{"id":"*-4","role":"user","parts":[{"type":"text","text":"More"}]}],"trigger":"submit-message"}`,
		},
		"ag-ui": {
			HTTPConfig{Preset: "ag-ui", Body: body(`{"state":{"a":1}}`)},
			hi,
			`{"context":[],"forwardedProps":{},"messages":[{"id":"*-0","role":"user","content":"Hi"}],"runId":"*","state":{"a":1},"threadId":"*","tools":[]}`,
		},
		"ag-ui, a conversation": {
			HTTPConfig{Preset: "ag-ui"},
			talk[:3],
			`{"context":[],"forwardedProps":{},"messages":[{"id":"*-0","role":"user","content":"Hi"},{"id":"*-1","role":"assistant","content":"","toolCalls":` + call + `},` +
				`{"id":"*-2","role":"tool","content":"7","toolCallId":"1"}],"runId":"*","state":{},"threadId":"*","tools":[]}`,
		},
		"langgraph": {
			HTTPConfig{Preset: "langgraph", Body: body(`{"assistant_id":"travel"}`)},
			hi,
			`{"assistant_id":"travel","input":{"messages":[{"role":"user","content":"Hi"}]},"stream_mode":["updates"]}`,
		},
		"langgraph, another path": {
			HTTPConfig{Preset: "langgraph", InputField: "input.question"},
			hi,
			`{"assistant_id":"agent","input":{"question":"Hi"},"stream_mode":["updates"]}`,
		},
		"openai-agents": {HTTPConfig{Preset: "openai-agents"}, hi, `{"message":"Hi"}`},
		"a2a": {
			HTTPConfig{Preset: "a2a"},
			hi,
			`{"id":"*","jsonrpc":"2.0","method":"SendMessage","params":{"message":{"messageId":"*","parts":[{"text":"Hi"}],"role":"ROLE_USER"}}}`,
		},
		"a2a, streamed": {
			HTTPConfig{Preset: "a2a", Body: body(`{"method":"SendStreamingMessage"}`)},
			hi,
			`{"id":"*","jsonrpc":"2.0","method":"SendStreamingMessage","params":{"message":{"messageId":"*","parts":[{"text":"Hi"}],"role":"ROLE_USER"}}}`,
		},
		"a2a-0.3": {
			HTTPConfig{Preset: "a2a-0.3"},
			hi,
			`{"id":"*","jsonrpc":"2.0","method":"message/send","params":{"configuration":{"blocking":true},"message":{"kind":"message","messageId":"*","parts":[{"kind":"text","text":"Hi"}],"role":"user"}}}`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, kept, header := sent(t, tt.cfg, tt.turns...)
			if d := cmp.Diff(tt.want, got); d != "" {
				t.Error(d)
			}
			if name != "tools" && kept != got {
				t.Errorf("kept %s", kept)
			}
			if v := header.Get("A2A-Version"); (v == "1.0") != strings.HasPrefix(name, "a2a") && name != "a2a-0.3" ||
				name == "a2a-0.3" && v != "" {
				t.Errorf("A2A-Version %q", v)
			}
		})
	}
}

// TestRequestBodyRefused: what cannot be sent is refused before any request.
func TestRequestBodyRefused(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		cfg  HTTPConfig
		want string
	}{
		"no such preset": {HTTPConfig{Preset: "langraph"}, `open agent: there is no preset "langraph"`},
		"inside of a text": {
			HTTPConfig{
				InputField: "a.b",
				Body:       map[string]json.RawMessage{"a": json.RawMessage(`"x"`)},
			},
			`open agent: write the request: put a.b: "b" would be inside of a value that is no object and no list`,
		},
		"beyond a list": {
			HTTPConfig{
				InputField: "a.2",
				Body:       map[string]json.RawMessage{"a": json.RawMessage(`[1]`)},
			},
			`open agent: write the request: put a.2: "2" is no place in a list of 1`,
		},
		"an empty part": {
			HTTPConfig{InputField: "a..b"},
			`open agent: write the request: put a..b: a part of the path is empty`,
		},
		"a name for a list": {
			HTTPConfig{
				InputField: "a.b",
				Body:       map[string]json.RawMessage{"a": json.RawMessage(`[1]`)},
			},
			`open agent: write the request: put a.b: "b" is no place in a list of 1`,
		},
	} {
		tt.cfg.URL = "http://127.0.0.1:1"
		_, _, err := OpenHTTP(tt.cfg)
		if err == nil || !errors.Is(err, callvet.ErrInvalid) || !strings.HasPrefix(err.Error(), tt.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
