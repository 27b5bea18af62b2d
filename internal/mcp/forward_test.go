// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/callvet/callvet"
)

// rich is a server that has more than tools.
func rich() *sdk.Server {
	s := sdk.NewServer(&sdk.Implementation{Name: "rich", Version: "1"}, &sdk.ServerOptions{
		CompletionHandler: func(context.Context, *sdk.CompleteRequest) (*sdk.CompleteResult, error) {
			return &sdk.CompleteResult{Completion: sdk.CompletionResultDetails{Values: []string{"Paris"}}}, nil
		},
	})
	s.AddResource(&sdk.Resource{URI: "a:b", Name: "r"},
		func(context.Context, *sdk.ReadResourceRequest) (*sdk.ReadResourceResult, error) {
			return &sdk.ReadResourceResult{Contents: []*sdk.ResourceContents{{URI: "a:b", Text: "told"}}}, nil
		})
	s.AddResourceTemplate(&sdk.ResourceTemplate{URITemplate: "a:{x}", Name: "t"},
		func(context.Context, *sdk.ReadResourceRequest) (*sdk.ReadResourceResult, error) {
			return nil, errors.New("none")
		})
	s.AddPrompt(&sdk.Prompt{Name: "p"}, func(_ context.Context, r *sdk.GetPromptRequest) (*sdk.GetPromptResult, error) {
		return &sdk.GetPromptResult{Messages: []*sdk.PromptMessage{{
			Role:    "user",
			Content: &sdk.TextContent{Text: "About " + r.Params.Arguments["city"]},
		}}}, nil
	})
	return s
}

// TestForward: what is not about tools passes, in every version.
func TestForward(t *testing.T) {
	t.Parallel()
	for _, stateless := range []bool{false, true} {
		srv := httptest.NewServer(sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return rich() },
			&sdk.StreamableHTTPOptions{Stateless: stateless}))
		t.Cleanup(srv.Close)
		t.Cleanup(srv.CloseClientConnections)
		s, err := Connect(t.Context(), Config{URL: srv.URL})
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		if got := s.Server(); !got.Resources || !got.Prompts || !got.Completions || got.Tools {
			t.Errorf("%+v", got)
		}
		for _, tt := range []struct{ method, params, want string }{
			{"resources/list", `{}`, `"uri":"a:b"`},
			{"resources/templates/list", `{}`, `"uriTemplate":"a:{x}"`},
			{
				"resources/read", `{"uri":"a:b","_meta":{"io.modelcontextprotocol/protocolVersion":"1999-01-01"}}`,
				`"text":"told"`,
			},
			{"prompts/list", `{}`, `"name":"p"`},
			{"prompts/get", `{"name":"p","arguments":{"city":"Oslo"}}`, `About Oslo`},
			{
				"completion/complete", `{"ref":{"type":"ref/prompt","name":"p"},"argument":{"name":"city","value":"P"}}`,
				`"Paris"`,
			},
		} {
			got, err := s.Forward(t.Context(), tt.method, json.RawMessage(tt.params))
			if err != nil || !strings.Contains(string(got), tt.want) {
				t.Errorf("%s: %s %v", tt.method, got, err)
			}
		}
		if _, err := s.Forward(t.Context(), "prompts/get", json.RawMessage(`{"name":"none"}`)); !IsRefusal(err) {
			t.Errorf("an error of the protocol: %v", err)
		}
		if _, err := s.Forward(t.Context(), "tasks/list", json.RawMessage(`{}`)); !errors.Is(err,
			callvet.ErrUnavailable) {
			t.Errorf("what does not pass: %v", err)
		}
		if _, err := s.Forward(t.Context(), "prompts/get", json.RawMessage(`[]`)); !errors.Is(err, callvet.ErrInvalid) {
			t.Errorf("no parameters: %v", err)
		}
	}
}

func TestPassed(t *testing.T) {
	t.Parallel()
	for raw, want := range map[string]string{
		`{"name":"a","outputSchema":{"type":"object"},"inputSchema":{"z":1,"a":2}}`: `{"name":"a","inputSchema":{"z":1,"a":2}}`,
		`{"outputSchema":1}`: `{}`,
		`[1]`:                `[1]`,
		`{`:                  `{`,
	} {
		if d := cmp.Diff(want, string(Passed(json.RawMessage(raw)))); d != "" {
			t.Error(d)
		}
	}
}

// TestAnswerChanged: an answer changed by a guard or a fault keeps the form of the answer.
func TestAnswerChanged(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		raw    string
		result string
		want   string
	}{
		{
			`{"content":[{"type":"image","data":"eA=="},{"type":"text","text":"mail a@b.example"}]}`,
			`[{"type":"image","data":"eA=="},{"type":"text","text":"mail [EMAIL]"}]`,
			`{"content":[{"type":"image","data":"eA=="},{"type":"text","text":"mail [EMAIL]"}]}`,
		},
		{
			`{"content":[{"type":"image","data":"eA=="}]}`, `"[withheld]"`,
			`{"content":[{"type":"text","text":"[withheld]"}]}`,
		},
		{`{"content":[{"type":"text","text":"a"}]}`, `"b"`, `{"content":[{"type":"text","text":"b"}]}`},
		{
			`{"content":[],"structuredContent":{"a":1}}`, `{"a":null}`,
			`{"content":[{"type":"text","text":"{\"a\":null}"}],"structuredContent":{"a":null}}`,
		},
		{
			`{"content":[],"structuredContent":[{"a":1}]}`, `[{"a":2}]`,
			`{"content":[{"type":"text","text":"[{\"a\":2}]"}]}`,
		},
	} {
		r, err := decode(json.RawMessage(tt.raw))
		if err != nil {
			t.Fatal(err)
		}
		a := Answer{Reply: r, Raw: json.RawMessage(tt.raw)}
		got, err := a.Changed(&callvet.Reply{Status: callvet.StatusOK, Result: json.RawMessage(tt.result)})
		if d := cmp.Diff(tt.want, string(got)); d != "" || err != nil {
			t.Errorf("%s %v", d, err)
		}
	}
	if got, err := (&Answer{}).Changed(&callvet.Reply{Status: callvet.StatusExecErr, Error: "down"}); err != nil ||
		string(got) != `{"content":[{"type":"text","text":"down"}],"isError":true}` {
		t.Errorf("%s %v", got, err)
	}
}
