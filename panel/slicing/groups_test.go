// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package slicing

import (
	"math/bits"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestGroups: what is found for slices stands for each of them once, and for no others; those
// that often come together have one thing, and those that do not make no groups.
func TestGroups(t *testing.T) {
	t.Parallel()
	type thing struct{ ids []uint32 }
	r := rand.New(rand.NewPCG(8, 8))
	n := New(nil, nil)
	high := n.Same(&Set{IDs: []uint32{0, 3, 70, 71, 99, 4}})
	g := NewGroups(func(ids []uint32) *thing { return &thing{slices.Clone(ids)} })
	adds, finds := 0, 0
	for i := range 300_000 {
		var places *Set
		some := uint64(1)<<r.IntN(6) | 1<<r.IntN(6) | 1
		switch {
		case i%10 == 0:
			some = 1 + r.Uint64N(1<<20)
		case i%3 == 0:
			places = high
		}
		things := []*thing{g.Find(places, some)}
		if things[0] == nil {
			things = g.Cover(places, some)
		}
		var got, want []uint32
		for _, x := range things {
			got = append(got, x.ids...)
		}
		for m := some; m != 0; m &= m - 1 {
			want = append(want, At(places, bits.TrailingZeros64(m)))
		}
		slices.Sort(got)
		slices.Sort(want)
		if !slices.Equal(got, want) {
			t.Fatal(got, want)
		}
		if i%10 != 0 {
			adds, finds = adds+len(things), finds+1
		}
	}
	if len(g.All) > maxGroups || len(g.by) > maxCovers {
		t.Error(len(g.All), "groups,", len(g.by), "covers")
	}
	if adds > finds+finds/50 {
		t.Error(adds, "things for", finds, "frequent ones")
	}
}

// TestGroupsOnce: where slices come in more ways than are remembered, those that come once leave
// nothing behind, and those that come again are still found together.
func TestGroupsOnce(t *testing.T) {
	t.Parallel()
	g := NewGroups(func(ids []uint32) *[]uint32 { ids = slices.Clone(ids); return &ids })
	n := New(nil, nil)
	high := n.Same(&Set{IDs: []uint32{0, 3, 70, 71, 99, 4}})
	for i := range uint64(20_000) {
		if things := g.Cover(nil, 1|i<<20); len(things) != bits.OnesCount64(1|i<<20) {
			t.Fatal(i, len(things))
		}
	}
	if len(g.by) > manyCovers {
		t.Error(len(g.by), "are remembered")
	}
	for range 20 {
		if g.Find(high, 0b10110) == nil {
			g.Cover(high, 0b10110)
		}
	}
	if x := g.Find(high, 0b10110); x == nil || !slices.Equal(*x, []uint32{3, 70, 99}) {
		t.Error(x, "is found")
	}
}
