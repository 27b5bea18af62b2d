// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package judge

import (
	"math"

	"github.com/callvet/callvet/stats"
)

// Nodes is the number of Gauss-Legendre nodes for each of the two calibrated
// rates.
const Nodes = 64

// spread is a distribution of a rate as points with weights that sum to 1, at the nodes of a
// quadrature over its quantiles.
type spread struct {
	at, weight []float64
}

// posterior is the Jeffreys posterior of x in n.
func posterior(x, n float64, nodes int) spread { return quantiles(x+0.5, n-x+0.5, nodes) }

// calibrated are the posteriors of sensitivity and specificity.
func (c Calibration) calibrated(nodes int) (s, t spread) {
	tp, m1 := c.pass()
	tn, m0 := c.fail()
	return posterior(tp, m1, nodes), posterior(tn, m0, nodes)
}

// quantiles is the spread of Beta(a, b); a of 0 is the constant 0 and b of 0 the constant 1.
func quantiles(a, b float64, nodes int) spread {
	s := spread{}
	s.at, s.weight = stats.GaussLegendre(nodes)
	for i, u := range s.at {
		switch {
		case a <= 0:
			s.at[i] = 0
		case b <= 0:
			s.at[i] = 1
		default:
			s.at[i] = stats.BetaQuantile(a, b, u)
		}
	}
	return s
}

func clip(x float64) float64 { return min(1, max(0, x)) }

// invert finds the points where a distribution function on [0,1] reaches a and 1-a; 0 and 1 where
// it starts above or stays below.
func invert(below func(float64) float64, a float64) (lower, upper float64) {
	return reach(below, a), reach(below, 1-a)
}

// reach finds the x where a growing function on [0,1] reaches level, within 1e-9.
func reach(below func(float64) float64, level float64) float64 {
	switch {
	case below(0) >= level:
		return 0
	case below(1) <= level:
		return 1
	}
	lo, hi := 0.0, 1.0
	for range 30 {
		m := (lo + hi) / 2
		if below(m) < level {
			lo = m
		} else {
			hi = m
		}
	}
	return (lo + hi) / 2
}

// Transported is the equal-tailed Jeffreys interval of true success from a judge
// calibrated elsewhere, given that the judge is better than chance, in [0,1].
// The statuses are those of RoganGladen.
// Source: Gelman and Carpenter 2020; Statistics specification, section 4.3.
func Transported(j Judged, c Calibration, conf float64) stats.Interval {
	iv := transportInterval("rogan_gladen_jeffreys", j, c, conf)
	if iv.Status == stats.StatusOK {
		iv.Lower, iv.Upper = transportedLimits(j, c, conf, Nodes)
	}
	return iv
}

// TransportedBelow is the posterior probability, given a judge better than chance,
// that the share of true passes is at most x, in [0,1]; NaN where Transported
// refuses.
func TransportedBelow(j Judged, c Calibration, x float64) float64 {
	if refusal(j, c, 0.95) != stats.StatusOK {
		return math.NaN()
	}
	s, t := c.calibrated(Nodes)
	return belowTransported(s, t, j.Pass+0.5, j.N-j.Pass+0.5, leftOut)(x)
}

func transportInterval(method string, j Judged, c Calibration, conf float64) stats.Interval {
	rg := RoganGladen(j, c, conf)
	iv := stats.Interval{
		Upper: 1, N: int(j.N), Clusters: int(j.N), NEff: j.N, Confidence: conf, Method: method,
		Status: rg.Status,
	}
	if rg.Status == stats.StatusOK {
		iv.Point = rg.Point
	}
	return iv
}

func transportedLimits(j Judged, c Calibration, conf float64, nodes int) (lower, upper float64) {
	s, t := c.calibrated(nodes)
	below := belowTransported(s, t, j.Pass+0.5, j.N-j.Pass+0.5, leftOut)
	return invert(below, (1-conf)/2)
}

// rest is how pairs of rates that are no better than chance are treated.
type rest int

const (
	leftOut rest = iota // the distribution is conditional on a judge better than chance
	asZero              // they count as no success at all
	asOne               // they count as complete success
)

// belowTransported is P((p+t-1)/(s+t-1) <= x) for p of Beta(a, b).
func belowTransported(s, t spread, a, b float64, chance rest) func(x float64) float64 {
	return func(x float64) float64 {
		total, used := 0.0, 0.0
		for i, si := range s.at {
			for k, tk := range t.at {
				w := s.weight[i] * t.weight[k]
				switch {
				case si+tk > 1:
					total += w * rateBelow(a, b, clip(x*si+(1-x)*(1-tk)))
				case chance == leftOut:
					continue
				case chance == asZero:
					total += w
				}
				used += w
			}
		}
		if used == 0 {
			return 0
		}
		return total / used
	}
}

func rateBelow(a, b, q float64) float64 {
	switch {
	case a <= 0: // the constant 0
		return 1
	case b <= 0: // the constant 1
		if q < 1 {
			return 0
		}
		return 1
	}
	return stats.Beta(a, b, q)
}

// Melded is an interval of true success from a judge calibrated elsewhere with a guaranteed error
// level: wider than LangReiczigel, for gates that need the guarantee. In [0,1]; the statuses are
// those of RoganGladen. Source: Fay, Proschan and Brittain 2015; Bayer, Fay and Graubard 2022.
func Melded(j Judged, c Calibration, conf float64) stats.Interval {
	iv := transportInterval("rogan_gladen_melded", j, c, conf)
	if iv.Status == stats.StatusOK {
		iv.Lower, iv.Upper = meldedLimits(j, c, conf, Nodes)
	}
	return iv
}

func meldedLimits(j Judged, c Calibration, conf float64, nodes int) (lower, upper float64) {
	a := (1 - conf) / 2
	low, high := meldedBelow(j, c, nodes)
	return reach(low, a), reach(high, 1-a)
}

// MeldedBelow is the confidence that the share of true passes is at most x, for the lower and for
// the upper end of Melded; NaN where Melded refuses.
func MeldedBelow(j Judged, c Calibration, x float64) (forLower, forUpper float64) {
	if refusal(j, c, 0.95) != stats.StatusOK {
		return math.NaN(), math.NaN()
	}
	low, high := meldedBelow(j, c, Nodes)
	return low(x), high(x)
}

// meldedBelow draws each rate from the confidence distribution that is worst for
// the end: true success falls in s and grows in p and t.
func meldedBelow(j Judged, c Calibration, nodes int) (low, high func(x float64) float64) {
	tp, m1 := c.pass()
	tn, m0 := c.fail()
	low = belowTransported(quantiles(tp+1, m1-tp, nodes), quantiles(tn, m0-tn+1, nodes), j.Pass, j.N-j.Pass+1, asZero)
	high = belowTransported(quantiles(tp, m1-tp+1, nodes), quantiles(tn+1, m0-tn, nodes), j.Pass+1, j.N-j.Pass, asOne)
	return low, high
}
