// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package gate

import (
	"math"
	"sort"

	"github.com/callvet/callvet/stats"
)

// Needed is how many cases an inconclusive gate needs in addition to those seen. The probabilities
// are over the cases to come and over the uncertainty about the true value that the seen cases
// leave.
type Needed struct {
	// Half and Most are the numbers after which the gate has decided with probability 0.5 and 0.8;
	// 0 where a million is not enough.
	Half, Most int
	// Toward is the verdict of at least four fifths of the gates that have decided by then;
	// Inconclusive where neither verdict has so many.
	Toward Verdict
	// Growth is the information after Most (or else Half) further cases divided by the present
	// information; 0 without a number.
	Growth float64
}

// The probabilities of Half and Most.
const (
	HalfChance = 0.5
	MostChance = 0.8
)

// maxNeeded is the largest number of further cases that is reported.
const maxNeeded = 1_000_000

// future returns the probabilities to pass and to fail after a number of further units.
type future func(more int) (pass, fail float64)

// NeededCases is for a bound on a rate. Further cases are assumed to have as many values with the
// same correlation as those seen. The true rate has the Jeffreys posterior for the effective number
// of values. No estimate, or a bound outside of (0,1): the zero Needed. Source: Statistics
// specification, section 8; Spiegelhalter and Freedman 1986.
func NeededCases(r Rule, iv stats.Interval) Needed {
	effective := iv.NEff
	if effective <= 0 {
		effective = float64(iv.Clusters)
	}
	if iv.Clusters < 1 || !iv.Usable() || !inside(r.Bound) {
		return Needed{Toward: Inconclusive}
	}
	passes := iv.Point * effective
	truths := make([]float64, 32)
	for i := range truths {
		truths[i] = stats.BetaQuantile(passes+0.5, effective-passes+0.5, (float64(i)+0.5)/float64(len(truths)))
	}
	rule := Rule{Direction: r.Direction, Bound: r.Bound}
	below, above := Fail, Pass // the verdicts of few and of many further passes
	if r.Direction == AtMost {
		below, above = Pass, Fail
	}
	chances := func(more int) (pass, fail float64) {
		total := effective + float64(more)
		verdict := func(k int) Verdict {
			after := stats.EffectiveRate(min(1, (passes+float64(k))/total), int(math.Ceil(total)),
				int(math.Ceil(total)), total, iv.Confidence)
			return Decide(rule, Evidence{Interval: after, Coverage: 1}).Verdict
		}
		few := sort.Search(more+1, func(k int) bool { return verdict(k) != below }) - 1
		many := sort.Search(more+1, func(k int) bool { return verdict(k) == above })
		var low, high float64
		for _, p := range truths {
			if few >= 0 {
				low += stats.BinomialCDF(few, more, p)
			}
			if many <= more {
				high += stats.BinomialUpper(many, more, p)
			}
		}
		low, high = low/float64(len(truths)), high/float64(len(truths))
		if below == Pass {
			return low, high
		}
		return high, low
	}
	return future(chances).needed(effective, iv.Clusters)
}

// NeededForMean is for estimates with an interval that shrinks with the root of the number of
// cases: amounts, and changes from a baseline. decide is the gate's decision on an interval. The
// true value is normal around the estimate. No estimate, or an end that does not exist: the zero
// Needed. Source: as NeededCases.
func NeededForMean(iv stats.Interval, decide func(stats.Interval) Verdict) Needed {
	below, above := iv.Point-iv.Lower, iv.Upper-iv.Point
	if iv.Clusters < 1 || !iv.Usable() || !(below+above > 0) || math.IsInf(below+above, 1) {
		return Needed{Toward: Inconclusive}
	}
	se := iv.SE
	if !(se > 0) {
		se = (below + above) / 2 / stats.NormalQuantile((1+iv.Confidence)/2)
	}
	seen := float64(iv.Clusters)
	var z [200]float64
	for i := range z {
		z[i] = stats.NormalQuantile((float64(i) + 0.5) / float64(len(z)))
	}
	chances := func(more int) (pass, fail float64) {
		total := seen + float64(more)
		shrink, spread := math.Sqrt(seen/total), se*math.Sqrt(float64(more)/total)
		after := iv
		for _, x := range z {
			after.Point = iv.Point + x*spread
			after.Lower, after.Upper = after.Point-below*shrink, after.Point+above*shrink
			switch decide(after) {
			case Pass:
				pass++
			case Fail:
				fail++
			}
		}
		return pass / float64(len(z)), fail / float64(len(z))
	}
	return future(chances).needed(seen, iv.Clusters)
}

// needed finds the numbers; units is the number of units in the cases seen.
func (f future) needed(units float64, cases int) Needed {
	out := Needed{Toward: Inconclusive}
	half, _ := f.reach(1, HalfChance)
	if half == 0 {
		return out
	}
	most, toward := f.reach(half, MostChance)
	perCase := units / float64(cases)
	rounded := func(n int) int {
		x := math.Ceil(float64(n) / perCase)
		if n == 0 || x > maxNeeded {
			return 0
		}
		return twoDigits(int(x))
	}
	out.Half, out.Most = rounded(half), rounded(most)
	if last := max(out.Half, out.Most); last > 0 {
		out.Growth = 1 + float64(last)/float64(cases)
	}
	if out.Most > 0 {
		out.Toward = toward
	}
	return out
}

// reach is the smallest number of further units, at least from, with the given probability of a
// decision, and the verdict of most of them; 0 where there is none.
func (f future) reach(from int, chance float64) (n int, toward Verdict) {
	enough := func(n int) bool {
		pass, fail := f(n)
		return pass+fail >= chance
	}
	low, high := from-1, from
	for !enough(high) {
		if low = high; high > 4*maxNeeded {
			return 0, Inconclusive
		}
		high *= 2
	}
	n = low + 1 + sort.Search(high-low-1, func(i int) bool { return enough(low + 1 + i) })
	switch pass, fail := f(n); {
	case pass >= MostChance*(pass+fail):
		return n, Pass
	case fail >= MostChance*(pass+fail):
		return n, Fail
	}
	return n, Inconclusive
}

// twoDigits rounds up to a number of two digits and zeros.
func twoDigits(n int) int {
	unit := 1
	for n/unit >= 100 {
		unit *= 10
	}
	return (n + unit - 1) / unit * unit
}
