// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package losses

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strconv"
	"strings"
	"sync/atomic"
	"time"
)

// The names of the server's models, by their behaviour.
const (
	steady = "steady" // answers
	down   = "down"   // has errors of the provider at some cases
	broken = "broken" // answers some cases with invalid JSON
	judge  = "judge"  // is a judge without a verdict on some cases
)

// takes is the time of an answer, long enough to end a run in the middle.
const takes = 15 * time.Millisecond

// model is a server of models in the form of OpenAI's API.
type model struct {
	*httptest.Server

	answered atomic.Int64
}

func startModel() *model {
	m := &model{}
	m.Server = httptest.NewServer(http.HandlerFunc(m.answer))
	return m
}

var item = regexp.MustCompile(`item (\d+)`)

// wrong reports whether the models answer a case wrongly: 3 of 5.
func wrong(n int) bool { return n%5 == 0 || n%5 == 1 || n%5 == 3 }

// loses reports whether a model that loses answers loses the answer to a case: 1 of 3.
func loses(n int) bool { return n%3 == 2 }

func (m *model) answer(w http.ResponseWriter, r *http.Request) {
	var in struct {
		Model string            `json:"model"`
		Tools []json.RawMessage `json:"tools"`
	}
	b, err := io.ReadAll(r.Body)
	if err == nil {
		err = json.Unmarshal(b, &in)
	}
	found := item.FindSubmatch(b)
	if err != nil || found == nil {
		http.Error(w, "no request of this check", http.StatusBadRequest)
		return
	}
	n, err := strconv.Atoi(string(found[1]))
	if err != nil {
		http.Error(w, "no number of a case", http.StatusBadRequest)
		return
	}
	time.Sleep(takes)
	defer m.answered.Add(1)
	switch {
	case loses(n) && in.Model == down:
		http.Error(w, `{"error":{"message":"the server is down"}}`, http.StatusInternalServerError)
		return
	case loses(n) && in.Model == broken:
		fmt.Fprint(w, `{"model":"m","choices":[{"finish`)
		return
	}
	message := map[string]any{"role": "assistant", "content": "Item " + strconv.Itoa(n) + " is a lamp."}
	reason := "stop"
	switch {
	case in.Model == judge && loses(n):
		message["content"] = "I would rather not say."
	case in.Model == judge:
		message["content"] = fmt.Sprintf(`{"score": %d, "rationale": "so it is"}`, grade(n))
	case len(in.Tools) > 0:
		reason = "tool_calls"
		message["content"] = nil
		message["tool_calls"] = []any{map[string]any{
			"id": "1", "type": "function",
			"function": map[string]any{"name": "look_up", "arguments": arguments(n)},
		}}
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(map[string]any{ // a client that was killed reads nothing
		"model": "m", "usage": map[string]int{"prompt_tokens": 50, "completion_tokens": 10, "total_tokens": 60},
		"choices": []any{map[string]any{"index": 0, "finish_reason": reason, "message": message}},
	})
}

func grade(n int) int {
	if wrong(n) {
		return 1
	}
	return 10
}

func arguments(n int) string {
	if wrong(n) {
		n++
	}
	return fmt.Sprintf(`{"item":%d}`, n)
}

// planned is the number of cases of the suites.
const planned = 60

func caseID(n int) string { return fmt.Sprintf("c%04d", n) }

// suiteOf returns a suite of calls, or a suite that a judge decides.
func suiteOf(judged bool) map[string]any {
	cases := make([]any, planned)
	for n := range cases {
		one := map[string]any{"id": caseID(n), "prompt": fmt.Sprintf("Look up item %d.", n)}
		if judged {
			one["expect"] = map[string]any{"rubric": []any{map[string]any{
				"dimension": "tone",
				"criteria":  "it is friendly", "max_score": 10,
			}}}
		} else {
			one["expected_tool"], one["expected_params"] = "look_up", map[string]any{"item": n}
		}
		cases[n] = one
	}
	out := map[string]any{"callvet": 1, "name": "items", "cases": cases}
	if !judged {
		out["tools"] = []any{map[string]any{
			"name": "look_up", "description": "Look up an item.",
			"parameters": map[string]any{
				"type": "object", "required": []string{"item"},
				"properties": map[string]any{"item": map[string]any{"type": "integer"}},
			},
		}}
	}
	return out
}

// records are the attempts as lines of a trace file. The line of a lost attempt is cut off.
func records() string {
	var out strings.Builder
	for n := range planned {
		line := fmt.Sprintf(`{"type":"task","task_id":"%s","outcome":"called","pass":%t}`, caseID(n), !wrong(n))
		if loses(n) {
			line = line[:len(line)/2]
		}
		out.WriteString(line + "\n")
	}
	return out.String()
}
