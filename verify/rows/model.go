// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package rows

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"time"
)

// model is a server of models in the form of OpenAI's API, of embeddings and rerankers, and of a
// slow service that selects tools.
type model struct{ *httptest.Server }

func startModel() *model {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /embed", vectors)
	mux.HandleFunc("POST /embeddings", vectors)
	mux.HandleFunc("POST /rerank", rerank)
	mux.HandleFunc("POST /slow", slow)
	mux.HandleFunc("/", chat)
	return &model{httptest.NewServer(mux)}
}

// vectors returns (1, 0) for texts with the word road, and (0, 1) for others, in the form of Text
// Embeddings Inference or of OpenAI's API.
func vectors(w http.ResponseWriter, r *http.Request) {
	var in struct {
		Inputs []string `json:"inputs"`
		Input  []string `json:"input"`
	}
	if !read(w, r, &in) {
		return
	}
	vector := func(text string) [2]float64 {
		if strings.Contains(strings.ToLower(text), "road") {
			return [2]float64{1, 0}
		}
		return [2]float64{0, 1}
	}
	plain := make([][2]float64, len(in.Inputs))
	for i, text := range in.Inputs {
		plain[i] = vector(text)
	}
	if in.Input == nil {
		write(w, plain)
		return
	}
	data := make([]any, len(in.Input))
	for i, text := range in.Input {
		data[i] = map[string]any{"index": i, "embedding": vector(text)}
	}
	write(w, map[string]any{"data": data})
}

// rerank scores texts with the word forecast 0.9 and others 0.1. If no text has the word, the score of
// the first text is the number of texts.
func rerank(w http.ResponseWriter, r *http.Request) {
	var in struct {
		Texts []string `json:"texts"`
	}
	if !read(w, r, &in) {
		return
	}
	type scored struct {
		Index int     `json:"index"`
		Score float64 `json:"score"`
	}
	var out []scored
	forecast := false
	for i, text := range in.Texts {
		s := scored{i, 0.1}
		if strings.Contains(strings.ToLower(text), "forecast") {
			s.Score, forecast = 0.9, true
		}
		out = append(out, s)
	}
	if !forecast && len(out) > 0 {
		out[0].Score = float64(len(out))
	}
	write(w, out)
}

// slow selects the same tool for every question, after 700 ms.
func slow(w http.ResponseWriter, _ *http.Request) {
	time.Sleep(700 * time.Millisecond)
	write(w, map[string]any{"tools": []any{map[string]any{"id": "road_disruptions", "score": 1}}})
}

func read(w http.ResponseWriter, r *http.Request, into any) bool {
	err := json.NewDecoder(r.Body).Decode(into)
	if err != nil {
		http.Error(w, "no request of this check", http.StatusBadRequest)
	}
	return err == nil
}

func write(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(v) // a closed connection needs no answer
}

// message is one message of a request.
type message struct {
	Role    string          `json:"role"`
	Content json.RawMessage `json:"content"`
}

func (m message) text() string {
	text := ""
	if json.Unmarshal(m.Content, &text) != nil {
		text = string(m.Content)
	}
	return text
}

// chat is a model that makes the call in the last question: CALL name {arguments}. A question without a
// call is answered in words. A system prompt BETTER {arguments} sets other arguments. A question with HANG
// is not answered; for NOTREQUIRED the tool choice "required" is refused.
func chat(w http.ResponseWriter, r *http.Request) {
	var in struct {
		Messages   []message       `json:"messages"`
		ToolChoice json.RawMessage `json:"tool_choice"`
	}
	if !read(w, r, &in) || len(in.Messages) == 0 {
		return
	}
	system, question := "", ""
	for _, m := range in.Messages {
		switch m.Role {
		case "system":
			system = m.text()
		case "user":
			question = m.text()
		}
	}
	switch {
	case strings.Contains(question, "HANG"):
		<-r.Context().Done()
		return
	case strings.Contains(question, "NOTREQUIRED") && string(in.ToolChoice) == `"required"`:
		w.WriteHeader(http.StatusBadRequest)
		write(w,
			map[string]any{"error": map[string]any{"message": "tool_choice 'required' is not supported by this model"}})
		return
	}
	answer, reason := map[string]any{"role": "assistant", "content": "That is all."}, "stop"
	if name, args, found := called(question, system); found && in.Messages[len(in.Messages)-1].Role == "user" {
		answer["content"], reason = nil, "tool_calls"
		answer["tool_calls"] = []any{map[string]any{
			"id": "c1", "type": "function",
			"function": map[string]any{"name": name, "arguments": args},
		}}
	}
	write(w, map[string]any{
		"model": "m", "choices": []any{map[string]any{"finish_reason": reason, "message": answer}},
		"usage": map[string]any{"prompt_tokens": 50, "completion_tokens": 10, "total_tokens": 60},
	})
}

// called reads the call in a question. INNAME has the whole call written into its name.
func called(question, system string) (name, args string, found bool) {
	if _, inName, ok := strings.Cut(question, "INNAME "); ok {
		return inName, "{}", true
	}
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
