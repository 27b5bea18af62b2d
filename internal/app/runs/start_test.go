// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package runs

import (
	"testing"
)

// TestChosenOf: positions count once for each chosen one, and all without a choice.
func TestChosenOf(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		chosen []int
		want   int
	}{{nil, 3}, {[]int{}, 0}, {[]int{2, 7}, 1}, {[]int{5, 1, 2}, 3}} {
		if got := chosenOf([]int{1, 2, 5}, tc.chosen); *got != tc.want {
			t.Errorf("%v: %d", tc.chosen, *got)
		}
	}
}
