// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package stats

import (
	"math"
)

// Discordance holds the p values of McNemar's test over the cases that changed
// between a baseline and a candidate. All are in [0,1]. Where no case changed
// the two-sided ones are 1 and there is no asymptotic one.
type Discordance struct {
	Exact, MidP float64
	// Asymptotic is the chi-squared p value without continuity correction; NaN
	// where no case changed.
	Asymptotic float64
	// RegressionExact and RegressionMidP are one-sided: small where more cases
	// went from pass to fail than the other way.
	RegressionExact, RegressionMidP float64
	// Status is StatusOK, StatusNoDiscordant or StatusInvalid.
	Status Status
}

// StatusNoDiscordant means that no case changed: p is 1.
const StatusNoDiscordant Status = "no_discordant"

// McNemarTest tests whether a change made as many cases fail as it made pass. Negative counts:
// StatusInvalid. Source: McNemar 1947; Fagerland, Lydersen and Laake 2013.
func McNemarTest(passToFail, failToPass int) Discordance {
	d := Discordance{
		Exact: 1, MidP: 1, Asymptotic: math.NaN(), RegressionExact: 1, RegressionMidP: 1,
		Status: StatusNoDiscordant,
	}
	n := passToFail + failToPass
	switch {
	case passToFail < 0 || failToPass < 0:
		d.Status = StatusInvalid
		return d
	case n == 0:
		return d
	}
	d.Status = StatusOK
	d.Exact, d.MidP = McNemarExact(passToFail, failToPass), McNemar(passToFail, failToPass)
	diff := float64(passToFail - failToPass)
	d.Asymptotic = ChiSquaredUpper(1, diff*diff/float64(n))
	d.RegressionExact = BinomialUpper(passToFail, n, 0.5)
	d.RegressionMidP = d.RegressionExact - BinomialPMF(passToFail, n, 0.5)/2
	return d
}

// McNemar is the two-sided mid-p value of the hypothesis that a change makes as
// many cases fail as it makes pass; 1 where no case changed. In [0,1]. Counts
// are at least 0.
// Source: McNemar 1947; Fagerland, Lydersen and Laake 2013.
func McNemar(passToFail, failToPass int) float64 {
	n := passToFail + failToPass
	if n == 0 {
		return 1
	}
	k := min(passToFail, failToPass)
	cdf, pmf := coin(k, n)
	if passToFail == failToPass {
		return 1 - pmf/2
	}
	return max(0, min(1, 2*cdf)-pmf)
}

// McNemarExact is the two-sided exact conditional p value; 1 where no case changed.
func McNemarExact(passToFail, failToPass int) float64 {
	cdf, _ := coin(min(passToFail, failToPass), passToFail+failToPass)
	return min(1, 2*cdf)
}

// coin is the probability of at most k, and of exactly k, heads in n throws. Up to 50 throws it is
// exact.
func coin(k, n int) (cdf, pmf float64) {
	if n > 50 {
		return BinomialCDF(k, n, 0.5), BinomialPMF(k, n, 0.5)
	}
	ways, total := 1.0, 1.0
	for i := 1; i <= k; i++ {
		ways = ways * float64(n-i+1) / float64(i)
		total += ways
	}
	return math.Ldexp(total, -n), math.Ldexp(ways, -n)
}

// SignFlipMax is the largest number of differences that SignFlip enumerates.
const SignFlipMax = 20

// SignFlip is the exact two-sided p value of a mean difference: the share of all sign patterns with
// a mean at least as far from 0. ok is false for no or more than SignFlipMax differences. Source:
// Fisher 1935; Good 2005.
func SignFlip(diffs []float64) (p float64, ok bool) {
	p, _, ok = signFlip(diffs)
	return p, ok
}

// SignFlipRegression is the one-sided p value: the share of all sign patterns
// with a mean as low as the observed one, or lower.
func SignFlipRegression(diffs []float64) (p float64, ok bool) {
	_, p, ok = signFlip(diffs)
	return p, ok
}

func signFlip(diffs []float64) (two, below float64, ok bool) {
	n := len(diffs)
	if n == 0 || n > SignFlipMax || !allFinite(diffs) {
		return 1, 1, false
	}
	observed := sum(diffs)
	const tie = 1e-12 // ties must count, whatever the order of summation
	hits, low := 0, 0
	for mask := range 1 << n {
		s := 0.0
		for i, d := range diffs {
			if mask>>i&1 == 1 {
				d = -d
			}
			s += d
		}
		if math.Abs(s) >= math.Abs(observed)-tie {
			hits++
		}
		if s <= observed+tie {
			low++
		}
	}
	all := float64(int(1) << n)
	return float64(hits) / all, float64(low) / all, true
}

// Fisher is the two-sided exact p value for equal rates, given a passes in n trials and b passes in
// m trials. It is the total probability of the tables that are not likelier than the observed one.
// Source: Fisher 1935.
func Fisher(a, n, b, m int) float64 {
	k := a + b
	limit, p := hypergeometric(a, n, m, k)*(1+1e-7), 0.0
	for i := max(0, k-m); i <= min(n, k); i++ {
		if q := hypergeometric(i, n, m, k); q <= limit {
			p += q
		}
	}
	return min(1, p)
}

// FisherGreater is the one-sided exact p value of the hypothesis that the rate
// behind a passes in n trials is not above the one behind b passes in m trials.
func FisherGreater(a, n, b, m int) float64 {
	k, p := a+b, 0.0
	for i := a; i <= min(n, k); i++ {
		p += hypergeometric(i, n, m, k)
	}
	return min(1, p)
}

// hypergeometric is the probability of i passes among the n when k of n+m pass.
func hypergeometric(i, n, m, k int) float64 {
	if i < 0 || i > n || k-i > m {
		return 0
	}
	return math.Exp(LogChoose(n, i) + LogChoose(m, k-i) - LogChoose(n+m, k))
}
