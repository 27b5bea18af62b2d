// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package sys

import "testing"

// TestGrowth: the heap is collected whatever is alive.
func TestGrowth(t *testing.T) {
	t.Parallel()
	few, many := HeapSize{36 << 20, 20}, HeapSize{32 << 20, 175}
	for _, c := range []struct {
		size  HeapSize
		alive uint64
		want  int
	}{
		{few, 0, 3500},
		{few, 18 << 20, 100},
		{few, 36 << 20, 20},
		{few, 8 << 30, 20},
		{many, 4 << 20, 700},
		{many, 8 << 20, 300},
		{many, 16 << 20, 175},
		{many, 8 << 30, 175},
	} {
		if got := c.size.growth(c.alive); got != c.want {
			t.Errorf("with %d bytes alive %+v may grow by %d %%, not %d", c.alive, c.size, got, c.want)
		}
	}
}
