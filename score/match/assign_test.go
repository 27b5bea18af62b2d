// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package match

import (
	"math"
	"testing"

	"pgregory.net/rapid"
)

// heaviestByForce tries every assignment.
func heaviestByForce(w *Assignment, i int, used int) int64 {
	if i == w.n {
		return 0
	}
	best := heaviestByForce(w, i+1, used)
	for j := range w.m {
		if c := w.weight[i*w.m+j]; c > 0 && used&(1<<j) == 0 {
			best = max(best, c+heaviestByForce(w, i+1, used|1<<j))
		}
	}
	return best
}

func TestAssignmentIsOptimal(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		w := &Assignment{n: rapid.IntRange(1, 6).Draw(rt, "n"), m: rapid.IntRange(1, 6).Draw(rt, "m")}
		w.scale = newScale(min(w.n, w.m))
		for range w.n * w.m {
			near := rapid.SampledFrom([]float64{-1, 0, 0.25, 1.0 / 3, 0.5, 0.999, 1}).Draw(rt, "near")
			c := int64(0)
			if near >= 0 {
				c = w.scale.of(near, near, true)
			}
			w.weight = append(w.weight, c)
		}
		w.Of = make([]int, w.n)
		for i := range w.Of {
			w.Of[i] = -1
		}
		w.hungarian()
		seen := map[int]bool{}
		for _, j := range w.Of {
			if j >= 0 && seen[j] {
				rt.Fatal("a call answers two expectations")
			}
			seen[j] = j >= 0
		}
		if got, want := w.total(), heaviestByForce(w, 0, 0); got != want {
			rt.Fatalf("weight %d, the best is %d: %v", got, want, w.Of)
		}
	})
}

func TestScaleKeepsFieldsApart(t *testing.T) {
	t.Parallel()
	for n := 1; n < 1<<20; n = n*3/2 + 1 {
		s := newScale(n)
		sum := int64(n)
		if s.position > 0 && sum*s.position >= s.args || sum*int64(s.levels) >= s.near/s.args || s.name > math.MaxInt64/2/sum {
			t.Errorf("%d pairs: %+v", n, s)
		}
	}
}
