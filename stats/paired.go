// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package stats

import (
	"cmp"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat/distuv"
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

// McNemar is the two-sided mid-p value of the hypothesis that a change makes as
// many cases fail as it makes pass; 1 where no case changed. In [0,1].
// Source: McNemar 1947; Fagerland, Lydersen and Laake 2013.
func McNemar(passToFail, failToPass int) float64 {
	n := passToFail + failToPass
	if n == 0 {
		return 1
	}
	k := min(passToFail, failToPass)
	exact := min(1, 2*binomialCDF(k, n, 0.5))
	if passToFail == failToPass {
		return 1 - binomialPMF(k, n)/2
	}
	return max(0, exact-binomialPMF(k, n))
}

// McNemarExact is the two-sided exact conditional p value; 1 where no case changed.
func McNemarExact(passToFail, failToPass int) float64 {
	n := passToFail + failToPass
	return min(1, 2*binomialCDF(min(passToFail, failToPass), n, 0.5))
}

func binomialPMF(k, n int) float64 {
	return distuv.Binomial{N: float64(n), P: 0.5}.Prob(float64(k))
}

// Newcombe is the difference candidate - baseline of two paired proportions
// with the square-and-add interval and the continuity-corrected phi. In
// [-1,1]; no pairs: StatusNoData with [-1,1].
// Source: Newcombe 1998, Statistics in Medicine 17:2635-2650, method 10.
func Newcombe(p Pairs, conf float64) Interval {
	n := float64(p.N())
	iv := Interval{
		Lower: -1, Upper: 1, N: p.N(), Clusters: p.N(), Confidence: conf,
		Method: "newcombe_paired", Status: StatusNoData,
	}
	if n == 0 {
		return iv
	}
	e, f, g, h := float64(p.Both), float64(p.CandidateOnly), float64(p.BaselineOnly), float64(p.Neither)
	p1, p2 := (e+f)/n, (e+g)/n
	z := distuv.UnitNormal.Quantile(1 - (1-conf)/2)
	l1, u1 := wilson(p1, n, z)
	l2, u2 := wilson(p2, n, z)
	phi := phiCorrected(e, f, g, h)
	iv.Point, iv.Status = p1-p2, StatusOK
	iv.Lower = iv.Point - squareAdd(p1-l1, u2-p2, phi)
	iv.Upper = iv.Point + squareAdd(u1-p1, p2-l2, phi)
	return iv
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

func wilson(p, n, z float64) (lower, upper float64) {
	c := (p + z*z/(2*n)) / (1 + z*z/n)
	h := z / (1 + z*z/n) * math.Sqrt(p*(1-p)/n+z*z/(4*n*n))
	return c - h, c + h
}

// PairedMean is the mean of differences, one a case, with its t interval and
// the two-sided p value. Differences of rates are in [-1,1]; the ends are not
// clipped. Fewer than two: StatusTooFew (or StatusNoData) and p = 1.
// Source: Statistics specification, section 9; Miller 2024.
func PairedMean(diffs []float64, conf float64) (Interval, float64) {
	iv := Interval{
		Lower: math.Inf(-1), Upper: math.Inf(1), N: len(diffs), Clusters: len(diffs), Confidence: conf,
		Method: "paired_mean_t", Status: StatusNoData,
	}
	if len(diffs) == 0 {
		return iv, 1
	}
	g := float64(len(diffs))
	sum := 0.0
	for _, d := range diffs {
		sum += d
	}
	iv.Point, iv.Status = sum/g, StatusTooFew
	if len(diffs) < 2 {
		return iv, 1
	}
	ss := 0.0
	for _, d := range diffs {
		ss += (d - iv.Point) * (d - iv.Point)
	}
	iv.SE = math.Sqrt(ss / (g - 1) / g)
	if iv.SE < 1e-15 {
		iv.SE, iv.Lower, iv.Upper, iv.Status = 0, iv.Point, iv.Point, StatusZeroVariance
		if iv.Point != 0 {
			return iv, 0
		}
		return iv, 1
	}
	h := tQuantile(1-(1-conf)/2, g-1) * iv.SE
	iv.Lower, iv.Upper, iv.Status = iv.Point-h, iv.Point+h, StatusOK
	t := math.Abs(iv.Point) / iv.SE
	return iv, min(1, 2*distuv.StudentsT{Mu: 0, Sigma: 1, Nu: g - 1}.Survival(t))
}

// SignFlipMax is the largest number of differences that SignFlip enumerates.
const SignFlipMax = 20

// SignFlip is the exact two-sided p value of a mean difference: the share of
// all sign patterns whose mean is at least as far from 0. ok is false for none
// or for more than SignFlipMax differences.
func SignFlip(diffs []float64) (p float64, ok bool) {
	n := len(diffs)
	if n == 0 || n > SignFlipMax {
		return 1, false
	}
	observed := 0.0
	for _, d := range diffs {
		observed += d
	}
	observed = math.Abs(observed) - 1e-12 // ties must count, whatever the order of summation
	hits := 0
	for mask := range 1 << n {
		s := 0.0
		for i, d := range diffs {
			if mask>>i&1 == 1 {
				d = -d
			}
			s += d
		}
		if math.Abs(s) >= observed {
			hits++
		}
	}
	return float64(hits) / float64(int(1)<<n), true
}

// Fisher is the two-sided exact p value of the hypothesis that a passes in n
// trials and b passes in m trials come from the same rate: the total
// probability of the tables that are not likelier than the observed one.
func Fisher(a, n, b, m int) float64 {
	k := a + b
	at := func(i int) float64 { return math.Exp(logChoose(n, i) + logChoose(m, k-i) - logChoose(n+m, k)) }
	limit, p := at(a)*(1+1e-7), 0.0
	for i := max(0, k-m); i <= min(n, k); i++ {
		if q := at(i); q <= limit {
			p += q
		}
	}
	return min(1, p)
}

func logChoose(n, k int) float64 {
	a, _ := math.Lgamma(float64(n + 1))
	b, _ := math.Lgamma(float64(k + 1))
	c, _ := math.Lgamma(float64(n - k + 1))
	return a - b - c
}

// Holm adjusts p values for the claim that any of them is a real difference:
// the chance of one false claim among all stays below the level. The result has
// the order of the input and is in [0,1].
// Source: Holm 1979.
func Holm(p []float64) []float64 {
	at := make([]int, len(p))
	for i := range at {
		at[i] = i
	}
	slices.SortStableFunc(at, func(i, j int) int { return cmp.Compare(p[i], p[j]) })
	out, running := make([]float64, len(p)), 0.0
	for r, i := range at {
		running = max(running, min(1, p[i]*float64(len(p)-r)))
		out[i] = running
	}
	return out
}
