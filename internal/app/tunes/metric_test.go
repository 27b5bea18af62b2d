// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package tunes_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/app"
	"github.com/callvet/callvet/internal/app/tunes"
	"github.com/callvet/callvet/internal/store"
	"github.com/callvet/callvet/internal/tune"
)

// rung returns a model that calls ring if right returns true, and else answers in words, with an
// app that uses it.
func rung(t *testing.T, right func(body string) bool) (a *app.App, target app.TargetSpec, asked *atomic.Int64) {
	t.Helper()
	asked = &atomic.Int64{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		var b strings.Builder
		if err := r.Write(&b); err != nil {
			t.Error(err)
		}
		message := `{"role": "assistant", "content": "no"}`
		if right(b.String()) {
			message = `{"role": "assistant", "tool_calls": [{"id": "1", "type": "function",
				"function": {"name": "ring", "arguments": "{\"at\": 7}"}}]}`
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = fmt.Fprintf(w, `{"model": "m", "choices": [{"index": 0, "finish_reason": "stop", "message": %s}],
			"usage": {"prompt_tokens": 1, "completion_tokens": 1}}`, message)
	}))
	t.Cleanup(server.Close)
	db, err := store.Open(t.Context(), filepath.Join(t.TempDir(), "runs.db"), store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	a = app.New(app.Config{
		Store: func(context.Context) (*store.DB, error) { return db, nil }, Files: app.Uploads(nil),
		Getenv:  func(string) string { return secretKey },
		Environ: []string{"OPENAI_API_KEY=" + secretKey},
	})
	return a, app.TargetSpec{Target: "openai/small", BaseURL: server.URL + "/v1"}, asked
}

// ringing is a suite with so many cases that need a call, and as many that need none.
func ringing(name string, n int) app.SuiteRequest {
	var b strings.Builder
	fmt.Fprintf(&b, "callvet: 1\nname: %s\ntools: [{name: ring, description: Ring., parameters: "+
		"{type: object, properties: {at: {type: integer}}}}]\ncases:\n", name)
	for i := range n {
		fmt.Fprintf(&b, "  - {id: call-%[1]d, family: c%[1]d, prompt: ring %[1]d, expected_tool: ring, "+
			"expected_params: {at: 7}}\n  - {id: none-%[1]d, family: n%[1]d, prompt: hello %[1]d, expect: {no_call: true}}\n", i)
	}
	return app.SuiteRequest{Suite: name, Text: []byte(b.String())}
}

func warmer(target app.TargetSpec, suite app.SuiteRequest) tunes.Request {
	return tunes.Request{
		Kind: tunes.Params, SpaceText: []byte(`{"temperature": [0.5, 0.9]}`),
		Run: app.RunRequest{SuiteRequest: suite, Targets: []app.TargetSpec{target}},
	}
}

// TestMetricWithoutValues: a metric that no attempt has is an error after the first round, and not a score of 0.
func TestMetricWithoutValues(t *testing.T) {
	t.Parallel()
	for metric, most := range map[string]int64{"pas_rate": 3 * 5, "safe_calls_by_task": 3 * 24, "judged_pass": 0} {
		a, target, asked := rung(t, func(string) bool { return false })
		req := warmer(target, ringing("bells", 24))
		req.Metric = metric
		s, err := tunes.Start(t.Context(), a, req, nil)
		if err == nil {
			_, err = s.Do(t.Context())
		}
		if bad := new(callvet.FieldError); !errors.As(err, &bad) || bad.Field != "metric" || asked.Load() > most {
			t.Errorf("%s: %v, after %d requests", metric, err, asked.Load())
		}
	}
}

// TestMetricOfSomeCases: cases that cannot have the metric are neither failures nor lost attempts.
func TestMetricOfSomeCases(t *testing.T) {
	t.Parallel()
	a, target, _ := rung(t, func(body string) bool {
		return strings.Contains(body, "ring 1") || strings.Contains(body, `"temperature":0.5`)
	})
	req := warmer(target, ringing("bells", 50))
	req.Metric, req.NoRace = "arg_em", true
	s, err := tunes.Start(t.Context(), a, req, nil)
	if err != nil {
		t.Fatal(err)
	}
	out, err := s.Do(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	m := &out.Models[0]
	best := m.Candidates[m.Best]
	if best.Score == nil || best.Score.Point != 1 || best.Tasks >= out.Cases.Train {
		t.Errorf("score %+v on %d of %d cases", best.Score, best.Tasks, out.Cases.Train)
	}
	if m.Outcome != tune.Promoted || m.Confirmation.Lost != 0 || m.Confirmation.Cases >= out.Cases.Holdout {
		t.Errorf("%s: %+v", m.Sentence, m.Confirmation)
	}
}

// TestSpaceKeepsNoSecret: the space is stored with the search, also its parts for models that do
// not run.
func TestSpaceKeepsNoSecret(t *testing.T) {
	t.Parallel()
	a, target, _ := rung(t, func(string) bool { return true })
	req := warmer(target, ringing("bells", 2))
	req.ModelSpaces = []byte(`{"other/model": {"api_key": ["hunter2-hunter2-hunter2"]}}`)
	if _, err := tunes.Start(t.Context(), a, req, nil); !errors.Is(err, callvet.ErrInvalid) ||
		!strings.Contains(err.Error(), "holds a secret") {
		t.Errorf("%v", err)
	}
	req = warmer(target, ringing("bells", 2))
	req.SpaceText, req.Space = nil, "space.yaml"
	held := a.With(app.Uploads{"space.yaml": []byte("models: {other/model: {extra: " +
		"{api_key: [hunter2-hunter2-hunter2]}}}\nparams: {temperature: [0.5]}\n")})
	if _, err := tunes.Start(t.Context(), held, req, nil); !errors.Is(err, callvet.ErrInvalid) ||
		!strings.Contains(err.Error(), "holds a secret") {
		t.Errorf("%v", err)
	}
}

// TestSpaceKeepsNoComment: the values of a file with a space are stored, but not its comments.
func TestSpaceKeepsNoComment(t *testing.T) {
	t.Parallel()
	a, target, _ := rung(t, func(string) bool { return true })
	req := warmer(target, ringing("bells", 2))
	req.SpaceText, req.Space = nil, "space.yaml"
	a = a.With(app.Uploads{"space.yaml": []byte("# zq_note\nparams: {temperature: &t [0.5]} # zq_note\n")})
	s, err := tunes.Start(t.Context(), a, req, nil)
	if err != nil {
		t.Fatal(err)
	}
	if got := string(s.Request.SpaceContent); got != `{"params":{"temperature":[0.5]}}` {
		t.Error(got)
	}
}

// TestRenamedSuite: under another name a suite keeps its division and the number of uses.
func TestRenamedSuite(t *testing.T) {
	t.Parallel()
	a, target, _ := rung(t, func(body string) bool {
		return strings.Contains(body, `"ring `) && strings.Contains(body, `"temperature":0.5`)
	})
	var before *tune.Halves
	for use, name := range []string{"bells", "bells", "chimes"} {
		s, err := tunes.Start(t.Context(), a, warmer(target, ringing(name, 50)), nil)
		if err != nil {
			t.Fatal(err)
		}
		if before != nil {
			for _, c := range before.Cases {
				if s.Halves.Of(c.Case) != c.Side {
					t.Errorf("%s: %s was %s", name, c.Case, c.Side)
				}
			}
		}
		before = s.Halves
		out, err := s.Do(t.Context())
		if err != nil || out.Use != use+1 {
			t.Errorf("%s: use %d, %s, %v", name, out.Use, out.Models[0].Sentence, err)
		}
		if _, err := tunes.Delete(t.Context(), a, out.ID); err != nil { // its use still counts
			t.Error(err)
		}
	}
	other := app.SuiteRequest{Suite: "clocks", Text: bytes.ReplaceAll(bytes.ReplaceAll(ringing("clocks", 50).Text,
		[]byte("prompt: ring"), []byte("prompt: what time is it at")), []byte("prompt: hello"), []byte("prompt: good day"))}
	s, err := tunes.Start(t.Context(), a, warmer(target, other), nil)
	if err != nil || len(s.Notes) > 0 {
		t.Errorf("%v, %v", s.Notes, err)
	}
}

// TestHeldOutLeftOut: a search shows that held-out cases of earlier ones take no part.
func TestHeldOutLeftOut(t *testing.T) {
	t.Parallel()
	a, target, _ := rung(t, func(string) bool { return false })
	first, err := tunes.Start(t.Context(), a, warmer(target, ringing("bells", 50)), nil)
	if err != nil || len(first.Notes) > 0 {
		t.Fatal(first, err)
	}
	for _, side := range []tune.Side{tune.Train, tune.Holdout} {
		req := warmer(target, ringing("bells", 50))
		for _, id := range first.Halves.IDs(side)[:2] {
			req.Run.Filter = append(req.Run.Filter, "!"+id)
		}
		s, err := tunes.Start(t.Context(), a, req, nil)
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.HasPrefix(strings.Join(s.Notes, ""), "2 held-out cases of earlier"); got != (side == tune.Holdout) {
			t.Errorf("%s: %q", side, s.Notes)
		}
	}
}

// TestDeleteWhileSearching: a search that is carried out is not deleted, and nothing of it is.
func TestDeleteWhileSearching(t *testing.T) {
	t.Parallel()
	var a *app.App
	var s *tunes.Session
	var target app.TargetSpec
	var once sync.Once
	a, target, _ = rung(t, func(string) bool {
		once.Do(func() {
			if _, err := tunes.Delete(t.Context(), a, s.ID); !errors.Is(err, callvet.ErrConflict) {
				t.Errorf("%v", err)
			}
		})
		return false
	})
	var err error
	if s, err = tunes.Start(t.Context(), a, warmer(target, ringing("bells", 2)), nil); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Do(t.Context()); err != nil {
		t.Fatal(err)
	}
	db, err := a.Config.Store(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, id := range s.Runs {
		if _, err := db.Run(t.Context(), id); err != nil {
			t.Errorf("%s: %v", id, err)
		}
	}
}

// TestBaseBestEarly: the sentence counts the cases that were asked, and not those that there are.
func TestBaseBestEarly(t *testing.T) {
	t.Parallel()
	a, target, asked := rung(t, func(string) bool { return false })
	req := warmer(target, ringing("bells", 50))
	req.Run.MaxCalls = 130 // 100 are kept free for the confirmation
	s, err := tunes.Start(t.Context(), a, req, nil)
	if err != nil {
		t.Fatal(err)
	}
	out, err := s.Do(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	want := fmt.Sprintf("on %d training cases", asked.Load()/3)
	if got := out.Models[0].Sentence; asked.Load() >= 130 || !strings.Contains(got, want) {
		t.Errorf("%s, after %d requests", got, asked.Load())
	}
}
