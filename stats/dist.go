// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package stats

import (
	"math"

	"gonum.org/v1/gonum/mathext"
)

// Normal is P(Z <= z) for Z standard normal.
func Normal(z float64) float64 { return 0.5 * math.Erfc(-z/math.Sqrt2) }

// NormalQuantile is the z with Normal(z) = p; infinite for p of 0 and 1, NaN
// outside of [0,1].
func NormalQuantile(p float64) float64 {
	switch {
	case p > 0.5:
		return -NormalQuantile(1 - p)
	case p == 0.5:
		return 0
	case p == 0:
		return math.Inf(-1)
	}
	// The inverse in package math is only right to 2e-9 in the tail. The logarithm of
	// the tail is concave: Newton steps rise to the answer from any z below it.
	z := -math.Sqrt(-2 * math.Log(p))
	for range 20 {
		f := Normal(z)
		step := f * math.Log(p/f) * math.Sqrt(2*math.Pi) * math.Exp(z*z/2)
		z += step
		if step <= 1e-15 {
			break
		}
	}
	return z
}

// T is P(T <= t) for T of Student's distribution with df > 0 degrees of freedom.
func T(df, t float64) float64 {
	d := df + t*t
	tail, _ := distBeta(df/2, 0.5, df/d, t*t/d)
	if t < 0 {
		return tail / 2
	}
	return 1 - tail/2
}

// TUpper is P(T > t), without loss of precision for large t.
func TUpper(df, t float64) float64 { return T(df, -t) }

// TQuantile is the t with T(df, t) = p, for df > 0; infinite for p of 0 and 1.
func TQuantile(df, p float64) float64 {
	// df/(df+t*t) has a beta distribution.
	x, y := betaQuantile(df/2, 0.5, 2*min(p, 1-p), math.Abs(2*p-1))
	t := math.Sqrt(df * y / x)
	if p < 0.5 {
		return -t
	}
	return t
}

// ChiSquaredUpper is P(X > x) for X chi-squared with df > 0 degrees of freedom.
func ChiSquaredUpper(df, x float64) float64 {
	if df == 1 {
		return math.Erfc(math.Sqrt(x / 2))
	}
	return mathext.GammaIncRegComp(df/2, x/2)
}

// ChiSquaredQuantile is the x with P(X <= x) = p for X chi-squared with df > 0
// degrees of freedom and p in [0,1).
func ChiSquaredQuantile(df, p float64) float64 {
	return 2 * mathext.GammaIncRegInv(df/2, p)
}

// PoissonUpper is the mean at which count or fewer events have the probability
// a: the exact upper limit with confidence 1-a. count is at least 0.
// Source: Garwood 1936.
func PoissonUpper(count int, a float64) float64 {
	return ChiSquaredQuantile(2*float64(count+1), 1-a) / 2
}

// PoissonLimits are the exact limits of a Poisson mean with a in each tail. count is 0 or more and
// need not be whole; the lower limit is 0 for no event. Source: Garwood 1936.
func PoissonLimits(count, a float64) (lower, upper float64) {
	if count > 0 {
		lower = gammaQuantile(count, a)
	}
	return lower, gammaQuantile(count+1, 1-a)
}

// gammaQuantile is the x with P(X <= x) = p for X of the gamma distribution of that
// shape and scale 1. Beyond a million it is by Wilson and Hilferty, 1931, which is
// right to eight digits there.
func gammaQuantile(shape, p float64) float64 {
	if shape > 1e6 {
		c := 1 / (9 * shape)
		root := 1 - c + NormalQuantile(p)*math.Sqrt(c)
		return shape * root * root * root
	}
	return ChiSquaredQuantile(2*shape, p) / 2
}

// BinomialCDF is P(X <= k) for X binomial with n trials of probability p.
func BinomialCDF(k, n int, p float64) float64 {
	switch {
	case k < 0:
		return 0
	case k >= n:
		return 1
	}
	_, upper := distBeta(float64(k+1), float64(n-k), p, 1-p)
	return upper
}

// BinomialUpper is P(X >= k) for X binomial with n trials of probability p.
func BinomialUpper(k, n int, p float64) float64 {
	switch {
	case k <= 0:
		return 1
	case k > n:
		return 0
	}
	return Beta(float64(k), float64(n-k+1), p)
}

// BinomialPMF is P(X = k) for X binomial with n trials of probability p.
// Source: Loader 2000.
func BinomialPMF(k, n int, p float64) float64 {
	x, m := float64(k), float64(n)
	switch {
	case k < 0 || k > n:
		return 0
	case k == n:
		return math.Pow(p, m)
	case k == 0:
		return math.Exp(m * math.Log1p(-p))
	}
	e := stirling(m) - stirling(x) - stirling(m-x) - deviance(x, m*p) - deviance(m-x, m*(1-p))
	return math.Sqrt(m/(2*math.Pi*x*(m-x))) * math.Exp(e)
}

// LogChoose is the logarithm of n choose k, for 0 <= k <= n.
func LogChoose(n, k int) float64 {
	if k == 0 || k == n {
		return 0
	}
	return -math.Log(float64(n+1)) - LogBeta(float64(k+1), float64(n-k+1))
}

// LogGamma is the logarithm of the gamma function of x > 0.
func LogGamma(x float64) float64 {
	l, _ := math.Lgamma(x)
	return l
}

// GaussLegendre gives n nodes in (0,1) with their weights, which sum up to 1:
// the sum of weight times f(node) integrates f over [0,1]. n is at least 1.
func GaussLegendre(n int) (nodes, weights []float64) {
	nodes, weights = make([]float64, n), make([]float64, n)
	for i := range n {
		x := math.Cos(math.Pi * (float64(i) + 0.75) / (float64(n) + 0.5))
		for range 100 {
			p, slope := legendre(n, x)
			step := p / slope
			x -= step
			if math.Abs(step) < 1e-16 {
				break
			}
		}
		_, slope := legendre(n, x)
		nodes[n-1-i] = (1 + x) / 2
		weights[n-1-i] = 1 / ((1 - x*x) * slope * slope)
	}
	return nodes, weights
}

// legendre is the Legendre polynomial of degree n of at least 1 at x and its derivative.
func legendre(n int, x float64) (value, slope float64) {
	a, b := 1.0, x
	for k := 2; k <= n; k++ {
		a, b = b, (float64(2*k-1)*x*b-float64(k-1)*a)/float64(k)
	}
	return b, float64(n) * (x*b - a) / (x*x - 1)
}
