// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package retrieve

import (
	"fmt"
	"math/rand/v2"
	"testing"
)

func BenchmarkCosines(b *testing.B) {
	for _, n := range []int{1_000, 10_000, 100_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			const width = 384
			r := rand.New(rand.NewPCG(1, 2))
			var m VectorMatrix
			v := make([]float32, width)
			for range n {
				for i := range v {
					v[i] = float32(r.NormFloat64())
				}
				if err := m.Append(v); err != nil {
					b.Fatal(err)
				}
			}
			q, out := m.Row(n/2), make([]float32, n)
			for b.Loop() {
				m.Cosines(q, out)
			}
		})
	}
}
