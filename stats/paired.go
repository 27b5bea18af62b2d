// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package stats

import (
	"math"
)

// Pairs counts cases by whether they passed in a baseline and in a candidate.
type Pairs struct {
	Both          int `json:"both_pass"`
	CandidateOnly int `json:"candidate_only"`
	BaselineOnly  int `json:"baseline_only"`
	Neither       int `json:"both_fail"`
}

// N is the number of pairs.
func (p Pairs) N() int { return p.Both + p.CandidateOnly + p.BaselineOnly + p.Neither }

func (p Pairs) valid() bool {
	return p.Both >= 0 && p.CandidateOnly >= 0 && p.BaselineOnly >= 0 && p.Neither >= 0
}

// Newcombe is the difference candidate - baseline of two paired proportions
// with the square-and-add interval and the continuity-corrected phi. In
// [-1,1]; no pairs: StatusNoData with [-1,1].
// Source: Newcombe 1998, Statistics in Medicine 17:2635-2650, method 10.
func Newcombe(p Pairs, conf float64) Interval {
	n := float64(p.N())
	if !p.valid() || !validConfidence(conf) {
		return invalid("newcombe_paired", conf)
	}
	iv := Interval{
		Lower: -1, Upper: 1, N: p.N(), Clusters: p.N(), Confidence: conf,
		Method: "newcombe_paired", Status: StatusNoData,
	}
	if n == 0 {
		return iv
	}
	e, f, g, h := float64(p.Both), float64(p.CandidateOnly), float64(p.BaselineOnly), float64(p.Neither)
	p1, p2 := (e+f)/n, (e+g)/n
	z := NormalQuantile(1 - (1-conf)/2)
	l1, u1 := wilson(p1, n, z)
	l2, u2 := wilson(p2, n, z)
	phi := phiCorrected(e, f, g, h)
	iv.Point, iv.Status = p1-p2, StatusOK
	iv.Lower = iv.Point - squareAdd(p1-l1, u2-p2, phi)
	iv.Upper = iv.Point + squareAdd(u1-p1, p2-l2, phi)
	return iv
}

// Phi is the continuity-corrected correlation of baseline and candidate that
// Newcombe uses; 0 where one of them is constant.
func Phi(p Pairs) float64 {
	return phiCorrected(float64(p.Both), float64(p.CandidateOnly), float64(p.BaselineOnly), float64(p.Neither))
}

func squareAdd(a, b, phi float64) float64 {
	return math.Sqrt(max(0, a*a-2*phi*a*b+b*b))
}

func phiCorrected(e, f, g, h float64) float64 {
	d := (e + f) * (g + h) * (e + g) * (f + h)
	if d == 0 {
		return 0
	}
	a := e*h - f*g
	if half := (e + f + g + h) / 2; a > 0 {
		a = max(0, a-half)
	}
	return a / math.Sqrt(d)
}

// PairedMean is the mean of differences, one a case, with its t interval and
// the two-sided p value. Differences of rates are in [-1,1]; the ends are not
// clipped. Fewer than two: StatusTooFew (or StatusNoData) and p = 1.
// Source: Statistics specification, section 9; Miller 2024.
func PairedMean(diffs []float64, conf float64) (Interval, float64) {
	return pairedMean(diffs, nil, conf)
}

// PairedMeanClustered is PairedMean for several differences a case. clusters is the case of each
// difference, the standard error is robust to their correlation (CR1), and the t distribution has
// cases-1 degrees of freedom. Slices of different length: StatusInvalid. Source: Miller 2024;
// Cameron and Miller 2015.
func PairedMeanClustered(diffs []float64, clusters []int, conf float64) (Interval, float64) {
	if len(diffs) != len(clusters) {
		return invalid("paired_mean_t", conf), 1
	}
	return pairedMean(diffs, clusters, conf)
}

func pairedMean(diffs []float64, clusters []int, conf float64) (Interval, float64) {
	if !validConfidence(conf) || !allFinite(diffs) {
		return invalid("paired_mean_t", conf), 1
	}
	iv := Interval{
		Lower: math.Inf(-1), Upper: math.Inf(1), N: len(diffs), Confidence: conf,
		Method: "paired_mean_t", Status: StatusNoData,
	}
	if len(diffs) == 0 {
		return iv, 1
	}
	iv.Point = mean(diffs)
	ss, g := residuals(diffs, clusters, iv.Point)
	iv.Clusters, iv.Status = g, StatusTooFew
	if g < 2 {
		return iv, 1
	}
	n, df := float64(len(diffs)), float64(g-1)
	iv.SE = math.Sqrt(ss*float64(g)/df) / n
	if iv.SE < 1e-15 {
		iv.SE, iv.Lower, iv.Upper, iv.Status = 0, iv.Point, iv.Point, StatusZeroVariance
		if iv.Point != 0 {
			return iv, 0
		}
		return iv, 1
	}
	h := TQuantile(df, 1-(1-conf)/2) * iv.SE
	iv.Lower, iv.Upper, iv.Status = iv.Point-h, iv.Point+h, StatusOK
	return iv, min(1, 2*TUpper(df, math.Abs(iv.Point)/iv.SE))
}

// residuals is the sum of squared residual totals by case, and the number of cases. Cases are added
// in the order of their first appearance.
func residuals(diffs []float64, clusters []int, center float64) (ss float64, cases int) {
	at := make(map[int]int, len(diffs))
	var totals []float64
	for i, d := range diffs {
		key := i
		if clusters != nil {
			key = clusters[i]
		}
		k, ok := at[key]
		if !ok {
			k = len(totals)
			at[key] = k
			totals = append(totals, 0)
		}
		totals[k] += d - center
	}
	for _, r := range totals {
		ss += r * r
	}
	return ss, len(totals)
}

// Tango is the difference candidate - baseline of two paired proportions with
// the score interval. In [-1,1]; no pairs: StatusNoData with [-1,1].
// Source: Tango 1998, Statistics in Medicine 17:891-908.
func Tango(p Pairs, conf float64) Interval {
	if !p.valid() {
		return invalid("tango_paired", conf)
	}
	return TangoCounts(float64(p.CandidateOnly), float64(p.BaselineOnly), p.N(), conf)
}

// TangoCounts is Tango for counts that need not be whole: of n pairs b rose and c fell,
// where b + c is at most n. Other counts: StatusInvalid.
func TangoCounts(b, c float64, pairs int, conf float64) Interval {
	n := float64(pairs)
	if !(b >= 0 && c >= 0 && b+c <= n*(1+1e-9)) || !validConfidence(conf) {
		return invalid("tango_paired", conf)
	}
	iv := Interval{
		Lower: -1, Upper: 1, N: pairs, Clusters: pairs, Confidence: conf,
		Method: "tango_paired", Status: StatusNoData,
	}
	if n == 0 {
		return iv
	}
	iv.Point, iv.Status = (b-c)/n, StatusOK
	z := NormalQuantile(1 - (1-conf)/2)
	// The score falls as the assumed difference grows.
	outside := func(delta float64) float64 { return tangoScore(b, c, n, delta) }
	iv.Lower = bisect(-1, iv.Point, func(d float64) bool { return outside(d) > z })
	iv.Upper = bisect(iv.Point, 1, func(d float64) bool { return outside(d) > -z })
	return iv
}

// tangoScore is the standardized distance of the observed from an assumed
// difference, with the discordant share estimated under that assumption.
func tangoScore(b, c, n, delta float64) float64 {
	num := b - c - n*delta
	qa, qb, qc := 2*n, -b-c+(2*n-b+c)*delta, -c*delta*(1-delta)
	q := (math.Sqrt(max(0, qb*qb-4*qa*qc)) - qb) / (2 * qa)
	v := n * (2*q + delta*(1-delta))
	return num / math.Sqrt(v)
}
