// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package stats

import (
	"math"

	"github.com/callvet/callvet/stats/dist"
)

// DefaultRho0 is the correlation within a case assumed where the data are too
// few to show one.
const DefaultRho0 = 0.3

// Clusters are the sums over cases from which the interval of a rate or of a
// mean in [0,1] is computed. The zero value is ready to use; its size does not
// grow with the number of cases, and parts may be merged in any order.
//
// It keeps the means and the centered products of (sum, size) per case, updated
// as in Chan, Golub and LeVeque, 1983, so that no precision is lost to the
// difference of big sums.
type Clusters struct {
	g, n          int
	sum           float64 // of all values
	meanS, meanM  float64
	css, csm, cmm float64
	m2            float64 // sum of squared sizes
	failing       int     // cases with a sum below their size
	succeeding    int     // cases with a sum above 0
	fractional    bool
}

// Add adds one case with n values that sum up to sum. binary tells that each of
// them is 0 or 1. A case without values is left out.
func (c *Clusters) Add(sum float64, n int, binary bool) {
	if n <= 0 {
		return
	}
	o := Clusters{g: 1, n: n, sum: sum, meanS: sum, meanM: float64(n), m2: float64(n) * float64(n), fractional: !binary}
	if sum < float64(n) {
		o.failing = 1
	}
	if sum > 0 {
		o.succeeding = 1
	}
	c.Merge(o)
}

// Merge adds the cases of o, which must be other cases than those of c.
func (c *Clusters) Merge(o Clusters) {
	if o.g == 0 {
		return
	}
	if c.g == 0 {
		*c = o
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
func (c *Clusters) N() int { return c.n }

// Cases is the number of cases that had at least one value.
func (c *Clusters) Cases() int { return c.g }

// Sum is the sum of all values.
func (c *Clusters) Sum() float64 { return c.sum }

// Interval gives the mean and its interval: the cluster-robust variance (CR1)
// makes an effective sample size, which enters the Clopper-Pearson interval.
// With one binary value a case this is Clopper-Pearson itself.
//
// conf is the two-sided confidence in (0,1); rho0 the assumed correlation
// within a case, see DefaultRho0. No values: StatusNoData and [0,1]; a single
// case: StatusSingleCluster and [0,1].
// Source: Statistics specification, section 2; Clopper and Pearson 1934; Korn
// and Graubard 1998.
func (c *Clusters) Interval(conf, rho0 float64) Interval {
	iv := Interval{Upper: 1, N: c.n, Clusters: c.g, Confidence: conf, Method: "neff_clopper_pearson", Status: StatusNoData}
	if c.n == 0 {
		return iv
	}
	p := min(1, max(0, c.sum/float64(c.n)))
	iv.Point = p
	if c.g < 2 {
		iv.Status = StatusSingleCluster
		return iv
	}
	v := c.variance(p)
	iv.SE = math.Sqrt(v)
	neff, status := c.effective(p, v, (1-conf)/2, rho0)
	if limit := c.limit(rho0); status == StatusOK && neff > limit && c.clustered() && min(c.failing, c.succeeding) < 5 {
		neff, status = limit, StatusCapped
	}
	iv.NEff, iv.Status = neff, status
	iv.Lower, iv.Upper = betaLimits(p*iv.NEff, iv.NEff, (1-conf)/2)
	return iv
}

// variance is G/(G-1) times the sum of squared residuals s - p*m, over n².
func (c *Clusters) variance(p float64) float64 {
	ss := c.css - 2*p*c.csm + p*p*c.cmm
	// Rounding leaves a rest of some 1e-16 of the terms; it is not variance.
	if ss <= 1e-13*(c.css+p*p*c.cmm) {
		return 0
	}
	g, n := float64(c.g), float64(c.n)
	return g / (g - 1) * ss / (n * n)
}

// limit is the largest effective sample size believed where few cases carry
// information.
func (c *Clusters) limit(rho0 float64) float64 {
	n := float64(c.n)
	return max(float64(c.g), n/(1+(c.m2/n-1)*rho0))
}

// clustered is false for one binary value a case, where the exact interval holds.
func (c *Clusters) clustered() bool { return c.fractional || c.n != c.g }

// effective is the sample size of independent values with the same variance.
func (c *Clusters) effective(p, v, a, rho0 float64) (float64, Status) {
	n, g := float64(c.n), float64(c.g)
	vb := p * (1 - p)
	switch {
	case vb == 0:
		return c.limit(rho0), StatusBoundary
	case v <= 1e-18:
		return min(g, n), StatusZeroVariance
	case !c.clustered():
		return n, StatusOK
	}
	r := dist.TQuantile(n-1, 1-a) / dist.TQuantile(g-1, 1-a)
	neff := vb / v * r * r
	if !c.fractional {
		neff = min(neff, n)
	}
	return neff, StatusOK
}

// NeffInterval is Clusters.Interval over plain slices: values in [0,1], and for
// each the case it belongs to. The slices have the same length.
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
