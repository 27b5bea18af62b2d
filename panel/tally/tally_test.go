// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package tally

import (
	"bytes"
	"math/rand/v2"
	"testing"

	"github.com/callvet/callvet/stats/exact"
)

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
