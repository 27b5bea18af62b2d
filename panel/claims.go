// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package panel

import (
	"cmp"
	"slices"

	"github.com/callvet/callvet/stats"
)

// adjust treats differences of one metric as one family, since among many some differ by chance. A
// difference is better or worse only where it is so after the correction for the family. Source:
// Statistics specification, section 16.5; Holm 1979.
func adjust(of []*Difference) {
	p := make([]float64, len(of))
	for i, d := range of {
		p[i] = d.P
	}
	for i, q := range stats.Holm(p) {
		d := of[i]
		if d.PHolm = &q; q >= 1-d.Change.Confidence && (d.Verdict == ChangeBetter || d.Verdict == ChangeWorse) {
			d.Verdict = ChangeUnclear
		}
	}
}

// Family treats differences of one metric and kind as one family, for callers without ledgers. A
// difference of no cases is in no family.
func Family(of []*Difference) {
	some := slices.DeleteFunc(slices.Clone(of), func(d *Difference) bool { return d.Cases == 0 })
	if len(some) > 1 {
		adjust(some)
	}
}

// adjustSlices treats the slices of a metric as one family.
func adjustSlices(of []Difference) {
	list := make([]*Difference, len(of))
	for i := range of {
		list[i] = &of[i]
	}
	adjust(list)
}

// claim corrects the claims of the comparison about several targets, and about its cases.
func (d *Comparison) claim() {
	byMetric := map[string][]*Difference{}
	for i := range d.Targets {
		t := &d.Targets[i]
		byMetric[MetricPass] = append(byMetric[MetricPass], &t.Overall)
		for k := range t.Measured {
			m := &t.Measured[k]
			byMetric[m.Metric] = append(byMetric[m.Metric], &m.Overall)
		}
	}
	for _, list := range byMetric {
		if len(list) > 1 {
			adjust(list)
		}
	}
	d.claimChanges()
}

// caseTest is the test of one case: its p value, the smallest p value possible with these numbers
// of attempts and passes, and the case.
type caseTest struct {
	p, least float64
	target   int
	id       string
}

// testOf compares the attempts of both sides.
func testOf(id string, a, b attempts) caseTest {
	pa, na := a.distinct()
	pb, nb := b.distinct()
	low, high := max(0, pa+pb-nb), min(na, pa+pb)
	least := min(stats.Fisher(low, na, pa+pb-low, nb), stats.Fisher(high, na, pa+pb-high, nb))
	return caseTest{p: stats.Fisher(pa, na, pb, nb), least: least, id: id}
}

// distinct counts judged attempts, where cached ones that agree are copies of one.
func (a attempts) distinct() (passes, judged int) {
	passes, judged = int(a.passes), int(a.judged)
	if copies := int(a.cached); copies > 0 && (a.cachedPasses == 0 || a.cachedPasses == a.cached) {
		judged -= copies - 1
		if a.cachedPasses > 0 {
			passes -= copies - 1
		}
	}
	return passes, judged
}

// claimChanges marks the cases with a change that stays significant in the family of all compared
// cases. A case with too few attempts to show a change is left out of the family. Source:
// Statistics specification, section 16.5; Tarone 1990.
func (d *Comparison) claimChanges() {
	var all []caseTest
	for i := range d.Targets {
		for _, x := range d.Targets[i].tests {
			x.target = i
			all = append(all, x)
		}
		d.Targets[i].tests = nil
	}
	slices.SortFunc(all, func(a, b caseTest) int { return cmp.Compare(a.least, b.least) })
	level, k := 1-d.Confidence, 1
	able := func(k int) int {
		n, _ := slices.BinarySearchFunc(all, level/float64(k), func(x caseTest, at float64) int {
			if x.least <= at {
				return -1
			}
			return 1
		})
		return n
	}
	for able(k) > k {
		k++
	}
	all = all[:able(k)]
	p := make([]float64, len(all))
	for i := range all {
		p[i] = all[i].p
	}
	for i, q := range stats.Holm(p) {
		if q < level {
			d.Targets[all[i].target].stable(all[i].id)
		}
	}
}

// stable marks the change of a case as significant in the family.
func (t *TargetComparison) stable(id string) {
	for i := range t.Changes {
		if t.Changes[i].Case == id {
			t.Changes[i].Stability = "stable"
		}
	}
}
