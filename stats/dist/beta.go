// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package dist

import "math"

// Beta is P(X <= x) for X of the beta distribution with parameters a, b > 0:
// the regularized incomplete beta function. x is in [0,1].
// Source: DLMF 8.17.22 (continued fraction); Loader 2000 (the power terms).
func Beta(a, b, x float64) float64 {
	p, _ := beta(a, b, x, 1-x)
	return p
}

// BetaQuantile is the x with Beta(a, b, x) = p, for a, b > 0 and p in [0,1].
func BetaQuantile(a, b, p float64) float64 {
	x, _ := betaQuantile(a, b, p, 1-p)
	return x
}

// LogBeta is the logarithm of the beta function of a, b > 0.
func LogBeta(a, b float64) float64 {
	if a > b {
		a, b = b, a
	}
	if a <= 0 || math.IsNaN(a+b) {
		return math.NaN()
	}
	if a < 10 && b < 1e3 {
		la, _ := math.Lgamma(a)
		lb, _ := math.Lgamma(b)
		lab, _ := math.Lgamma(a + b)
		return la + lb - lab
	}
	// B(a,b) = density terms at the mode, where the deviances vanish.
	n := a + b
	return 0.5*math.Log(2*math.Pi*n/(a*b)) + stirling(a) + stirling(b) - stirling(n) +
		a*math.Log(a/n) + b*math.Log1p(-a/n)
}

// beta is the lower and the upper tail at x, where y = 1-x is given apart so
// that neither end loses precision.
func beta(a, b, x, y float64) (lower, upper float64) {
	switch {
	case !(a > 0) || !(b > 0) || math.IsNaN(x) || x < 0 || y < 0:
		return math.NaN(), math.NaN()
	case x == 0:
		return 0, 1
	case y == 0:
		return 1, 0
	case x > (a+1)/(a+b+2):
		upper, lower = beta(b, a, y, x)
		return lower, upper
	}
	lower = min(1, powers(a, b, x, y)*fraction(a, b, x, y)/a)
	return lower, 1 - lower
}

// fraction is the continued fraction of DLMF 8.17.22 by Lentz's method.
func fraction(a, b, x, y float64) float64 {
	const tiny, limit = 1e-300, 100_000
	c, d := 1.0, 1/notZero(1-(a+b)*x/(a+1), tiny)
	f := d
	for m := 1.0; m < limit; m++ {
		e := m * (b - m) * x / ((a + 2*m - 1) * (a + 2*m))
		d, c = 1/notZero(1+e*d, tiny), notZero(1+e/c, tiny)
		f *= d * c
		e = -(a + m) * (a + b + m) * x / ((a + 2*m) * (a + 2*m + 1))
		d, c = 1/notZero(1+e*d, tiny), notZero(1+e/c, tiny)
		f *= d * c
		if math.Abs(d*c-1) < 1e-16 {
			break
		}
	}
	return f
}

func notZero(x, tiny float64) float64 {
	if math.Abs(x) < tiny {
		return tiny
	}
	return x
}

// powers is x^a y^b / B(a,b), through deviances so that large a and b do not
// cancel. Source: Loader 2000, Fast and Accurate Computation of Binomial
// Probabilities.
func powers(a, b, x, y float64) float64 {
	n := a + b
	e := stirling(n) - stirling(a) - stirling(b) - deviance(a, n*x) - deviance(b, n*y)
	return math.Sqrt(a*b/(2*math.Pi*n)) * math.Exp(e)
}

// stirling is log Γ(n+1) minus Stirling's formula.
func stirling(n float64) float64 {
	if n < 16 {
		l, _ := math.Lgamma(n + 1)
		return l - (n+0.5)*math.Log(n) + n - 0.5*math.Log(2*math.Pi)
	}
	m := n * n
	return (1.0/12 - (1.0/360-(1.0/1260-(1.0/1680-(1.0/1188-691.0/360360/m)/m)/m)/m)/m) / n
}

// deviance is x log(x/m) + m - x.
func deviance(x, m float64) float64 {
	if math.Abs(x-m) >= 0.1*(x+m) {
		if x == 0 {
			return m
		}
		return x*math.Log(x/m) + m - x
	}
	v := (x - m) / (x + m)
	s, e := (x-m)*v, 2*x*v
	for j := 1.0; j < 1000; j++ {
		e *= v * v
		next := s + e/(2*j+1)
		if next == s {
			break
		}
		s = next
	}
	return s
}

// betaQuantile gives x and 1-x. It solves on the side of the mean where the
// wanted tail lies, so that both keep their relative precision.
func betaQuantile(a, b, p, q float64) (x, y float64) {
	switch {
	case !(a > 0) || !(b > 0) || !(p >= 0) || !(q >= 0):
		return math.NaN(), math.NaN()
	case p == 0:
		return 0, 1
	case q == 0:
		return 1, 0
	}
	m := a / (a + b)
	if at, _ := beta(a, b, m, b/(a+b)); p > at {
		y = lowerQuantile(b, a, q, b/(a+b))
		return 1 - y, y
	}
	x = lowerQuantile(a, b, p, m)
	return x, 1 - x
}

// lowerQuantile solves Beta(a, b, x) = p for x in (0, hi] by Newton steps on the
// logarithms, held within a shrinking bracket.
func lowerQuantile(a, b, p, hi float64) float64 {
	lo, x := 0.0, firstGuess(a, b, p, hi)
	for range 200 {
		f, _ := beta(a, b, x, 1-x)
		if f < p {
			lo = x
		} else {
			hi = x
		}
		// d log F / d log x = x f(x)/F(x).
		slope := powers(a, b, x, 1-x) / (1 - x) / f
		next := x * math.Exp(math.Log(p/f)/slope)
		if !(next > lo && next < hi) {
			next = (lo + hi) / 2
		}
		if math.Abs(next-x) <= 2e-16*x || next == lo || next == hi {
			return next
		}
		x = next
	}
	return x
}

func firstGuess(a, b, p, hi float64) float64 {
	z := NormalQuantile(p)
	n := a + b
	x := a/n + z*math.Sqrt(a*b/(n*n*(n+1)))
	if !(x > hi*1e-3 && x < hi) {
		x = math.Exp((math.Log(p) + math.Log(a) + LogBeta(a, b)) / a)
	}
	if !(x > 0 && x < hi) {
		x = hi / 2
	}
	return x
}
