// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package stats

import (
	"math"
)

// Combine is the weighted sum of independent estimates. Its interval squares and adds the
// distances of their own ends, so that asymmetric intervals are respected. A balanced accuracy is
// Combine with weights of 1/2, a difference with weights 1 and -1. An end that does not exist in
// a part does not exist in the whole. The status is that of the first part that is not usable,
// else StatusOK; a different number of parts and weights: StatusInvalid. Source: Zou and Donner
// 2008 (MOVER).
func Combine(weights []float64, parts []Interval) Interval {
	if len(weights) != len(parts) || len(parts) == 0 || !allFinite(weights) {
		return invalid("mover", 0)
	}
	iv := Interval{Confidence: parts[0].Confidence, Method: "mover", Status: StatusOK}
	var down, up float64
	for i, p := range parts {
		w := weights[i]
		if !p.Usable() && iv.Status == StatusOK {
			iv.Status = p.Status
		}
		iv.N += p.N
		iv.Clusters += p.Clusters
		if w == 0 {
			continue
		}
		lo, hi := w*(p.Point-p.Lower), w*(p.Upper-p.Point)
		if w < 0 {
			lo, hi = hi, lo
		}
		iv.Point += w * p.Point
		down, up = math.Hypot(down, lo), math.Hypot(up, hi)
	}
	iv.Lower, iv.Upper = iv.Point-down, iv.Point+up
	return iv
}

// Average is the mean of estimates that may be correlated, such as those of several models at the
// same cases. Its interval is as wide as the mean of theirs, which holds at any correlation. N is
// the number of all values, Clusters that of the estimate with the fewest cases. The status is that
// of the first part that is not usable; no part: StatusNoData.
func Average(parts ...Interval) Interval {
	out := Interval{Method: "mean_of_intervals", Status: StatusNoData}
	for i, p := range parts {
		if i == 0 {
			out.Status, out.Clusters, out.Confidence = StatusOK, p.Clusters, p.Confidence
		}
		if !p.Usable() && out.Status == StatusOK {
			out.Status = p.Status
		}
		share := 1 / float64(len(parts))
		out.Point, out.Lower, out.Upper = out.Point+share*p.Point, out.Lower+share*p.Lower, out.Upper+share*p.Upper
		out.N, out.Clusters = out.N+p.N, min(out.Clusters, p.Clusters)
	}
	if len(parts) == 1 {
		return parts[0]
	}
	return out
}

// CombineRatio is the ratio a/b of two independent estimates that are not below 0, with the
// interval that follows from their own ends. Where the lower end of b is 0 there is no upper end. A
// part that is not usable gives its status; b of 0: StatusZeroDenominator. Source: Donner and Zou
// 2012 (MOVER-R).
func CombineRatio(a, b Interval) Interval {
	iv := Interval{
		Lower: 0, Upper: math.Inf(1), N: a.N + b.N, Clusters: a.Clusters + b.Clusters,
		Confidence: a.Confidence, Method: "mover_r", Status: StatusOK,
	}
	switch {
	case !a.Usable():
		iv.Status = a.Status
	case !b.Usable():
		iv.Status = b.Status
	}
	if !(b.Point > 0) {
		iv.Status = StatusZeroDenominator
		return iv
	}
	iv.Point = a.Point / b.Point
	both := a.Point * b.Point
	root := func(end, other float64) float64 {
		return math.Sqrt(max(0, both*both-end*other*(2*a.Point-end)*(2*b.Point-other)))
	}
	if far := b.Upper * (2*b.Point - b.Upper); !math.IsInf(b.Upper, 1) && far != 0 {
		iv.Lower = min(iv.Point, max(0, (both-root(a.Lower, b.Upper))/far))
	}
	if near := b.Lower * (2*b.Point - b.Lower); b.Lower > 0 && !math.IsInf(a.Upper, 1) {
		iv.Upper = max(iv.Point, (both+root(a.Upper, b.Lower))/near)
	}
	return iv
}

// ImpliedSE is the standard error of a normal estimate with an interval to the farther end of iv.
// It is for an estimate from cases that do not vary, so that its own standard error is 0. Source:
// Altman and Bland 2011.
func (iv Interval) ImpliedSE() float64 {
	return max(iv.Point-iv.Lower, iv.Upper-iv.Point) / NormalQuantile(0.5+iv.Confidence/2)
}

// DifferenceP is the two-sided p value, in [0,1], of a difference with a standard error above 0 by the
// t distribution; 1 without degrees of freedom.
func DifferenceP(difference, se float64, freedom int) float64 {
	if freedom < 1 || !(se > 0) {
		return 1
	}
	return min(1, 2*TUpper(float64(freedom), math.Abs(difference)/se))
}
