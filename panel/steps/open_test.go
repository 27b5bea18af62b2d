// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package steps

import (
	"math/rand/v2"
	"testing"
)

// TestOpenTasks holds the table against a map, with places that collide.
func TestOpenTasks(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(8, 8))
	o, want := newOpenTasks(1), map[uint64]*task{}
	for i := range 20_000 {
		h := r.Uint64N(40)<<22 | r.Uint64N(8)
		if r.IntN(2) == 0 && (i < 10_000 || r.IntN(3) > 0) {
			x := &task{hash: h}
			o.put(x)
			want[h] = x
		} else {
			o.remove(h)
			delete(want, h)
		}
		if o.used != len(want) {
			t.Fatalf("%d tasks, not %d", o.used, len(want))
		}
		if i%100 > 0 {
			continue
		}
		for k := range uint64(41 * 8) {
			if h := k/8<<22 | k&7; o.get(h) != want[h] {
				t.Fatal("another task at", h)
			}
		}
	}
}
