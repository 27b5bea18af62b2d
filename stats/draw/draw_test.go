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
