// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package panel

// Share is what one side of a pair was in one case: Sum of N values in [0,1]. Binary
// tells that each of them is 0 or 1.
type Share struct {
	Sum    float64
	N      int
	Binary bool
}

// Paired compares two sides case by case, for those who have no ledgers, with the
// interval and the test that Diff has. Both have the same length; a case without
// values on one side does not count. With no case that counts the verdict is
// ChangeNone.
func Paired(before, after []Share, confidence float64) Difference {
	d := Difference{single: true}
	for i := range before {
		b, a := &before[i], &after[i]
		if b.N == 0 || a.N == 0 {
			continue
		}
		d.pair(moment{sum: b.Sum, n: b.N, fractional: !b.Binary}, moment{sum: a.Sum, n: a.N, fractional: !a.Binary})
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
