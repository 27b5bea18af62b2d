// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package foreign

import (
	"testing"

	"github.com/callvet/callvet/value"
)

// TestDetails checks whether a total shows that tokens were taken out of input and output.
func TestDetails(t *testing.T) {
	t.Parallel()
	for in, want := range map[string][5]int{
		`{"input":100,"output":20,"total":150,"input_cached_tokens":20,"output_reasoning_tokens":10}`:              {120, 30, 20, 10, 0},
		`{"input":100,"output":20,"total":120,"input_cached_tokens":20}`:                                           {100, 20, 0, 0, 0},
		`{"input":100,"output":20,"total":999,"input_cached_tokens":20}`:                                           {100, 20, 0, 0, 0},
		`{"input":1000,"output":100,"total":1400,"cache_read_input_tokens":200,"cache_creation_input_tokens":100}`: {1300, 100, 200, 0, 100},
		`{"input":1000,"output":100,"total":1100,"cache_read_input_tokens":200,"cache_creation_input_tokens":100}`: {1000, 100, 200, 0, 100},
		`{"input":100,"output":20}`:                              {100, 20, 0, 0, 0},
		`{"input_tokens":7,"output_tokens":8,"total_tokens":15}`: {7, 8, 0, 0, 0},
		`{"input":10,"output":100,"total":1310,"cache_read_input_tokens":900,"cache_creation_input_tokens":300}`:  {1210, 100, 900, 0, 300},
		`{"input":10,"output":100,"total":1310,"input_cache_read":900,"input_cache_creation":300}`:                {1210, 100, 900, 0, 300},
		`{"input_tokens":10,"output_tokens":100,"cache_read_input_tokens":900,"cache_creation_input_tokens":300}`: {1210, 100, 900, 0, 300},
	} {
		v, err := value.Parse([]byte(in))
		if err != nil {
			t.Fatal(err)
		}
		u := usageDetails(v)
		if got := [5]int{
			u.InputTokens, u.OutputTokens, u.CachedTokens, u.ReasoningTokens,
			u.CacheWriteTokens,
		}; got != want {
			t.Errorf("%s: %v, not %v", in, got, want)
		}
	}
}
