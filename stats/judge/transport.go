// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package judge

import (
	"fmt"
	"math"

	"github.com/callvet/callvet/stats"
)

// MinLabels is the number of independent labels of true passes, and of true fails,
// below which a transported calibration is not used.
const MinLabels = 10

// TrueSuccess is the estimate of the share of tasks that truly passed, from a
// judge calibrated elsewhere: the Rogan-Gladen point with the Lang-Reiczigel
// interval. judged is the interval of the judged rate, clustered by task; its
// effective sample size is the one used.
//
// It refuses, with the interval [0,1], so that no gate may pass: StatusNoData, NoLabelledPass,
// NoLabelledFail, NotInformative, TooFewUnits (below MinLabels) and Mismatch (the judged rate is
// impossible for this judge). Source: Statistics specification, sections 4.3 to 4.5.
func TrueSuccess(judged stats.Interval, c Calibration, conf float64) stats.Interval {
	iv := stats.Interval{
		Upper: 1, N: judged.N, Clusters: judged.Clusters, NEff: judged.NEff, Confidence: conf,
		Method: "rogan_gladen_lang_reiczigel", Status: judged.Status,
	}
	if !judged.Usable() {
		return iv
	}
	j := Effective(judged)
	point := RoganGladen(j, c, conf)
	iv.Status = point.Status
	if point.Status != stats.StatusOK {
		return iv
	}
	iv.Point, iv.SE = point.Point, point.SE
	if c.Few() {
		iv.Status = TooFewUnits
		return iv
	}
	if FindMismatch(j, c).Mismatch {
		iv.Status = Mismatch
		return iv
	}
	score := LangReiczigel(j, c, conf)
	iv.Status = score.Status
	iv.Lower, iv.Upper = min(score.Lower, iv.Point), max(score.Upper, iv.Point)
	return iv
}

// Carried is the estimate with N and Clusters set to the labels that it rests on and their tasks.
// Tasks without a label are no evidence of the truth.
func Carried(iv stats.Interval, labels, tasks int) stats.Interval {
	iv.N, iv.Clusters, iv.NEff = labels, tasks, 0
	if labels == tasks {
		iv.NEff = float64(labels)
	}
	return iv
}

// Fit is the test of whether a run's judged rate is possible for a calibrated judge: it can neither
// exceed the sensitivity nor be below the false positive rate.
type Fit struct {
	// PAbove and PBelow are one-sided exact p values of being outside.
	PAbove, PBelow float64
	Mismatch       bool
}

// MismatchLevel is the p value below which a calibration does not belong to a run.
const MismatchLevel = 0.005

// FindMismatch tests the fit. Effective counts are rounded. A class without
// labels, or nothing judged, fits.
// Source: Statistics specification, section 4.5; Fisher 1935.
func FindMismatch(j Judged, c Calibration) Fit {
	f := Fit{PAbove: 1, PBelow: 1}
	if !j.valid() || !c.valid() {
		return f
	}
	k, n := int(math.Round(j.Pass)), int(math.Round(j.N))
	k = min(k, n)
	if c.LabelledPass > 0 {
		x, m := whole(c.pass())
		f.PAbove = stats.FisherGreater(k, n, x, m)
	}
	if c.LabelledFail > 0 {
		x, m := whole(c.fail())
		f.PBelow = stats.FisherGreater(n-k, n, x, m)
	}
	f.Mismatch = min(f.PAbove, f.PBelow) < MismatchLevel
	return f
}

// whole rounds effective counts.
func whole(x, m float64) (hits, n int) {
	n = max(1, int(math.Round(m)))
	return min(n, int(math.Round(x*float64(n)/m))), n
}

// Differ is the exact p value that two calibrations come from the same sensitivity, and
// from the same specificity; 1 where either has no label of the class.
// Source: Fisher 1935.
func Differ(a, b Calibration) (sensitivity, specificity float64) {
	test := func(x, m, y, n float64) float64 {
		if m == 0 || n == 0 {
			return 1
		}
		k, of := whole(x, m)
		l, from := whole(y, n)
		return stats.Fisher(k, of, l, from)
	}
	ax, am := a.pass()
	bx, bm := b.pass()
	sensitivity = test(ax, am, bx, bm)
	ax, am = a.fail()
	bx, bm = b.fail()
	return sensitivity, test(ax, am, bx, bm)
}

// Drift has the p values for the hypothesis that a judge's sensitivity and specificity are those of
// its stored calibration.
type Drift struct {
	PSensitivity, PSpecificity float64
	// PHolm is the smaller one, adjusted for the two tests; drift is below 0.05.
	PHolm float64
}

// FindDrift compares fresh labels with a stored calibration. A class without
// labels on either side has p = 1.
// Source: Fisher 1935; Holm 1979.
func FindDrift(stored, fresh Calibration) (Drift, error) {
	if !stored.valid() || !fresh.valid() {
		return Drift{}, fmt.Errorf("compare calibrations: more hits than labels")
	}
	var d Drift
	d.PSensitivity, d.PSpecificity = Differ(stored, fresh)
	adjusted := stats.Holm([]float64{d.PSensitivity, d.PSpecificity})
	d.PHolm = min(adjusted[0], adjusted[1])
	return d, nil
}
