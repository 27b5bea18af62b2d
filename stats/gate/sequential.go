// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package gate

import (
	"math"

	"github.com/callvet/callvet/stats"
)

// Prior is a beta distribution over a rate; A and B are above 0. The zero value means the uniform
// one.
type Prior struct {
	A, B float64
}

func (p Prior) or1() Prior {
	if p == (Prior{}) {
		return Prior{1, 1}
	}
	return p
}

func (p Prior) valid() bool { return p.A > 0 && p.B > 0 }

// EValue is evidence that may be evaluated after every case without inflating the error: stop, and
// claim, when Log is at least the logarithm of 1/alpha.
type EValue struct {
	// Log is the natural logarithm of the e-value.
	Log float64
	// P is the anytime-valid p value, in [0,1].
	P      float64
	Status stats.Status
}

// Rejects reports whether the evidence is enough at level alpha.
func (e EValue) Rejects(alpha float64) bool {
	return e.Status == stats.StatusOK && e.Log >= -math.Log(alpha)
}

func eValue(log float64) EValue {
	return EValue{Log: log, P: min(1, math.Exp(-log)), Status: stats.StatusOK}
}

// PassEValue is the evidence that a rate is above threshold, from independent
// cases in random order. Nothing seen: Log is 0. Negative counts, or a threshold
// outside of (0,1): StatusInvalid.
// Source: Robbins 1970; Ville 1939; Statistics specification, section 10.
func PassEValue(successes, failures int, threshold float64, prior Prior) EValue {
	prior = prior.or1()
	if successes < 0 || failures < 0 || !inside(threshold) || !prior.valid() {
		return EValue{P: 1, Status: stats.StatusInvalid}
	}
	s, f := float64(successes), float64(failures)
	mixture := stats.LogBeta(prior.A+s, prior.B+f) + stats.LogBetaUpper(prior.A+s, prior.B+f, threshold)
	base := stats.LogBeta(prior.A, prior.B) + stats.LogBetaUpper(prior.A, prior.B, threshold)
	return eValue(mixture - base - s*math.Log(threshold) - f*math.Log1p(-threshold))
}

// ChangeEValue is the evidence that more cases change in one direction than in
// the other between a baseline and a candidate. Negative counts: StatusInvalid.
// Source: Robbins 1970; Ramdas et al. 2023.
func ChangeEValue(passToFail, failToPass int) EValue {
	if passToFail < 0 || failToPass < 0 {
		return EValue{P: 1, Status: stats.StatusInvalid}
	}
	b, c := float64(passToFail), float64(failToPass)
	return eValue(stats.LogBeta(b+1, c+1) + (b+c)*math.Ln2)
}

// ConfidenceSequence is an interval for a rate that holds at all sample sizes at
// once with probability 1-alpha, in [0,1]. Nothing seen: StatusNoData and [0,1].
// Negative counts, alpha outside of (0,1) or an improper prior: StatusInvalid.
// Source: Robbins 1970; Howard et al. 2021.
func ConfidenceSequence(successes, failures int, alpha float64, prior Prior) stats.Interval {
	prior = prior.or1()
	n := successes + failures
	iv := stats.Interval{
		Upper: 1, N: n, Clusters: n, NEff: float64(n), Confidence: 1 - alpha,
		Method: "beta_binomial_sequence", Status: stats.StatusNoData,
	}
	if successes < 0 || failures < 0 || !inside(alpha) || !prior.valid() {
		iv.Status = stats.StatusInvalid
		return iv
	}
	if n == 0 {
		return iv
	}
	s, f := float64(successes), float64(failures)
	mixture := stats.LogBeta(prior.A+s, prior.B+f) - stats.LogBeta(prior.A, prior.B)
	outside := func(p float64) bool { // the e-value against p reaches 1/alpha
		return mixture-term(s, p)-term(f, 1-p) >= -math.Log(alpha)
	}
	iv.Point, iv.Status = s/(s+f), stats.StatusOK
	if s > 0 {
		iv.Lower = halve(0, iv.Point, outside)
	}
	if f > 0 {
		iv.Upper = halve(1, iv.Point, outside)
	}
	return iv
}

func term(n, x float64) float64 {
	if n == 0 {
		return 0
	}
	return n * math.Log(x)
}

// halve finds where outside turns false between out, where it is true, and in.
func halve(out, in float64, outside func(float64) bool) float64 {
	for range 100 {
		m := (out + in) / 2
		if outside(m) {
			out = m
		} else {
			in = m
		}
	}
	return (out + in) / 2
}
