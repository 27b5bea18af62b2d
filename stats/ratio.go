// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package stats

import (
	"math"

	"github.com/callvet/callvet/stats/dist"
)

// Ratio holds the sums for a ratio of totals, for example cost per pass or
// tokens per attempt, one pair (numerator, denominator) a case. The zero value
// is ready to use, its size does not grow and parts may be merged.
type Ratio struct {
	g             int
	y, x          float64
	meanY, meanX  float64
	cyy, cxy, cxx float64
}

// Add adds one case.
func (r *Ratio) Add(numerator, denominator float64) {
	r.Merge(Ratio{g: 1, y: numerator, x: denominator, meanY: numerator, meanX: denominator})
}

// Merge adds the cases of o.
func (r *Ratio) Merge(o Ratio) {
	if o.g == 0 {
		return
	}
	if r.g == 0 {
		*r = o
		return
	}
	a, b := float64(r.g), float64(o.g)
	dy, dx, w := o.meanY-r.meanY, o.meanX-r.meanX, a*b/(a+b)
	r.cyy += o.cyy + dy*dy*w
	r.cxy += o.cxy + dy*dx*w
	r.cxx += o.cxx + dx*dx*w
	r.meanY += dy * b / (a + b)
	r.meanX += dx * b / (a + b)
	r.g, r.y, r.x = r.g+o.g, r.y+o.y, r.x+o.x
}

// Totals are the sums of the numerators and of the denominators.
func (r *Ratio) Totals() (numerator, denominator float64) { return r.y, r.x }

// Interval gives the ratio of the totals with its linearized (CR1) t interval
// with G-1 degrees of freedom, not clipped. No case: StatusNoData; denominators
// that sum up to 0: StatusZeroDenominator; one case: StatusSingleCluster. Those
// have no ends (infinite).
// Source: Statistics specification, section 3; Cochran 1977, chapter 6.
func (r *Ratio) Interval(conf float64) Interval {
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
	ss := r.cyy - 2*p*r.cxy + p*p*r.cxx
	if ss <= 1e-13*(r.cyy+p*p*r.cxx) {
		ss = 0
	}
	g := float64(r.g)
	iv.SE = math.Sqrt(g/(g-1)*ss) / math.Abs(r.x)
	iv.Status = StatusOK
	if iv.SE == 0 {
		iv.Status = StatusZeroVariance
	}
	h := dist.TQuantile(g-1, 1-(1-conf)/2) * iv.SE
	iv.Lower, iv.Upper = p-h, p+h
	return iv
}
