// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package tally

import (
	"math/bits"
	"math/rand/v2"
	"testing"

	"github.com/callvet/callvet/stats/exact"
)

func TestSpread(t *testing.T) {
	t.Parallel()
	for b := range 256 {
		c := Spread(uint16(b))
		for i := range 8 {
			if c.At(i) != b>>i&1 {
				t.Fatalf("bit %d of %08b", i, b)
			}
		}
		if bits.OnesCount64(c.lo) != bits.OnesCount(uint(b)) {
			t.Fatalf("%08b gave more than its bits", b)
		}
	}
}

// TestTally: counting tasks by what they are gives the very sums.
func TestTally(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(3, 3))
	var fast Rate
	var plain exact.Rate
	var quick Share
	var mean exact.Mean
	for range 5000 {
		n := 1 + r.IntN(10)
		yes := r.IntN(n + 1)
		fast.Add(yes, n)
		plain.Add(yes, n)
		sum := int64(n) * exact.Scale
		if r.IntN(3) == 0 {
			sum -= r.Int64N(sum)
		}
		quick.Add(sum, n)
		mean.Add(sum, n)
	}
	a, b := fast.Rate(), quick.Mean()
	if string(a.AppendBinary(nil)) != string(plain.AppendBinary(nil)) {
		t.Error("rates differ")
	}
	if string(b.AppendBinary(nil)) != string(mean.AppendBinary(nil)) {
		t.Error("means differ")
	}
}
