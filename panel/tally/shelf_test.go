// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package tally

import (
	"math/rand/v2"
	"testing"
)

// TestShelf: what is kept stays as it was until it is given up, and boxes are used again even
// where some runs stay for long.
func TestShelf(t *testing.T) {
	t.Parallel()
	type kept struct {
		run   []uint64
		box   *Box[uint64]
		first uint64
	}
	r := rand.New(rand.NewPCG(8, 8))
	var s, other Shelf[uint64]
	var all []kept
	boxes := map[*Box[uint64]]bool{}
	for i := range uint64(100_000) {
		run := make([]uint64, 1+r.IntN(MaxRun))
		for k := range run {
			run[k] = i<<8 + uint64(k)
		}
		k := kept{first: run[0]}
		if from := &s; i < 1000 && i%3 == 0 {
			k.run, k.box = other.Put(run)
		} else {
			k.run, k.box = from.Put(run)
		}
		_ = append(k.run, 1<<40) // goes elsewhere
		clear(run)
		boxes[k.box] = true
		all = append(all, k)
		for len(all) > 500 {
			at := 0
			if r.IntN(4) == 0 {
				at = r.IntN(len(all))
			}
			k = all[at]
			for n, x := range k.run {
				if x != k.first+uint64(n) {
					t.Fatal(i, "was written over")
				}
			}
			s.GiveUp(k.box)
			all = append(all[:at], all[at+1:]...)
		}
	}
	if most := 4 * 500 * MaxRun / boxful; len(boxes) > most {
		t.Errorf("%d boxes for what would fill %d", len(boxes), most/4)
	}
}
