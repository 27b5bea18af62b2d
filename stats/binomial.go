// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package stats

import (
	"math"
)

// Side is which ends of an interval are wanted.
type Side string

// The sides. A one-sided bound spends all of the error on its end; the other
// end is 0 or 1.
const (
	TwoSided  Side = ""
	LowerSide Side = "lower"
	UpperSide Side = "upper"
)

// ClopperPearson is the exact interval of a rate from x passes in n independent
// trials. No trials: StatusNoData and [0,1]; x not in 0..n or conf not in (0,1):
// StatusInvalid.
// Source: Clopper and Pearson 1934.
func ClopperPearson(x, n int, conf float64, side Side) Interval {
	return binomial("clopper_pearson", x, n, conf, side, func(a float64) (float64, float64) {
		return betaLimits(float64(x), float64(n), a)
	})
}

// Wilson is the score interval of a rate, without continuity correction, in
// [0,1]. Its upper end is too low near 1, so that a gate never uses it. The rest
// is as of ClopperPearson.
// Source: Wilson 1927; Brown, Cai and DasGupta 2001.
func Wilson(x, n int, conf float64, side Side) Interval {
	return binomial("wilson", x, n, conf, side, func(a float64) (float64, float64) {
		lo, hi := wilson(float64(x)/float64(n), float64(n), NormalQuantile(1-a))
		if x == 0 {
			lo = 0
		}
		if x == n {
			hi = 1
		}
		return max(0, lo), min(1, hi)
	})
}

// Jeffreys is the equal-tailed interval of a rate under the prior Beta(1/2,1/2),
// with the end 0 for no pass and 1 for no failure. The rest is as of
// ClopperPearson.
// Source: Brown, Cai and DasGupta 2001.
func Jeffreys(x, n int, conf float64, side Side) Interval {
	return binomial("jeffreys", x, n, conf, side, func(a float64) (lower, upper float64) {
		s, f := float64(x)+0.5, float64(n-x)+0.5
		upper = 1
		if x > 0 {
			lower = BetaQuantile(s, f, a)
		}
		if x < n {
			upper = BetaQuantile(s, f, 1-a)
		}
		return lower, upper
	})
}

// MidP is the interval of a rate that counts half of the observed outcome in
// each tail: shorter than ClopperPearson, for exploration only. The rest is as
// of ClopperPearson.
// Source: Berry and Armitage 1995.
func MidP(x, n int, conf float64, side Side) Interval {
	return binomial("mid_p", x, n, conf, side, func(a float64) (lower, upper float64) {
		lower = bisect(0, 1, func(p float64) bool { return BinomialUpper(x, n, p)-BinomialPMF(x, n, p)/2 < a })
		upper = 1
		if x < n {
			upper = bisect(0, 1, func(p float64) bool { return BinomialCDF(x, n, p)-BinomialPMF(x, n, p)/2 > a })
		}
		return lower, upper
	})
}

func binomial(method string, x, n int, conf float64, side Side,
	limits func(tail float64) (lower, upper float64),
) Interval {
	if n < 0 || x < 0 || x > n || !validConfidence(conf) {
		return invalid(method, conf)
	}
	iv := Interval{
		Upper: 1, N: n, Clusters: n, NEff: float64(n), Confidence: conf, Method: method,
		Status: StatusNoData,
	}
	if n == 0 {
		return iv
	}
	iv.Point, iv.Status = float64(x)/float64(n), StatusOK
	if x == 0 || x == n {
		iv.Status = StatusBoundary
	}
	tail := (1 - conf) / 2
	if side != TwoSided {
		tail = 1 - conf
	}
	lower, upper := limits(tail)
	if side != UpperSide {
		iv.Lower = lower
	}
	if side != LowerSide {
		iv.Upper = upper
	}
	return iv
}

// NewcombeIndependent is the difference candidate - baseline of the rates of two
// runs that share no case, with the hybrid score interval. In [-1,1]. A run
// without trials: StatusNoData with [-1,1]; impossible counts: StatusInvalid.
// Source: Newcombe 1998, Statistics in Medicine 17:873-890, method 10.
func NewcombeIndependent(xCandidate, nCandidate, xBaseline, nBaseline int, conf float64) Interval {
	a, b := Wilson(xCandidate, nCandidate, conf, TwoSided), Wilson(xBaseline, nBaseline, conf, TwoSided)
	const method = "newcombe_independent"
	if a.Status == StatusInvalid || b.Status == StatusInvalid {
		return invalid(method, conf)
	}
	iv := Interval{
		Lower: -1, Upper: 1, N: a.N + b.N, Clusters: a.N + b.N, Confidence: conf,
		Method: method, Status: StatusNoData,
	}
	if !a.Defined() || !b.Defined() {
		return iv
	}
	iv.Point, iv.Status = a.Point-b.Point, StatusOK
	iv.Lower = iv.Point - math.Hypot(a.Point-a.Lower, b.Upper-b.Point)
	iv.Upper = iv.Point + math.Hypot(a.Upper-a.Point, b.Point-b.Lower)
	return iv
}

// EffectiveRate is the interval of the rate p over n observations of the given number of cases,
// with neff in (0,n] effective observations. With neff of n it is ClopperPearson. It equals
// Clusters.Interval, for callers that kept only these numbers. Impossible numbers: StatusInvalid;
// none: StatusNoData and [0,1]. Source: Korn and Graubard 1998.
func EffectiveRate(p float64, n, cases int, neff, conf float64) Interval {
	const method = "neff_clopper_pearson"
	if n == 0 {
		return Interval{Upper: 1, Confidence: conf, Method: method, Status: StatusNoData}
	}
	if cases < 1 || !(p >= 0 && p <= 1) || !(neff > 0 && neff <= float64(n)) || !validConfidence(conf) {
		return invalid(method, conf)
	}
	iv := Interval{Point: p, N: n, Clusters: cases, NEff: neff, Confidence: conf, Method: method, Status: StatusOK}
	if p == 0 || p == 1 {
		iv.Status = StatusBoundary
	}
	iv.Lower, iv.Upper = betaLimits(p*neff, neff, (1-conf)/2)
	return iv
}

// betaLimits are the Clopper-Pearson limits of x successes in n, both possibly
// fractional, with a in each tail.
func betaLimits(x, n, a float64) (lower, upper float64) {
	upper = 1
	if x > 0 {
		lower = BetaQuantile(x, n-x+1, a)
	}
	if x < n {
		upper = BetaQuantile(x+1, n-x, 1-a)
	}
	return lower, upper
}

func wilson(p, n, z float64) (lower, upper float64) {
	c := (p + z*z/(2*n)) / (1 + z*z/n)
	h := z / (1 + z*z/n) * math.Sqrt(p*(1-p)/n+z*z/(4*n*n))
	return c - h, c + h
}
