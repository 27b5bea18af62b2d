// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package stats

import (
	"math"
)

// burst is the assumed size of a burst of events where the data are too few to show it: an unneeded
// call is seldom alone.
const burst = 2

// Counts are the sums over cases for a mean count of events by attempt, for example of unneeded
// calls. The zero value is ready to use, its size does not grow and parts may be merged. Attempts
// at a case are no new evidence until they differ, as for Clusters.
type Counts struct {
	all    Ratio // events over attempts
	once   Ratio // of one attempt a case, the mean one
	differ bool  // the attempts of some case differ, or some case has more of them than others
	k      float64
	having int  // cases with an event
	unlike bool // the attempts of some case differ
}

// Add adds one case with its events and attempts; neither is below 0. alike: each attempt has
// equally many events. A case without attempts is left out.
func (c *Counts) Add(events, attempts float64, alike bool) {
	if !(attempts > 0) {
		return
	}
	c.differ = c.differ || c.k > 0 && c.k != attempts
	c.k = attempts
	c.all.Add(events, attempts)
	c.once.Add(events/attempts, 1)
	c.unlike = c.unlike || attempts > 1 && !alike
	c.differ = c.differ || c.unlike
	if events > 0 {
		c.having++
	}
}

// Merge adds the cases of o.
func (c *Counts) Merge(o Counts) {
	if o.all.g == 0 {
		return
	}
	c.differ = c.differ || c.k > 0 && c.k != o.k
	c.k = o.k
	c.all.Merge(o.all)
	c.once.Merge(o.once)
	c.differ, c.unlike, c.having = c.differ || o.differ, c.unlike || o.unlike, c.having+o.having
}

// Interval returns the mean count and its interval. The ratio of the cluster-robust variance (CR1)
// to the variance of independent events gives an effective number of attempts, which enters the
// exact interval of a Poisson mean. Events in bursts are more skewed than independent ones of the
// same variance: the skewness of a negative binomial count is assumed. Where fewer than five cases
// have an event, the variance is at least that of events that come two at a time, in one attempt a
// case. Ends are at least 0.
//
// No attempts: StatusNoData; a single case: StatusSingleCluster and no upper end; no event:
// StatusBoundary; equally many events in each attempt: StatusNoSpread and no ends.
//
// The upper end of the 95 % interval is below the truth with at most 3 % for
// independent events, 4 % for counts that vary as much as a negative binomial of
// dispersion 1 and for events that come two at a time on the average; 6 % for
// dispersion 3 at 20 cases, and 9 % for events that come three at a time.
// Source: Garwood 1936; Korn and Graubard 1998; the corrections for bursts by simulation.
func (c *Counts) Interval(conf float64) Interval {
	iv := c.Independent(conf)
	if iv.Status == StatusZeroVariance && !c.unlike {
		iv.Lower, iv.Upper, iv.NEff, iv.Status = math.Inf(-1), math.Inf(1), 0, StatusNoSpread
	}
	return iv
}

// Independent is Interval, but with independent events where each attempt has equally many: for the
// difference of two means, where either may be constant.
func (c *Counts) Independent(conf float64) Interval {
	r := &c.all
	if !c.differ {
		r = &c.once
	}
	iv := Interval{
		Upper: math.Inf(1), N: int(r.x), Clusters: r.g, Confidence: conf, Method: "neff_garwood",
		Status: StatusNoData,
	}
	if r.g == 0 {
		return iv
	}
	rate := r.y / r.x
	iv.Point = rate
	if r.g < 2 {
		iv.Status = StatusSingleCluster
		return iv
	}
	g, n, a := float64(r.g), r.x, (1-conf)/2
	v := g / (g - 1) * r.residuals(rate) / (n * n)
	iv.SE = math.Sqrt(v)
	limit := g / burst
	z := NormalQuantile(1 - a)
	switch {
	case r.y == 0:
		iv.NEff, iv.Status = limit, StatusBoundary
	case v == 0:
		iv.NEff, iv.Status = limit, StatusZeroVariance
	default:
		t := z / TQuantile(g-1, 1-a)
		iv.NEff, iv.Status = rate/v*t*t, StatusOK
		if c.having < 5 && iv.NEff > limit {
			iv.NEff, iv.Status = limit, StatusCapped
		}
	}
	iv.Lower, iv.Upper = PoissonLimits(rate*iv.NEff, a)
	iv.Lower, iv.Upper = iv.Lower/iv.NEff, iv.Upper/iv.NEff
	if rate > 0 {
		iv.Upper += (1 + 2*z*z) / 6 * max(0, n/iv.NEff-1) / n
	}
	return iv
}

// CountSums are totals over cases that can be converted to Counts: y is a case's events, x its
// attempts, and no case has x = 0.
type CountSums struct {
	RatioSums
	// Having is the number of cases with y > 0.
	Having int
	// Differ: the attempts of some case differ, or cases have different numbers of them; without it
	// x is 1 in each case.
	Differ bool
	// Unlike reports whether the attempts of some case differ.
	Unlike bool
}

// Counts are the Counts of the same cases; empty for no case.
func (s CountSums) Counts() Counts {
	if s.Cases == 0 {
		return Counts{}
	}
	c := Counts{having: s.Having, differ: s.Differ, unlike: s.Unlike, k: 1}
	if c.all = s.Ratio(); !s.Differ {
		c.once = c.all
	}
	return c
}
