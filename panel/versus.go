// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package panel

import (
	"fmt"
	"math"
	"slices"

	"github.com/callvet/callvet/stats"
)

// CompareSlices compares the rates of each slice with those of all other calls of the target. The p
// values of a metric are adjusted over the slices of one key (Holm). Slices that are worse or
// better than all others are marked as worst and best. Source: Statistics specification, section
// 16.5.
func CompareSlices(tp *TargetPanel) {
	known := map[string]*extremes{}
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
				markExtremes(of, known)
			}
		}
	}
}

// adjustVersus treats the slices of one key as one family.
func adjustVersus(of []*Metric) {
	ps := make([]float64, len(of))
	for i, m := range of {
		ps[i] = m.Versus.P
	}
	for i, p := range stats.Holm(ps) {
		of[i].Versus.Adjusted = p
	}
}

// extremes are the slices of a key that stand out, by their places, each with its interval.
type extremes struct{ lowest, highest map[int]stats.Interval }

// extremesOf finds them. Metrics often have equal counts, so results are looked up in known first.
func extremesOf(of []*Metric, known map[string]*extremes) *extremes {
	conf := of[0].Interval.Confidence
	seen := make([]stats.Count, len(of))
	for i, m := range of {
		seen[i], _ = stats.CountOf(&m.Interval)
	}
	key := fmt.Sprint(conf, seen)
	if out := known[key]; out != nil {
		return out
	}
	intervals := map[stats.Count]stats.Interval{} // several slices may have the same counts
	places := func(list []stats.Extreme) map[int]stats.Interval {
		out := map[int]stats.Interval{}
		for i := range list {
			at := list[i].Index
			if _, made := intervals[seen[at]]; !made {
				intervals[seen[at]] = list[i].Group.Interval(conf)
			}
			out[at] = intervals[seen[at]]
		}
		return out
	}
	lowest, highest := stats.Extremes(seen, conf)
	out := &extremes{places(lowest), places(highest)}
	known[key] = out
	return out
}

// markExtremes marks the slices of one key that are worse or better than all others together. Where
// no slice of the key differs from the rest (Holm), none is marked.
func markExtremes(of []*Metric, known map[string]*extremes) {
	if !slices.ContainsFunc(of, func(m *Metric) bool { return m.Versus.Differs() }) {
		return
	}
	found := extremesOf(of, known)
	worst, best := found.lowest, found.highest
	if of[0].LowerIsBetter {
		worst, best = best, worst
	}
	for i, m := range of {
		for _, list := range []map[int]stats.Interval{worst, best} {
			if iv, marked := list[i]; marked {
				m.Versus.Shrunken = &iv
			}
		}
		_, m.Versus.Worst = worst[i]
		_, m.Versus.Best = best[i]
	}
}

// versus compares a part with the rest of a whole; nil where there is no rest. Both use their
// effective numbers of observations; the rest is assumed to be clustered like the whole.
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

// twoRates is the two-sided p value for equal rates. Where an expected count is below 5 it is
// Fisher's exact test on rounded effective counts, else the test of two proportions with a pooled
// variance.
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
