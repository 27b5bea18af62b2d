// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package panel

import "github.com/callvet/callvet/stats"

// addCase adds a case in the way of the metric, and reports whether it counts. A rate of calls
// counts every case with a call on either side; a side without a call adds nothing to its rate.
// Every other metric counts the cases with values on both sides. Source: Statistics specification,
// section 16.4.
func (d *Difference) addCase(a, b moment, p *Pairing) bool {
	switch {
	case p.Unit == UnitRate && a.n+b.n > 0 && (a.n == 0 || !a.each) && (b.n == 0 || !b.each):
		d.byCall = append(d.byCall, pairOfCase{a, b})
	case a.n == 0 || b.n == 0:
		return false
	}
	d.pair(a, b)
	return true
}

// finishByCall computes the difference of two rates of calls, each the ratio of its totals, by
// linearisation with the case as pair. A linearised interval may shrink to a point. Where fewer
// than five cases differ from the rest, it is therefore at least as wide as the interval of the
// difference of two independent rates. A side without a call has no rate: StatusZeroDenominator.
// Source: Statistics specification, section 16.4; Zou and Donner 2008.
func (d *Difference) finishByCall(conf float64) {
	base, cand := d.baseSums.Interval(conf, stats.DefaultRho0), d.candidateSums.Interval(conf, stats.DefaultRho0)
	d.Test, d.P = "paired_ratio_t", 1
	if !base.Defined() || !cand.Defined() {
		d.Change = stats.Interval{
			Lower: -1, Upper: 1, Clusters: d.Cases, Confidence: conf,
			Method: "paired_ratio_of_totals", Status: stats.StatusZeroDenominator,
		}
		return
	}
	cases := float64(d.Cases)
	was, is := d.baseSums.Sum()/float64(d.baseSums.N()), d.candidateSums.Sum()/float64(d.candidateSums.N())
	callsBefore, callsNow := float64(d.baseSums.N())/cases, float64(d.candidateSums.N())/cases
	d.differences = make([]float64, len(d.byCall))
	for i, x := range d.byCall {
		a, b := &x.before, &x.after
		d.differences[i] = is - was + (b.sum-is*float64(b.n))/callsNow - (a.sum-was*float64(a.n))/callsBefore
	}
	d.Change, d.P = stats.PairedSkewed(d.differences, conf)
	d.test()
	d.Change.Method = "paired_ratio_of_totals"
	if d.Cases > 1 && d.fewDiffer() {
		d.guard(conf)
		independent := stats.Combine([]float64{1, -1}, []stats.Interval{cand, base})
		d.Change.Lower, d.Change.Upper = min(d.Change.Lower, independent.Lower), max(d.Change.Upper, independent.Upper)
		d.Change.Method, d.Change.Status = d.Change.Method+"+mover", stats.StatusCapped
	}
	d.Change.Lower, d.Change.Upper = max(-1, d.Change.Lower), min(1, d.Change.Upper)
}

// finishCounts computes the difference of two mean counts by case, in their unit. Where fewer than
// five cases changed, a case is assumed to change by at most the largest count. Where the cases
// changed but fewer than five differ from the rest, the interval is that of the difference of two
// independent means. Source: Statistics specification, section 16.4.
func (d *Difference) finishCounts(conf float64) {
	d.Baseline, d.Candidate = d.countBefore.Interval(conf), d.countNow.Interval(conf)
	d.Change, d.P = stats.PairedSkewed(d.differences, conf)
	d.test()
	switch {
	case d.Cases < 2:
	case d.Fell+d.Rose < fewUnlike:
		d.bound(conf, d.largest())
		d.Change.Status = stats.StatusCapped
	case d.fewDiffer():
		independent := stats.Combine([]float64{1, -1},
			[]stats.Interval{d.countNow.Independent(conf), d.countBefore.Independent(conf)})
		d.Change.Lower, d.Change.Upper = min(d.Change.Lower, independent.Lower), max(d.Change.Upper, independent.Upper)
		d.Change.Method, d.Change.Status = d.Change.Method+"+mover", stats.StatusCapped
	}
}
