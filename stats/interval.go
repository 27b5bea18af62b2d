// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package stats

import (
	"encoding/json"
	"math"
	"strconv"
)

// Status tells whether an interval can be used, and what is special about it.
type Status string

// The statuses. OK, Boundary, Capped and ZeroVariance carry a usable interval.
const (
	// StatusOK is an ordinary interval.
	StatusOK Status = "ok"
	// StatusBoundary marks a rate of exactly 0 or 1.
	StatusBoundary Status = "boundary"
	// StatusCapped marks an effective sample size limited because fewer than five
	// cases carry information.
	StatusCapped Status = "capped"
	// StatusZeroVariance marks cases that all have the same mean, not 0 or 1.
	StatusZeroVariance Status = "zero_variance"
	// StatusNoData means that nothing was observed: no estimate.
	StatusNoData Status = "no_data"
	// StatusSingleCluster means one case only: an estimate without an interval.
	StatusSingleCluster Status = "single_cluster"
	// StatusZeroDenominator means a ratio over nothing: no estimate.
	StatusZeroDenominator Status = "zero_denominator"
	// StatusTooFew means too few pairs for a test: an estimate without an interval.
	StatusTooFew Status = "too_few"
	// StatusCensored means that the quantile lies among observations cut off at a
	// limit: the point is that limit and the truth is not below it.
	StatusCensored Status = "censored"
	// StatusInvalid means that the arguments were impossible, for example more
	// passes than trials: no estimate.
	StatusInvalid Status = "invalid_input"
	// StatusNotInformative, StatusNoLabelledPass, StatusNoLabelledFail and
	// StatusMissingStratum mean that nothing can be told from a judge's verdicts
	// (see package judge): no estimate.
	StatusNotInformative Status = "judge_not_informative"
	StatusNoLabelledPass Status = "no_labelled_pass"
	StatusNoLabelledFail Status = "no_labelled_fail"
	StatusMissingStratum Status = "missing_stratum"
	// StatusNoGold means that nothing says what would have been right: no estimate.
	StatusNoGold Status = "no_gold"
)

// Interval is an estimate with the two ends of its confidence interval.
//
// Rates have ends in [0,1]; an end that does not exist (a quantile at a small
// sample size) is infinite, and null in JSON. N counts observations, Clusters
// the cases they come from, NEff the independent observations they are worth
// (0 where the method has no such notion).
type Interval struct {
	Point, Lower, Upper float64
	// SE is the standard error; 0 where the method has none.
	SE         float64
	N          int
	Clusters   int
	NEff       float64
	Confidence float64
	Method     string
	Status     Status
}

// Defined reports whether there is an estimate at all.
func (iv Interval) Defined() bool {
	switch iv.Status {
	case StatusNoData, StatusZeroDenominator, StatusInvalid, StatusNoGold, "",
		StatusNotInformative, StatusNoLabelledPass, StatusNoLabelledFail, StatusMissingStratum:
		return false
	default:
		return true
	}
}

// Usable reports whether both the estimate and its interval may be relied on.
func (iv Interval) Usable() bool {
	switch iv.Status {
	case StatusOK, StatusBoundary, StatusCapped, StatusZeroVariance:
		return true
	default:
		return false
	}
}

type intervalJSON struct {
	Point      *float64 `json:"point"`
	Lower      *float64 `json:"lower"`
	Upper      *float64 `json:"upper"`
	SE         *float64 `json:"se,omitempty"`
	N          int      `json:"n"`
	Clusters   int      `json:"clusters"`
	NEff       float64  `json:"n_eff,omitempty"`
	Confidence float64  `json:"confidence"`
	Method     string   `json:"method"`
	Status     Status   `json:"status"`
}

// MarshalJSON writes an undefined estimate and a missing end as null.
func (iv Interval) MarshalJSON() ([]byte, error) {
	j := intervalJSON{
		Lower: finite(iv.Lower), Upper: finite(iv.Upper), N: iv.N, Clusters: iv.Clusters,
		NEff: or(finite(iv.NEff), 0), Confidence: iv.Confidence, Method: iv.Method, Status: iv.Status,
	}
	if iv.Defined() {
		j.Point = finite(iv.Point)
	}
	if iv.SE > 0 {
		j.SE = finite(iv.SE)
	}
	return json.Marshal(j)
}

// UnmarshalJSON reads what MarshalJSON wrote.
func (iv *Interval) UnmarshalJSON(b []byte) error {
	var j intervalJSON
	if err := json.Unmarshal(b, &j); err != nil {
		return err
	}
	*iv = Interval{
		Point: or(j.Point, 0), Lower: or(j.Lower, math.Inf(-1)), Upper: or(j.Upper, math.Inf(1)), SE: or(j.SE, 0),
		N: j.N, Clusters: j.Clusters, NEff: j.NEff, Confidence: j.Confidence, Method: j.Method, Status: j.Status,
	}
	return nil
}

// finite keeps 12 significant digits, so that the order in which sums were made
// does not show in a file.
func finite(x float64) *float64 {
	if math.IsInf(x, 0) || math.IsNaN(x) {
		return nil
	}
	if r, err := strconv.ParseFloat(strconv.FormatFloat(x, 'g', 12, 64), 64); err == nil {
		x = r
	}
	return &x
}

func or(p *float64, v float64) float64 {
	if p == nil {
		return v
	}
	return *p
}
