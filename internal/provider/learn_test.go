// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package provider

import (
	"io"
	"net/http"
	"os"
	"strings"
	"testing"

	"github.com/callvet/callvet"
	"github.com/google/go-cmp/cmp"
)

// TestLearn: what a model that the table does not know refuses is left out of the same request and
// of all later ones, reported once and recorded with every answer.
func TestLearn(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		title, spec string
		params      callvet.Params
		refused     string // with this in the body
		status      int
		answer      string
		omitted     []string
		note        string // begins so
		sent        string // in its place
	}{
		{
			"temperature", "anthropic/claude-nova-1",
			callvet.Params{Temperature: ptr(0.5)},
			`"temperature"`, 400,
			`{"type":"error","error":{"type":"invalid_request_error","message":"` + "`temperature`" +
				` is deprecated for this model."}}`,
			[]string{"temperature"},
			"anthropic/claude-nova-1: temperature 0.5 is not sent: the provider refused it (invalid_request_error: `temperature` is deprecated for this model.)",
			`"max_tokens":4096`,
		},
		{
			"temperature as an extra input", "anthropic/claude-nova-1",
			callvet.Params{Temperature: ptr(1.0)},
			`"temperature"`, 400,
			`{"type":"error","error":{"type":"invalid_request_error","message":"temperature: Extra inputs are not permitted"}}`,
			[]string{"temperature"},
			"anthropic/claude-nova-1: temperature 1 is not sent: the provider refused it",
			`"max_tokens":4096`,
		},
		{
			"effort of a new Claude", "anthropic/claude-nova-1",
			callvet.Params{ReasoningEffort: "xhigh"},
			`"effort":"xhigh"`, 400,
			`{"type":"error","error":{"type":"invalid_request_error","message":"output_config.effort: Input should be low, medium or high"}}`,
			[]string{"reasoning_effort"},
			"anthropic/claude-nova-1: reasoning_effort xhigh is not sent: ",
			`"max_tokens":4096`,
		},
		{
			"stop", "xai/grok-9",
			callvet.Params{Stop: []string{"END"}},
			`"stop"`, 400,
			`{"error":"Argument not supported on this model: stop"}`,
			[]string{"stop"},
			`xai/grok-9: stop ["END"] is not sent: `, `"messages"`,
		},
		{
			"seed by its parameter", "groq/new",
			callvet.Params{Seed: ptr(int64(1))},
			`"seed"`, 422,
			`{"error":{"message":"unknown field","param":"seed"}}`,
			[]string{"seed"},
			"groq/new: seed 1 is not sent: ", `"messages"`,
		},
		{
			"limit under its new name", "azure/deployment",
			callvet.Params{MaxTokens: ptr(50)},
			`"max_tokens"`, 400,
			`{"error":{"message":"Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.","param":"max_tokens"}}`,
			nil, "azure/deployment: max_tokens is sent as max_completion_tokens: ", `"max_completion_tokens":50`,
		},
		{
			"not about a parameter", "groq/new",
			callvet.Params{Seed: ptr(int64(1))},
			`"seed"`, 400,
			`{"error":{"message":"messages.0: the seed of the conversation is missing"}}`, nil, "", "",
		},
		{
			"out of range", "vllm/new",
			callvet.Params{TopP: ptr(2.0)},
			`"top_p"`, 400,
			`{"error":{"message":"Invalid 'top_p': decimal above maximum value. Expected a value <= 1, but got 2 instead.","param":"top_p"}}`, nil, "", "",
		},
		{
			"a server that fails", "groq/new",
			callvet.Params{Seed: ptr(int64(1))},
			`"seed"`, 500,
			`{"error":{"message":"no","param":"seed"}}`, nil, "", "",
		},
	} {
		t.Run(c.title, func(t *testing.T) {
			t.Parallel()
			var f *fake
			f = serve(t, func(n int, w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", "application/json")
				if strings.Contains(string(f.bodies[n-1]), c.refused) {
					w.WriteHeader(c.status)
					io.WriteString(w, c.answer)
					return
				}
				if strings.HasPrefix(c.spec, "anthropic/") {
					io.WriteString(w, messagesAnswer)
				} else {
					io.WriteString(w, chatAnswer)
				}
			})
			var notes []string
			m, target := mustOpen(t, c.spec,
				Config{BaseURL: f.URL, Params: c.params, Note: func(what string) { notes = append(notes, what) }})
			for i := range 2 {
				req := hello()
				req.Params = target.Params
				resp, err := m.Generate(t.Context(), req)
				if c.note == "" {
					if asFault(t, err).HTTP != c.status || len(notes) > 0 {
						t.Errorf("%v, %v", err, notes)
					}
					continue
				}
				if err != nil {
					t.Fatal(err)
				}
				if d := cmp.Diff(c.omitted, resp.Omitted); d != "" || len(resp.Exchanges) != 2-i {
					t.Errorf("%d exchanges, omitted (-want +got):\n%s", len(resp.Exchanges), d)
				}
			}
			if c.note == "" {
				return
			}
			if len(notes) != 1 || !strings.HasPrefix(notes[0], c.note) ||
				!strings.HasSuffix(notes[0], "the table of models is of "+rulesDate) {
				t.Errorf("told %q", notes)
			}
			if got := string(f.bodies[2]); len(f.bodies) != 3 || !strings.Contains(got, c.sent) ||
				strings.Contains(got, c.refused) {
				t.Errorf("%d requests, the last %s", len(f.bodies), got)
			}
		})
	}
}

// TestLearnedLimit: a limit bounds the cost under its other name, too.
func TestLearnedLimit(t *testing.T) {
	t.Parallel()
	var f *fake
	f = serve(t, func(n int, w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		if strings.Contains(string(f.bodies[n-1]), `"max_tokens"`) {
			w.WriteHeader(http.StatusBadRequest)
			io.WriteString(w, `{"error":{"message":"Use 'max_completion_tokens' instead."}}`)
			return
		}
		io.WriteString(w, `{"choices":[{"message":{"content":"hi"}}]}`)
	})
	prices := &Prices{Rows: []Price{{Provider: "azure", Model: "m", Output: 1e6, Effective: "2026-01-01"}}}
	m, target := mustOpen(t, "azure/m",
		Config{BaseURL: f.URL, Params: callvet.Params{MaxTokens: ptr(50)}, Prices: prices})
	req := hello()
	req.Params = target.Params
	if u := ask(t, m, req).Usage; u.AtMostUSD == nil || *u.AtMostUSD != 50 {
		t.Errorf("usage %+v, want 50 USD at most", u)
	}
}

// TestRulesDate: the docs name the day of the table.
func TestRulesDate(t *testing.T) {
	t.Parallel()
	b, err := os.ReadFile("../../docs/guides/running.md")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(b), "the table is of "+rulesDate) {
		t.Errorf("docs/guides/running.md names another day than %s", rulesDate)
	}
}

// TestResponsesInstead: a model that takes tools in the Responses API only is asked there, at once
// where the table knows it, else after the provider's first refusal.
func TestResponsesInstead(t *testing.T) {
	t.Parallel()
	const wants = `{"error":{"message":"Function tools with reasoning_effort are not supported for this model in /v1/chat/completions. Please use /v1/responses instead.","type":"invalid_request_error","param":"reasoning_effort"}}`
	f := serve(t, func(_ int, w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		if strings.HasSuffix(r.URL.Path, "/responses") {
			io.WriteString(w, responsesAnswer)
			return
		}
		w.WriteHeader(http.StatusBadRequest)
		io.WriteString(w, wants)
	})
	var notes []string
	m, target := mustOpen(t, "openai/gpt-9", Config{
		BaseURL: f.URL, Params: callvet.Params{ReasoningEffort: "low", Seed: ptr(int64(1))},
		Note: func(what string) { notes = append(notes, what) },
	})
	for i := range 2 {
		req := longRequest()
		req.Params = target.Params
		resp := ask(t, m, req)
		if len(resp.Turns[0].Calls) != 1 || len(resp.Exchanges) != 2-i || !cmp.Equal(resp.Omitted, []string{"seed"}) {
			t.Errorf("%+v", resp)
		}
	}
	if len(notes) != 1 || !strings.Contains(notes[0], "the Responses API is used") || len(f.bodies) != 3 ||
		!strings.Contains(string(f.bodies[2]), `"reasoning":{"effort":"low"}`) {
		t.Errorf("%q, %s", notes, f.bodies[len(f.bodies)-1])
	}
	for _, c := range []struct {
		spec   string
		params callvet.Params
		url    string
	}{
		{"openai/gpt-5.2", callvet.Params{}, "https://api.openai.com/v1/chat/completions"},
		{"openai/gpt-5.3-codex", callvet.Params{}, "https://api.openai.com/v1/responses"},
		{"openai/gpt-5.3-chat-latest", callvet.Params{}, "https://api.openai.com/v1/chat/completions"},
		{"openai/gpt-5.4-mini", callvet.Params{ReasoningEffort: "high"}, "https://api.openai.com/v1/responses"},
		{"openai/gpt-5.6-terra", callvet.Params{ReasoningEffort: "none"}, "https://api.openai.com/v1/chat/completions"},
		{"openai/gpt-4.1", callvet.Params{}, "https://api.openai.com/v1/chat/completions"},
	} {
		m, target := mustOpen(t, c.spec, Config{APIKey: "k", Params: c.params})
		if got := m.(*model).url; got != c.url || target.Provider != "openai@api.openai.com" {
			t.Errorf("%s is asked at %s as %s", c.spec, got, target.Provider)
		}
		reported := len(target.Adjustments) > 0 && target.Adjustments[0].Param == "api"
		if reported != strings.HasSuffix(c.url, "/responses") {
			t.Errorf("%s: %+v", c.spec, target.Adjustments)
		}
	}
}
