// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package stats

import "math"

// gridSide is how many values of each parameter a Population weighs.
const gridSide = 64

// Population is what the passes of some cases show of the chances to pass of all cases like them: the
// posterior of a beta distribution, with a prior that is uniform on its mean and on 1/(a+b+1), on a
// grid of 64 by 64 midpoints.
// Source: Statistics specification, section 16.5.
type Population struct {
	a, b, weight []float64
}

// PopulationOf is that of cases with their trials; without any it is the prior. A case without trials,
// or with impossible counts, does not count.
func PopulationOf(cases []Trials) *Population {
	times := map[Trials]float64{}
	for _, c := range cases {
		if c.N > 0 && c.Passed >= 0 && c.Passed <= c.N {
			times[c]++
		}
	}
	p := &Population{}
	most := math.Inf(-1)
	for i := range gridSide {
		for j := range gridSide {
			mean, spread := (float64(i)+0.5)/gridSide, (float64(j)+0.5)/gridSide
			a, b := mean*(1/spread-1), (1-mean)*(1/spread-1)
			l := 0.0
			for c, n := range times {
				l += n * logBetaShare(a, b, float64(c.Passed), float64(c.N-c.Passed))
			}
			p.a, p.b, p.weight = append(p.a, a), append(p.b, b), append(p.weight, l)
			most = max(most, l)
		}
	}
	sum := 0.0
	for i := range p.weight {
		p.weight[i] = math.Exp(p.weight[i] - most)
		sum += p.weight[i]
	}
	for i := range p.weight {
		p.weight[i] /= sum
	}
	return p
}

// Chance is the chance, in [0,1], that a case passes so many trials and fails so many others.
func (p *Population) Chance(passes, failures int) float64 {
	sum := 0.0
	for i, w := range p.weight {
		sum += w * math.Exp(logBetaShare(p.a[i], p.b[i], float64(passes), float64(failures)))
	}
	return min(1, sum)
}

// logBetaShare is the logarithm of B(a+x, b+y)/B(a, b).
func logBetaShare(a, b, x, y float64) float64 { return logBeta(a+x, b+y) - logBeta(a, b) }

func logBeta(a, b float64) float64 {
	x, _ := math.Lgamma(a)
	y, _ := math.Lgamma(b)
	z, _ := math.Lgamma(a + b)
	return x + y - z
}
