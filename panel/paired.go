// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package panel

// Share has the values of one side of a pair at one case: Sum of N values, in [0,1] unless they are
// amounts. Binary: each value is 0 or 1.
type Share struct {
	Sum    float64
	N      int
	Binary bool
}

// Paired compares the rates of two sides case by case, for callers without ledgers, with the
// interval and the test of Diff. Both slices have the same length; a case without values on one
// side does not count. Where no case counts, the verdict is ChangeNone.
func Paired(before, after []Share, confidence float64) Difference {
	return PairedOf(&Pairing{Unit: UnitRate}, before, after, confidence)
}

// PairedOf is Paired for a metric, which may be an amount.
func PairedOf(p *Pairing, before, after []Share, confidence float64) Difference {
	d := newDifference(p, sliceID{})
	for i := range before {
		b, a := &before[i], &after[i]
		if b.N == 0 || a.N == 0 {
			continue
		}
		d.pair(moment{sum: b.Sum, n: b.N, fractional: !b.Binary}, moment{sum: a.Sum, n: a.N, fractional: !a.Binary})
		d.Planned++
		switch was, is := b.Sum/float64(b.N), a.Sum/float64(a.N); {
		case was >= 0.5 && is < 0.5:
			d.NewlyFailing++
		case was < 0.5 && is >= 0.5:
			d.NewlyPassing++
		}
	}
	d.finish(confidence)
	return d
}

// newDifference returns the empty difference of a metric.
func newDifference(p *Pairing, in sliceID) Difference {
	return Difference{Key: in.key, Value: in.value, single: true, relative: p.Relative, counted: p.Unit == UnitCount}
}
