// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package judge

import (
	"math"

	"github.com/callvet/callvet/stats"
)

// MinStratum is the number of labels, per verdict that occurs, below which labels
// of this run are not used.
const MinStratum = 5

// Strata has labels on tasks of this run, drawn at random or by verdict.
type Strata struct {
	// JudgePass of N tasks of the run were judged passed, the labelled included.
	JudgePass int `json:"judge_pass"`
	N         int `json:"n"`
	// TruePassInPass of LabelledPass labelled judge-passes truly passed.
	LabelledPass   int `json:"labelled_judge_pass"`
	TruePassInPass int `json:"true_pass_in_judge_pass"`
	// TruePassInFail of LabelledFail labelled judge-fails truly passed.
	LabelledFail   int `json:"labelled_judge_fail"`
	TruePassInFail int `json:"true_pass_in_judge_fail"`
}

func (s Strata) valid() bool {
	return s.JudgePass >= 0 && s.JudgePass <= s.N && s.TruePassInPass >= 0 && s.TruePassInPass <= s.LabelledPass &&
		s.TruePassInFail >= 0 && s.TruePassInFail <= s.LabelledFail && s.LabelledPass <= s.JudgePass &&
		s.LabelledFail <= s.N-s.JudgePass
}

// status is why there is no estimate, or StatusOK.
func (s Strata) status(conf float64) stats.Status {
	switch {
	case !s.valid() || !(conf > 0 && conf < 1):
		return stats.StatusInvalid
	case s.N == 0:
		return stats.StatusNoData
	case s.JudgePass > 0 && s.LabelledPass == 0, s.JudgePass < s.N && s.LabelledFail == 0:
		return MissingStratum
	}
	return stats.StatusOK
}

// point is p*a + (1-p)*b; a verdict that does not occur has no weight.
func (s Strata) point() float64 {
	p, x := float64(s.JudgePass)/float64(s.N), 0.0
	if s.JudgePass > 0 {
		x += p * share(s.TruePassInPass, s.LabelledPass)
	}
	if s.JudgePass < s.N {
		x += (1 - p) * share(s.TruePassInFail, s.LabelledFail)
	}
	return x
}

// enough reports whether each verdict that occurs has its MinStratum labels, or
// all of its tasks labelled.
func (s Strata) enough() bool {
	return s.LabelledPass >= min(MinStratum, s.JudgePass) && s.LabelledFail >= min(MinStratum, s.N-s.JudgePass)
}

// Stratified is the share of tasks that truly passed, post-stratified by verdict, with its Jeffreys
// interval by quadrature. It refuses with the interval [0,1]: StatusNoData, MissingStratum, and
// StatusInvalid for more labels than tasks. With fewer than MinStratum labels for a verdict the
// status is TooFewUnits, with the estimate and its interval. Source: Tenenbein 1970; Statistics
// specification, section 4.3.
func Stratified(s Strata, conf float64) stats.Interval {
	iv := stats.Interval{
		Upper: 1, N: s.N, Clusters: s.N, NEff: float64(s.N), Confidence: conf,
		Method: "poststratified_jeffreys", Status: s.status(conf),
	}
	if iv.Status != stats.StatusOK {
		return iv
	}
	iv.Point = s.point()
	iv.Lower, iv.Upper = stratifiedLimits(s, conf, Nodes)
	if iv.Point == 0 {
		iv.Lower = 0
	}
	if iv.Point == 1 {
		iv.Upper = 1
	}
	if !s.enough() {
		iv.Status = TooFewUnits
	}
	return iv
}

// stratifiedLimits finds the ends of the interval.
func stratifiedLimits(s Strata, conf float64, nodes int) (lower, upper float64) {
	return invert(stratified(s, nodes), (1-conf)/2)
}

// stratified is the posterior distribution function of the share of true passes. It integrates
// numerically over the two rates that vary least, and computes the third, which causes most of the
// spread, exactly.
func stratified(s Strata, nodes int) func(x float64) float64 {
	byRate, byPass, byFail := s.variances()
	if byRate >= max(byPass, byFail) {
		return plainly(s, nodes)
	}
	if byPass > byFail { // exchange the verdicts, so that the fails vary most
		s.JudgePass = s.N - s.JudgePass
		s.LabelledPass, s.LabelledFail = s.LabelledFail, s.LabelledPass
		s.TruePassInPass, s.TruePassInFail = s.TruePassInFail, s.TruePassInPass
	}
	rate := posterior(float64(s.JudgePass), float64(s.N), nodes)
	pass := posterior(float64(s.TruePassInPass), float64(s.LabelledPass), nodes)
	fa, fb := float64(s.TruePassInFail)+0.5, float64(s.LabelledFail-s.TruePassInFail)+0.5
	return func(x float64) float64 {
		total := 0.0
		for i, pi := range rate.at {
			for j, aj := range pass.at {
				total += rate.weight[i] * pass.weight[j] * stats.Beta(fa, fb, clip((x-pi*aj)/(1-pi)))
			}
		}
		return total
	}
}

// variances are the contributions of the judged rate and of the shares of true passes among
// judge-passes and judge-fails to the variance of the share of true passes.
func (s Strata) variances() (byRate, byPass, byFail float64) {
	mean := func(x, n int) float64 { return (float64(x) + 0.5) / float64(n+1) }
	vary := func(x, n int) float64 { return mean(x, n) * (1 - mean(x, n)) / float64(n+2) } // of Beta(x+1/2, n-x+1/2)
	p := share(s.JudgePass, s.N)
	gap := mean(s.TruePassInPass, s.LabelledPass) - mean(s.TruePassInFail, s.LabelledFail)
	return gap * gap * vary(s.JudgePass, s.N), p * p * vary(s.TruePassInPass,
		s.LabelledPass), (1 - p) * (1 - p) * vary(s.TruePassInFail, s.LabelledFail)
}

// plainly is the posterior distribution function by plain quadrature over the two
// verdicts.
func plainly(s Strata, nodes int) func(x float64) float64 {
	a := posterior(float64(s.TruePassInPass), float64(s.LabelledPass), nodes)
	b := posterior(float64(s.TruePassInFail), float64(s.LabelledFail), nodes)
	pa, pb := float64(s.JudgePass)+0.5, float64(s.N-s.JudgePass)+0.5
	return func(x float64) float64 { return mixture(x, a, b, pa, pb) }
}

// coarse is the number of nodes of StratifiedAt: the ends move by less than 0.0005.
const coarse = 16

// StratifiedAt is a fast Stratified that only decides on which side of bound the ends are: the
// lower end is bound or 0, the upper one bound or 1. An end equal to bound means an end at or
// beyond it. It takes a thousandth of the time of Stratified.
func StratifiedAt(s Strata, bound, conf float64) stats.Interval {
	iv := stats.Interval{
		Upper: 1, N: s.N, Clusters: s.N, NEff: float64(s.N), Confidence: conf,
		Method: "poststratified_jeffreys", Status: s.status(conf),
	}
	if iv.Status != stats.StatusOK {
		return iv
	}
	iv.Point = s.point()
	a, below := (1-conf)/2, stratified(s, coarse)(bound)
	if below <= a && iv.Point > 0 {
		iv.Lower = bound
	}
	if below > 1-a && iv.Point < 1 {
		iv.Upper = math.Nextafter(bound, 0)
	}
	if !s.enough() {
		iv.Status = TooFewUnits
	}
	return iv
}

// StratifiedNodes are the limits of Stratified by plain quadrature over the two
// verdicts with a number of nodes each, and no rule for the ends.
func StratifiedNodes(s Strata, conf float64, nodes int) (lower, upper float64) {
	return invert(plainly(s, nodes), (1-conf)/2)
}

// StratifiedBelow is the posterior probability that the share of true passes is
// at most x, in [0,1]; NaN where Stratified refuses.
func StratifiedBelow(s Strata, x float64) float64 {
	if s.status(0.95) != stats.StatusOK {
		return math.NaN()
	}
	return plainly(s, Nodes)(x)
}

func mixture(x float64, a, b spread, pa, pb float64) float64 {
	total := 0.0
	for i, ai := range a.at {
		for j, bj := range b.at {
			total += a.weight[i] * b.weight[j] * mixtureBelow(x, ai, bj, pa, pb)
		}
	}
	return total
}

// mixtureBelow is P(p*a + (1-p)*b <= x) for p of Beta(pa, pb).
func mixtureBelow(x, a, b, pa, pb float64) float64 {
	switch d := a - b; {
	case d > 0:
		return stats.Beta(pa, pb, clip((x-b)/d))
	case d < 0:
		return 1 - stats.Beta(pa, pb, clip((x-b)/d))
	case b <= x:
		return 1
	}
	return 0
}

// Verification has a judge's sensitivity and specificity when the labelled tasks were drawn by its
// verdict, and the wrong values without the correction. A member that is not defined is NaN.
type Verification struct {
	Sensitivity, Specificity           float64
	NaiveSensitivity, NaiveSpecificity float64
	Status                             stats.Status
}

// BeggGreenes corrects for labels drawn by verdict. StatusNoData, StatusInvalid
// and MissingStratum are as of Stratified.
// Source: Begg and Greenes 1983.
func BeggGreenes(s Strata) Verification {
	nan := math.NaN()
	v := Verification{
		Sensitivity: nan, Specificity: nan, NaiveSensitivity: nan, NaiveSpecificity: nan,
		Status: s.status(0.95),
	}
	if v.Status != stats.StatusOK {
		return v
	}
	var pass, passFail, fail, failPass float64 // true class by judge's other verdict
	if s.LabelledPass > 0 {
		a := share(s.TruePassInPass, s.LabelledPass)
		pass, failPass = float64(s.JudgePass)*a, float64(s.JudgePass)*(1-a)
	}
	if s.LabelledFail > 0 {
		b := share(s.TruePassInFail, s.LabelledFail)
		passFail, fail = float64(s.N-s.JudgePass)*b, float64(s.N-s.JudgePass)*(1-b)
	}
	v.Sensitivity, v.Specificity = ratio(pass, pass+passFail), ratio(fail, fail+failPass)
	v.NaiveSensitivity = share(s.TruePassInPass, s.TruePassInPass+s.TruePassInFail)
	trueFail := s.LabelledPass - s.TruePassInPass + s.LabelledFail - s.TruePassInFail
	v.NaiveSpecificity = share(s.LabelledFail-s.TruePassInFail, trueFail)
	return v
}

// verifiedScale is how many labels of a class represent its rate in VerifiedCalibration; only their
// effective number matters.
const verifiedScale = 1_000_000

// VerifiedCalibration is the calibration with the sensitivity and specificity of BeggGreenes. Each
// class is worth the number of independent labels with the same variance, at most its labels. A
// class that is not defined has no label. Source: Begg and Greenes 1983, the variance on the scale
// of the logit.
func VerifiedCalibration(s Strata) Calibration {
	v := BeggGreenes(s)
	if v.Status != stats.StatusOK || math.IsNaN(v.Sensitivity) || math.IsNaN(v.Specificity) {
		return Calibration{}
	}
	a := (float64(s.TruePassInPass) + 0.5) / float64(s.LabelledPass+1)
	b := (float64(s.TruePassInFail) + 0.5) / float64(s.LabelledFail+1)
	n1, n0 := float64(s.JudgePass)+0.5, float64(s.N-s.JudgePass)+0.5
	m1, m0 := float64(s.LabelledPass)+1, float64(s.LabelledFail)+1
	worth := func(pass, fail, atPass, atFail float64) float64 { // shares of the class in both verdicts
		rate := pass / (pass + fail)
		variance := (1-atPass)/(atPass*m1) + (1-atFail)/(atFail*m0) + (n1+n0)/(n1*n0)
		return 1 / (rate * (1 - rate) * variance)
	}
	passes := float64(s.TruePassInPass + s.TruePassInFail)
	fails := float64(s.LabelledPass+s.LabelledFail) - passes
	return Calibration{
		TruePositive: int(math.Round(v.Sensitivity * verifiedScale)), LabelledPass: verifiedScale,
		TrueNegative: int(math.Round(v.Specificity * verifiedScale)), LabelledFail: verifiedScale,
		PassWorth: min(passes, worth(n1*a, n0*b, a, b)), FailWorth: min(fails, worth(n0*(1-b), n1*(1-a), 1-a, 1-b)),
	}
}

func ratio(x, n float64) float64 {
	if n == 0 {
		return math.NaN()
	}
	return x / n
}
