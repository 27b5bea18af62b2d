// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package panel

import "testing"

// TestPercent: a share that is not none, nor all, is not told as if it were.
func TestPercent(t *testing.T) {
	t.Parallel()
	for share, want := range map[float64]string{0: "0.0", 1: "100.0", 0.5: "50.0", 0.9999: "99.99", 0.99996311: "99.996", 0.0000369: "0.004", 0.0004: "0.04", 1e-12: "0.000000"} {
		if got := percent(share); got != want {
			t.Errorf("%v: %s, not %s", share, got, want)
		}
	}
}
