// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package stats

import (
	"encoding/json"
	"fmt"
	"math"
	"strconv"
)

// Status is whether an interval can be used, and what is special about it.
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
	// StatusNoSpread means that all cases have the same amount, so that nothing bounds the amount
	// of a further case: an estimate without an interval.
	StatusNoSpread Status = "no_spread"
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
	// StatusFewAttempts means that a task has only one attempt, which shows no variation: an
	// estimate without an interval.
	StatusFewAttempts Status = "few_attempts"
	// StatusNotByAttempt means that the values are not one yes or no for each attempt.
	StatusNotByAttempt Status = "not_by_attempt"
	// StatusInvalid means that the arguments were impossible, for example more
	// passes than trials: no estimate.
	StatusInvalid Status = "invalid_input"
	// StatusNotInformative, StatusNoLabelledPass, StatusNoLabelledFail and StatusMissingStratum
	// mean that a judge's verdicts carry no information (see package judge): no estimate.
	StatusNotInformative Status = "judge_not_informative"
	StatusNoLabelledPass Status = "no_labelled_pass"
	StatusNoLabelledFail Status = "no_labelled_fail"
	StatusMissingStratum Status = "missing_stratum"
	// StatusJudgeDrift, StatusLostLabels and StatusNotDrawn mean that the labels cannot be used
	// (see package judge): no estimate.
	StatusJudgeDrift Status = "judge_drift"
	StatusLostLabels Status = "lost_labels"
	StatusNotDrawn   Status = "not_drawn_at_random"
	// StatusNoGold means that the right answers are not known: no estimate.
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
	case StatusNoData, StatusZeroDenominator, StatusNotByAttempt, StatusInvalid, StatusNoGold, "",
		StatusNotInformative, StatusNoLabelledPass, StatusNoLabelledFail, StatusMissingStratum,
		StatusJudgeDrift, StatusLostLabels, StatusNotDrawn:
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

// Complement is the interval of 1 - x.
func (iv Interval) Complement() Interval {
	if iv.Defined() {
		iv.Point = 1 - iv.Point
	}
	iv.Lower, iv.Upper = 1-iv.Upper, 1-iv.Lower
	return iv
}

// intervalJSON is the form of an Interval in a file.
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

// MarshalJSON writes an undefined estimate and a missing end as null. The output equals that of
// package json for an intervalJSON, without its reflection: a report has thousands of intervals,
// and reflection would take longer than everything else.
func (iv Interval) MarshalJSON() ([]byte, error) { return iv.AppendJSON(make([]byte, 0, 256)) }

// AppendJSON is MarshalJSON that appends.
func (iv Interval) AppendJSON(b []byte) ([]byte, error) {
	b = append(b, `{"point":`...)
	if !iv.Defined() {
		iv.Point = math.NaN()
	}
	b = appendFinite(b, iv.Point)
	b = appendFinite(append(b, `,"lower":`...), iv.Lower)
	b = appendFinite(append(b, `,"upper":`...), iv.Upper)
	if iv.SE > 0 && !math.IsInf(iv.SE, 1) {
		b = appendFinite(append(b, `,"se":`...), iv.SE)
	}
	b = strconv.AppendInt(append(b, `,"n":`...), int64(iv.N), 10)
	b = strconv.AppendInt(append(b, `,"clusters":`...), int64(iv.Clusters), 10)
	if iv.NEff != 0 && !math.IsInf(iv.NEff, 0) && !math.IsNaN(iv.NEff) {
		b = appendFinite(append(b, `,"n_eff":`...), iv.NEff)
	}
	b, err := AppendFloat(append(b, `,"confidence":`...), iv.Confidence)
	if err != nil {
		return nil, fmt.Errorf("write the confidence of an interval: %w", err)
	}
	b = AppendText(append(b, `,"method":`...), iv.Method)
	b = AppendText(append(b, `,"status":`...), string(iv.Status))
	return append(b, '}'), nil
}

// appendFinite writes 12 significant digits of a number, so that the order of summation does not
// show in a file; null for a number that is not finite.
func appendFinite(b []byte, x float64) []byte {
	switch abs := math.Abs(x); {
	case math.IsInf(x, 0) || math.IsNaN(x):
		return append(b, "null"...)
	case abs >= 1e-4 && abs < 1e11:
		// These are written without an exponent. No shorter number has the same float64 as one of
		// up to 15 digits, so no check by parsing is needed.
		return strconv.AppendFloat(b, x, 'g', 12, 64)
	}
	var digits [32]byte
	if r, err := strconv.ParseFloat(string(strconv.AppendFloat(digits[:0], x, 'g', 12, 64)), 64); err == nil {
		x = r
	}
	b, _ = AppendFloat(b, x) // only fails for NaN and infinity
	return b
}

// AppendFloat writes a number as package json does, and like it fails with infinite ones
// and NaN.
func AppendFloat(b []byte, x float64) ([]byte, error) {
	if math.IsInf(x, 0) || math.IsNaN(x) {
		return nil, fmt.Errorf("JSON has no number %v", x)
	}
	if abs := math.Abs(x); abs == 0 || abs >= 1e-6 && abs < 1e21 {
		return strconv.AppendFloat(b, x, 'f', -1, 64), nil
	}
	b = strconv.AppendFloat(b, x, 'e', -1, 64)
	if n := len(b); b[n-4] == 'e' && b[n-2] == '0' { // e-09 is e-9
		b = append(b[:n-2], b[n-1])
	}
	return b, nil
}

// AppendText writes a text as package json does.
func AppendText(b []byte, s string) []byte {
	for i := range len(s) {
		switch c := s[i]; {
		case c < ' ' || c >= 0x7f, c == '"', c == '\\', c == '<', c == '>', c == '&':
			text, _ := json.Marshal(s) // which strings never fail
			return append(b, text...)
		}
	}
	return append(append(append(b, '"'), s...), '"')
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

func or(p *float64, v float64) float64 {
	if p == nil {
		return v
	}
	return *p
}
