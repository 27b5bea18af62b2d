// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package labels

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/callvet/callvet/stats"
	"github.com/callvet/callvet/stats/judge"
)

// JudgeDrift compares fresh labels with an earlier calibration.
type JudgeDrift struct {
	// Made is the time of the earlier calibration, Source the file of its labels.
	Made   time.Time `json:"made"`
	Source string    `json:"source,omitempty"`
	// Table has the fresh labels: labels with a time after Made. Undated: no label has a time,
	// and all were used; labels of the earlier calibration among them hide a drift.
	Table   AgreementTable `json:"table"`
	Undated bool           `json:"undated,omitempty"`
	// Differs lists the differences from the earlier judge; nil: none.
	Differs []string `json:"differs,omitempty"`
	// Sensitivity and Specificity are the rates of the fresh labels, the fields with Was the
	// rates of the earlier ones; all in [0,1].
	Sensitivity    stats.Interval `json:"sensitivity"`
	Specificity    stats.Interval `json:"specificity"`
	WasSensitivity stats.Interval `json:"was_sensitivity"`
	WasSpecificity stats.Interval `json:"was_specificity"`
	// The p values are as of Check.
	PSensitivity float64 `json:"p_sensitivity"`
	PSpecificity float64 `json:"p_specificity"`
	PHolm        float64 `json:"p_holm"`
	Drifted      bool    `json:"drifted"`
	Says         string  `json:"says"`
}

// drift compares labels that were not drawn by verdict with an earlier calibration. The error
// wraps callvet.ErrInvalid for a calibration of another unit, or one that is of its own run only.
func (r *CalibrationReport) drift(before *Calibration, drawn []pair) error {
	was, err := before.Transported()
	if err != nil {
		return err
	}
	fresh := slices.DeleteFunc(slices.Clone(drawn), func(p pair) bool { return !p.at.After(before.Made) })
	d := &JudgeDrift{Made: before.Made, Source: before.Source, Differs: before.Judge.Differs(r.Judge)}
	if d.Undated = !slices.ContainsFunc(drawn, func(p pair) bool { return !p.at.IsZero() }); d.Undated {
		fresh = drawn
	}
	d.Table = tableOf(fresh)
	now := d.Table.Calibration(worthOf(fresh, r.Confidence))
	found, err := judge.FindDrift(was, now)
	if err != nil {
		return fmt.Errorf("compare with the calibration of %s: %w", before.Made.Format(time.DateOnly), err)
	}
	d.PSensitivity, d.PSpecificity, d.PHolm, d.Drifted = found.PSensitivity, found.PSpecificity, found.PHolm,
		found.PHolm < driftLevel
	d.Sensitivity, d.Specificity = rateOf(fresh, r.Confidence, truly, right),
		rateOf(fresh, r.Confidence, not(truly), right)
	d.WasSensitivity, d.WasSpecificity = was.Sensitivity(r.Confidence), was.Specificity(r.Confidence)
	d.Says = d.sentence(now, r.Unit)
	r.Drift = d
	return nil
}

func (d *JudgeDrift) sentence(now judge.Calibration, unit Unit) string {
	since := d.Made.Format(time.DateOnly)
	rates := fmt.Sprintf("sensitivity %s, was %s; specificity %s, was %s; p = %.2g", rateText(d.Sensitivity),
		rateText(d.WasSensitivity), rateText(d.Specificity), rateText(d.WasSpecificity), d.PHolm)
	var s string
	switch {
	case d.Table.N() == 0:
		s = fmt.Sprintf("whether the judge has drifted since %s is not known: no label is newer", since)
	case d.Drifted:
		s = fmt.Sprintf("the judge or the %ss have changed since %s (%s): calibrate anew, with fresh labels alone",
			unit, since, rates)
	case now.Few():
		s = fmt.Sprintf("no drift since %s is shown, but %s can hardly show one (%s)", since, tooFew(now), rates)
	default:
		s = fmt.Sprintf("no more than chance has changed since %s (%s)", since, rates)
	}
	if len(d.Differs) > 0 {
		s += fmt.Sprintf("; it is another judge than then (%s differs)", strings.Join(d.Differs, ", "))
	}
	if d.Undated {
		s += "; no label has a time, so all were taken as fresh"
	}
	return s
}

func rateText(iv stats.Interval) string {
	if !iv.Defined() {
		return "not known"
	}
	return fmt.Sprintf("%.1f %%", 100*iv.Point)
}

// Wanted is how many labels drawn at random an interval of the requested width needs, if the
// judge errs, and tasks pass, as often as now.
type Wanted struct {
	Width float64 `json:"width"`
	// Sensitivity and Specificity are the needed numbers of labels of their class, existing ones
	// included; 0 where the class has none yet. Labels is the total number for both intervals,
	// More the number of missing labels; 0 where unknown.
	Sensitivity int    `json:"sensitivity"`
	Specificity int    `json:"specificity"`
	Labels      int    `json:"labels"`
	More        int    `json:"more"`
	Says        string `json:"says"`
}

// maxWanted bounds the labels that are planned for.
const maxWanted = 100_000

// want plans labels by the rates of the existing labels.
func (r *CalibrationReport) want(width float64) {
	c, w := r.calibration(), &Wanted{Width: width}
	r.Wanted = w
	if c.LabelledPass == 0 || c.LabelledFail == 0 {
		w.Says = "how many labels are needed is not known: there is none of one of the classes"
		return
	}
	// A label of a task with several labels counts less than one; the same is assumed for further
	// labels.
	class := func(hits, n int, worth float64) int {
		each := 1.0
		if worth > 0 {
			each = worth / float64(n)
		}
		for m := 1; m <= maxWanted; m += max(1, m/200) {
			k := float64(m) * each
			x := int(k*float64(hits)/float64(n) + 0.5)
			if iv := stats.ClopperPearson(min(x, int(k+0.5)), int(k+0.5), r.Confidence, stats.TwoSided); iv.Defined() &&
				iv.Upper-iv.Lower <= width {
				return m
			}
		}
		return 0
	}
	w.Sensitivity, w.Specificity = class(c.TruePositive, c.LabelledPass, c.PassWorth),
		class(c.TrueNegative, c.LabelledFail, c.FailWorth)
	if w.Sensitivity == 0 || w.Specificity == 0 {
		w.Says = fmt.Sprintf("an interval of %.1f points takes more than %d labels of a class", 100*width, maxWanted)
		return
	}
	n := r.Table.N()
	inAll := func(needed, have int) int { return (needed*n + have - 1) / have }
	w.Labels = max(inAll(w.Sensitivity, c.LabelledPass), inAll(w.Specificity, c.LabelledFail))
	w.More = max(0, w.Labels-n)
	w.Says = fmt.Sprintf(
		"intervals of sensitivity and specificity of at most %.1f points take about %d true passes and %d true fails: %d labels drawn at random, %d more than there are", 100*width, w.Sensitivity, w.Specificity, w.Labels, w.More)
}
