// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package tally

import (
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestWindow holds a window against a list and a map, with places that collide and others
// than a power of two.
func TestWindow(t *testing.T) {
	t.Parallel()
	for _, size := range []int{1, 300} {
		r := rand.New(rand.NewPCG(8, 8))
		w, places := NewWindow(size), uint64(max(4*size, 1024))
		var open []uint64 // the longest silent first
		numbers, closed := map[uint64]uint32{}, map[uint64]uint64{}
		for i := range 30_000 {
			h := 1<<50 | r.Uint64N(9)<<40 | r.Uint64N(40)<<8 | r.Uint64N(3)
			n := w.Get(h)
			if n != numbers[h] {
				t.Fatalf("number %d, not %d", n, numbers[h])
			}
			at := slices.Index(open, h)
			switch {
			case n == 0 && w.Len() < 2*size:
				n = w.Number(h)
				if slices.Contains(slices.Collect(maps.Values(numbers)), n) {
					t.Fatal("a number is given twice")
				}
				w.Open(n)
				numbers[h], open = n, append(open, h)
			case n != 0 && r.IntN(2) == 0:
				w.Hear(n)
				open = append(slices.Delete(open, at, at+1), h)
			case n != 0:
				w.Close(n)
				w.Free(n)
				open = slices.Delete(open, at, at+1)
				delete(numbers, h)
				closed[h>>8%places] = h
			}
			if k := 1<<50 | r.Uint64N(40)<<8; w.Closed(k) != (closed[k>>8%places] == k) {
				t.Fatal("closed, or not", k)
			}
			if i%100 > 0 {
				continue
			}
			var got []uint64
			for n := w.Oldest(); n != 0; n = w.Next(n) {
				got = append(got, w.Hash(n))
			}
			if diff := cmp.Diff(open, got); diff != "" || w.Len() != len(open) {
				t.Fatal(w.Len(), diff)
			}
		}
		if n := len(slices.Collect(w.Noted)); n != len(closed) {
			t.Errorf("%d are noted, not %d", n, len(closed))
		}
		w.Empty()
		for h := range numbers {
			if w.Get(h) != 0 || w.Len() > 0 || w.Oldest() != 0 {
				t.Fatal("not empty")
			}
		}
	}
}
