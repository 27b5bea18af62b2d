// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package tunes_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/app"
	"github.com/callvet/callvet/internal/app/tunes"
	"github.com/callvet/callvet/internal/store"
	"github.com/callvet/callvet/internal/tune"
)

// townCases is how many cases the suite of towns has, each a family of its own.
const townCases = 48

// townSuite has a marker in each question (zq_ask), and markers (zq_gold) in all that a case expects, describes, or
// gives to tools.
func townSuite() []byte {
	var b strings.Builder
	b.WriteString(`callvet: 1
name: towns
system_prompt: You answer questions about the weather.
tools:
  - name: get_weather
    description: The weather of a town.
    parameters: {type: object, properties: {town: {type: string}, unit: {type: string}}, required: [town]}
  - name: send_mail
    description: Send a mail.
    parameters: {type: object, properties: {to: {type: string}}}
cases:
`)
	for i := range townCases {
		fmt.Fprintf(&b, `  - id: zq_id_%03[1]d
    family: zq_family_%03[1]d
    description: zq_gold_description_%03[1]d
    tags: [zq_gold_tag_%03[1]d]
    fields: {kind: zq_gold_field_%03[1]d}
    prompt: "Is it nice in zq_ask_%03[1]d? Write to zq_secret_%03[1]d@example.com."
`, i)
		switch i % 3 {
		case 0:
			fmt.Fprintf(&b, "    expected_tool: get_weather\n"+
				"    expected_params: {town: zq_gold_town_%03[1]d, unit: zq_gold_unit_%03[1]d}\n", i)
		case 1:
			fmt.Fprintf(&b, "    expect:\n      tools_called: [get_weather]\n"+
				"      tool_params: [{tool: get_weather, path: town, regex: \"^zq_gold_town_%03[1]d$\"}]\n", i)
		default:
			fmt.Fprintf(&b, "    expect:\n      no_call: true\n      response: {contains: [zq_gold_answer_%03[1]d]}\n",
				i)
		}
	}
	return []byte(b.String())
}

// secretKey is the key of both models.
const secretKey = "zq-secret-key-0123456789"

// models answers as a small model that depends on its prompt, and as a model that writes prompts.
type models struct {
	t     *testing.T
	write func(n int, question string) (answer string, status int)

	mu    sync.Mutex
	asked []string // the bodies that the model that writes got
}

func (m *models) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	var req struct {
		Model    string `json:"model"`
		Messages []struct {
			Role    string `json:"role"`
			Content string `json:"content"`
		} `json:"messages"`
	}
	if err = errors.Join(err, json.Unmarshal(body, &req)); err != nil || len(req.Messages) < 2 {
		m.t.Errorf("%v: %s", err, body)
		http.Error(w, "bad", http.StatusBadRequest)
		return
	}
	last := req.Messages[len(req.Messages)-1].Content
	message := map[string]any{"role": "assistant"}
	if req.Model == "meta" {
		m.mu.Lock()
		n := len(m.asked)
		m.asked = append(m.asked, string(body))
		m.mu.Unlock()
		answer, status := m.write(n, req.Messages[1].Content)
		if status != http.StatusOK {
			http.Error(w, `{"error": {"message": "down"}}`, status)
			return
		}
		message["content"] = answer
	} else {
		m.small(message, req.Messages[0].Content, last)
	}
	w.Header().Set("Content-Type", "application/json")
	if err := json.NewEncoder(w).Encode(map[string]any{
		"model": req.Model, "choices": []any{map[string]any{"index": 0, "finish_reason": "stop", "message": message}},
		"usage": map[string]int{"prompt_tokens": 1, "completion_tokens": 1},
	}); err != nil {
		m.t.Error(err)
	}
}

// small is right in three of ten attempts, and in nine of ten where its prompt lets it check the town.
func (m *models) small(message map[string]any, system, question string) {
	_, number, _ := strings.Cut(question, "zq_ask_")
	number, _, _ = strings.Cut(number, "?") // of zq_ask_007? …
	h := fnv.New32a()
	_, _ = h.Write([]byte(system + question))
	limit := uint32(3)
	if strings.Contains(system, "check the town") {
		limit = 9
	}
	call := func(town string) {
		args := fmt.Sprintf(`{"town": %q}`, town)
		if town != "nowhere" {
			args = fmt.Sprintf(`{"town": %q, "unit": "zq_gold_unit_%s"}`, town, number)
		}
		message["tool_calls"] = []any{map[string]any{
			"id": "c1", "type": "function", "function": map[string]string{"name": "get_weather", "arguments": args},
		}}
	}
	var i int
	if _, err := fmt.Sscanf(number, "%03d", &i); err != nil {
		m.t.Errorf("%q: %v", question, err)
	}
	switch right := h.Sum32()%10 < limit; {
	case i%3 == 2 && right:
		message["content"] = "It is zq_gold_answer_" + number
	case i%3 == 2:
		message["content"] = "I do not know. I wrote to zq_secret_" + number + "@example.com, with " + secretKey
	case right:
		call("zq_gold_town_" + number)
	default:
		call("nowhere")
		message["content"] = "Is zq_secret_" + number + "@example.com yours?"
	}
}

// bodies are the requests to the model that writes.
func (m *models) bodies() []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.asked)
}

// search starts a search for a prompt of the small model, with another model that writes.
func search(t *testing.T, m *models, mode tune.PromptMode) (*app.App, *tunes.Session) {
	t.Helper()
	m.t = t
	server := httptest.NewServer(m)
	t.Cleanup(server.Close)
	db, err := store.Open(t.Context(), filepath.Join(t.TempDir(), "runs.db"), store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	a := app.New(app.Config{
		Store: func(context.Context) (*store.DB, error) { return db, nil }, Files: app.Uploads(nil),
		Getenv:  func(string) string { return secretKey },
		Environ: []string{"OPENAI_API_KEY=" + secretKey},
	})
	req := tunes.Request{
		Kind: tunes.Prompt, Mode: string(mode), Population: 4, Generations: 2,
		Meta: &app.TargetSpec{Target: "openai/meta", BaseURL: server.URL + "/v1"},
		Run: app.RunRequest{
			SuiteRequest: app.SuiteRequest{Suite: "towns", Text: townSuite()},
			Targets:      []app.TargetSpec{{Target: "openai/small", BaseURL: server.URL + "/v1"}},
		},
	}
	s, err := tunes.Start(t.Context(), a, req, nil)
	if err != nil {
		t.Fatal(err)
	}
	return a, s
}

// writer writes prompts that are different from one another and good.
func writer(n int, _ string) (string, int) {
	return fmt.Sprintf(`{"prompt": "Prompt %d: check the town before you call.", "note": "checks"}`, n), http.StatusOK
}

// TestMetaSeesNoHoldout: no request to the model that writes prompts holds a held-out case, or what a case expects.
// In mode reflect it holds questions of training cases.
func TestMetaSeesNoHoldout(t *testing.T) {
	t.Parallel()
	for _, mode := range tune.PromptModes() {
		t.Run(string(mode), func(t *testing.T) {
			t.Parallel()
			m := &models{write: writer}
			_, s := search(t, m, mode)
			out, err := s.Do(t.Context())
			if err != nil || out.State != tunes.Done {
				t.Fatalf("%s, %v", out.State, err)
			}
			held, train := 0, 0
			bodies := m.bodies()
			for _, c := range out.Halves.Cases {
				ask := strings.Replace(c.Case, "zq_id_", "zq_ask_", 1)
				seen := slices.ContainsFunc(bodies, func(b string) bool { return strings.Contains(b, ask) })
				switch {
				case c.Side == tune.Holdout && seen:
					t.Errorf("a request holds %s of the held-out half", ask)
				case c.Side == tune.Holdout:
					held++
				case seen:
					train++
				}
			}
			for _, b := range bodies {
				for _, planted := range []string{"zq_gold", "zq_id", "zq_family", "zq_secret", secretKey} {
					if i := strings.Index(b, planted); i >= 0 {
						t.Errorf("a request holds %.60s", b[i:])
					}
				}
			}
			if len(bodies) < 3 || held < 20 || (train > 0) != (mode == tune.Reflect) {
				t.Errorf("%d requests, %d held-out cases, %d training cases seen", len(bodies), held, train)
			}
			shown := slices.ContainsFunc(bodies,
				func(b string) bool { return strings.Contains(b, "I do not know. I wrote to ") })
			if shown != (mode == tune.Reflect) {
				t.Errorf("answers of failed attempts are shown: %v", shown)
			}
			if best := out.Models[0]; best.Best == 0 || best.Outcome != tune.Promoted {
				t.Errorf("best %d, %s: %s", best.Best, best.Outcome, best.Sentence)
			}
		})
	}
}

// TestMetaAnswers: answers that cannot be used have a name, are asked for once more, and end no search.
func TestMetaAnswers(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name  string
		write func(n int, question string) (string, int)
		kind  tune.FailureKind // "": the prompts are used
	}{
		{"garbage", func(int, string) (string, int) { return "\x00{{{ lorem", http.StatusOK }, tune.FailureUnreadable},
		{"copies the base", func(int, string) (string, int) {
			return `{"prompt": "You answer  QUESTIONS about the weather.", "note": ""}`, http.StatusOK
		}, tune.FailureBaseCopy},
		{"a fence", func(n int, q string) (string, int) {
			text, status := writer(n, q)
			return "Here it is:\n```json\n" + text + "\n```", status
		}, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			m := &models{write: tt.write}
			_, s := search(t, m, tune.Quick)
			out, err := s.Do(t.Context())
			if err != nil || out.State != tunes.Done {
				t.Fatalf("%s, %v", out.State, err)
			}
			got := out.Models[0]
			if tt.kind == "" {
				if len(got.Failures) != 0 || len(got.Candidates) != 4 || got.Outcome != tune.Promoted {
					t.Errorf("%+v", got)
				}
				return
			}
			// Three questions, each asked twice, and a generation without a prompt.
			want := append(slices.Repeat([]tune.FailureKind{tt.kind}, 6), tune.FailureNothingNew)
			var kinds []tune.FailureKind
			for _, f := range got.Failures {
				kinds = append(kinds, f.Kind)
			}
			if !slices.Equal(kinds, want) || len(m.bodies()) != 6 {
				t.Errorf("failures %v, %d requests", kinds, len(m.bodies()))
			}
			if got.Best != 0 || got.Outcome != tunes.BaseBest || got.Sentence == "" || len(got.Candidates) > 1 {
				t.Errorf("%+v", got)
			}
		})
	}
}

// TestMetaDown: a search ends with one error where the model that writes does not answer, and goes on when it does.
func TestMetaDown(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	down := true
	m := &models{write: func(n int, q string) (string, int) {
		mu.Lock()
		defer mu.Unlock()
		if down {
			return "", http.StatusUnauthorized
		}
		return writer(n, q)
	}}
	a, s := search(t, m, tune.Quick)
	out, err := s.Do(t.Context())
	if !errors.Is(err, callvet.ErrUnavailable) || !strings.Contains(err.Error(), "openai/meta does not answer") {
		t.Fatalf("%v", err)
	}
	if out.State != tunes.Failed || out.Problem == "" {
		t.Errorf("%s %q", out.State, out.Problem)
	}
	mu.Lock()
	down = false
	mu.Unlock()
	again, err := tunes.Resume(t.Context(), a, tunes.ResumeRequest{Tune: out.ID}, nil)
	if err != nil {
		t.Fatal(err)
	}
	out, err = again.Do(t.Context())
	if err != nil || out.State != tunes.Done || out.Models[0].Outcome != tune.Promoted {
		t.Errorf("%s, %+v, %v", out.State, out.Models[0], err)
	}
}
