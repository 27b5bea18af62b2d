// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package stats

import (
	"cmp"
	"maps"
	"math"
	"slices"
)

// gridSide is how many values of each parameter are in the grid of a Population.
const gridSide = 64

// Count is how many of N independent observations passed. Neither needs to be a whole number: a rate
// counts with its effective sample size.
type Count struct{ Passed, N float64 }

// CountOf is the effective counts of an interval of a rate; ok is false where it has no effective
// sample size.
func CountOf(iv *Interval) (c Count, ok bool) {
	return Count{Passed: iv.Point * iv.NEff, N: iv.NEff}, iv.Defined() && iv.NEff > 0
}

// Population is the distribution of the rates of groups, estimated from the passes of some groups.
// It is the posterior of a beta distribution on a grid of 64 by 64 midpoints, with a prior that is
// uniform on its mean and on 1/(a+b+1). A group may be a case, a slice or a target. Source:
// Statistics specification, section 16.5.
type Population struct {
	weight []float64
	shapes
}

// shapes are the two parameters of the beta distribution at each point of the grid, with the
// logarithm of their beta function.
type shapes struct{ a, b, log []float64 }

func grid() (g shapes) {
	for i := range gridSide {
		for j := range gridSide {
			mean, spread := (float64(i)+0.5)/gridSide, (float64(j)+0.5)/gridSide
			a, b := mean*(1/spread-1), (1-mean)*(1/spread-1)
			g.a, g.b, g.log = append(g.a, a), append(g.b, b), append(g.log, logBeta(a, b))
		}
	}
	return g
}

// share is the log-likelihood of the count c at one point of the grid.
func (g *shapes) share(at int, c Count) float64 {
	return logBeta(g.a[at]+c.Passed, g.b[at]+c.N-c.Passed) - g.log[at]
}

// PopulationOf is the Population of groups; without any it is the prior. A group without
// observations, or with impossible counts, does not count.
func PopulationOf(groups []Count) *Population {
	times := map[Count]int64{}
	for _, c := range groups {
		times[c]++
	}
	return populationOf(times)
}

// populationOf is PopulationOf with the number of groups for each count.
func populationOf(times map[Count]int64) *Population {
	p := &Population{shapes: grid()}
	p.weight = make([]float64, len(p.a))
	most := math.Inf(-1)
	order := slices.DeleteFunc(ordered(times), func(c Count) bool { // sums do not depend on the order of a map
		return !(c.N > 0 && c.Passed >= 0 && c.Passed <= c.N)
	})
	n := make([]float64, len(order))
	for k, c := range order {
		n[k] = float64(times[c])
	}
	for i := range p.weight {
		for k, c := range order {
			p.weight[i] += n[k] * p.share(i, c)
		}
		most = max(most, p.weight[i])
	}
	for i := range p.weight {
		p.weight[i] = math.Exp(p.weight[i] - most)
	}
	all := sum(p.weight)
	for i := range p.weight {
		p.weight[i] /= all
	}
	return p
}

// Chance is the probability, in [0,1], of the count of a group.
func (p *Population) Chance(c Count) float64 {
	all := 0.0
	for i, w := range p.weight {
		all += w * math.Exp(p.share(i, c))
	}
	return min(1, all)
}

// Group is the posterior of the rate of one group, from the population and its own observations.
type Group struct {
	Mean         float64 // of the posterior
	own          Count
	weight, a, b []float64
	whole        float64
	parts        []BetaOf // of a and b; made when they are needed
}

const (
	// negligible is the weight of a point of the grid that changes no figure.
	negligible = 1e-7
	// tolerance is the largest error of the probability at the end of an interval; halvings bounds the
	// iterations.
	tolerance = 1e-7
	halvings  = 40
	// farOdds is the logarithm of odds next to 0 and 1.
	farOdds = 36.0
)

// Group is the posterior of a group that the population was made of.
func (p *Population) Group(c Count) Group {
	g := Group{own: c}
	for i, w := range p.weight {
		if w < negligible {
			continue
		}
		a, b := p.a[i]+c.Passed, p.b[i]+c.N-c.Passed
		g.weight, g.a, g.b = append(g.weight, w), append(g.a, a), append(g.b, b)
		g.whole += w
		g.Mean += w * a / (a + b)
	}
	g.Mean /= g.whole
	return g
}

// Below is the probability, in [0,1], that the rate of the group is at most x.
func (g *Group) Below(x float64) float64 {
	below, _ := g.at(x, 1-x)
	return below
}

// at is Below with the density of log(x/(1-x)) there; y is 1-x.
func (g *Group) at(x, y float64) (below, density float64) {
	if g.parts == nil {
		g.parts = make([]BetaOf, len(g.weight))
		for i := range g.parts {
			g.parts[i] = NewBeta(g.a[i], g.b[i])
		}
	}
	for i, w := range g.weight {
		p, d := g.parts[i].At(x, y)
		below, density = below+w*p, density+w*d
	}
	return min(1, below/g.whole), density / g.whole
}

// matched are the parameters of the beta distribution with the mean and the variance of the group.
func (g *Group) matched() [2]float64 {
	square := 0.0
	for i, w := range g.weight {
		n := g.a[i] + g.b[i]
		square += w / g.whole * g.a[i] * (g.a[i] + 1) / (n * (n + 1))
	}
	n := max(g.Mean*(1-g.Mean)/max(square-g.Mean*g.Mean, 1e-12)-1, 1e-3)
	return [2]float64{g.Mean * n, (1 - g.Mean) * n}
}

// Interval is the posterior mean of the group with its interval.
func (g *Group) Interval(conf float64) Interval {
	near := g.matched()
	end := func(p float64) float64 {
		// The beta distribution with the same mean and variance is a close start: a few of the
		// expensive Newton steps are enough. They use the logarithm of the odds, where both ends
		// are smooth.
		x := bisect(0, 1, func(x float64) bool { return Beta(near[0], near[1], x) < p })
		lo, hi, at := -farOdds, farOdds, math.Log(x/(1-x))
		for range halvings {
			if !(at > lo && at < hi) {
				at = (lo + hi) / 2
			}
			below, density := g.at(1/(1+math.Exp(-at)), 1/(1+math.Exp(at)))
			if below < p {
				lo = at
			} else {
				hi = at
			}
			if math.Abs(below-p) < tolerance {
				break
			}
			at += (p - below) / density
		}
		return 1 / (1 + math.Exp(-min(max(at, lo), hi)))
	}
	return Interval{
		Point: g.Mean, Lower: end((1 - conf) / 2), Upper: end((1 + conf) / 2), N: int(math.Round(g.own.N)),
		NEff:       g.own.N,
		Confidence: conf, Method: "beta_binomial_posterior", Status: StatusOK,
	}
}

// Extreme is a group that differs clearly from all others.
type Extreme struct {
	Index int // in the list of groups
	Group Group
}

// Extremes are the groups with the lowest and with the highest posterior mean (several where they
// are equal), if the interval of such a group excludes the posterior mean of all others together.
// There are none with fewer than two groups. Source: Statistics specification, section 16.5.
func Extremes(groups []Count, conf float64) (lowest, highest []Extreme) {
	if len(groups) < 2 || !mayDiffer(groups) {
		return nil, nil
	}
	p := PopulationOf(groups)
	known := map[Count]Group{}
	means := make([]float64, len(groups))
	for i, c := range groups {
		g, ok := known[c]
		if !ok {
			g = p.Group(c)
			known[c] = g
		}
		means[i] = g.Mean
	}
	apart := func(end float64, excludes func(below float64) bool) (out []Extreme) {
		others, n := 0.0, 0.0
		for i, m := range means {
			if math.Abs(m-end) > negligible {
				others, n = others+m*groups[i].N, n+groups[i].N
			}
		}
		for i, c := range groups {
			if g := known[c]; n > 0 && math.Abs(means[i]-end) <= negligible && excludes(g.Below(others/n)) {
				out = append(out, Extreme{i, g})
			}
		}
		return out
	}
	low, high := means[0], means[0]
	for _, m := range means {
		low, high = min(low, m), max(high, m)
	}
	a := (1 - conf) / 2
	return apart(low, func(below float64) bool { return below > 1-a }), apart(high,
		func(below float64) bool { return below < a })
}

// Apart reports whether the interval of a group with the count c lies below or above the posterior mean
// of all other groups together. times holds how many groups have each count, that one included.
// Source: Statistics specification, section 16.5.
func Apart(times map[Count]int64, c Count, conf float64) (below, above bool) {
	p, others, n := populationOf(times), 0.0, 0.0
	for _, o := range ordered(times) {
		weight := float64(times[o]) * o.N
		if o == c {
			weight -= o.N
		}
		if weight > 0 {
			g := p.Group(o)
			others, n = others+g.Mean*weight, n+weight
		}
	}
	if n == 0 {
		return false, false
	}
	g := p.Group(c)
	chance, a := g.Below(others/n), (1-conf)/2
	return chance > 1-a, chance < a
}

// ordered are the counts of groups in a fixed order.
func ordered(times map[Count]int64) []Count {
	return slices.SortedFunc(maps.Keys(times), func(a, b Count) int {
		return cmp.Or(cmp.Compare(a.N, b.N), cmp.Compare(a.Passed, b.Passed))
	})
}

// mayDiffer is false where no group can stand out, because the rates differ from the common one by
// less than by chance.
func mayDiffer(groups []Count) bool {
	var all Count
	for _, c := range groups {
		all.Passed, all.N = all.Passed+c.Passed, all.N+c.N
	}
	common := all.Passed / all.N
	for _, c := range groups {
		if d := c.Passed - common*c.N; d*d > common*(1-common)*c.N {
			return true
		}
	}
	return false
}

func logBeta(a, b float64) float64 {
	x, _ := math.Lgamma(a)
	y, _ := math.Lgamma(b)
	z, _ := math.Lgamma(a + b)
	return x + y - z
}
