// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package judge

import (
	"math"

	"github.com/callvet/callvet/stats"
)

// Allocation splits a number of labels over two groups.
type Allocation struct {
	// Pass and Fail are the labels for judge-passes and judge-fails, or for true
	// passes and true fails. PassExact is Pass before rounding and before the
	// minimum.
	Pass, Fail int
	PassExact  float64
}

// GuessPass and GuessFail are the shares of true passes among judge-passes and
// judge-fails that an allocation assumes before there are labels.
const (
	GuessPass = 0.9
	GuessFail = 0.2
)

// AllocateByVerdict splits labels on this run's tasks between judge-passes and judge-fails so that
// Stratified is narrowest: in the proportion p sqrt(a(1-a)) : (1-p) sqrt(b(1-b)). p is the judged
// rate, a and b are the guessed shares of true passes among judge-passes and judge-fails. Each
// verdict that occurs gets at least MinStratum, or half of the labels if that is less. ok is false
// for a rate outside of [0,1] or no labels. Source: Neyman 1934.
func AllocateByVerdict(p, a, b float64, labels int) (Allocation, bool) {
	if !rates([]float64{p, a, b}) || labels < 1 {
		return Allocation{}, false
	}
	pass, fail := p*deviation(a, labels), (1-p)*deviation(b, labels)
	out := Allocation{PassExact: float64(labels) * pass / (pass + fail)}
	out.Pass = int(math.RoundToEven(out.PassExact))
	if least := min(MinStratum, labels/2); p > 0 && p < 1 {
		out.Pass = min(labels-least, max(least, out.Pass))
	}
	out.Fail = labels - out.Pass
	return out, true
}

// deviation is the standard deviation of one task; a guess of 0 or 1 is moved inside.
func deviation(x float64, labels int) float64 {
	if x == 0 || x == 1 {
		x = 1 / float64(labels+2)
	}
	return math.Sqrt(x * (1 - x))
}

// AllocateByTruth splits labels for a calibration used elsewhere between truly passed and truly
// failed tasks, in the proportion p sqrt(s(1-s)) : (1-p) sqrt(t(1-t)). p is the judged rate, s and
// t are the rates of a pilot with pilot labels a class, moved toward 1/2 by half a label each. No
// class gets fewer than the pilot. ok is false for a rate outside of [0,1] or too few labels.
// Source: Lee et al. 2025.
func AllocateByTruth(p, s, t float64, labels, pilot int) (Allocation, bool) {
	if !rates([]float64{p, s, t}) || pilot < 0 || labels < 2*pilot || labels < 1 {
		return Allocation{}, false
	}
	smooth := func(q float64) float64 {
		q = (q*float64(pilot) + 0.5) / float64(pilot+1)
		return math.Sqrt(q * (1 - q))
	}
	pass, fail := p*smooth(s), (1-p)*smooth(t)
	out := Allocation{PassExact: float64(labels) * pass / (pass + fail)}
	out.Fail = min(labels-pilot, max(pilot, int(math.RoundToEven(float64(labels)-out.PassExact))))
	out.Pass = labels - out.Fail
	return out, true
}

// Usable reports whether a gate may use a transported calibration: its informedness is above 0.3 at
// the lower end and both classes are worth MinLabels. Source: Statistics specification, section 5.
func (c Calibration) Usable(conf float64) bool {
	y := c.Youden(conf)
	return !c.Few() && y.Status != stats.StatusInvalid && y.Lower > 0.3
}
