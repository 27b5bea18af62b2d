// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package stats

import (
	"math"
)

// MinCorrelationRuns is the least number of earlier runs of a suite on which the correlation
// between attempts is measured.
// Source: Statistics specification, section 16.1.
const MinCorrelationRuns = 5

// correlationLevel is the one-sided confidence of a measured correlation.
const correlationLevel = 0.8

// Alike is the correlation of the attempts at a task in one run, in [0,1], and its standard error.
type Alike struct{ Correlation, SE float64 }

// Correlation is the correlation of the attempts at a task in several runs.
type Correlation struct {
	// Mean is the mean over runs, Upper its upper limit with one-sided confidence 80 %; both are in
	// [0,1].
	Mean  float64 `json:"mean"`
	Upper float64 `json:"upper"`
	// Runs is how many runs show it.
	Runs int `json:"runs"`
}

// MeasureCorrelation combines the runs of one suite. They share their tasks, so that their mean is
// no more certain than one run, however little the runs differ. ok is false for fewer than
// MinCorrelationRuns. Source: Statistics specification, section 16.1.
func MeasureCorrelation(runs []Alike) (c Correlation, ok bool) {
	if c.Runs = len(runs); c.Runs < MinCorrelationRuns {
		return c, false
	}
	n := float64(c.Runs)
	var within float64
	for _, r := range runs {
		c.Mean += r.Correlation / n
		within += r.SE / n
	}
	var between float64
	for _, r := range runs {
		between += (r.Correlation - c.Mean) * (r.Correlation - c.Mean) / (n - 1)
	}
	se := max(within, math.Sqrt(between/n))
	c.Upper = min(1, c.Mean+TQuantile(n-1, correlationLevel)*se)
	return c, true
}

// Alike is the correlation within a case, in [0,1], computed from the standard error of a rate and
// that of as many independent values. ok is false with about one value a case and where nothing
// varies. The standard error of the correlation is that of normal values. Source: Kish 1965 (design
// effect); Fisher 1925 (standard error).
func (iv Interval) Alike() (a Alike, ok bool) {
	g := float64(iv.Clusters)
	k := float64(iv.N) / g
	vary := iv.Point * (1 - iv.Point)
	if !iv.Usable() || !(k >= 1.5) || !(vary > 0) || !(iv.SE > 0) {
		return a, false
	}
	effect := iv.SE * iv.SE * float64(iv.N) / vary
	r := min(1, max(0, (effect-1)/(k-1)))
	return Alike{Correlation: r, SE: (1 - r) * (1 + (k-1)*r) * math.Sqrt(2/(k*(k-1)*g))}, true
}

// AlikeAttempts is Alike for a rate of n values, one an attempt, where attempts that agree in all
// cases count once. Its standard error is larger near rates of 0 and 1, where few cases show the
// correlation. Source: the width by simulation, for rates from 0.8 to 0.95.
func (iv Interval) AlikeAttempts(n int) (a Alike, ok bool) {
	if n > iv.N && iv.Clusters > 1 { // all attempts agree
		return Alike{Correlation: 1}, iv.Status == StatusOK
	}
	if a, ok = iv.Alike(); ok {
		a.SE /= math.Sqrt(4 * iv.Point * (1 - iv.Point))
	}
	return a, ok
}

// Correlated is the interval of a rate with a measured correlation between the attempts at a case
// in place of 1. The rate has n values, one an attempt, and at most attempts of them for a case.
// The interval differs from iv only where attempts counted as one: where all values are the same,
// or fewer than five cases carry information. Source: Statistics specification, section 16.1.
func (iv Interval) Correlated(n, attempts int, correlation float64) Interval {
	few := iv.Status == StatusBoundary || iv.Status == StatusCapped
	if !few || n <= iv.Clusters || iv.Clusters < 2 || !(correlation >= 0 && correlation <= 1) {
		return iv
	}
	all := sums{g: iv.Clusters, n: float64(n)}
	most := math.Ceil(all.n / float64(all.g))
	limit := all.n / (1 + (max(most, float64(attempts))-1)*correlation)
	if limit <= iv.NEff {
		return iv
	}
	a := (1 - iv.Confidence) / 2
	worth, status := all.effective(iv.Point, iv.SE*iv.SE, a, limit)
	if worth > limit {
		worth, status = limit, StatusCapped
	}
	iv.N, iv.NEff, iv.Status = n, worth, status
	iv.Lower, iv.Upper = betaLimits(iv.Point*worth, worth, a)
	return iv
}
