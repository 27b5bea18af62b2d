// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package stats

import "math"

// Beta is P(X <= x) for X of the beta distribution with parameters a, b > 0:
// the regularized incomplete beta function. x is in [0,1].
// Source: DLMF 8.17.22 (continued fraction); Loader 2000 (the power terms).
func Beta(a, b, x float64) float64 {
	p, _ := distBeta(a, b, x, 1-x)
	return p
}

// BetaQuantile is the x with Beta(a, b, x) = p, for a, b > 0 and p in [0,1].
func BetaQuantile(a, b, p float64) float64 {
	x, _ := betaQuantile(a, b, p, 1-p)
	return x
}

// BetaOf is a beta distribution with precomputed constants, for many values of x.
type BetaOf struct{ shape }

// NewBeta takes the parameters a, b > 0.
func NewBeta(a, b float64) BetaOf { return BetaOf{shapeOf(a, b)} }

// At is P(X <= x), as in Beta, and the density of log(X/(1-X)) there. y = 1-x is a separate
// argument so that neither end loses precision.
func (d BetaOf) At(x, y float64) (below, density float64) {
	below, _, density = d.tails(x, y)
	return below, density
}

// LogBeta is the logarithm of the beta function of a, b > 0.
func LogBeta(a, b float64) float64 {
	if a > b {
		a, b = b, a
	}
	if !(a > 0) {
		return math.NaN()
	}
	if b < 16 {
		return LogGamma(a) + LogGamma(b) - LogGamma(a+b) // exactly 0 for 1 and 1
	}
	// The power terms at the mean of the distribution, where the deviances vanish.
	n := a + b
	return 0.5*math.Log(2*math.Pi*n/(a*b)) + stirling(a) + stirling(b) - stirling(n) +
		a*math.Log(a/n) + b*math.Log1p(-a/n)
}

// distBeta is the lower and the upper tail at x. y = 1-x is a separate argument so that neither end
// loses precision.
func distBeta(a, b, x, y float64) (lower, upper float64) {
	if !(a > 0) || !(b > 0) {
		return math.NaN(), math.NaN()
	}
	lower, upper, _ = shapeOf(a, b).tails(x, y)
	return lower, upper
}

// shape is a beta distribution with precomputed constants.
type shape struct {
	a, b, n          float64
	root, correction float64
}

// shapeOf takes a, b > 0.
func shapeOf(a, b float64) shape {
	n := a + b
	return shape{
		a: a, b: b, n: n, root: math.Sqrt(a * b / (2 * math.Pi * n)),
		correction: stirling(n) - (stirling(a) + stirling(b)),
	}
}

// swapped is the distribution of 1-X.
func (s shape) swapped() shape {
	s.a, s.b = s.b, s.a
	return s
}

// tails is the lower and the upper tail at x, and x^a y^b / B(a,b), where y = 1-x.
func (s shape) tails(x, y float64) (lower, upper, power float64) {
	switch {
	case math.IsNaN(x) || x < 0 || y < 0:
		return math.NaN(), math.NaN(), math.NaN()
	case x == 0:
		return 0, 1, 0
	case y == 0:
		return 1, 0, 0
	}
	power = s.root * math.Exp(s.exponent(x, y))
	if x > (s.a+1)/(s.n+2) {
		upper = min(1, power*fraction(s.b, s.a, y)/s.b)
		return 1 - upper, upper, power
	}
	lower = min(1, power*fraction(s.a, s.b, x)/s.a)
	return lower, 1 - lower, power
}

// LogBetaUpper is the logarithm of P(X > x), also where that is too small for a
// float64. The arguments are as of Beta.
func LogBetaUpper(a, b, x float64) float64 {
	if _, upper := distBeta(a, b, x, 1-x); !(upper < 1e-290) || x == 1 {
		return math.Log(upper)
	}
	s := shapeOf(a, b)
	return math.Log(s.root*fraction(b, a, 1-x)/b) + s.exponent(x, 1-x)
}

// fraction is the continued fraction of DLMF 8.17.22 by Lentz's method.
func fraction(a, b, x float64) float64 {
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
		if d*c == 1 {
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

// exponent is the logarithm of x^a y^b / B(a,b) without the root, through deviances
// so that large a and b do not cancel. Source: Loader 2000, Fast and Accurate
// Computation of Binomial Probabilities.
func (s shape) exponent(x, y float64) float64 {
	return s.correction - deviance(s.a, s.n*x) - deviance(s.b, s.n*y)
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
	if !(math.Abs(x-m) < 0.1*(x+m)) {
		if x == 0 {
			return m
		}
		return x*math.Log(x/m) + m - x
	}
	v := (x - m) / (x + m)
	s, e := (x-m)*v, 2*x*v
	for j := 1.0; ; j++ { // each term is less than a hundredth of the one before
		e *= v * v
		next := s + e/(2*j+1)
		if next == s {
			return s
		}
		s = next
	}
}

// betaQuantile gives x and 1-x for the tails p and q = 1-p.
func betaQuantile(a, b, p, q float64) (x, y float64) {
	switch {
	case !(a > 0) || !(b > 0) || !(p >= 0) || !(q >= 0):
		return math.NaN(), math.NaN()
	case p == 0:
		return 0, 1
	case q == 0:
		return 1, 0
	}
	// Solve for the smaller of x and y: it keeps its precision.
	s := shapeOf(a, b)
	if below, _, _ := s.tails(0.5, 0.5); below < p {
		y = s.swapped().solve(q, p)
		return 1 - y, y
	}
	x = s.solve(p, q)
	return x, 1 - x
}

// solve finds x where the tails are p and q, by Newton steps on the logarithms
// of x and of the smaller tail, held within a shrinking bracket.
func (s shape) solve(p, q float64) float64 {
	lo, hi, x := 0.0, 1.0, s.firstGuess(p, q)
	for range 300 {
		lower, upper, power := s.tails(x, 1-x)
		gap, tail := math.Log(p/lower), lower
		if q < p {
			gap, tail = math.Log(upper/q), upper
		}
		if gap > 0 {
			lo = x
		} else {
			hi = x
		}
		next := x * math.Exp(gap*tail*(1-x)/power) // power/(1-x) is x times the density
		if !(lo <= next && next <= hi) {
			next = (lo + hi) / 2
		}
		// The steps converge quadratically: after a small one the rest is negligible.
		if math.Abs(next-x) <= 1e-9*x {
			return next
		}
		x = next
	}
	return x
}

// firstGuess is near the x where the tails are p and q.
// Source: Abramowitz and Stegun 26.5.22; the leading term of the series near 0.
func (s shape) firstGuess(p, q float64) float64 {
	a, b := s.a, s.b
	if a > 1 && b > 1 {
		z := NormalQuantile(min(p, q))
		if q < p {
			z = -z
		}
		u, v := 1/(2*a-1), 1/(2*b-1)
		h, l := 2/(u+v), (z*z-3)/6
		w := z*math.Sqrt(max(0, h+l))/h + (v-u)*(l+5.0/6-2/(3*h))
		return a / (a + b*math.Exp(-2*w))
	}
	return min(a/s.n, math.Exp((math.Log(p)+math.Log(a)+LogBeta(a, b))/a))
}
