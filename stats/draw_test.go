// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package stats_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/callvet/callvet/stats"
)

// TestMoments holds means and variances of many draws against those of the
// distributions.
func TestMoments(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		draw           func(*rand.Rand) float64
		mean, variance float64
	}{
		"rate":       {func(r *rand.Rand) float64 { return stats.DrawRate(r, 0.8, 0.3) }, 0.8, 0.3 * 0.16},
		"same rate":  {func(r *rand.Rand) float64 { return stats.DrawRate(r, 0.8, 0) }, 0.8, 0},
		"sure":       {func(r *rand.Rand) float64 { return stats.DrawRate(r, 1, 0.5) }, 1, 0},
		"few passes": {func(r *rand.Rand) float64 { return float64(stats.DrawPasses(r, 10, 0.3)) }, 3, 2.1},
		"passes":     {func(r *rand.Rand) float64 { return float64(stats.DrawPasses(r, 1000, 0.3)) }, 300, 210},
		"lognormal":  {func(r *rand.Rand) float64 { return stats.DrawLognormal(r, 0.5) }, 1, math.Expm1(0.25)},
		"gamma":      {func(r *rand.Rand) float64 { return stats.DrawGamma(r, 4) }, 1, 0.25},
		"events":     {func(r *rand.Rand) float64 { return float64(stats.DrawEvents(r, 2, 1)) }, 2, 2},
		"amount":     {func(r *rand.Rand) float64 { return stats.DrawAmount(r, 3, 2) }, 3, 4},
		"count":      {func(r *rand.Rand) float64 { return float64(stats.DrawCount(r, 2, 2)) }, 2, 4},
		"even count": {func(r *rand.Rand) float64 { return float64(stats.DrawCount(r, 3, 1)) }, 3, 1},
		"rare count": {func(r *rand.Rand) float64 { return float64(stats.DrawCount(r, 0.03, 0.2)) }, 0.03, 0.04},
		"calm count": {func(r *rand.Rand) float64 { return float64(stats.DrawCount(r, 5, 0.8)) }, 5, 0.64},
		"same count": {func(r *rand.Rand) float64 { return float64(stats.DrawCount(r, 2, 0)) }, 2, 0},
		"bursts":     {func(r *rand.Rand) float64 { return float64(stats.DrawEvents(r, 2, 2)) }, 2, 6}, // times 2*2-1
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
		law := stats.PassesLaw(tc.n, tc.mean, tc.icc)
		rng := rand.New(rand.NewPCG(4, 4))
		const draws = 100_000
		drawn := make([]int, tc.n+1)
		for range draws {
			drawn[stats.DrawPasses(rng, tc.n, stats.DrawRate(rng, tc.mean, tc.icc))]++
		}
		split, sum := stats.DrawSplit(rng, draws, law), 0
		for k, p := range law {
			sum += split[k]
			for _, n := range []int{drawn[k], split[k]} {
				if !(math.Abs(float64(n)/draws-p) <= 5*math.Sqrt(p*(1-p)/draws)+1e-12) {
					t.Errorf("%+v: %d passes in %d of %d draws, want %v", tc, k, n, draws, p)
				}
			}
		}
		if sum != draws {
			t.Errorf("%+v: split into %d", tc, sum)
		}
	}
}

// TestPassesLawMoments: the chances sum up to 1, and the mean and the variance are those
// of n attempts with the correlation icc.
func TestPassesLawMoments(t *testing.T) {
	t.Parallel()
	for _, n := range []int{1, 2, 7, 30} {
		for _, mean := range []float64{0, 0.02, 0.5, 0.8, 1} {
			for _, icc := range []float64{0, 0.1, 0.6} {
				var sum, first, second float64
				for k, p := range stats.PassesLaw(n, mean, icc) {
					sum += p
					first += p * float64(k)
					second += p * (float64(k) - float64(n)*mean) * (float64(k) - float64(n)*mean)
				}
				variance := float64(n) * mean * (1 - mean) * (1 + float64(n-1)*icc)
				if !(math.Abs(sum-1) < 1e-9 && math.Abs(first-float64(n)*mean) < 1e-8 &&
					math.Abs(second-variance) < 1e-7) {
					t.Errorf("n %d, mean %g, icc %g: sum %g, mean %g, variance %g, want %g", n, mean, icc, sum, first,
						second, variance)
				}
			}
		}
	}
}

// constant is a source of one number.
type constant uint64

func (c constant) Uint64() uint64 { return uint64(c) }

// TestExtremeDraws: what is impossible is not drawn, and what is sure is, whatever the
// source gives.
func TestExtremeDraws(t *testing.T) {
	t.Parallel()
	for _, c := range []constant{0, math.MaxUint64} {
		rng := rand.New(c)
		if got := stats.DrawPasses(rng, 10, 0); got != 0 {
			t.Errorf("%d passes at a rate of 0", got)
		}
		if got := stats.DrawPasses(rng, 10, 1); got != 10 {
			t.Errorf("%d passes of 10 at a rate of 1", got)
		}
		if got := stats.DrawCount(rng, 2, 0); got != 2 {
			t.Errorf("a count of 2 that never varies is %d", got)
		}
		// Rounding by chance alone would vary by as much: nothing is left to add.
		if got := stats.DrawCount(rng, 5, math.Sqrt(1./6)); got != 5 {
			t.Errorf("a count of 5 with the spread of rounding is %d", got)
		}
		sum, tenths := 0, make([]float64, 10)
		for i := range tenths {
			tenths[i] = 0.1
		}
		for _, n := range stats.DrawSplit(rng, 7, tenths) {
			sum += n
		}
		if sum != 7 {
			t.Errorf("7 draws split into %d", sum)
		}
	}
}

// TestIndependentCount: a count that varies as independent events do is a Poisson count.
func TestIndependentCount(t *testing.T) {
	t.Parallel()
	const n = 50_000
	rng := rand.New(rand.NewPCG(3, 4))
	none := 0
	for range n {
		if stats.DrawCount(rng, 4, 2) == 0 {
			none++
		}
	}
	if p := math.Exp(-4); math.Abs(float64(none)/n-p) > 5*math.Sqrt(p*(1-p)/n) {
		t.Errorf("%d of %d counts are 0, want a share of %.4f", none, n, p)
	}
}
