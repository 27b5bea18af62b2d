// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package stats

import (
	"math"
)

// DefaultRho0 is the assumed correlation within an attempt where the data are too few to show one.
const DefaultRho0 = 0.3

// Clusters are the sums over cases for the interval of a rate or of a mean in [0,1]. The zero value
// is ready to use; its size does not grow with the number of cases, and parts may be merged in any
// order.
//
// Attempts at a case are no new evidence until they differ. Where they agree in every case, and
// each case has equally many, the interval is that of one attempt a case. Where the data are too
// few to show the correlation, it is no shorter than that. Source: Statistics specification,
// section 16.1.
type Clusters struct {
	all    sums // of all values
	once   sums // of one (mean) attempt a case
	differ bool // the attempts of some case differ, or cases have different numbers of them
	k      int  // attempts of each case
}

// sums are the totals over cases.
//
// They are the means and the centered products of (sum, size) per case, updated as in Chan, Golub
// and LeVeque, 1983. This avoids the loss of precision in differences of big sums.
type sums struct {
	g             int
	n             float64 // values
	sum           float64 // of all values
	meanS, meanM  float64
	css, csm, cmm float64
	m2            float64 // sum of squared sizes
	failing       int     // cases with a sum below their size
	succeeding    int     // cases with a sum above 0
	fractional    bool
}

// Attempts are the attempts at one case: their number N, at least 1, and whether all have the same
// value. The zero value is one attempt.
type Attempts struct {
	N     int
	Alike bool
}

// AttemptsOf are n attempts at one case: yes of them are 1, the others 0.
func AttemptsOf(yes, n int) Attempts { return Attempts{N: n, Alike: yes == 0 || yes == n} }

// Add adds one case with n values of one attempt that sum to sum. binary: each of them is 0 or 1. A
// case without values is left out.
func (c *Clusters) Add(sum float64, n int, binary bool) { c.AddAttempts(sum, n, binary, Attempts{}) }

// AddAttempts adds one case with n values of several attempts.
func (c *Clusters) AddAttempts(sum float64, n int, binary bool, of Attempts) {
	if n <= 0 {
		return
	}
	one := sumsOf(sum, float64(n), binary)
	part := Clusters{all: one, once: one, k: max(1, of.N)}
	if of.N > 1 {
		part.differ, part.once = !of.Alike, sumsOf(sum/float64(of.N), float64(n)/float64(of.N), binary)
	}
	c.Merge(part)
}

// sumsOf are the sums of one case.
func sumsOf(sum, size float64, binary bool) sums {
	o := sums{g: 1, n: size, sum: sum, meanS: sum, meanM: size, m2: size * size, fractional: !binary}
	if sum < size {
		o.failing = 1
	}
	if sum > 0 {
		o.succeeding = 1
	}
	return o
}

// Merge adds the cases of o, which must be other cases than those of c.
func (c *Clusters) Merge(o Clusters) {
	if o.all.g == 0 {
		return
	}
	c.differ = c.differ || o.differ || c.all.g > 0 && c.k != o.k
	c.k = o.k
	c.all.merge(&o.all)
	c.once.merge(&o.once)
}

func (c *sums) merge(o *sums) {
	if o.g == 0 {
		return
	}
	if c.g == 0 {
		*c = *o
		return
	}
	a, b := float64(c.g), float64(o.g)
	ds, dm, share := o.meanS-c.meanS, o.meanM-c.meanM, b/(a+b)
	w := a * share
	c.css += o.css + ds*ds*w
	c.csm += o.csm + ds*dm*w
	c.cmm += o.cmm + dm*dm*w
	c.meanS += ds * share
	c.meanM += dm * share
	c.g, c.n, c.sum, c.m2 = c.g+o.g, c.n+o.n, c.sum+o.sum, c.m2+o.m2
	c.failing, c.succeeding = c.failing+o.failing, c.succeeding+o.succeeding
	c.fractional = c.fractional || o.fractional
}

// N is the number of values.
func (c *Clusters) N() int { return int(c.all.n) }

// Cases is the number of cases that had at least one value.
func (c *Clusters) Cases() int { return c.all.g }

// Sum is the sum of all values.
func (c *Clusters) Sum() float64 { return c.all.sum }

// Interval returns the mean and its interval: the cluster-robust variance (CR1) gives an effective
// sample size, which enters the Clopper-Pearson interval. With one binary value a case this is
// Clopper-Pearson itself.
//
// conf is the two-sided confidence in (0,1); rho0 the assumed correlation
// within an attempt, see DefaultRho0. No values: StatusNoData and [0,1]; a single
// case: StatusSingleCluster and [0,1]. N is the number of values, and those of one attempt
// a case where all attempts agree.
// Source: Statistics specification, sections 2 and 16.1; Clopper and Pearson 1934; Korn
// and Graubard 1998.
func (c *Clusters) Interval(conf, rho0 float64) Interval {
	s := &c.all
	if !c.differ {
		s = &c.once
	}
	iv := Interval{
		Upper: 1, N: int(math.Round(s.n)), Clusters: s.g, Confidence: conf, Method: "neff_clopper_pearson",
		Status: StatusNoData,
	}
	if s.n == 0 {
		return iv
	}
	p := min(1, max(0, s.sum/s.n))
	iv.Point = p
	if s.g < 2 {
		iv.Status = StatusSingleCluster
		return iv
	}
	v := s.variance(p)
	iv.SE = math.Sqrt(v)
	limit := c.once.limit(rho0)
	neff, status := s.effective(p, v, (1-conf)/2, limit)
	if status == StatusOK && neff > limit && s.clustered() && min(s.failing, s.succeeding) < 5 {
		neff, status = limit, StatusCapped
	}
	iv.NEff, iv.Status = neff, status
	iv.Lower, iv.Upper = betaLimits(p*iv.NEff, iv.NEff, (1-conf)/2)
	return iv
}

// variance is G/(G-1) times the sum of squared residuals s - p*m, over n².
func (c *sums) variance(p float64) float64 {
	ss := c.css - 2*p*c.csm + p*p*c.cmm
	// A rest of about 1e-16 of the terms is rounding, not variance.
	if ss <= 1e-13*(c.css+p*p*c.cmm) {
		return 0
	}
	g := float64(c.g)
	return g / (g - 1) * ss / (c.n * c.n)
}

// limit caps the effective sample size where few cases carry information: at that of one attempt a
// case. The values of a case have the correlation rho0.
func (c *sums) limit(rho0 float64) float64 {
	return max(float64(c.g), c.n/(1+(c.m2/c.n-1)*rho0))
}

// clustered is false for one binary value a case, where the exact interval holds.
func (c *sums) clustered() bool { return c.fractional || c.n != float64(c.g) }

// effective is the sample size of independent values with the same variance.
func (c *sums) effective(p, v, a, limit float64) (float64, Status) {
	n, g := c.n, float64(c.g)
	vb := p * (1 - p)
	switch {
	case vb == 0:
		return limit, StatusBoundary
	case v <= 1e-18:
		return min(g, n), StatusZeroVariance
	case !c.clustered():
		return n, StatusOK
	}
	r := TQuantile(n-1, 1-a) / TQuantile(g-1, 1-a)
	neff := vb / v * r * r
	if !c.fractional {
		neff = min(neff, n)
	}
	return neff, StatusOK
}

// NeffInterval is Clusters.Interval over plain slices: values in [0,1] of one attempt a case,
// and for each the case it belongs to. The slices have the same length.
func NeffInterval(values []float64, clusters []int, conf, rho0 float64) Interval {
	c := grouped(values, clusters)
	return c.Interval(conf, rho0)
}

func grouped(values []float64, clusters []int) Clusters {
	type part struct {
		sum    float64
		n      int
		binary bool
	}
	at := make(map[int]int, len(values))
	var parts []part
	for i, x := range values {
		k, ok := at[clusters[i]]
		if !ok {
			k = len(parts)
			at[clusters[i]] = k
			parts = append(parts, part{binary: true})
		}
		parts[k].sum += x
		parts[k].n++
		parts[k].binary = parts[k].binary && (x == 0 || x == 1)
	}
	var c Clusters
	for _, p := range parts {
		c.Add(p.sum, p.n, p.binary)
	}
	return c
}
