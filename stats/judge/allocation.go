// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package judge

import (
	"math"

	"github.com/callvet/callvet/stats"
	"github.com/callvet/callvet/stats/dist"
)

// Allocation splits a number of labels over two groups.
type Allocation struct {
	// Pass and Fail are the labels for judge-passes and judge-fails, or for true
	// passes and true fails. PassExact is Pass before rounding and before the
	// minimum.
	Pass, Fail int
	PassExact  float64
}

// AllocateByVerdict splits labels on this run's tasks between judge-passes and
// judge-fails so that Stratified becomes narrowest: in proportion
// p sqrt(a(1-a)) : (1-p) sqrt(b(1-b)), with p the judged rate, a and b the
// guessed shares of true passes among judge-passes and judge-fails. Each verdict
// that occurs gets at least MinStratum, or half of the labels if that is less. ok
// is false for a rate outside of [0,1] or no labels.
// Source: Neyman 1934.
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

// deviation is that of one task; a guess of 0 or 1 is not certain.
func deviation(x float64, labels int) float64 {
	if x == 0 || x == 1 {
		x = 1 / float64(labels+2)
	}
	return math.Sqrt(x * (1 - x))
}

// AllocateByTruth splits labels for a calibration used elsewhere between truly
// passed and truly failed tasks, in proportion p sqrt(s(1-s)) : (1-p) sqrt(t(1-t)),
// with p the judged rate and s and t the rates of a pilot of pilot labels a
// class, drawn toward 1/2 by half a label each. No class gets fewer than the
// pilot. ok is false for a rate outside of [0,1] or too few labels.
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

// LabelsNeeded is the number of labels with which a gate at bound would pass with
// probability power if the truth were truth, by the normal approximation, for n
// judged tasks and a judge of sensitivity s and specificity t.
type LabelsNeeded struct {
	// Transport is for a calibration made elsewhere on tasks as good as these; Random
	// for labels at random on this run; Neyman for labels on this run, allocated
	// by verdict; Alone for labels without a judge. 0 means that no number of
	// labels is enough.
	Transport, Random, Neyman, Alone int
}

// PlanLabels compares the ways to spend labels. ok is false unless bound < truth,
// all rates are in [0,1], s+t > 1, n > 0 and alpha (one-sided) and power in (0,1).
// Source: Statistics specification, section 4.7.
func PlanLabels(truth, bound, s, t float64, n int, alpha, power float64) (LabelsNeeded, bool) {
	if !rates([]float64{truth, bound, s, t}) || truth <= bound || s+t <= 1 || n < 1 ||
		!(alpha > 0 && alpha < 1 && power > 0 && power < 1) {
		return LabelsNeeded{}, false
	}
	z := dist.NormalQuantile(1-alpha) + dist.NormalQuantile(power)
	target := (truth - bound) * (truth - bound) / (z * z) // the variance that is small enough
	p := truth*s + (1-truth)*(1-t)
	a, b := ratio(truth*s, p), ratio(truth*(1-s), 1-p)
	if math.IsNaN(a) {
		a = 0
	}
	if math.IsNaN(b) {
		b = 0
	}
	judged := p * (1 - p) / float64(n)
	j := s + t - 1
	va, vb := a*(1-a), b*(1-b)
	root := p*math.Sqrt(va) + (1-p)*math.Sqrt(vb)
	return LabelsNeeded{
		Transport: labelsFor((truth*s*(1-s)+(1-truth)*t*(1-t))/(j*j), target-judged/(j*j)),
		Random:    labelsFor(p*va+(1-p)*vb, target-judged*(a-b)*(a-b)),
		Neyman:    labelsFor(root*root, target-judged*(a-b)*(a-b)),
		Alone:     labelsFor(truth*(1-truth), target),
	}, true
}

func labelsFor(variance, allowed float64) int {
	if allowed <= 0 {
		return 0
	}
	return max(1, int(math.Ceil(variance/allowed)))
}

// Usable reports whether a gate may rest on a transported calibration: its
// informedness is above 0.3 at the lower end and both classes are worth MinLabels.
// Source: Statistics specification, section 5.
func (c Calibration) Usable(conf float64) bool {
	y := c.Youden(conf)
	return !c.Few() && y.Status != stats.StatusInvalid && y.Lower > 0.3
}
