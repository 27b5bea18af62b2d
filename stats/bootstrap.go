// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package stats

import (
	"math"
	"math/rand/v2"
	"slices"
)

// Replicates is the number of resamples of a bootstrap interval.
const Replicates = 9_999

// StatusDegenerate means that resampling cannot change the statistic: an
// estimate without an interval.
const StatusDegenerate Status = "degenerate"

// BCa is a bias-corrected and accelerated bootstrap interval with its parts.
type BCa struct {
	Point, Lower, Upper float64
	// Acceleration is from the jackknife, Below the share of replicates under
	// the point (ties count half), Bias its normal quantile.
	Acceleration, Below, Bias float64
	// Alpha1 and Alpha2 are the levels at which the replicates are cut.
	Alpha1, Alpha2 float64
	// PercentileLower and PercentileUpper are the plain percentile interval.
	PercentileLower, PercentileUpper float64
	// Status is StatusOK, StatusNoData, StatusDegenerate or StatusInvalid.
	Status Status
}

// Bootstrap resamples n units b times and returns the BCa interval of a statistic of the drawn
// units, for means, ratios and unbounded scores. units are positions in 0..n-1 and may repeat; the
// statistic must not keep them. The same seed gives the same interval. Source: Efron 1987; PCG64,
// O'Neill 2014.
func Bootstrap(n, b int, conf float64, seed [2]uint64, statistic func(units []int) float64) BCa {
	if n <= 0 {
		return BCa{Point: math.NaN(), Lower: math.NaN(), Upper: math.NaN(), Status: StatusNoData}
	}
	units := make([]int, n)
	for i := range units {
		units[i] = i
	}
	point := statistic(units)
	jack := make([]float64, 0, n)
	for i := range n {
		if n > 1 {
			jack = append(jack, statistic(slices.Delete(slices.Clone(units), i, i+1)))
		}
	}
	rng := rand.New(rand.NewPCG(seed[0], seed[1]))
	replicates := make([]float64, b)
	drawn := make([]int, n)
	for r := range replicates {
		for i := range drawn {
			drawn[i] = rng.IntN(n)
		}
		replicates[r] = statistic(drawn)
	}
	return BCaFrom(point, jack, replicates, conf)
}

// BCaFrom is the BCa interval from the statistic of the sample, its values with one unit left out,
// and its values over resamples. No replicate, or a value that is not finite: StatusInvalid. All
// jackknife values or all replicates equal: StatusDegenerate, with both ends at the point. Source:
// Efron 1987; Efron and Tibshirani 1993.
func BCaFrom(point float64, jackknife, replicates []float64, conf float64) BCa {
	out := BCa{Point: point, Lower: point, Upper: point, Status: StatusInvalid}
	if len(replicates) == 0 || !allFinite(replicates) || !allFinite(jackknife) || math.IsNaN(point) ||
		!validConfidence(conf) {
		return out
	}
	sorted := slices.Sorted(slices.Values(replicates))
	a := (1 - conf) / 2
	out.PercentileLower, _ = Percentile(sorted, a)
	out.PercentileUpper, _ = Percentile(sorted, 1-a)
	out.Below = midRank(sorted, point)
	acceleration, ok := accelerate(jackknife)
	if !ok || sorted[0] == sorted[len(sorted)-1] {
		out.Status = StatusDegenerate
		return out
	}
	out.Acceleration, out.Status = acceleration, StatusOK
	// A point outside of all replicates would have an infinite bias.
	edge := 0.5 / float64(len(sorted))
	out.Bias = NormalQuantile(min(1-edge, max(edge, out.Below)))
	out.Alpha1, out.Alpha2 = out.level(a), out.level(1-a)
	out.Lower, _ = Percentile(sorted, out.Alpha1)
	out.Upper, _ = Percentile(sorted, out.Alpha2)
	return out
}

func (b BCa) level(a float64) float64 {
	s := b.Bias + NormalQuantile(a)
	d := 1 - b.Acceleration*s
	if d <= 0 {
		return Normal(math.Copysign(math.Inf(1), s))
	}
	return Normal(b.Bias + s/d)
}

func midRank(sorted []float64, point float64) float64 {
	below, ties := 0.0, 0.0
	for _, x := range sorted {
		switch {
		case x < point:
			below++
		case x == point:
			ties++
		}
	}
	return (below + ties/2) / float64(len(sorted))
}

func accelerate(jackknife []float64) (float64, bool) {
	if len(jackknife) < 2 {
		return 0, false
	}
	m, squares, cubes := mean(jackknife), 0.0, 0.0
	for _, x := range jackknife {
		d := m - x
		squares += d * d
		cubes += d * d * d
	}
	if squares <= 1e-24*(1+m*m) {
		return 0, false
	}
	return cubes / (6 * math.Pow(squares, 1.5)), true
}
