// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package rows

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
)

// model is a server of models in the form of OpenAI's API. It reads the call that it makes in the
// last question: CALL name {arguments}. A question without it is answered in words. The model
// that is called careful says more: what the system prompt adds to the arguments.
type model struct{ *httptest.Server }

func startModel() *model {
	return &model{httptest.NewServer(http.HandlerFunc(answerModel))}
}

func answerModel(w http.ResponseWriter, r *http.Request) {
	var in struct {
		Messages []struct {
			Role    string          `json:"role"`
			Content json.RawMessage `json:"content"`
		} `json:"messages"`
		ToolChoice json.RawMessage `json:"tool_choice"`
	}
	b, err := io.ReadAll(r.Body)
	if err == nil {
		err = json.Unmarshal(b, &in)
	}
	if err != nil {
		http.Error(w, "no request of this check", http.StatusBadRequest)
		return
	}
	if strings.Contains(string(b), "HANG") {
		<-r.Context().Done()
		return
	}
	if strings.Contains(string(b), "NOTREQUIRED") && string(in.ToolChoice) == `"required"` {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusBadRequest)
		_, _ = io.WriteString(w, `{"error":{"message":"tool_choice 'required' is not supported by this model"}}`)
		return
	}
	message, reason := map[string]any{"role": "assistant", "content": "That is all."}, "stop"
	system, question := "", ""
	for _, m := range in.Messages {
		text := string(m.Content)
		_ = json.Unmarshal(m.Content, &text) // else the parts as they are
		switch m.Role {
		case "system":
			system = text
		case "user":
			question = text
		}
	}
	if last := in.Messages[len(in.Messages)-1]; last.Role == "user" {
		if name, args, found := called(question, system); found {
			message["content"], reason = nil, "tool_calls"
			message["tool_calls"] = []any{map[string]any{"id": "c1", "type": "function", "function": map[string]any{"name": name, "arguments": args}}}
		}
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(map[string]any{
		"model": "m", "choices": []any{map[string]any{"finish_reason": reason, "message": message}},
		"usage": map[string]any{"prompt_tokens": 50, "completion_tokens": 10, "total_tokens": 60},
	})
}

// called reads the call that a question asks for. SYSTEM in it stands for a system prompt that is no empty one.
func called(question, system string) (name, args string, found bool) {
	_, text, found := strings.Cut(question, "CALL ")
	if !found {
		return "", "", false
	}
	name, args, _ = strings.Cut(text, " ")
	if better, ok := strings.CutPrefix(system, "BETTER "); ok {
		args = better
	}
	return name, strings.TrimSpace(args), true
}
