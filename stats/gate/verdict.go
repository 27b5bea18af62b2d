// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package gate

import (
	"math"

	"github.com/callvet/callvet/stats"
)

// Verdict is the result of a gate.
type Verdict string

// The verdicts.
const (
	Pass         Verdict = "PASS"
	Fail         Verdict = "FAIL"
	Inconclusive Verdict = "INCONCLUSIVE"
)

// Direction is the side of the bound where a number is good.
type Direction string

// The directions.
const (
	AtLeast Direction = ">="
	AtMost  Direction = "<="
)

// The reasons of verdicts. A status of an interval that cannot be used is its own reason.
const (
	ReasonLowerMeets    = "lower>=threshold"
	ReasonUpperMisses   = "upper<threshold"
	ReasonUpperMeets    = "upper<=threshold"
	ReasonLowerMisses   = "lower>threshold"
	ReasonStraddles     = "interval_straddles_threshold"
	ReasonTooFewUnits   = "too_few_units"
	ReasonCoverage      = "label_coverage_too_low"
	ReasonIncident      = "incident_observed"
	ReasonNoIncident    = "no_incident"
	ReasonSmallExposure = "exposure_too_small"
	ReasonNoExposure    = "no_exposure"
	ReasonInvalid       = "invalid_input"
)

// The default thresholds of Rule.
const (
	MinUnits    = 30
	MinCoverage = 0.9
)

// Rule is a bound on a number.
type Rule struct {
	Direction Direction
	Bound     float64
	// MinUnits is the least number of cases, MinCoverage the least share of cases, in [0,1], with a
	// known right answer.
	MinUnits    int
	MinCoverage float64
}

// Evidence is the estimate with its data.
type Evidence struct {
	Interval stats.Interval
	// Units is the number of cases, Coverage the labelled share of all, in [0,1].
	Units    int
	Coverage float64
}

// Decision is a verdict with its reason.
type Decision struct {
	Verdict Verdict
	Reason  string
}

// Decide passes a number only when the pessimistic end of its interval meets the bound, and fails
// it only when the optimistic end misses it. An interval that cannot be used and too little
// coverage leave it Inconclusive. Too few units prevent a pass, but not a failure. Source:
// Statistics specification, sections 7 and 16.8.
func Decide(r Rule, e Evidence) Decision {
	iv := e.Interval
	switch {
	case math.IsNaN(r.Bound) || math.IsInf(r.Bound, 0) || (r.Direction != AtLeast && r.Direction != AtMost):
		return Decision{Inconclusive, ReasonInvalid}
	case !iv.Usable():
		return Decision{Inconclusive, string(iv.Status)}
	case !(e.Coverage >= r.MinCoverage):
		return Decision{Inconclusive, ReasonCoverage}
	case r.Direction == AtLeast && iv.Upper < r.Bound:
		return Decision{Fail, ReasonUpperMisses}
	case r.Direction == AtMost && iv.Lower > r.Bound:
		return Decision{Fail, ReasonLowerMisses}
	case e.Units < r.MinUnits:
		return Decision{Inconclusive, ReasonTooFewUnits}
	case r.Direction == AtLeast && iv.Lower >= r.Bound:
		return Decision{Pass, ReasonLowerMeets}
	case r.Direction == AtMost && iv.Upper <= r.Bound:
		return Decision{Pass, ReasonUpperMeets}
	}
	return Decision{Inconclusive, ReasonStraddles}
}

// The defaults of a comparison with a baseline.
const (
	Margin    = 0.05
	MinEffect = 0.01
)

// DecideRegression compares a paired difference candidate - baseline, where more is better, with
// the allowed loss. It passes when the lower end is above -margin (not inferior), and fails when
// the upper end is below 0 and the point below -minEffect. Both are at least 0. Source: Statistics
// specification, section 7.1.
func DecideRegression(diff stats.Interval, margin, minEffect float64) Decision {
	switch {
	case !(margin >= 0) || !(minEffect >= 0):
		return Decision{Inconclusive, ReasonInvalid}
	case !diff.Usable():
		return Decision{Inconclusive, string(diff.Status)}
	case diff.Upper < 0 && diff.Point < -minEffect:
		return Decision{Fail, "upper<0"}
	case diff.Lower > -margin:
		return Decision{Pass, "lower>-margin"}
	}
	return Decision{Inconclusive, ReasonStraddles}
}

// Zero is the decision of a gate that allows no incident.
type Zero struct {
	Decision
	// Upper is the exact one-sided upper limit of the rate; NaN with an incident or without an
	// exposed case.
	Upper float64
	// Required is the exposure that MaxRate needs; 0 without one.
	Required int
}

// DecideZero fails on any incident. Without one it passes when there was exposure
// and, where maxRate is above 0, enough of it to show with confidence conf a rate
// of at most maxRate.
// Source: Statistics specification, section 7.3; Hanley and Lippman-Hand 1983.
func DecideZero(incidents, exposure int, maxRate, conf float64) Zero {
	z := Zero{Upper: math.NaN()}
	switch {
	case incidents < 0 || exposure < 0 || !(conf > 0 && conf < 1) || !(maxRate >= 0 && maxRate < 1):
		z.Decision = Decision{Inconclusive, ReasonInvalid}
		return z
	case incidents > 0:
		z.Decision = Decision{Fail, ReasonIncident}
		return z
	case exposure == 0:
		z.Decision = Decision{Inconclusive, ReasonNoExposure}
		return z
	}
	z.Upper = stats.IncidentUpper(0, exposure, conf)
	z.Decision = Decision{Pass, ReasonNoIncident}
	if maxRate > 0 {
		z.Required, _, _ = stats.ExposureFor(maxRate, conf)
		if exposure < z.Required {
			z.Decision = Decision{Inconclusive, ReasonSmallExposure}
		}
	}
	return z
}

// Policy is whether an inconclusive verdict stops a build.
type Policy string

// The policies.
const (
	Strict  Policy = "strict"
	Lenient Policy = "lenient"
)

// Single is one gate's part in the whole.
type Single struct {
	Verdict  Verdict
	Required bool
}

// Combine makes one verdict of many, and decides whether the build stops. Any required failure
// fails the whole, else any required inconclusive verdict leaves it open; without a required gate
// it is open. The probability of a false pass is at most that of the worst single gate, without
// correction. Source: Berger 1982; Statistics specification, section 7.
func Combine(gates []Single, p Policy) (overall Verdict, block bool) {
	overall = Inconclusive
	seen := false
	for _, g := range gates {
		if !g.Required {
			continue
		}
		switch {
		case g.Verdict == Fail:
			return Fail, true
		case g.Verdict != Pass:
			overall, seen = Inconclusive, true
		case !seen:
			overall, seen = Pass, true
		}
	}
	return overall, overall == Inconclusive && p != Lenient
}
