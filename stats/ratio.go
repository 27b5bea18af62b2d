// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package stats

import (
	"math"
)

// Ratio has the sums for a ratio of totals of amounts that are not negative, for example cost per
// pass or tokens per attempt. Each case adds one pair (numerator, denominator). The zero value is
// ready to use, its size does not grow and parts may be merged.
type Ratio struct {
	g             int
	y, x          float64
	meanY, meanX  float64
	cyy, cxy, cxx float64
	// The third products about the means, for the skewness.
	cyyy, cyyx, cyxx, cxxx float64
}

// Add adds one case.
func (r *Ratio) Add(numerator, denominator float64) {
	r.Merge(Ratio{g: 1, y: numerator, x: denominator, meanY: numerator, meanX: denominator})
}

// Merge adds the cases of o. The third products are put together as in Pébay 2008.
func (r *Ratio) Merge(o Ratio) {
	if o.g == 0 {
		return
	}
	if r.g == 0 {
		*r = o
		return
	}
	a, b := float64(r.g), float64(o.g)
	n := a + b
	dy, dx, w := o.meanY-r.meanY, o.meanX-r.meanX, a*b/n
	third := w * (a - b) / n
	yy, xy, xx := (a*o.cyy-b*r.cyy)/n, (a*o.cxy-b*r.cxy)/n, (a*o.cxx-b*r.cxx)/n
	r.cyyy += o.cyyy + dy*dy*dy*third + 3*dy*yy
	r.cyyx += o.cyyx + dy*dy*dx*third + 2*dy*xy + dx*yy
	r.cyxx += o.cyxx + dy*dx*dx*third + 2*dx*xy + dy*xx
	r.cxxx += o.cxxx + dx*dx*dx*third + 3*dx*xx
	r.cyy += o.cyy + dy*dy*w
	r.cxy += o.cxy + dy*dx*w
	r.cxx += o.cxx + dx*dx*w
	r.meanY += dy * b / n
	r.meanX += dx * b / n
	r.g, r.y, r.x = r.g+o.g, r.y+o.y, r.x+o.x
}

// Totals are the sums of the numerators and of the denominators.
func (r *Ratio) Totals() (numerator, denominator float64) { return r.y, r.x }

// Interval returns the ratio of the totals. Its interval reaches farther on the side of the long
// tail, see Tail. Few cases show little of a long tail: the amounts are assumed to be at least as
// skewed as a lognormal distribution of the same coefficient of variation.
//
// No case: StatusNoData; denominators that sum up to 0: StatusZeroDenominator; one
// case: StatusSingleCluster; cases that are all alike: StatusNoSpread. Those have no
// ends (infinite).
//
// The upper end of the 95 % interval is above the truth with 95 % or more for 20 cases. Their
// logarithms may have a standard deviation of up to 1, and those of 30 cases up to 1.25. It is so
// with 93 % up to 1.5. Where a share q of n cases is expensive and the rest equal, it needs n*q of
// 3 or more. Source: Statistics specification, section 3; Cochran 1977, chapter 6; Johnson 1978.
func (r *Ratio) Interval(conf float64) Interval {
	iv := r.TInterval(conf)
	switch iv.Status {
	case StatusZeroVariance:
		iv.Lower, iv.Upper, iv.Status = math.Inf(-1), math.Inf(1), StatusNoSpread
		return iv
	case StatusOK:
	default:
		return iv
	}
	iv.Method = "ratio_of_totals_skewed_t"
	g, p := float64(r.g), iv.Point
	cubes := r.cyyy - 3*p*r.cyyx + 3*p*p*r.cyxx - p*p*p*r.cxxx
	skew := sampleSkewness(g, r.residuals(p), cubes)
	implied := lognormalSkewness(iv.SE * math.Abs(r.x) / r.y * math.Sqrt(g))
	iv.Lower = p - iv.SE*Tail(r.g, -skew, conf)
	iv.Upper = p + iv.SE*Tail(r.g, max(skew, implied), conf)
	return iv
}

// TInterval returns the ratio of the totals with its linearized (CR1) t interval with G-1 degrees
// of freedom, not clipped. Its upper side is too short where amounts are skewed. Cases that are all
// alike: StatusZeroVariance and both ends at the point. The rest is as of Interval. Source: Cochran
// 1977, chapter 6.
func (r *Ratio) TInterval(conf float64) Interval {
	iv := Interval{
		Lower: math.Inf(-1), Upper: math.Inf(1), N: r.g, Clusters: r.g, Confidence: conf,
		Method: "ratio_of_totals_t", Status: StatusNoData,
	}
	if r.g == 0 {
		return iv
	}
	if r.x == 0 {
		iv.Status = StatusZeroDenominator
		return iv
	}
	p := r.y / r.x
	iv.Point = p
	if r.g < 2 {
		iv.Status = StatusSingleCluster
		return iv
	}
	g := float64(r.g)
	iv.SE = math.Sqrt(g/(g-1)*r.residuals(p)) / math.Abs(r.x)
	iv.Status = StatusOK
	if iv.SE == 0 {
		iv.Status = StatusZeroVariance
	}
	h := TQuantile(g-1, 1-(1-conf)/2) * iv.SE
	iv.Lower, iv.Upper = p-h, p+h
	return iv
}

// residuals is the sum of the squares of y - p*x; a rest of rounding is none.
func (r *Ratio) residuals(p float64) float64 {
	ss := r.cyy - 2*p*r.cxy + p*p*r.cxx
	if ss <= 1e-13*(r.cyy+p*p*r.cxx) {
		return 0
	}
	return ss
}
