// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package tally

import (
	"math/rand/v2"
	"testing"
)

// TestBoxes: what a box has stays as it was until the last one gives it up, and boxes are used
// again, but for those that have become large.
func TestBoxes(t *testing.T) {
	t.Parallel()
	type run struct {
		box    *Box[uint64]
		things []uint64
		first  uint64
	}
	r := rand.New(rand.NewPCG(8, 8))
	var s Boxes[uint64]
	var kept []run
	boxes, large := map[*Box[uint64]]bool{}, map[*Box[uint64]]bool{}
	for i := range uint64(20_000) {
		b := s.Next()
		if len(b.Things) > 0 || len(b.Text) > 0 || large[b] {
			t.Fatal("not a new box")
		}
		boxes[b] = true
		b.Hold()
		n := r.IntN(2 * boxful)
		if i%2000 == 0 {
			n, large[b] = 2*maxBoxful, true
		}
		for k := range n {
			*b.Add() = i<<16 + uint64(k)
		}
		for from := 0; from < n; {
			to := min(n, from+1+r.IntN(9))
			if r.IntN(3) > 0 {
				b.Hold()
				kept = append(kept, run{b, b.Things[from:to:to], i<<16 + uint64(from)})
			}
			from = to
		}
		s.GiveUp(b)
		for len(kept) > 500 {
			at := r.IntN(1 + r.IntN(len(kept)))
			for k, x := range kept[at].things {
				if x != kept[at].first+uint64(k) {
					t.Fatal("written over")
				}
			}
			s.GiveUp(kept[at].box)
			kept = append(kept[:at], kept[at+1:]...)
		}
	}
	if n := len(boxes) - len(large); n > 1000 {
		t.Errorf("%d boxes were needed", n)
	}
}

// TestBoxesShrink: a box that has grown for once has the room it was made with again after it
// was used for less; where all are large they stay so, and do not grow anew each time.
func TestBoxesShrink(t *testing.T) {
	t.Parallel()
	var s Boxes[uint64]
	for i, c := range []struct{ things, text, room, textRoom int }{
		{boxful, boxText, boxful, boxText},
		{boxful + 1, boxText + 1, 2 * boxful, 2 * boxText},
		{boxful + 1, boxText + 1, 2 * boxful, 2 * boxText},
		{boxful, boxText + 1, boxful, 2 * boxText},
		{boxful + 1, boxText, 2 * boxful, boxText},
		{0, 0, boxful, boxText},
	} {
		b := s.Next()
		b.Hold()
		for range c.things {
			*b.Add() = 1
		}
		b.Text = append(b.Text, make([]byte, c.text)...)
		s.GiveUp(b)
		if len(b.Things) > 0 || len(b.Text) > 0 || cap(b.Things) < c.room || cap(b.Things) >= 2*c.room || cap(b.Text) < c.textRoom || cap(b.Text) >= 2*c.textRoom {
			t.Errorf("%d: room for %d things and %d bytes, want about %d and %d", i, cap(b.Things), cap(b.Text), c.room, c.textRoom)
		}
	}
}
