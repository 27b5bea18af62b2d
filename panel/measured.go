// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package panel

import (
	"cmp"
	"math"
	"slices"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/stats"
)

// moment is the sum of n values of one case, with the sum of their squares.
type moment struct {
	sum        float64
	n          int
	fractional bool
	each       bool // the values are of one attempt each
	fact       bool // the attempts cannot vary
}

// mean is the mean of the values; 0 without values.
func (m *moment) mean() float64 {
	if m.n == 0 {
		return 0
	}
	return m.sum / float64(m.n)
}

// attempts are the attempts of the values, one value each; one attempt where the values are of
// calls.
func (m *moment) attempts() stats.Attempts {
	if !m.each {
		return stats.Attempts{}
	}
	return stats.Attempts{N: m.n, Alike: !m.fractional && (m.sum == 0 || m.sum == float64(m.n))}
}

// SliceID names a slice by key and value.
type SliceID struct{ Key, Value string }

// Observation is the values of a metric in a part of a case: their number N and their sum.
type Observation struct {
	// Metric is a position in the list of Measure.
	Metric int
	Sum    float64
	N      int
	// Fractional reports that not all values were 0 or 1; Each that each value is of an attempt of
	// its own.
	Fractional, Each bool
}

// measuredCase has the values of one target at one case, by parts that are in different slices, and
// all slices that any part is in.
type measuredCase struct {
	parts   []measuredPart
	touched []sliceID
}

type measuredPart struct {
	slices []sliceID
	own    bool     // in the slices of the case
	values []moment // by metric
}

// Measure makes the ledger keep these metrics, case by case, in addition to verdicts. PairingOf
// must know each. Call it before anything is added.
func (l *Ledger) Measure(metrics ...string) {
	l.metrics = nil
	for _, name := range metrics {
		if p, why := PairingOf(name); why == "" && name != MetricPass {
			l.metrics = append(l.metrics, p)
		}
	}
	l.measured = make([][]measuredCase, len(l.targets))
}

// SliceBy makes the ledger take the slices of a case from f instead of its tags and fields.
func (l *Ledger) SliceBy(f func(*callvet.Case) []SliceID) { l.slicer = f }

// member lists the slices of a case.
func (l *Ledger) member(c *callvet.Case) []sliceID {
	if l.slicer == nil {
		return memberships(l.sliceBy, c, nil)
	}
	var out []sliceID
	for _, s := range l.slicer(c) {
		out = append(out, sliceID{s.Key, s.Value})
	}
	return out
}

// Metrics are the metrics by the positions that Observation uses.
func (l *Ledger) Metrics() []Pairing { return l.metrics }

// Observe adds the values of a part of a case. in are the slices of the part; nil means those of
// the case.
func (l *Ledger) Observe(target int, id string, in []SliceID, values []Observation) {
	if target < 0 || target >= len(l.measured) {
		return
	}
	i, ok := l.index[id]
	if !ok {
		i = l.place(ledgerCase{id: id})
	}
	for len(l.measured[target]) <= i {
		l.measured[target] = append(l.measured[target], measuredCase{})
	}
	m := &l.measured[target][i]
	part := measuredPart{own: in == nil, values: make([]moment, len(l.metrics))}
	for _, s := range in {
		id := sliceID{s.Key, s.Value}
		if part.slices = append(part.slices, id); !slices.Contains(m.touched, id) {
			m.touched = append(m.touched, id)
		}
	}
	for _, v := range values {
		part.values[v.Metric].plus(moment{sum: v.Sum, n: v.N, fractional: v.Fractional, each: v.Each})
	}
	for j := range m.parts {
		if m.parts[j].own == part.own && slices.Equal(m.parts[j].slices, part.slices) {
			for k, v := range part.values {
				m.parts[j].values[k].plus(v)
			}
			return
		}
	}
	m.parts = append(m.parts, part)
}

func (m *moment) plus(o moment) {
	m.each = o.each && (m.each || m.n == 0)
	m.sum, m.n, m.fractional = m.sum+o.sum, m.n+o.n, m.fractional || o.fractional
}

func (l *Ledger) metric(name string) int {
	return slices.IndexFunc(l.metrics, func(p Pairing) bool { return p.Metric == name })
}

// seen has the values of a target's attempts at a case; empty where there are none.
func (l *Ledger) seen(target, i int) *measuredCase {
	if target < len(l.measured) && i < len(l.measured[target]) {
		return &l.measured[target][i]
	}
	return &measuredCase{}
}

// slicesOf are the slices of a case and of a target's parts of it.
func (l *Ledger) slicesOf(target, i int) []sliceID {
	out := l.cases[i].slices
	for _, id := range l.seen(target, i).touched {
		if !slices.Contains(out, id) {
			out = append(slices.Clip(out), id)
		}
	}
	return out
}

// total sums the parts of a case that are in a slice. With own, parts in the slices of the case
// count too; a slice without a key has all parts.
func (m *measuredCase) total(metric int, p *Pairing, in sliceID, own bool) moment {
	var sum moment
	for i := range m.parts {
		if in.key == "" || own && m.parts[i].own || slices.Contains(m.parts[i].slices, in) {
			sum.plus(m.parts[i].values[metric])
		}
	}
	if p.byTask() && sum.n > 0 {
		right := moment{n: 1, each: true}
		if sum.sum >= float64(sum.n) {
			right.sum = 1
		}
		return right
	}
	return sum
}

// Measured is the paired change of one metric.
type Measured struct {
	Pairing
	Overall Difference   `json:"overall"`
	Slices  []Difference `json:"slices,omitempty"`
	// OneSided counts the cases in both runs with a value of the metric on one side only.
	OneSided int `json:"one_sided,omitempty"`
}

// compareMeasured compares every metric that both ledgers keep. Each case counts equally, by the
// mean of its values, whatever their number; in a rate of calls each call counts equally. Source:
// Statistics specification, sections 9 and 16.4.
func compareMeasured(base, cand *Ledger, t [2]int, common [][2]int, cfg *DiffConfig) []Measured {
	var out []Measured
	for k := range cand.metrics {
		if b := base.metric(cand.metrics[k].Metric); b >= 0 {
			out = append(out, compareMetric(base, cand, t, common, [2]int{b, k}, cfg))
		}
	}
	return out
}

func compareMetric(base, cand *Ledger, t [2]int, common [][2]int, metric [2]int, cfg *DiffConfig) Measured {
	p := cand.metrics[metric[1]]
	out := Measured{Pairing: p, Overall: newDifference(&p, sliceID{})}
	out.Overall.about(base, cand, t, cfg)
	bySlice := map[sliceID]*Difference{}
	for _, at := range common {
		before, after := base.seen(t[0], at[0]), cand.seen(t[1], at[1])
		lost := lostOf(base.at(t[0], at[0]), cand.at(t[1], at[1]), p.Metric)
		out.Overall.lose(lost)
		a, b := before.total(metric[0], &p, sliceID{}, false), after.total(metric[1], &p, sliceID{}, false)
		a.fact, b.fact = base.at(t[0], at[0]).fact(), cand.at(t[1], at[1]).fact()
		if !out.Overall.addCase(a, b, &p) {
			out.OneSided += min(1, a.n+b.n)
		}
		own := cand.cases[at[1]].slices
		ids := slices.Clone(own)
		for _, id := range slices.Concat(before.touched, after.touched) {
			if !slices.Contains(ids, id) {
				ids = append(ids, id)
			}
		}
		for i, id := range ids {
			s := bySlice[id]
			if s == nil {
				d := newDifference(&p, id)
				d.about(base, cand, t, cfg)
				s = &d
				bySlice[id] = s
			}
			s.lose(lost)
			x, y := before.total(metric[0], &p, id, i < len(own)), after.total(metric[1], &p, id, i < len(own))
			x.fact, y.fact = a.fact, b.fact
			s.addCase(x, y, &p)
		}
	}
	out.Overall.finish(cfg.Confidence)
	for _, d := range bySlice {
		if d.Cases == 0 {
			continue
		}
		d.finish(cfg.Confidence)
		out.Slices = append(out.Slices, *d)
	}
	slices.SortFunc(out.Slices,
		func(a, b Difference) int { return cmp.Or(cmp.Compare(a.Key, b.Key), cmp.Compare(a.Value, b.Value)) })
	adjustSlices(out.Slices)
	if p.LowerIsBetter {
		out.Overall.mirror()
		for i := range out.Slices {
			out.Slices[i].mirror()
		}
	}
	return out
}

// mirror inverts the verdict, for a metric where less is better.
func (d *Difference) mirror() {
	switch d.Verdict {
	case ChangeBetter:
		d.Verdict = ChangeWorse
	case ChangeWorse:
		d.Verdict = ChangeBetter
	}
}

// widen moves the ends of a difference of rates out to those of Tango's score interval, where the
// largest change counts as a whole case. Newcombe's interval is too short where few cases change,
// and a t interval where few cases differ from the rest. Example: 40 cases with one attempt each,
// half failing before, a true loss of 5 % and a gate with that margin. Without widen the gate
// passed 10.9 % of the time; with it at most 2.6 %, for all numbers of cases that can pass at all.
// Source: Newcombe 1998; Tango 1998.
func (d *Difference) widen(conf float64) {
	most, net, squares := d.largest(), 0.0, 0.0
	if most == 0 {
		most = 1 // the largest possible change
	}
	for _, x := range d.differences {
		net += x / most
		squares += (x / most) * (x / most)
	}
	back := max(0, (squares-math.Abs(net))/2) // against the net change
	rose, fell := back+max(0, net), back+max(0, -net)
	score := stats.TangoCounts(rose, fell, len(d.differences), conf)
	if !d.Change.Usable() || !score.Usable() {
		return
	}
	d.Change.Lower, d.Change.Upper = min(d.Change.Lower, most*score.Lower), max(d.Change.Upper, most*score.Upper)
	d.Change.Method += "+tango"
}

// fewUnlike is how many cases must differ from the rest for a t interval.
const fewUnlike = 5

// fewDiffer reports whether fewer than fewUnlike cases change differently from the rest. Then one
// of the first fewUnlike cases changes as the rest does. Equal changes may differ by rounding.
func (d *Difference) fewDiffer() bool {
	for _, by := range d.differences[:min(len(d.differences), fewUnlike)] {
		others := 0
		for _, x := range d.differences {
			if math.Abs(x-by) > 1e-12 {
				others++
			}
		}
		if others < fewUnlike {
			return true
		}
	}
	return false
}

// guard widens the interval of a difference where few cases differ from the rest. The t interval is
// too short then, and a single point where no case differs.
func (d *Difference) guard(conf float64) {
	if !d.Change.Usable() || !d.fewDiffer() {
		return
	}
	d.widen(conf)
	d.bound(conf, 1)
	d.Change.Status = stats.StatusCapped
}

// bound widens the interval of a difference where fewer than fewUnlike cases changed. A case
// changes by at most the given amount, in the unit of Change. The mean therefore falls by no more
// than that amount times the share of cases that fall, and that share has an exact upper limit.
// Source: Clopper and Pearson 1934.
func (d *Difference) bound(conf, most float64) {
	if d.Fell+d.Rose >= fewUnlike {
		return
	}
	d.Change.Lower = min(d.Change.Lower, -most*stats.ClopperPearson(d.Fell, d.Cases, conf, stats.TwoSided).Upper)
	if !d.counted {
		d.Change.Lower = max(-1, d.Change.Lower)
	}
	d.Change.Upper = max(d.Change.Upper, most*stats.ClopperPearson(d.Rose, d.Cases, conf, stats.TwoSided).Upper)
}
