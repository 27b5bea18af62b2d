// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package judge

import (
	"math"

	"github.com/callvet/callvet/stats"
)

// The statuses of judged results, in addition to those of package stats.
const (
	// NotInformative: sensitivity and specificity sum to 1 or less.
	NotInformative = stats.StatusNotInformative
	// NoLabelledPass and NoLabelledFail: a true class without a label.
	NoLabelledPass = stats.StatusNoLabelledPass
	NoLabelledFail = stats.StatusNoLabelledFail
	// Mismatch: the run's judged rate is impossible for the calibrated judge.
	Mismatch stats.Status = "calibration_mismatch"
	// MissingStratum: tasks of one verdict without any label among them.
	MissingStratum = stats.StatusMissingStratum
	// Drifted: the judge changed its verdict on equal outputs.
	Drifted = stats.StatusJudgeDrift
	// LostLabels: too many drawn items have no usable label.
	LostLabels = stats.StatusLostLabels
	// NotDrawn: the labels without a judge were not drawn at random.
	NotDrawn = stats.StatusNotDrawn
	// TooFewUnits: too few labels for an estimate.
	TooFewUnits stats.Status = "too_few_units"
)

// Judged counts the judged tasks of a run, and the passes among them. They need not be whole:
// clustered trials enter as effective counts.
type Judged struct {
	Pass, N float64
}

func (j Judged) valid() bool { return j.N >= 0 && j.Pass >= 0 && j.Pass <= j.N }

// Calibration counts a judge's verdicts on tasks of known truth.
type Calibration struct {
	// TruePositive of LabelledPass truly passed tasks were judged passed.
	TruePositive int `json:"true_pos"`
	LabelledPass int `json:"labelled_pass"`
	// TrueNegative of LabelledFail truly failed tasks were judged failed.
	TrueNegative int `json:"true_neg"`
	LabelledFail int `json:"labelled_fail"`
	// PassWorth and FailWorth are the effective numbers of independent labels of a class: fewer
	// than the labels where several attempts at one task are labelled. 0 means all of them.
	PassWorth float64 `json:"pass_worth,omitempty"`
	FailWorth float64 `json:"fail_worth,omitempty"`
}

func (c Calibration) valid() bool {
	return c.TruePositive >= 0 && c.TruePositive <= c.LabelledPass && c.TrueNegative >= 0 &&
		c.TrueNegative <= c.LabelledFail &&
		c.PassWorth >= 0 && c.FailWorth >= 0
}

// class is one class of labels as effective counts: hits of n, both possibly fractional.
func class(hits, n int, worth float64) (x, m float64) {
	if worth <= 0 || worth >= float64(n) {
		return float64(hits), float64(n)
	}
	return float64(hits) * worth / float64(n), worth
}

// pass and fail are the classes as effective counts.
func (c Calibration) pass() (x, m float64) { return class(c.TruePositive, c.LabelledPass, c.PassWorth) }

func (c Calibration) fail() (x, m float64) { return class(c.TrueNegative, c.LabelledFail, c.FailWorth) }

// Few reports whether either class is worth fewer than MinLabels independent labels.
func (c Calibration) Few() bool {
	_, pass := c.pass()
	_, fail := c.fail()
	return min(pass, fail) < MinLabels
}

// Sensitivity is the share of true passes judged passed, with its interval: exact where
// the labels are independent.
func (c Calibration) Sensitivity(conf float64) stats.Interval {
	return classRate(c.TruePositive, c.LabelledPass, c.PassWorth, conf)
}

// Specificity is the share of true fails judged failed, like Sensitivity.
func (c Calibration) Specificity(conf float64) stats.Interval {
	return classRate(c.TrueNegative, c.LabelledFail, c.FailWorth, conf)
}

func classRate(hits, n int, worth, conf float64) stats.Interval {
	if worth <= 0 || worth >= float64(n) {
		return stats.ClopperPearson(hits, n, conf, stats.TwoSided)
	}
	return stats.EffectiveRate(share(hits, n), n, n, worth, conf)
}

// Youden is sensitivity + specificity - 1 with its interval: 1 for a perfect
// judge, 0 for chance. In [-1,1].
// Source: Youden 1950; Zou and Donner 2008 for the interval.
func (c Calibration) Youden(conf float64) stats.Interval {
	s, t := c.Sensitivity(conf), c.Specificity(conf)
	iv := stats.Combine([]float64{1, 1}, []stats.Interval{s, t})
	iv.Point, iv.Lower, iv.Upper = iv.Point-1, max(-1, iv.Lower-1), min(1, iv.Upper-1)
	iv.Confidence = conf
	return iv
}

// rates are sensitivity and specificity, NaN where there is no label.
func (c Calibration) rates() (s, t float64) {
	return share(c.TruePositive, c.LabelledPass), share(c.TrueNegative, c.LabelledFail)
}

func share(x, n int) float64 {
	if n == 0 {
		return math.NaN()
	}
	return float64(x) / float64(n)
}

// Correction is the Rogan-Gladen estimate of true success with its parts. A
// member that is not defined is NaN.
type Correction struct {
	Sensitivity, Specificity, Apparent, Youden float64
	// Raw is the estimate before Point is clipped to [0,1]; outside of it, judge
	// and run do not fit together.
	Raw, Point float64
	Clipped    bool
	// SE counts the errors of the judged rate and of the calibration, SEKnownJudge
	// only the former. WaldLower and WaldUpper are the clipped normal interval,
	// for comparison.
	SE, SEKnownJudge     float64
	WaldLower, WaldUpper float64
	Status               stats.Status
}

// RoganGladen corrects a judged rate for the judge's errors: (p+t-1)/(s+t-1).
// It refuses with a Status when a true class has no label, when nothing was
// judged, or when s+t is at most 1.
// Source: Rogan and Gladen 1978.
func RoganGladen(j Judged, c Calibration, conf float64) Correction {
	nan := math.NaN()
	out := Correction{
		Apparent: nan, Youden: nan, Raw: nan, Point: nan, SE: nan, SEKnownJudge: nan, WaldLower: 0,
		WaldUpper: 1,
	}
	out.Sensitivity, out.Specificity = c.rates()
	out.Status = refusal(j, c, conf)
	if out.Status != stats.StatusOK {
		return out
	}
	s, t, p := out.Sensitivity, out.Specificity, j.Pass/j.N
	out.Apparent, out.Youden = p, s+t-1
	out.Raw = (p + t - 1) / out.Youden
	out.Point = min(1, max(0, out.Raw))
	out.Clipped = out.Point != out.Raw
	vp := p * (1 - p) / j.N
	_, m1 := c.pass()
	_, m0 := c.fail()
	vs, vt := s*(1-s)/m1, t*(1-t)/m0
	out.SEKnownJudge = math.Sqrt(vp) / out.Youden
	out.SE = math.Sqrt(vp+out.Raw*out.Raw*vs+(1-out.Raw)*(1-out.Raw)*vt) / out.Youden
	z := stats.NormalQuantile(1 - (1-conf)/2)
	out.WaldLower, out.WaldUpper = max(0, out.Raw-z*out.SE), min(1, out.Raw+z*out.SE)
	return out
}

func refusal(j Judged, c Calibration, conf float64) stats.Status {
	s, t := c.rates()
	switch {
	case !j.valid() || !c.valid() || !(conf > 0 && conf < 1):
		return stats.StatusInvalid
	case c.LabelledPass == 0:
		return NoLabelledPass
	case c.LabelledFail == 0:
		return NoLabelledFail
	case j.N == 0:
		return stats.StatusNoData
	case s+t-1 <= 1e-12:
		return NotInformative
	}
	return stats.StatusOK
}

// Score is the Lang-Reiczigel interval with its parts: adjusted rates, their
// estimate (Center), and the Shift and SE that make the ends.
type Score struct {
	P, Sensitivity, Specificity float64
	Center, Shift, SE           float64
	Lower, Upper                float64
	Status                      stats.Status
}

// LangReiczigel is the interval of true success from a judge calibrated
// elsewhere, by adjusted rates, in [0,1]. Nothing judged: StatusNoData;
// adjusted s+t of at most 1: NotInformative; both with [0,1]. A true class
// without labels counts as s or t of 1/2 from two tasks.
// Source: Lang and Reiczigel 2014; the same formula as Lee et al. 2025.
func LangReiczigel(j Judged, c Calibration, conf float64) Score {
	out := Score{Upper: 1, Status: stats.StatusOK}
	switch {
	case !j.valid() || !c.valid() || !(conf > 0 && conf < 1):
		out.Status = stats.StatusInvalid
		return out
	case j.N == 0:
		out.Status = stats.StatusNoData
		return out
	}
	z := stats.NormalQuantile(1 - (1-conf)/2)
	tp, m1 := c.pass()
	tn, m0 := c.fail()
	n, m1, m0 := j.N+z*z, m1+2, m0+2
	p := (j.Pass + z*z/2) / n
	s, t := (tp+1)/m1, (tn+1)/m0
	out.P, out.Sensitivity, out.Specificity = p, s, t
	if s+t-1 <= 1e-12 {
		out.Status = NotInformative
		return out
	}
	vs, vt := s*(1-s)/m1, t*(1-t)/m0
	x := (p + t - 1) / (s + t - 1)
	out.Center = x
	out.Shift = 2 * z * z * (x*vs - (1-x)*vt)
	out.SE = math.Sqrt(p*(1-p)/n+x*x*vs+(1-x)*(1-x)*vt) / (s + t - 1)
	out.Lower = min(1, max(0, x+out.Shift-z*out.SE))
	out.Upper = max(0, min(1, x+out.Shift+z*out.SE))
	return out
}

// Effective converts clustered verdicts to effective counts: the rate times the effective sample
// size of judged, of that size. Source: Statistics specification, section 4.4.
func Effective(judged stats.Interval) Judged {
	return Judged{Pass: judged.Point * judged.NEff, N: judged.NEff}
}
