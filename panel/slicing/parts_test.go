// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package slicing

import (
	"math/bits"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestParts holds the parts of tasks against a table of which step is in which slice.
func TestParts(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(7, 7))
	n := New(nil, nil)
	var sets []*Set
	for i := range 40 {
		s := &Set{IDs: []uint32{0}}
		for id := range uint32(8) {
			if r.IntN(3) == 0 {
				s.IDs = append(s.IDs, id+1)
			}
		}
		if i == 20 { // the later ones are rarer
			s.IDs = append(s.IDs, 64)
		}
		sets = append(sets, n.Same(s))
	}
	p := NewParts()
	for range 2000 {
		var steps, others []*Set
		want, got := map[uint32]uint64{}, map[uint32]uint64{}
		for range 1 + r.IntN(20) {
			s := sets[r.IntN(1+r.IntN(len(sets)))]
			bit := uint64(1) << len(steps)
			if r.IntN(10) == 0 {
				bit = 0 // of a record
				others = append(others, s)
			} else {
				steps = append(steps, s)
			}
			for _, id := range s.IDs {
				want[id] |= bit
			}
		}
		times, ok := p.Take(steps, others)
		if !ok {
			t.Fatal("too many sets")
		}
		for i := range times {
			places, parts := p.Split(i)
			for _, part := range parts {
				for m := part.Slices; m != 0; m &= m - 1 {
					id := At(places, bits.TrailingZeros64(m))
					if _, twice := got[id]; twice {
						t.Fatal("a slice is in two parts")
					}
					got[id] = part.Steps
				}
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatal(diff)
		}
	}
	long := n.Same(&Set{IDs: slices.Collect(func(yield func(uint32) bool) {
		for id := range uint32(MaxIDs + 1) {
			if !yield(100 + id) {
				return
			}
		}
	})})
	if _, ok := p.Take([]*Set{long}, nil); ok {
		t.Error("a set of more slices than bits was taken")
	}
	var low []*Set // each step with slices of its own
	for i := range uint32(64) {
		low = append(low, n.Same(&Set{IDs: []uint32{0, i, 63 - i}}))
	}
	for _, k := range []int{64, 8, 9, 1, 0, 33} {
		if _, ok := p.Take(append(slices.Clone(low), long)[64-k:], low[:k]); ok {
			t.Error("a set of more slices than bits was taken after others")
		}
		times, ok := p.Take(low[:k], low[k:])
		if !ok || times != 1 {
			t.Fatal(times, ok)
		}
		got := map[int]uint64{}
		_, parts := p.Split(0)
		for _, part := range parts {
			for m := part.Slices; m != 0; m &= m - 1 {
				got[bits.TrailingZeros64(m)] = part.Steps
			}
		}
		every := uint64(1)<<(k%64) - 1
		if k == 64 {
			every = 1<<64 - 1
		}
		want := map[int]uint64{0: every}
		for id := 1; id < 64; id++ {
			want[id] = (1<<id | 1<<(63-id)) & every
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Fatal(k, d)
		}
	}
}
