// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package stats

// Sums are totals over cases, counted elsewhere, for example as integers, that can be converted to
// Clusters. s is a case's sum of values in [0,1], m their number; no case has m = 0.
type Sums struct {
	Cases, N int
	// Sum is of s, Sizes2 of m*m.
	Sum, Sizes2 float64
	// SS, SM and MM are the products about the means over cases: the sums of
	// (s-mean s)², of (s-mean s)*(m-mean m) and of (m-mean m)².
	SS, SM, MM float64
	// Failing counts the cases with s < m, Succeeding those with s > 0. Only the
	// status of an interval depends on them.
	Failing, Succeeding int
	// Fractional reports that some value was neither 0 nor 1.
	Fractional bool
	// OnceN and OnceSizes2 are the sums of m and of m*m, where m is the mean number of values of
	// one attempt. They are 0 where each case has one attempt, and where the attempts of no case
	// differ.
	OnceN, OnceSizes2 float64
}

// Clusters are the Clusters of the same cases; empty for no case.
func (s Sums) Clusters() Clusters {
	if s.Cases == 0 {
		return Clusters{}
	}
	g := float64(s.Cases)
	c := Clusters{all: sums{
		g: s.Cases, n: float64(s.N), sum: s.Sum, meanS: s.Sum / g, meanM: float64(s.N) / g,
		css: s.SS, csm: s.SM, cmm: s.MM, m2: s.Sizes2,
		failing: s.Failing, succeeding: s.Succeeding, fractional: s.Fractional,
	}}
	c.once, c.k = c.all, 1
	if s.OnceN > 0 {
		c.differ, c.once.n, c.once.m2 = true, s.OnceN, s.OnceSizes2
	}
	return c
}

// RatioSums are totals over cases that can be converted to a Ratio: y is a case's numerator, x its
// denominator.
type RatioSums struct {
	Cases int
	// Y and X are the sums of y and x.
	Y, X float64
	// YY, YX and XX are the products about the means over cases, as in Sums; YYY, YYX,
	// YXX and XXX the products of three.
	YY, YX, XX         float64
	YYY, YYX, YXX, XXX float64
}

// Ratio is the Ratio of the same cases; empty for no case.
func (s RatioSums) Ratio() Ratio {
	if s.Cases == 0 {
		return Ratio{}
	}
	g := float64(s.Cases)
	return Ratio{
		g: s.Cases, y: s.Y, x: s.X, meanY: s.Y / g, meanX: s.X / g, cyy: s.YY, cxy: s.YX, cxx: s.XX,
		cyyy: s.YYY, cyyx: s.YYX, cyxx: s.YXX, cxxx: s.XXX,
	}
}
