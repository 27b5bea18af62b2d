// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package tally

import (
	"bytes"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/callvet/callvet/stats/exact"
)

// TestShapes: no key is lost, however many there are.
func TestShapes(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(3, 3))
	for _, keys := range []uint64{1, 5, 90, 3000} {
		var s Shapes
		want, got := map[uint64]uint64{}, map[uint64]uint64{}
		drain := func() { s.Drain(func(key, times uint64) { got[key] += times }) }
		for range 20_000 {
			key := 1 + r.Uint64N(keys)<<uint(r.IntN(2)*31)
			want[key]++
			if s.Add(key) {
				drain()
			}
		}
		drain()
		drain()
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(keys, diff)
		}
	}
}

// TestLatencies: values that wait give the very sums, whatever a task has.
func TestLatencies(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(4, 4))
	var a, b Latencies
	var plain exact.Quantiles
	var s Sample
	for i := range 3000 {
		s.Reset()
		var values, cut []float64
		for range r.IntN(5) + i/2999*700 {
			values = append(values, float64(r.IntN(3000)))
			s.Add(values[len(values)-1])
		}
		for range r.IntN(8) / 6 {
			cut = append(cut, float64(r.IntN(3000)))
			s.AddCut(cut[len(cut)-1])
		}
		a.Add(&s)
		b.Add(&s)
		plain.Add(append(values, cut...), len(cut))
	}
	want := plain.AppendBinary(nil)
	if !bytes.Equal(a.Quantiles().AppendBinary(nil), want) || !bytes.Equal(b.Quantiles().AppendBinary(nil), want) {
		t.Error("other sums")
	}
}
