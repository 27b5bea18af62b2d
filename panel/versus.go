// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package panel

import (
	"math"
	"slices"

	"github.com/callvet/callvet/stats"
)

// CompareSlices compares the rates of each slice with those of all other calls of the target. The p
// values of a metric are adjusted over the slices of one key (Holm), of which those that stand out
// from all others are marked as worst and best.
// Source: Statistics specification, section 16.5.
func CompareSlices(tp *TargetPanel) {
	for i := range tp.Overall.Metrics {
		all := &tp.Overall.Metrics[i]
		if all.Unit != UnitRate || !all.Interval.Defined() || all.Interval.NEff <= 0 {
			continue
		}
		byKey := map[string][]*Metric{}
		for j := range tp.Slices {
			m := tp.Slices[j].Metric(all.Name)
			if m == nil {
				continue
			}
			if v := versus(m.Interval, all.Interval); v != nil {
				m.Versus = v
				byKey[tp.Slices[j].Key] = append(byKey[tp.Slices[j].Key], m)
			}
		}
		for _, of := range byKey {
			adjustVersus(of)
			if !all.Fractional {
				markExtremes(of)
			}
		}
	}
}

// adjustVersus takes the slices of one key as one family.
func adjustVersus(of []*Metric) {
	ps := make([]float64, len(of))
	for i, m := range of {
		ps[i] = m.Versus.P
	}
	for i, p := range stats.Holm(ps) {
		of[i].Versus.Adjusted = p
	}
}

// markExtremes marks the slices of one key that are worse or better than all others together. Where
// no slice of the key differs from the rest (Holm), none is marked.
func markExtremes(of []*Metric) {
	if !slices.ContainsFunc(of, func(m *Metric) bool { return m.Versus.Differs() }) {
		return
	}
	conf := of[0].Interval.Confidence
	seen := make([]stats.Count, len(of))
	for i, m := range of {
		seen[i], _ = stats.CountOf(&m.Interval)
	}
	worst, best := stats.Extremes(seen, conf)
	if of[0].LowerIsBetter {
		worst, best = best, worst
	}
	mark := func(list []stats.Extreme, as func(*Versus)) {
		for i := range list {
			v, iv := of[list[i].Index].Versus, list[i].Group.Interval(conf)
			v.Shrunken = &iv
			as(v)
		}
	}
	mark(worst, func(v *Versus) { v.Worst = true })
	mark(best, func(v *Versus) { v.Best = true })
}

// versus compares a part with the rest of a whole; nil where there is no rest.
// Both count with as many independent observations as they are worth; the rest
// is taken to be clustered as the whole is.
func versus(part, whole stats.Interval) *Versus {
	rest := whole.N - part.N
	if rest <= 0 || part.N == 0 || part.NEff <= 0 || !part.Defined() {
		return nil
	}
	p0 := (whole.Point*float64(whole.N) - part.Point*float64(part.N)) / float64(rest)
	p0 = min(max(p0, 0), 1)
	n1, n0 := part.NEff, float64(rest)*whole.NEff/float64(whole.N)
	return &Versus{Rest: p0, P: twoRates(part.Point, n1, p0, n0)}
}

// twoRates is the two-sided p value of two equal rates: Fisher's exact test on
// rounded effective counts where any expected count is below 5, else the test of
// two proportions with a pooled variance.
func twoRates(p1, n1, p0, n0 float64) float64 {
	pooled := (p1*n1 + p0*n0) / (n1 + n0)
	least := min(n1, n0) * min(pooled, 1-pooled)
	if least < 5 && n1+n0 < 50_000 {
		a, b := int(math.Round(n1)), int(math.Round(n0))
		return stats.Fisher(int(math.Round(p1*float64(a))), a, int(math.Round(p0*float64(b))), b)
	}
	v := pooled * (1 - pooled) * (1/n1 + 1/n0)
	if v <= 0 {
		return 1
	}
	return math.Erfc(math.Abs(p1-p0) / math.Sqrt(2*v))
}
