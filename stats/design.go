// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package stats

import (
	"math"
)

// Design is the clustering of values by case and its effect on the sample size. Undefined members
// are NaN.
type Design struct {
	Point, SE   float64
	N, Clusters int
	// Effect is the variance of the mean over that of N independent values.
	Effect float64
	// ICC is the analysis-of-variance estimate of the correlation within a case,
	// at most 1; NaN with one value a case.
	ICC float64
	// NEff is the number of independent values with the same variance, at most
	// N; NEffKG that number corrected for the few cases it was estimated from.
	NEff, NEffKG float64
	// T is the t interval clipped to [0,1], KG the Clopper-Pearson interval on
	// NEffKG, both for comparison: the interval to report is Clusters.Interval.
	TLower, TUpper, KGLower, KGUpper float64
	// Status is StatusOK, StatusBoundary, StatusSingleCluster, StatusNoData or
	// StatusInvalid.
	Status Status
}

// DesignEffect measures the clustering of values in [0,1] by case. The slices
// have the same length, else StatusInvalid.
// Source: Korn and Graubard 1998; Donner 1986 (ICC); Miller 2024.
func DesignEffect(values []float64, clusters []int, conf float64) Design {
	nan := math.NaN()
	d := Design{
		Point: nan, SE: nan, Effect: nan, ICC: nan, TLower: nan, TUpper: nan, KGUpper: 1, N: len(values),
		Status: StatusNoData,
	}
	if len(values) != len(clusters) || !validConfidence(conf) || !probabilities(values) {
		d.Status = StatusInvalid
		return d
	}
	sums := grouped(values, clusters)
	c := &sums.all
	d.Clusters = c.g
	if d.N == 0 {
		return d
	}
	d.Point, d.NEff, d.NEffKG, d.Status = mean(values), 1, 1, StatusSingleCluster
	if c.g < 2 {
		return d
	}
	d.Status = StatusOK
	n, g, vb, v := c.n, float64(c.g), d.Point*(1-d.Point), c.variance(d.Point)
	d.SE = math.Sqrt(v)
	t := TQuantile(g-1, 1-(1-conf)/2)
	d.TLower, d.TUpper = max(0, d.Point-t*d.SE), min(1, d.Point+t*d.SE)
	switch {
	case vb <= 0:
		d.Status, d.NEff, d.NEffKG = StatusBoundary, g, g
	case v == 0:
		d.Effect, d.NEff, d.NEffKG = 0, n, n
	default:
		r := TQuantile(n-1, 1-(1-conf)/2) / t
		d.Effect = v / (vb / n)
		d.NEff = min(n, n/d.Effect)
		d.NEffKG = min(n, n/d.Effect*r*r)
	}
	d.ICC = icc(values, clusters, c)
	d.KGLower, d.KGUpper = betaLimits(d.Point*d.NEffKG, d.NEffKG, (1-conf)/2)
	return d
}

// icc is the one-way analysis-of-variance estimator; NaN with one value a case and where
// nothing varies.
func icc(values []float64, clusters []int, c *sums) float64 {
	n, g := c.n, float64(c.g)
	totals, sizes := map[int]float64{}, map[int]float64{}
	for i, y := range values {
		totals[clusters[i]] += y
		sizes[clusters[i]]++
	}
	within := 0.0
	for i, y := range values {
		r := y - totals[clusters[i]]/sizes[clusters[i]]
		within += r * r
	}
	total, p := 0.0, mean(values)
	for _, y := range values {
		total += (y - p) * (y - p)
	}
	msb, msw := max(0, total-within)/(g-1), within/(n-g)
	m0 := (n - c.m2/n) / (g - 1)
	return (msb - msw) / (msb + (m0-1)*msw)
}
