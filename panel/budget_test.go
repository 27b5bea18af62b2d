// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package panel

import (
	"testing"

	"github.com/callvet/callvet"
)

func TestAllowedCalls(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		calls   int
		per, ms float64
		want    int
	}{{2, 60, 1000, 2}, {2, 60, 59_999, 2}, {2, 60, 60_000, 4}, {10, 1, 2500, 30}, {5, 1e-300, 1e300, 1<<31 - 1}} {
		if got := AllowedCalls(&callvet.RateLimit{Calls: c.calls, PerSeconds: c.per}, c.ms); got != c.want {
			t.Errorf("%+v: %d", c, got)
		}
	}
}
