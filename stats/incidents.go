// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package stats

import (
	"math"
)

// Exposure bounds the rate of incidents from their count among exposed cases.
type Exposure struct {
	Incidents, N int
	Rate         float64
	// Upper95 and Upper975 are exact one-sided upper limits of the rate, in [0,1].
	Upper95, Upper975 float64
	// RuleOfThree is 3/N where nothing happened, else NaN.
	RuleOfThree float64
	// Poisson95 is the upper limit of the rate where one case may have several
	// incidents; it may be above 1.
	Poisson95 float64
	// Status is StatusOK, StatusNoData or StatusInvalid.
	Status Status
}

// Incidents bounds a rate from above. No exposed case: StatusNoData; negative
// counts, or more incidents than cases: StatusInvalid.
// Source: Clopper and Pearson 1934; Garwood 1936; Hanley and Lippman-Hand 1983.
func Incidents(incidents, n int) Exposure {
	e := Exposure{
		Incidents: incidents, N: n, Rate: math.NaN(), Upper95: 1, Upper975: 1, RuleOfThree: math.NaN(),
		Poisson95: math.NaN(), Status: StatusNoData,
	}
	switch {
	case n < 0 || incidents < 0 || incidents > n:
		e.Status = StatusInvalid
		return e
	case n == 0:
		return e
	}
	e.Status, e.Rate = StatusOK, float64(incidents)/float64(n)
	e.Upper95, e.Upper975 = IncidentUpper(incidents, n, 0.95), IncidentUpper(incidents, n, 0.975)
	e.Poisson95 = PoissonUpper(incidents, 0.05) / float64(n)
	if incidents == 0 {
		e.RuleOfThree = 3 / float64(n)
	}
	return e
}

// IncidentUpper is the exact one-sided upper limit of a rate with confidence
// conf, for 0 <= incidents <= n; 1 for no cases.
func IncidentUpper(incidents, n int, conf float64) float64 {
	if incidents >= n {
		return 1
	}
	return BetaQuantile(float64(incidents+1), float64(n-incidents), conf)
}

// ExposureFor is the number of cases without incident that shows, with
// confidence conf, a rate below rate: exactly, and by the rule of three. Both
// are in (0,1); ok is false otherwise.
// Source: Hanley and Lippman-Hand 1983.
func ExposureFor(rate, conf float64) (exact, ruleOfThree int, ok bool) {
	if !(rate > 0 && rate < 1) || !validConfidence(conf) {
		return 0, 0, false
	}
	exact = int(math.Ceil(math.Log1p(-conf)/math.Log1p(-rate) - 1e-9))
	return exact, int(math.Ceil(3/rate - 1e-9)), true
}
