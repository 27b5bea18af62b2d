// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package message

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/value"
)

// TestCaches: tokens of a cache are part of the input, in forms that count them apart too.
func TestCaches(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		counts              string
		input               int // as the source counts it, with 100 of output
		read, written, want int
	}{
		"Anthropic": {
			`{"input_tokens":10,"cache_read_input_tokens":4,"cache_creation_input_tokens":3}`,
			10, 4, 3, 17,
		},
		"Anthropic, written only": {`{"input_tokens":10,"cache_creation_input_tokens":3}`, 10, 0, 3, 13},
		"Anthropic, none": {
			`{"input_tokens":10,"cache_read_input_tokens":0,"cache_creation_input_tokens":0}`,
			10, 0, 0, 10,
		},
		"Bedrock":                   {`{"inputTokens":10,"totalTokens":117,"cacheReadInputTokens":4,"cacheWriteInputTokens":3}`, 10, 4, 3, 17},
		"a total without them":      {`{"input_tokens":10,"total_tokens":110,"cache_read_input_tokens":4,"cache_creation_input_tokens":3}`, 10, 4, 3, 10},
		"more than the input":       {`{"prompt_tokens":10,"cache_read_input_tokens":40}`, 10, 40, 0, 50},
		"a part of the input":       {`{"prompt_tokens":10,"cache_read_input_tokens":4}`, 10, 4, 0, 10},
		"details":                   {`{"prompt_tokens":10,"prompt_tokens_details":{"cached_tokens":4,"cache_creation_tokens":3}}`, 10, 4, 3, 10},
		"the whole input is cached": {`{"prompt_tokens":10,"cache_read_input_tokens":10}`, 10, 10, 0, 10},
		"LangChain": {
			`{"input_tokens":10,"input_token_details":{"cache_read":4,"cache_creation":3}}`,
			10, 4, 3, 10,
		},
	} {
		v, err := value.Parse([]byte(c.counts))
		if err != nil {
			t.Fatal(err)
		}
		var r UsageReader
		got := r.Caches(v, callvet.Usage{InputTokens: c.input, OutputTokens: 100},
			"prompt_tokens_details.cached_tokens", "input_token_details.cache_read")
		want := callvet.Usage{InputTokens: c.want, OutputTokens: 100, CachedTokens: c.read, CacheWriteTokens: c.written}
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("%s: %s", name, d)
		}
	}
}

// TestDone: counts of a cache that cannot be true are noted, or spoil the usage.
func TestDone(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		usage callvet.Usage
		known bool
		note  string
	}{
		"all written":      {callvet.Usage{InputTokens: 10, CacheWriteTokens: 10}, true, ""},
		"the rest written": {callvet.Usage{InputTokens: 10, CachedTokens: 4, CacheWriteTokens: 6}, true, ""},
		"more than the rest": {
			callvet.Usage{InputTokens: 10, CachedTokens: 4, CacheWriteTokens: 7},
			true,
			"7 tokens to a cache and 4 from it, of 10 of input",
		},
		"more than the input": {
			callvet.Usage{InputTokens: 10, CachedTokens: 11},
			false,
			"11 tokens from a cache, of 10 of input",
		},
		"all for an hour": {callvet.Usage{InputTokens: 10, CacheWriteTokens: 5, CacheHourTokens: 5}, true, ""},
		"more for an hour": {
			callvet.Usage{InputTokens: 10, CacheWriteTokens: 5, CacheHourTokens: 6},
			false,
			"6 tokens to a cache for an hour, of 5",
		},
	} {
		var r UsageReader
		if got := r.Done(c.usage); got.Known != c.known || got.Note != c.note {
			t.Errorf("%s: %+v", name, got)
		}
	}
}
