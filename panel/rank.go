// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package panel

import (
	"slices"
	"strconv"
)

// Contender is a target of a ledger.
type Contender struct {
	Ledger *Ledger
	Target string
}

// Rank is the place of a target among several. Best is 1 + the number of significantly better
// targets; Worst is the number of targets - the number of significantly worse ones.
type Rank struct {
	Best  int `json:"best"`
	Worst int `json:"worst"`
}

// String returns "2", or "1–4" where the place is not decided.
func (r Rank) String() string {
	if r.Best == r.Worst {
		return strconv.Itoa(r.Best)
	}
	return strconv.Itoa(r.Best) + "–" + strconv.Itoa(r.Worst)
}

// Ranks returns the place of each target by a metric. Unless it is the pass rate, the ledgers must
// keep it. Each pair is compared on the cases that both have; the p values of all pairs are one
// family (Holm). confidence is two-sided, 0 means 0.95. Source: Statistics specification, section
// 16.5; Holm 1979.
func Ranks(of []Contender, metric string, confidence float64) []Rank {
	if !(confidence > 0 && confidence < 1) {
		confidence = 0.95
	}
	out := make([]Rank, len(of))
	for i := range out {
		out[i] = Rank{Best: 1, Worst: len(of)}
	}
	var pairs [][2]int
	var family []*Difference
	for i := range of {
		for j := i + 1; j < len(of); j++ {
			if d := between(&of[i], &of[j], metric, confidence); d != nil && d.Cases > 0 {
				pairs, family = append(pairs, [2]int{i, j}), append(family, d)
			}
		}
	}
	adjust(family)
	for k, d := range family {
		better, worse := pairs[k][1], pairs[k][0]
		switch d.Verdict {
		case ChangeWorse:
			better, worse = worse, better
		case ChangeBetter:
		default:
			continue
		}
		out[worse].Best++
		out[better].Worst--
	}
	return out
}

// between is the difference of two targets by a metric; nil where one of them does not have it.
func between(a, b *Contender, metric string, conf float64) *Difference {
	t := [2]int{slices.Index(a.Ledger.targets, a.Target), slices.Index(b.Ledger.targets, b.Target)}
	if t[0] < 0 || t[1] < 0 {
		return nil
	}
	common := new(Comparison).match(a.Ledger, b.Ledger)
	if metric != MetricPass {
		at := [2]int{a.Ledger.metric(metric), b.Ledger.metric(metric)}
		if at[0] < 0 || at[1] < 0 {
			return nil
		}
		m := compareMetric(a.Ledger, b.Ledger, t, common, at, &DiffConfig{Confidence: conf})
		return &m.Overall
	}
	d := newDifference(&Pairing{Unit: UnitRate}, sliceID{})
	for _, p := range common {
		if x, y := a.Ledger.at(t[0], p[0]), b.Ledger.at(t[1], p[1]); x.judged > 0 && y.judged > 0 {
			d.add(x, y)
		}
	}
	d.finish(conf)
	return &d
}
