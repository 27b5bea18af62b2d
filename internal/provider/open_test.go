// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package provider

import (
	"encoding/json"
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/callvet/callvet"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"
)

func env(pairs ...string) func(string) string {
	return func(name string) string {
		for i := 0; i < len(pairs); i += 2 {
			if pairs[i] == name {
				return pairs[i+1]
			}
		}
		return ""
	}
}

func TestOpen(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		spec          string
		cfg           Config
		url, provider string
	}{
		{
			"openai/gpt-5-mini",
			Config{Getenv: env("OPENAI_API_KEY", "k")},
			"https://api.openai.com/v1/chat/completions",
			"openai@api.openai.com",
		},
		{
			"openai-responses/gpt-5",
			Config{APIKey: "k"},
			"https://api.openai.com/v1/responses",
			"openai-responses@api.openai.com",
		},
		{
			"openai/m",
			Config{Getenv: env("OPENAI_BASE_URL", "http://localhost:9/v1/")},
			"http://localhost:9/v1/chat/completions", "openai@localhost:9",
		},
		{"anthropic/c", Config{APIKey: "k"}, "https://api.anthropic.com/v1/messages", "anthropic@api.anthropic.com"},
		{
			"anthropic/c",
			Config{BaseURL: "http://localhost:9/v1"},
			"http://localhost:9/v1/messages",
			"anthropic@localhost:9",
		},
		{
			"gemini/gemini-2.5-flash",
			Config{Getenv: env("GOOGLE_API_KEY", "k")},
			"https://generativelanguage.googleapis.com/v1beta/models/gemini-2.5-flash:generateContent",
			"gemini@generativelanguage.googleapis.com",
		},
		{
			"azure/dep",
			Config{Getenv: env("AZURE_OPENAI_ENDPOINT", "https://r.openai.azure.com/", "AZURE_OPENAI_API_KEY", "k")},
			"https://r.openai.azure.com/openai/v1/chat/completions", "azure@r.openai.azure.com",
		},
		{
			"azure/dep",
			Config{
				Getenv:     env("AZURE_OPENAI_ENDPOINT", "https://r.openai.azure.com", "AZURE_OPENAI_API_KEY", "k"),
				APIVersion: "2024-10-21",
			},
			"https://r.openai.azure.com/openai/deployments/dep/chat/completions?api-version=2024-10-21",
			"azure@r.openai.azure.com",
		},
		{
			"azure-responses/dep",
			Config{Getenv: env("AZURE_OPENAI_ENDPOINT", "https://r.openai.azure.com", "AZURE_OPENAI_API_KEY", "k")},
			"https://r.openai.azure.com/openai/v1/responses", "azure-responses@r.openai.azure.com",
		},
		{
			"azure/gpt-5.4",
			Config{Getenv: env("AZURE_OPENAI_ENDPOINT", "https://r.openai.azure.com", "AZURE_OPENAI_API_KEY", "k")},
			"https://r.openai.azure.com/openai/v1/responses", "azure@r.openai.azure.com",
		},
		{
			"azure/gpt-5.4",
			Config{Getenv: env("AZURE_OPENAI_ENDPOINT", "https://r.openai.azure.com/openai/v1", "AZURE_OPENAI_API_KEY",
				"k"), Params: callvet.Params{ReasoningEffort: "none"}},
			"https://r.openai.azure.com/openai/v1/chat/completions", "azure@r.openai.azure.com",
		},
		{
			"azure/gpt-5.4",
			Config{
				Getenv:     env("AZURE_OPENAI_ENDPOINT", "https://r.openai.azure.com", "AZURE_OPENAI_API_KEY", "k"),
				APIVersion: "2024-10-21",
			},
			"https://r.openai.azure.com/openai/deployments/gpt-5.4/chat/completions?api-version=2024-10-21",
			"azure@r.openai.azure.com",
		},
		{
			"bedrock/openai.gpt-oss-20b-1:0",
			Config{Getenv: env("AWS_REGION", "us-west-2", "AWS_BEARER_TOKEN_BEDROCK", "k")},
			"https://bedrock-runtime.us-west-2.amazonaws.com/openai/v1/chat/completions",
			"bedrock@bedrock-runtime.us-west-2.amazonaws.com",
		},
		{
			"openrouter/openai/gpt-5",
			Config{APIKey: "k"},
			"https://openrouter.ai/api/v1/chat/completions",
			"openrouter@openrouter.ai",
		},
		{"ollama/qwen3:8b", Config{}, "http://localhost:11434/api/chat", "ollama@localhost:11434"},
		{
			"ollama/qwen3",
			Config{Getenv: env("OLLAMA_HOST", "0.0.0.0")},
			"http://127.0.0.1:11434/api/chat",
			"ollama@127.0.0.1:11434",
		},
		{
			"ollama/qwen3",
			Config{Getenv: env("OLLAMA_HOST", "https://box.example/v1")},
			"https://box.example/api/chat",
			"ollama@box.example",
		},
		{"vllm/Qwen/Qwen3-8B", Config{}, "http://localhost:8000/v1/chat/completions", "vllm@localhost:8000"},
	} {
		m, target := mustOpen(t, c.spec, c.cfg)
		if got := m.(*model).url; got != c.url {
			t.Errorf("%s: URL %s, want %s", c.spec, got, c.url)
		}
		if target.Provider != c.provider || target.Name != c.spec ||
			c.spec != strings.Split(c.spec, "/")[0]+"/"+target.Model {
			t.Errorf("%s: target %+v", c.spec, target)
		}
	}
}

func TestOpenErrors(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		spec string
		cfg  Config
		kind error
		hint string
	}{
		{"opnai/gpt-5", Config{}, callvet.ErrNotFound, "did you mean openai? providers: openai, "},
		{"best.yaml", Config{}, callvet.ErrNotFound, "a file with targets: --targets best.yaml. providers: "},
		{"gpt-5", Config{}, callvet.ErrNotFound, "providers: openai, "},
		{"openai/", Config{APIKey: "k"}, callvet.ErrInvalid, "write openai/MODEL"},
		{"openai/gpt-5", Config{}, callvet.ErrDenied, "export OPENAI_API_KEY=…"},
		{"gemini/g", Config{}, callvet.ErrDenied, "export GEMINI_API_KEY=…"},
		{"azure/d", Config{APIKey: "k"}, callvet.ErrInvalid, "export AZURE_OPENAI_ENDPOINT=https://…"},
		{
			"azure/d",
			Config{Getenv: env("AZURE_OPENAI_ENDPOINT", "https://r.openai.azure.com")},
			callvet.ErrDenied,
			"export AZURE_OPENAI_API_KEY=…",
		},
		{"bedrock/m", Config{APIKey: "k"}, callvet.ErrInvalid, "export AWS_REGION=…"},
		{"compatible/m", Config{}, callvet.ErrInvalid, "give a base URL"},
		{"vllm/m", Config{BaseURL: "localhost:8000"}, callvet.ErrInvalid, "for example http://localhost:8000/v1"},
		{"vllm/m", Config{BaseURL: "http://u:p@localhost"}, callvet.ErrInvalid, "give the key apart from the URL"},
		{
			"vllm/m",
			Config{Params: callvet.Params{Extra: map[string]json.RawMessage{"tools": json.RawMessage(`[]`)}}},
			callvet.ErrInvalid, "remove it",
		},
		{
			"vllm/m",
			Config{Params: callvet.Params{Extra: map[string]json.RawMessage{"top_k": json.RawMessage(`forty`)}}},
			callvet.ErrInvalid, "quote strings",
		},
	} {
		_, _, err := Open(c.spec, c.cfg)
		var h *callvet.Hinted
		if !errors.Is(err, c.kind) || !errors.As(err, &h) || !strings.HasPrefix(h.Hint, c.hint) {
			t.Errorf("Open(%q): %v, hint %+v", c.spec, err, h)
		}
	}
}

func TestAdjustments(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		spec   string
		params callvet.Params
		want   []string // param action from to
	}{
		{
			"openai/gpt-5-mini", allParams(),
			[]string{
				"temperature drop 0 ", "top_p drop 0.9 ", `stop drop ["END"] `,
				"max_tokens rename 256 max_completion_tokens",
			},
		},
		{
			"openai/o4-mini-2025-04-16",
			callvet.Params{ParallelCalls: ptr(true), ReasoningEffort: "high"},
			[]string{"parallel_calls drop true "},
		},
		{
			"openai/gpt-5-chat-latest",
			callvet.Params{Temperature: ptr(0.0), ReasoningEffort: "low"},
			[]string{"reasoning_effort drop low "},
		},
		{"openai/gpt-5.1", callvet.Params{Temperature: ptr(0.0)}, nil},
		{
			"openai/gpt-5.1",
			callvet.Params{Temperature: ptr(0.0), ReasoningEffort: "low"},
			[]string{"temperature drop 0 "},
		},
		{"openai/foo-gpt-5x", callvet.Params{Temperature: ptr(0.0)}, nil},
		{"openai/gpt-5x", callvet.Params{Temperature: ptr(0.0)}, nil},
		{"vllm/gpt-5", callvet.Params{Temperature: ptr(3.0)}, nil},
		{"openrouter/openai/gpt-5:free", callvet.Params{Temperature: ptr(0.5)}, []string{"temperature drop 0.5 "}},
		{"openai/gpt-4.1", callvet.Params{Temperature: ptr(2.5)}, []string{"temperature clamp 2.5 2"}},
		{
			"anthropic/claude-sonnet-4-5",
			callvet.Params{Temperature: ptr(1.5), TopP: ptr(0.9), Seed: ptr(int64(1))},
			[]string{"temperature clamp 1.5 1", "top_p drop 0.9 ", "max_tokens warn  4096", "seed drop 1 "},
		},
		{"anthropic/claude-sonnet-4-5", callvet.Params{TopP: ptr(0.9), MaxTokens: ptr(10)}, nil},
		{
			"gemini/gemini-2.5-pro",
			callvet.Params{TopP: ptr(0.9), ReasoningEffort: "low"},
			[]string{"top_p rename 0.9 topP", "reasoning_effort drop low "},
		},
		{
			"gemini/gemini-3-pro-preview",
			callvet.Params{Temperature: ptr(0.0), ReasoningEffort: "low"},
			[]string{"reasoning_effort rename low thinkingConfig.thinkingLevel", "temperature warn 0 "},
		},
		{
			"mistral/mistral-large-latest",
			callvet.Params{Temperature: ptr(2.0), Seed: ptr(int64(1))},
			[]string{"temperature clamp 2 1.5", "seed rename 1 random_seed"},
		},
		{"groq/llama-3.3-70b-versatile", callvet.Params{Temperature: ptr(0.0), MaxTokens: ptr(5)}, nil},
	} {
		_, target := mustOpen(t, c.spec, Config{APIKey: "k", Params: c.params})
		var got []string
		for _, a := range target.Adjustments {
			if a.Reason == "" {
				t.Errorf("%s: no reason for %+v", c.spec, a)
			}
			got = append(got, a.Param+" "+a.Action+" "+a.From+" "+a.To)
		}
		if d := cmp.Diff(c.want, got); d != "" {
			t.Errorf("%s (-want +got):\n%s", c.spec, d)
		}
	}
}

// The default temperature goes to models that take it, and yields to what rules it out.
func TestDefaultTemperatureByModel(t *testing.T) {
	t.Parallel()
	zero, half := 0.0, 0.5
	for _, c := range []struct {
		spec     string
		params   callvet.Params
		want     string // of the temperature
		adjusted string // how it was adjusted
	}{
		{"openai/gpt-4.1", callvet.Params{}, "0", ""},
		{"anthropic/claude-sonnet-4-5", callvet.Params{}, "0", ""},
		{"ollama/qwen3", callvet.Params{}, "0", ""},
		{"openai/gpt-4.1", callvet.Params{Temperature: &half}, "0.5", ""},
		{"openai/gpt-5-mini", callvet.Params{}, "", "temperature drop 0"},
		{"openai/gpt-5.1", callvet.Params{}, "0", ""},
		{"openai/gpt-5.1", callvet.Params{ReasoningEffort: "high"}, "", "temperature drop 0"},
		{"gemini/gemini-3-pro", callvet.Params{}, "", "temperature drop 0"},
		{"gemini/gemini-2.5-flash", callvet.Params{}, "0", ""},
		{"openai/gpt-4.1", callvet.Params{TopP: &half}, "", ""},
		{"anthropic/claude-sonnet-4-5", callvet.Params{TopP: &half}, "", ""},
		{
			"openai/gpt-4.1",
			callvet.Params{Extra: map[string]json.RawMessage{"temperature": json.RawMessage("1")}},
			"",
			"",
		},
		{
			"anthropic/claude-sonnet-4-5",
			callvet.Params{Extra: map[string]json.RawMessage{"thinking": json.RawMessage(`{"type":"enabled"}`)}},
			"",
			"",
		},
	} {
		_, target := mustOpen(t, c.spec, Config{APIKey: "k", Params: c.params, DefaultTemperature: &zero})
		got, _ := show(&target.Params, paramTemperature)
		var says []string
		for _, a := range target.Adjustments {
			if a.Param == paramTemperature {
				says = append(says, a.Param, a.Action, a.From)
			}
		}
		if got != c.want || strings.Join(says, " ") != c.adjusted {
			t.Errorf("%s %+v: temperature %q, %v", c.spec, c.params, got, says)
		}
	}
}

// TestAdjustTwice: a target's parameters come back with every request and must
// not change again.
func TestAdjustTwice(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		p := callvet.Params{ReasoningEffort: rapid.SampledFrom([]string{"", "none", "low"}).Draw(t, "effort")}
		if rapid.Bool().Draw(t, "sampled") {
			p.Temperature, p.TopP = ptr(rapid.Float64Range(-1, 4).Draw(t, "temperature")),
				ptr(rapid.Float64Range(0, 1).Draw(t, "top_p"))
		}
		pol := policyOf(rapid.SampledFrom(Names()).Draw(t, "provider"),
			rapid.SampledFrom([]string{"gpt-5", "gpt-5.1", "o3", "claude-sonnet-4", "gemini-3-pro", "grok-4"}).Draw(t,
				"model"))
		once := pol.adjust(p, nil)
		if d := cmp.Diff(once, pol.adjust(once, nil)); d != "" {
			t.Fatalf("second time (-once +twice):\n%s", d)
		}
	})
}

func TestPrices(t *testing.T) {
	t.Parallel()
	shipped, err := os.ReadFile("prices.json")
	if err != nil {
		t.Fatal(err)
	}
	p, err := ReadPrices("prices.json", shipped)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ provider, model, row string }{
		{"openai", "gpt-5-mini", "gpt-5-mini"},
		{"openai", "gpt-5-mini-2025-08-07", "gpt-5-mini"},
		{"openai-responses", "gpt-5", "gpt-5"},
		{"openai", "gpt-4o-2024-05-13", "gpt-4o-2024-05-13"},
		{"openai", "gpt-4o-2024-08-06", "gpt-4o"},
		{"anthropic", "claude-sonnet-4-20250514", "claude-sonnet-4"},
		{"anthropic", "claude-sonnet-4-5-20250929", "claude-sonnet-4-5"},
		{"openai", "gpt-5-pro", ""},
		{"openai", "gpt-5.7", ""},
		{"openai", "my-gpt-5", ""},
		{"anthropic", "claude-opus-4-9", ""},
		{"vllm", "gpt-5", ""},
	} {
		got := ""
		if row := p.Find(c.provider, c.model); row != nil {
			got = row.Model
		}
		if got != c.row {
			t.Errorf("Find(%s, %s) = %q, want %q", c.provider, c.model, got, c.row)
		}
	}
	own, err := ReadPrices("prices.json",
		[]byte(
			`{"prices":[{"provider":"vllm","model":"m","input":2,"output":4,"max_input":1000,"effective":"2026-11-01"},{"provider":"openai","model":"gpt-5","input":9,"output":9,"effective":"2026-11-01"}]}`))
	if err != nil {
		t.Fatal(err)
	}
	all := p.Over(own)
	if got := all.Find("openai", "gpt-5").Input; got != 9 {
		t.Errorf("the user's row does not win: %v", got)
	}
	for _, c := range []struct {
		u    callvet.Usage
		cost *float64
	}{
		{callvet.Usage{Known: true, InputTokens: 500, OutputTokens: 100}, ptr(0.0014)},
		{callvet.Usage{Known: true}, ptr(0.0)},
		{callvet.Usage{InputTokens: 500}, nil},
		{callvet.Usage{Known: true, InputTokens: 1001}, nil},
		{callvet.Usage{Known: true, InputTokens: 500, CachedTokens: 100}, nil},
	} {
		all.Find("vllm", "m").apply(&c.u, taken{})
		if d := cmp.Diff(c.cost, c.u.CostUSD, cmpopts.EquateApprox(1e-12, 0)); d != "" {
			t.Errorf("%+v (-want +got):\n%s", c.u, d)
		}
	}
	row := func(members string) string { return `{"model":"m","input":1,"output":1,` + members + `}` }
	if _, err := ReadPrices("prices.json",
		[]byte(
			`{"prices":[{"provider":"openai","model":"free","input":0,"output":0,"effective":"2026-01-01"}]}`)); err != nil {
		t.Errorf("a model that costs nothing: %v", err)
	}
	for bad, want := range map[string]string{
		`{"provider":"openai","model":"","input":1,"output":1,"effective":"2026-01-01"}`: "a provider and a model",
		`{"provider":"x","model":"m","input":1,"output":1,"effective":"2026-01-01"}`:     "does not know",
		row(
			`"provider":"openai","effective":"soon"`): "not \"soon\"",
		`{"provider":"openai","model":"m","input":-1,"output":1,"effective":"2026-01-01"}`: "below 0",
		row(`"provider":"openai","effective":"2026-01-01"`) + "," +
			row(`"provider":"openai","effective":"2026-02-01"`): "row 1 has it",
		row(
			`"provider":"openai","effective":"2026-01-01","max_input":-1`): "max_input",
		"[": "",
	} {
		if _, err := ReadPrices("prices.json", []byte(`{"prices":[`+bad+`]}`)); !errors.Is(err, callvet.ErrInvalid) ||
			!strings.Contains(err.Error(), want) {
			t.Errorf("ReadPrices(%s): %v", bad, err)
		}
	}
}
