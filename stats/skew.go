// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package stats

import (
	"math"
)

// Tail is the distance, in standard errors, from a mean to the end of its interval on the side of a
// tail. It is the t quantile, enlarged for values that are skewed to that side. skew is the third
// standardized moment toward that side; 0 or less returns the t quantile itself.
//
// With b = skew/sqrt(cases), which counts as 1 at most, the t quantile is multiplied by
// 1 + b(1+2z²)/(6z) + 0.4b²z. The first term is that of the Edgeworth expansion; the
// second one is chosen by simulation so that lognormal and gamma amounts and mixtures
// are covered from 20 cases on.
// Source: Johnson 1978; Hall 1992.
func Tail(cases int, skew, conf float64) float64 {
	a := (1 - conf) / 2
	t, z := TQuantile(float64(cases-1), 1-a), NormalQuantile(1-a)
	b := min(1, max(0, skew/math.Sqrt(float64(cases))))
	return t * (1 + b*(1+2*z*z)/(6*z) + 0.4*b*b*z)
}

// sampleSkewness is the adjusted Fisher-Pearson skewness of n values from the sums of
// squares and cubes about their mean; 0 below three values and without variance.
// Source: Joanes and Gill 1998.
func sampleSkewness(n, squares, cubes float64) float64 {
	g := cubes / n / math.Pow(squares/n, 1.5)
	if n < 3 || math.IsNaN(g) {
		return 0
	}
	return g * math.Sqrt(n*(n-1)) / (n - 2)
}

// lognormalSkewness is the skewness of a lognormal distribution with that coefficient
// of variation.
func lognormalSkewness(cv float64) float64 { return cv * (3 + cv*cv) }

// PairedSkewed is PairedMean with an interval that reaches farther on the side of the long tail of
// the differences, see Tail: few cases that change completely are such a tail. The p value is that
// of the t test. Source: Statistics specification, section 9; Johnson 1978.
func PairedSkewed(diffs []float64, conf float64) (Interval, float64) {
	iv, p := PairedMean(diffs, conf)
	if iv.Status != StatusOK {
		return iv, p
	}
	squares, cubes := 0.0, 0.0
	for _, d := range diffs {
		d -= iv.Point
		squares += d * d
		cubes += d * d * d
	}
	skew := sampleSkewness(float64(len(diffs)), squares, cubes)
	iv.Method = "paired_mean_skewed_t"
	iv.Lower = iv.Point - iv.SE*Tail(len(diffs), -skew, conf)
	iv.Upper = iv.Point + iv.SE*Tail(len(diffs), skew, conf)
	return iv, p
}
