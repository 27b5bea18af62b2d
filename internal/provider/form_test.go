// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package provider

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/callvet/callvet"
)

// formServer answers with the given bodies in turn, the last one again and again; a body that
// begins with a digit has its status in front.
type formServer struct {
	mu      sync.Mutex
	answers []string
	asked   []map[string]json.RawMessage
}

func (s *formServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	var req map[string]json.RawMessage
	if err == nil {
		err = json.Unmarshal(body, &req)
	}
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	s.mu.Lock()
	s.asked = append(s.asked, req)
	answer := s.answers[0]
	if len(s.answers) > 1 {
		s.answers = s.answers[1:]
	}
	s.mu.Unlock()
	w.Header().Set("Content-Type", "application/json")
	if strings.HasPrefix(answer, "400 ") {
		w.WriteHeader(http.StatusBadRequest)
		answer = answer[4:]
	}
	_, _ = io.WriteString(w, answer)
}

func (s *formServer) seen() []map[string]json.RawMessage {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.asked)
}

const (
	formChat      = `{"choices":[{"message":{"role":"assistant","content":"{\"pass\":true}"},"finish_reason":"stop"}],"usage":{"prompt_tokens":3,"completion_tokens":2}}`
	formResponses = `{"status":"completed","output":[{"type":"message","content":[{"type":"output_text","text":"{\"pass\":true}"}]}],"usage":{"input_tokens":3,"output_tokens":2}}`
	formGemini    = `{"candidates":[{"content":{"role":"model","parts":[{"text":"{\"pass\":true}"}]},"finishReason":"STOP"}],"usageMetadata":{"promptTokenCount":3,"candidatesTokenCount":2}}`
	formOllama    = `{"message":{"role":"assistant","content":"{\"pass\":true}"},"done":true,"prompt_eval_count":3,"eval_count":2}`
	formTool      = `{"content":[{"type":"tool_use","id":"t1","name":"verdict","input":{"pass":true}}],"stop_reason":"tool_use","usage":{"input_tokens":3,"output_tokens":2}}`
	formText      = `{"content":[{"type":"text","text":"{\"pass\":true}"}],"stop_reason":"end_turn","usage":{"input_tokens":3,"output_tokens":2}}`
)

func askForm(t *testing.T, spec string, answers ...string) (*formServer, *callvet.Response) {
	t.Helper()
	s := &formServer{answers: answers}
	srv := httptest.NewServer(s)
	t.Cleanup(srv.Close)
	m, target, err := Open(spec, Config{BaseURL: srv.URL + "/v1", APIKey: "k", HTTPClient: srv.Client()})
	if err != nil {
		t.Fatal(err)
	}
	req := &callvet.Request{
		System: "Judge.", Turns: []callvet.Turn{{Role: callvet.RoleUser, Content: "?"}}, Params: target.Params,
		ToolChoice: "auto",
		Form:       &callvet.AnswerForm{Name: "verdict", Schema: json.RawMessage(`{"type":"object"}`), Strict: true},
	}
	for range 2 { // what was learned holds for the second one
		resp, err := m.Generate(t.Context(), req)
		if err != nil {
			t.Fatal(err)
		}
		if got := resp.Turns[0]; got.Content != `{"pass":true}` || len(got.Calls) > 0 || resp.LostCall() {
			t.Fatalf("answer: %+v", got)
		}
		if len(s.seen()) > 2 {
			return s, resp
		}
		if len(answers) == 1 {
			return s, resp
		}
	}
	return s, nil
}

func TestAnswerForm(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ spec, answer, member, want string }{
		{
			"openai/m", formChat, "response_format",
			`{"type":"json_schema","json_schema":{"name":"verdict","schema":{"type":"object"},"strict":true}}`,
		},
		{
			"openai-responses/m", formResponses, "text",
			`{"format":{"type":"json_schema","name":"verdict","schema":{"type":"object"},"strict":true}}`,
		},
		{
			"gemini/m", formGemini, "generationConfig",
			`{"responseMimeType":"application/json","responseJsonSchema":{"type":"object"}}`,
		},
		{"ollama/m", formOllama, "format", `{"type":"object"}`},
		{"anthropic/m", formTool, "tool_choice", `{"type":"tool","name":"verdict"}`},
	} {
		t.Run(tc.spec, func(t *testing.T) {
			t.Parallel()
			s, resp := askForm(t, tc.spec, tc.answer)
			if got := string(s.seen()[0][tc.member]); got != tc.want {
				t.Errorf("%s: %s, want %s", tc.member, got, tc.want)
			}
			if len(resp.Omitted) > 0 {
				t.Errorf("omitted: %v", resp.Omitted)
			}
		})
	}
}

// TestAnswerFormRefused: a server that refuses the form is asked without it, once and from then on,
// and each answer reports that.
func TestAnswerFormRefused(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ spec, refusal, answer, member string }{
		{
			"openai/m",
			`400 {"error":{"message":"Invalid parameter: 'response_format' of type 'json_schema' is not supported with this model.","param":"response_format"}}`, formChat, "response_format",
		},
		{"openai/m", `400 {"error":"json_schema is not supported"}`, formChat, "response_format"},
		{
			"gemini/m",
			`400 {"error":{"message":"Invalid JSON payload received. Unknown name \"responseJsonSchema\" at 'generation_config': Cannot find field."}}`, formGemini, "generationConfig",
		},
		{
			"anthropic/m", `400 {"error":{"message":"Thinking may not be enabled when tool_choice forces tool use."}}`,
			formText, "tool_choice",
		},
	} {
		t.Run(tc.spec, func(t *testing.T) {
			t.Parallel()
			s, resp := askForm(t, tc.spec, tc.refusal, tc.answer)
			asked := s.seen()
			if len(asked) != 3 || asked[0][tc.member] == nil || asked[1][tc.member] != nil ||
				asked[2][tc.member] != nil {
				t.Fatalf("asked: %s", asked)
			}
			if !slices.Contains(resp.Omitted, answerForm) {
				t.Errorf("omitted: %v", resp.Omitted)
			}
			if asked[2]["tools"] != nil {
				t.Errorf("the tool of the form is still there: %s", asked[2]["tools"])
			}
		})
	}
}
