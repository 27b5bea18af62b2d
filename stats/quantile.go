// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package stats

import (
	"cmp"
	"math"
	"slices"
	"sort"

	"gonum.org/v1/gonum/mathext"
)

// Percentile is the q-quantile of sorted values by linear interpolation (type 7
// of Hyndman and Fan, 1996). q is in [0,1]; ok is false for no values or
// another q.
func Percentile(sorted []float64, q float64) (x float64, ok bool) {
	if len(sorted) == 0 || !(q >= 0 && q <= 1) {
		return 0, false
	}
	h := q * float64(len(sorted)-1)
	lo := int(math.Floor(h))
	if lo+1 >= len(sorted) || h == float64(lo) {
		return sorted[lo], true
	}
	if a, b := sorted[lo], sorted[lo+1]; !math.IsInf(b, 1) {
		return a + (h-float64(lo))*(b-a), true
	}
	return math.Inf(1), true
}

// Observation is one value with the case it belongs to.
type Observation struct {
	Value   float64
	Cluster int32
	// Censored values were cut off: the truth is at least Value.
	Censored bool
}

// QuantileIntervals gives for each q the quantile with its distribution-free
// interval: exact order statistics where each case has one value, else
// Woodruff's method with the effective sample size. It sorts obs in place.
// Values share any unit; each q is in [0,1].
//
// An end that does not exist at this sample size is infinite (an upper end of
// the p90 needs 36 cases). Censored observations count as later than all
// others; where the quantile falls among them the status is StatusCensored, the
// point is the smallest limit and there is no upper end.
// Source: Statistics specification, section 6; Hahn and Meeker 1991; Woodruff 1952.
func QuantileIntervals(obs []Observation, conf float64, qs ...float64) []Interval {
	slices.SortFunc(obs, later)
	values := make([]float64, len(obs))
	limit := math.Inf(1)
	for i, o := range obs {
		values[i] = o.Value
		if o.Censored {
			values[i], limit = math.Inf(1), min(limit, o.Value)
		}
	}
	clusters := countClusters(obs)
	out := make([]Interval, len(qs))
	for i, q := range qs {
		iv := quantile(obs, values, clusters, q, conf)
		if iv.Defined() && math.IsInf(iv.Point, 1) {
			iv.Point, iv.Status = limit, StatusCensored
			iv.Lower = min(iv.Lower, limit)
		}
		out[i] = iv
	}
	return out
}

func later(a, b Observation) int {
	switch {
	case a.Censored != b.Censored && b.Censored:
		return -1
	case a.Censored != b.Censored:
		return 1
	case a.Value != b.Value:
		return cmp.Compare(a.Value, b.Value)
	}
	return cmp.Compare(a.Cluster, b.Cluster)
}

func quantile(obs []Observation, values []float64, clusters int, q, conf float64) Interval {
	iv := Interval{
		Lower: math.Inf(-1), Upper: math.Inf(1), N: len(obs), Clusters: clusters, Confidence: conf,
		Method: "order_statistics", Status: StatusNoData,
	}
	if len(obs) == 0 {
		return iv
	}
	iv.Point, _ = Percentile(values, q)
	iv.Status = StatusOK
	switch {
	case clusters == len(obs):
		lo, hi := orderRanks(len(obs), q, (1-conf)/2)
		iv.Lower, iv.Upper = rank(values, lo), rank(values, hi)
	case clusters < 2:
		iv.Status = StatusSingleCluster
	default:
		iv.Method = "woodruff_neff"
		iv.NEff, iv.Lower, iv.Upper = woodruff(obs, values, iv.Point, q, conf)
	}
	return iv
}

func countClusters(obs []Observation) int {
	seen := make(map[int32]struct{}, len(obs))
	for _, o := range obs {
		seen[o.Cluster] = struct{}{}
	}
	return len(seen)
}

// rank is the r-th smallest value, r from 1; out of range is no bound.
func rank(sorted []float64, r int) float64 {
	switch {
	case r < 1:
		return math.Inf(-1)
	case r > len(sorted):
		return math.Inf(1)
	}
	return sorted[r-1]
}

// orderRanks are the ranks whose order statistics bound the q-quantile with at
// most a in each tail; 0 and n+1 mean that there is no such bound.
func orderRanks(n int, q, a float64) (lower, upper int) {
	lower = sort.Search(n, func(i int) bool { return binomialCDF(i, n, q) > a })
	upper = sort.Search(n, func(i int) bool { return 1-binomialCDF(i, n, q) <= a }) + 1
	return lower, upper
}

// binomialCDF is P(X <= k) for X binomial with n trials of probability p.
func binomialCDF(k, n int, p float64) float64 {
	switch {
	case k < 0:
		return 0
	case k >= n:
		return 1
	}
	return mathext.RegIncBeta(float64(n-k), float64(k+1), 1-p)
}

// woodruff inverts the interval of the distribution function at the quantile.
// An end exists only where as many independent values would have one.
func woodruff(obs []Observation, values []float64, point, q, conf float64) (neff, lower, upper float64) {
	ind, clusters := make([]float64, len(obs)), make([]int, len(obs))
	for i := range obs {
		clusters[i] = int(obs[i].Cluster)
		if values[i] <= point {
			ind[i] = 1
		}
	}
	c := grouped(ind, clusters)
	p, a := c.Sum()/float64(c.N()), (1-conf)/2
	neff, _ = c.effective(p, c.variance(p), a, DefaultRho0)
	pl, pu := betaLimits(q*neff, neff, a)
	n := float64(len(obs))
	lower, upper = math.Inf(-1), math.Inf(1)
	if math.Pow(1-q, neff) <= a {
		lower = rank(values, int(math.Floor(pl*n)))
	}
	if math.Pow(q, neff) <= a {
		upper = rank(values, int(math.Floor(pu*n))+1)
	}
	return neff, lower, upper
}
