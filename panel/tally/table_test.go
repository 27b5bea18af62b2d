// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package tally

import (
	"math/rand/v2"
	"testing"
)

// TestTable holds the table against a map, with places that collide.
func TestTable(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(8, 8))
	o, want := NewTable[uint64](1), map[uint64]*uint64{}
	for i := range 20_000 {
		h := r.Uint64N(40)<<22 | r.Uint64N(8)
		if r.IntN(2) == 0 && (i < 10_000 || r.IntN(3) > 0) {
			x := new(uint64)
			o.Put(h, x)
			want[h] = x
		} else {
			o.Remove(h)
			delete(want, h)
		}
		if o.Len() != len(want) {
			t.Fatalf("%d things, not %d", o.Len(), len(want))
		}
		if i%100 > 0 {
			continue
		}
		for k := range uint64(41 * 8) {
			if h := k/8<<22 | k&7; o.Get(h) != want[h] {
				t.Fatal("another thing at", h)
			}
		}
	}
}
