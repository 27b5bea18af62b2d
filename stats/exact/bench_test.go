// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package exact

import (
	"math"
	"math/rand/v2"
	"testing"
)

func BenchmarkRateAdd(b *testing.B) {
	b.ReportAllocs()
	r := make([]Rate, 64) // as many slices have one
	i := 0
	for b.Loop() {
		r[i&63].Add(i&3, 3)
		i++
	}
}

func BenchmarkMeanAdd(b *testing.B) {
	b.ReportAllocs()
	var m Mean
	for b.Loop() {
		m.Add(Scale/3, 2)
	}
}

// latencies are log-normal, as calls of a tool are: some 3,000 bins.
func latencies() []float64 {
	r := rand.New(rand.NewPCG(1, 2))
	xs := make([]float64, 1<<16)
	for i := range xs {
		xs[i] = 200 * math.Exp(r.NormFloat64())
	}
	return xs
}

func BenchmarkQuantilesAdd(b *testing.B) {
	xs := latencies()
	for _, m := range []int{1, 5, 40} {
		b.Run(map[int]string{1: "one", 5: "five", 40: "forty"}[m], func(b *testing.B) {
			b.ReportAllocs()
			var q [5]Quantiles
			for i := range xs[m:] {
				for j := range q {
					q[j].Add(xs[i:i+m], 0)
				}
			}
			i := 0
			for b.Loop() {
				at := i * m & (1<<16 - 1)
				q[i%5].Add(xs[min(at, len(xs)-m):][:m], 0)
				i++
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(m), "ns/value")
		})
	}
}

func BenchmarkQuantilesIntervals(b *testing.B) {
	b.ReportAllocs()
	xs := latencies()
	var q Quantiles
	for i := 0; i+3 < len(xs); i += 3 {
		q.Add(xs[i:i+3], 0)
	}
	for b.Loop() {
		q.Intervals(conf, 0.5, 0.9)
	}
}

// TestNoAllocations checks that tasks with known bins cost no memory.
func TestNoAllocations(t *testing.T) {
	xs := latencies()[:3000]
	var r Rate
	var q Quantiles
	add := func() {
		r.Add(1, 2)
		q.Add(xs[:1], 0)
		for i := 0; i+60 <= len(xs); i += 60 {
			q.Add(xs[i:i+60], i%2)
		}
	}
	add()
	if n := testing.AllocsPerRun(10, add); n != 0 {
		t.Errorf("%g allocations", n)
	}
}
