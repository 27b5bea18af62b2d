// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package draw_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/callvet/callvet/stats/draw"
)

// TestMoments holds means and variances of many draws against those of the
// distributions.
func TestMoments(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		draw           func(*rand.Rand) float64
		mean, variance float64
	}{
		"rate":       {func(r *rand.Rand) float64 { return draw.Rate(r, 0.8, 0.3) }, 0.8, 0.3 * 0.16},
		"same rate":  {func(r *rand.Rand) float64 { return draw.Rate(r, 0.8, 0) }, 0.8, 0},
		"sure":       {func(r *rand.Rand) float64 { return draw.Rate(r, 1, 0.5) }, 1, 0},
		"few passes": {func(r *rand.Rand) float64 { return float64(draw.Passes(r, 10, 0.3)) }, 3, 2.1},
		"passes":     {func(r *rand.Rand) float64 { return float64(draw.Passes(r, 1000, 0.3)) }, 300, 210},
		"lognormal":  {func(r *rand.Rand) float64 { return draw.Lognormal(r, 0.5) }, 1, math.Expm1(0.25)},
		"gamma":      {func(r *rand.Rand) float64 { return draw.Gamma(r, 4) }, 1, 0.25},
		"events":     {func(r *rand.Rand) float64 { return float64(draw.Events(r, 2, 1)) }, 2, 2},
		"amount":     {func(r *rand.Rand) float64 { return draw.Amount(r, 3, 2) }, 3, 4},
		"count":      {func(r *rand.Rand) float64 { return float64(draw.Count(r, 2, 2)) }, 2, 4},
		"even count": {func(r *rand.Rand) float64 { return float64(draw.Count(r, 3, 1)) }, 3, 1},
		"rare count": {func(r *rand.Rand) float64 { return float64(draw.Count(r, 0.03, 0.2)) }, 0.03, 0.04},
		"same count": {func(r *rand.Rand) float64 { return float64(draw.Count(r, 2, 0)) }, 2, 0},
		"bursts":     {func(r *rand.Rand) float64 { return float64(draw.Events(r, 2, 2)) }, 2, 6}, // times 2*2-1
	} {
		const n = 200_000
		rng := rand.New(rand.NewPCG(1, 2))
		sum, squares := 0.0, 0.0
		for range n {
			x := tc.draw(rng)
			sum += x
			squares += (x - tc.mean) * (x - tc.mean)
		}
		if d := math.Abs(sum/n - tc.mean); d > 5*math.Sqrt(tc.variance/n)+1e-12 {
			t.Errorf("%s: mean %g, want %g", name, sum/n, tc.mean)
		}
		if d := math.Abs(squares/n - tc.variance); d > 0.05*tc.variance+1e-12 {
			t.Errorf("%s: variance %g, want %g", name, squares/n, tc.variance)
		}
	}
}

// TestPassesLaw holds the chances against draws of a rate and of attempts at it, and
// against those of Split.
func TestPassesLaw(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		n         int
		mean, icc float64
	}{{3, 0.8, 0.3}, {5, 0.9, 0}, {1, 0.7, 0.5}, {4, 1, 0.3}, {2, 0, 0.1}} {
		law := draw.PassesLaw(tc.n, tc.mean, tc.icc)
		rng := rand.New(rand.NewPCG(4, 4))
		const draws = 100_000
		drawn := make([]int, tc.n+1)
		for range draws {
			drawn[draw.Passes(rng, tc.n, draw.Rate(rng, tc.mean, tc.icc))]++
		}
		split, sum := draw.Split(rng, draws, law), 0
		for k, p := range law {
			sum += split[k]
			for _, n := range []int{drawn[k], split[k]} {
				if math.Abs(float64(n)/draws-p) > 5*math.Sqrt(p*(1-p)/draws)+1e-12 {
					t.Errorf("%+v: %d passes in %d of %d draws, want %v", tc, k, n, draws, p)
				}
			}
		}
		if sum != draws {
			t.Errorf("%+v: split into %d", tc, sum)
		}
	}
}
