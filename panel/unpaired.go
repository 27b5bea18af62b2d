// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package panel

import (
	"cmp"
	"math"
	"slices"

	"github.com/callvet/callvet/stats"
)

// Disjoint reports whether both sides have cases and none in common: sessions of two weeks cannot be
// paired.
func Disjoint(base, cand *Ledger) bool {
	for i := range base.cases {
		if _, ok := cand.index[base.cases[i].id]; ok {
			return false
		}
	}
	return len(base.cases) > 0 && len(cand.cases) > 0
}

// compareUnpaired compares two targets over all cases of each side, which are different cases:
// sessions of two weeks, or questions of two time windows. Nothing is paired. Source: Statistics
// specification, section 16.4; Zou and Donner 2008.
func compareUnpaired(base, cand *Ledger, t [2]int, cfg *DiffConfig) TargetComparison {
	pass, _ := PairingOf(MetricPass)
	out := TargetComparison{Baseline: base.targets[t[0]], Candidate: cand.targets[t[1]]}
	passes := func(l *Ledger, target, i int, _ sliceID, _ bool) moment {
		a := l.at(target, i)
		return a.moment()
	}
	out.Overall, out.Slices = sidesUnpaired(base, cand, t, &pass, passes, cfg.Confidence)
	for k := range cand.metrics {
		b := base.metric(cand.metrics[k].Metric)
		if b < 0 {
			continue
		}
		p := cand.metrics[k]
		at := map[*Ledger]int{base: b, cand: k}
		values := func(l *Ledger, target, i int, in sliceID, own bool) moment {
			return l.seen(target, i).total(at[l], &p, in, own)
		}
		m := Measured{Pairing: p}
		m.Overall, m.Slices = sidesUnpaired(base, cand, t, &p, values, cfg.Confidence)
		out.Measured = append(out.Measured, m)
	}
	return out
}

// valuesOf returns the values of a target's attempts at a case in a slice.
type valuesOf func(l *Ledger, target, i int, in sliceID, own bool) moment

func sidesUnpaired(base, cand *Ledger, t [2]int, p *Pairing, values valuesOf, conf float64) (Difference, []Difference) {
	all := newUnpaired(p, sliceID{})
	bySlice := map[sliceID]*Difference{}
	for side, l := range []*Ledger{base, cand} {
		for i := range l.cases {
			a := l.at(t[side], i)
			lost := lostOf(a, attempts{}, p.Metric)
			all.addUnpaired(side, values(l, t[side], i, sliceID{}, false), lost)
			own := l.cases[i].slices
			for n, id := range l.slicesOf(t[side], i) {
				if bySlice[id] == nil {
					bySlice[id] = newUnpaired(p, id)
				}
				bySlice[id].addUnpaired(side, values(l, t[side], i, id, n < len(own)), lost)
			}
		}
	}
	all.finishUnpaired(p, conf)
	var out []Difference
	for _, d := range bySlice {
		if d.Cases = min(d.Unpaired[0], d.Unpaired[1]); d.Cases > 0 {
			d.finishUnpaired(p, conf)
			out = append(out, *d)
		}
	}
	slices.SortFunc(out,
		func(a, b Difference) int { return cmp.Or(cmp.Compare(a.Key, b.Key), cmp.Compare(a.Value, b.Value)) })
	adjustSlices(out)
	return *all, out
}

func newUnpaired(p *Pairing, in sliceID) *Difference {
	d := newDifference(p, in)
	d.Unpaired, d.Test, d.P = &[2]int{}, "unpaired_t", 1
	return &d
}

// addUnpaired adds a case of one side, with the share of its attempts that is lost.
func (d *Difference) addUnpaired(side int, m moment, lost float64) {
	d.lose(lost)
	if m.n == 0 {
		return
	}
	d.Unpaired[side]++
	switch sums := [2]*stats.Clusters{&d.baseSums, &d.candidateSums}[side]; {
	case d.relative:
		[2]*stats.Ratio{&d.before, &d.after}[side].Add(m.sum, float64(m.n))
	case d.counted:
		[2]*stats.Counts{&d.countBefore, &d.countNow}[side].Add(m.sum, float64(m.n), m.sum == 0)
	default:
		sums.AddAttempts(m.sum, m.n, !m.fractional, m.attempts())
	}
}

// finishUnpaired computes the difference of two independent estimates with its interval. For
// amounts it is a share of the baseline. The p value uses the smaller number of cases minus one as
// degrees of freedom. Where neither side varies, its standard error is derived from the interval.
func (d *Difference) finishUnpaired(p *Pairing, conf float64) {
	switch {
	case d.relative:
		d.Baseline, d.Candidate = notNegative(d.before.Interval(conf)), notNegative(d.after.Interval(conf))
		d.Change = stats.CombineRatio(d.Candidate, d.Baseline)
		d.Change.Point, d.Change.Lower, d.Change.Upper = d.Change.Point-1, d.Change.Lower-1, d.Change.Upper-1
	case d.counted:
		d.Baseline, d.Candidate = d.countBefore.Interval(conf), d.countNow.Interval(conf)
		d.Change = stats.Combine([]float64{1, -1},
			[]stats.Interval{d.countNow.Independent(conf), d.countBefore.Independent(conf)})
	default:
		d.Baseline, d.Candidate = d.baseSums.Interval(conf, stats.DefaultRho0),
			d.candidateSums.Interval(conf, stats.DefaultRho0)
		d.Change = stats.Combine([]float64{1, -1}, []stats.Interval{d.Candidate, d.Baseline})
	}
	d.Cases = min(d.Unpaired[0], d.Unpaired[1])
	d.Change.Method, d.Change.Clusters = "unpaired_mover", d.Cases
	if d.Change.Usable() {
		d.Change.SE = math.Hypot(d.Baseline.SE, d.Candidate.SE)
		if d.Change.SE == 0 { // neither side varies, as where all passed and none does now
			d.Change.SE = d.Change.ImpliedSE()
		}
		d.P = stats.DifferenceP(d.Candidate.Point-d.Baseline.Point, d.Change.SE, d.Cases-1)
	}
	if d.Verdict = d.judge(); p.LowerIsBetter {
		d.mirror()
	}
}
