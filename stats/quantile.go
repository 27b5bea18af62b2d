// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package stats

import (
	"cmp"
	"math"
	"slices"
	"sort"

	"github.com/callvet/callvet/stats/dist"
)

// Percentile is the q-quantile of sorted values by linear interpolation (type 7
// of Hyndman and Fan, 1996). q is in [0,1]; ok is false for no values, another
// q, or NaN at an end of the values.
func Percentile(sorted []float64, q float64) (x float64, ok bool) {
	if len(sorted) == 0 || !(q >= 0 && q <= 1) || math.IsNaN(sorted[0]) || math.IsNaN(sorted[len(sorted)-1]) {
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
	out := make([]Interval, len(qs))
	for i, q := range Quantiles(obs, conf, qs...) {
		out[i] = q.Interval
	}
	return out
}

// Quantile is a quantile's Interval with the ranks, counted from 1, of the
// observations that are its ends.
type Quantile struct {
	Interval
	// LowerRank is 0 and UpperRank one more than the number of observations where
	// that end does not exist.
	LowerRank, UpperRank int
	// Coverage is the exact probability that the truth is within, for order
	// statistics; NaN otherwise.
	Coverage float64
	// FLower and FUpper are the limits of the share of observations below the
	// quantile that Woodruff's method inverts; NaN otherwise.
	FLower, FUpper float64
}

// Quantiles is QuantileIntervals with the ranks.
func Quantiles(obs []Observation, conf float64, qs ...float64) []Quantile {
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
	out := make([]Quantile, len(qs))
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

func quantile(obs []Observation, values []float64, clusters int, q, conf float64) Quantile {
	iv := Quantile{
		Interval: Interval{
			Lower: math.Inf(-1), Upper: math.Inf(1), N: len(obs), Clusters: clusters, Confidence: conf,
			Method: "order_statistics", Status: StatusNoData,
		},
		UpperRank: len(obs) + 1, Coverage: math.NaN(), FLower: math.NaN(), FUpper: math.NaN(),
	}
	if !(q >= 0 && q <= 1) || !validConfidence(conf) {
		iv.Status = StatusInvalid
		return iv
	}
	if len(obs) == 0 {
		return iv
	}
	iv.Point, _ = Percentile(values, q)
	iv.Status = StatusOK
	switch {
	case clusters == len(obs):
		iv.LowerRank, iv.UpperRank = orderRanks(len(obs), q, (1-conf)/2)
		iv.Coverage = dist.BinomialCDF(iv.UpperRank-1, len(obs), q) - dist.BinomialCDF(iv.LowerRank-1, len(obs), q)
	case clusters < 2:
		iv.Status = StatusSingleCluster
	default:
		iv.woodruff(obs, values, q, conf)
	}
	iv.Lower, iv.Upper = rank(values, iv.LowerRank), rank(values, iv.UpperRank)
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
	lower = sort.Search(n, func(i int) bool { return dist.BinomialCDF(i, n, q) > a })
	upper = sort.Search(n, func(i int) bool { return 1-dist.BinomialCDF(i, n, q) <= a }) + 1
	return lower, upper
}

// woodruff inverts the interval of the distribution function at the quantile.
// An end exists only where as many independent values would have one.
func (iv *Quantile) woodruff(obs []Observation, values []float64, q, conf float64) {
	ind, clusters := make([]float64, len(obs)), make([]int, len(obs))
	for i := range obs {
		clusters[i] = int(obs[i].Cluster)
		if values[i] <= iv.Point {
			ind[i] = 1
		}
	}
	c := grouped(ind, clusters)
	p, a := c.Sum()/float64(c.N()), (1-conf)/2
	iv.Method = "woodruff_neff"
	iv.NEff, _ = c.effective(p, c.variance(p), a, DefaultRho0)
	iv.FLower, iv.FUpper = betaLimits(q*iv.NEff, iv.NEff, a)
	n := float64(len(obs))
	if math.Pow(1-q, iv.NEff) <= a {
		iv.LowerRank = int(math.Floor(iv.FLower * n))
	}
	if math.Pow(q, iv.NEff) <= a {
		iv.UpperRank = int(math.Floor(iv.FUpper*n)) + 1
	}
}

// QuantileMinN is the smallest number of cases, one value each, at which the
// q-quantile has an upper and a lower end with two-sided confidence conf. q and
// conf are in (0,1); ok is false otherwise.
// Source: Hahn and Meeker 1991.
func QuantileMinN(q, conf float64) (upper, lower int, ok bool) {
	if !(q > 0 && q < 1) || !validConfidence(conf) {
		return 0, 0, false
	}
	a := math.Log((1 - conf) / 2)
	return max(1, int(math.Ceil(a/math.Log(q)-1e-9))), max(1, int(math.Ceil(a/math.Log1p(-q)-1e-9))), true
}
