// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package provider

import (
	"errors"
	"testing"

	"github.com/callvet/callvet"
	"github.com/google/go-cmp/cmp"
)

// TestImportPrices: the lists of others become tables, for a million tokens, with the day on
// which they were read; what has no price of a known provider is counted.
func TestImportPrices(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		title, list string
		want        []Price
		skipped     int
	}{
		{
			"LiteLLM",
			`{"sample_spec":{"mode":"one of"},
			 "gpt-9":{"litellm_provider":"openai","mode":"chat","input_cost_per_token":1.25e-06,"output_cost_per_token":1e-05,"cache_read_input_token_cost":1.25e-07,"cache_creation_input_token_cost":1.5625e-06,"cache_creation_input_token_cost_above_1hr":2.5e-06},
			 "gemini/gemini-9":{"litellm_provider":"gemini","mode":"chat","input_cost_per_token":1e-06,"output_cost_per_token":2e-06,"input_cost_per_token_above_200k_tokens":2e-06},
			 "unheard/of":{"litellm_provider":"unheard","mode":"chat","input_cost_per_token":1e-06,"output_cost_per_token":2e-06},
			 "picture":{"litellm_provider":"openai","mode":"image_generation","input_cost_per_token":1e-06,"output_cost_per_token":2e-06},
			 "no-price":{"litellm_provider":"openai","mode":"chat","input_cost_per_token":1e-06}}`,
			[]Price{
				{
					Provider: "gemini", Model: "gemini-9", Input: 1, Output: 2, MaxInput: 200000, Effective: "2026-11-22",
					Source: "LiteLLM",
				},
				{
					Provider: "openai", Model: "gpt-9", Input: 1.25, Cached: ptr(0.125), CacheWrite: ptr(1.5625),
					CacheHour: ptr(2.5), Output: 10, Effective: "2026-11-22", Source: "LiteLLM",
				},
			},
			4,
		},
		{
			"models.dev",
			`{"google":{"id":"google","models":{"gemini-9":{"cost":{"input":1.5,"output":9,"cache_read":0.15,"cache_write":1.75,"context_over_200k":{"input":3}}}}},
			 "anthropic":{"models":{"claude-9":{"cost":{"input":5,"output":25}},"claude-free":{}}}}`,
			[]Price{
				{
					Provider: "anthropic", Model: "claude-9", Input: 5, Output: 25, Effective: "2026-11-22",
					Source: "models.dev",
				},
				{
					Provider: "gemini", Model: "gemini-9", Input: 1.5, Cached: ptr(0.15), CacheWrite: ptr(1.75), Output: 9,
					MaxInput: 200000, Effective: "2026-11-22", Source: "models.dev",
				},
			},
			1,
		},
		{
			"OpenRouter",
			`{"data":[{"id":"openai/gpt-9","pricing":{"prompt":"0.00000125","completion":"0.00001","input_cache_read":"0","input_cache_write":"0.000002"}},{"id":"openrouter/auto","pricing":{"prompt":"-1","completion":"-1"}}]}`,
			[]Price{{
				Provider: "openrouter", Model: "openai/gpt-9", Input: 1.25, Cached: ptr(0.0), CacheWrite: ptr(2.0),
				Output: 10, Effective: "2026-11-22", Source: "OpenRouter",
			}},
			1,
		},
		{
			"own",
			`{"prices":[{"provider":"vllm","model":"m","input":1,"output":2,"effective":"2026-01-01"}]}`,
			[]Price{{Provider: "vllm", Model: "m", Input: 1, Output: 2, Effective: "2026-01-01"}},
			0,
		},
	} {
		t.Run(c.title, func(t *testing.T) {
			t.Parallel()
			p, skipped, err := ImportPrices("list.json", []byte(c.list), "2026-11-22")
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(c.want, p.Rows); d != "" || skipped != c.skipped {
				t.Errorf("%d skipped, rows (-want +got):\n%s", skipped, d)
			}
			text, err := p.Encode()
			if err != nil {
				t.Fatal(err)
			}
			again, err := ReadPrices("prices.json", text)
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(p, again); d != "" {
				t.Errorf("read again (-want +got):\n%s", d)
			}
		})
	}
	for _, bad := range []string{`[`, `[]`, `{}`, `{"a":1}`, `{"data":[]}`, `{"prices":[{}]}`} {
		if _, _, err := ImportPrices("list.json", []byte(bad), "2026-11-22"); !errors.Is(err, callvet.ErrInvalid) {
			t.Errorf("%s: %v", bad, err)
		}
	}
}
