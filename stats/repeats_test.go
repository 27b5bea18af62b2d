// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package stats_test

import (
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/callvet/callvet/stats"
)

// cases are the cases of a suite: the case at i has 2 values an attempt; both, one or none is 1.
func cases(attempts func(i int) stats.Attempts, merged bool) stats.Interval {
	var all stats.Clusters
	for i := range 20 {
		of := attempts(i)
		var one stats.Clusters
		one.AddAttempts(float64(i%3*max(1, of.N)), 2*max(1, of.N), true, of)
		if merged {
			one.Merge(all)
			all = one
			continue
		}
		all.Merge(one)
	}
	return all.Interval(0.95, 0.3)
}

// TestRepeatsAreOne holds that attempts which agree give the interval of one attempt a case, to the
// last bit, and that any difference between attempts ends that.
func TestRepeatsAreOne(t *testing.T) {
	t.Parallel()
	single := cases(func(int) stats.Attempts { return stats.Attempts{} }, false)
	alike := stats.Attempts{N: 3, Alike: true}
	for _, merged := range []bool{false, true} {
		if d := cmp.Diff(single, cases(func(int) stats.Attempts { return alike }, merged)); d != "" {
			t.Errorf("three attempts that agree: %s", d)
		}
		for name, odd := range map[string]stats.Attempts{
			"one differs":           {N: 3},
			"one has more attempts": {N: 4, Alike: true}, "one has one attempt": {},
		} {
			for at := range 20 {
				got := cases(func(i int) stats.Attempts {
					if i == at {
						return odd
					}
					return alike
				}, merged)
				if got.N <= 2*single.N {
					t.Errorf("%s at %d: %+v", name, at, got)
				}
			}
		}
	}
	for _, c := range []struct {
		yes, n int
		alike  bool
	}{{0, 3, true}, {3, 3, true}, {1, 3, false}, {2, 3, false}, {0, 1, true}} {
		if got := stats.AttemptsOf(c.yes, c.n); got.N != c.n || got.Alike != c.alike {
			t.Errorf("%d of %d: %+v", c.yes, c.n, got)
		}
	}
}

// TestRepeatsOfCounts is TestRepeatsAreOne for counts of events.
func TestRepeatsOfCounts(t *testing.T) {
	t.Parallel()
	count := func(odd int, attempts float64, alike, merged bool) stats.Interval {
		var all stats.Counts
		for i := range 30 {
			n, same := 4.0, true
			if i == odd {
				n, same = attempts, alike
			}
			if merged {
				var one stats.Counts
				one.Add(float64(i%4)*n, n, same)
				one.Merge(all)
				all = one
				continue
			}
			all.Add(float64(i%4)*n, n, same)
		}
		return all.Interval(0.95)
	}
	var once stats.Counts
	for i := range 30 {
		once.Add(float64(i%4), 1, true)
	}
	want := once.Interval(0.95)
	for _, merged := range []bool{false, true} {
		if d := cmp.Diff(want, count(-1, 4, true, merged), cmpopts.EquateApprox(1e-12, 0)); d != "" {
			t.Errorf("four attempts that agree: %s", d)
		}
		for at := range 30 {
			if got := count(at, 4, false, merged); got.N <= want.N {
				t.Errorf("one case differs, at %d: %+v", at, got)
			}
			if got := count(at, 5, true, merged); got.N <= want.N {
				t.Errorf("one case has more attempts, at %d: %+v", at, got)
			}
		}
	}
	once.Add(1, 1, false) // one attempt agrees with itself
	if got := once.Interval(0.95); got.N != want.N+1 {
		t.Errorf("one attempt: %+v", got)
	}
}

// TestEffectiveSize holds the effective number of values against its formula.
func TestEffectiveSize(t *testing.T) {
	t.Parallel()
	var c stats.Clusters
	for i := range 40 {
		c.Add(float64(i%3), 2, true)
	}
	iv := c.Interval(0.9, 0.3)
	r := stats.TQuantile(79, 0.95) / stats.TQuantile(39, 0.95)
	about(t, "the effective size", iv.NEff, iv.Point*(1-iv.Point)/(iv.SE*iv.SE)*r*r)
	if iv.Status != stats.StatusOK {
		t.Errorf("%+v", iv)
	}
}

// TestCombineRatio holds MOVER-R against values of its formula, and its ends where a part has none.
func TestCombineRatio(t *testing.T) {
	t.Parallel()
	part := func(point, lower, upper float64) stats.Interval {
		return stats.Interval{
			Point: point, Lower: lower, Upper: upper, N: 7, Clusters: 5, Confidence: 0.95,
			Status: stats.StatusOK,
		}
	}
	inf := math.Inf(1)
	for name, c := range map[string]struct {
		a, b                stats.Interval
		point, lower, upper float64
		status              stats.Status
	}{
		"six over three": {
			part(6, 4, 9), part(3, 2, 5), 2, 1.0387503050268605, 3.549038105676658,
			stats.StatusOK,
		},
		"two over four": {
			part(2, 1.5, 2.5), part(4, 3, 6), 0.5, 0.30342508803827717, 0.7189254787610008,
			stats.StatusOK,
		},
		"nothing over two":            {part(0, 0, 0.5), part(2, 1, 3), 0, 0, 0.28867513459481287, stats.StatusOK},
		"no upper end of the parts":   {part(2, 1, inf), part(4, 3, inf), 0.5, 0, inf, stats.StatusOK},
		"a denominator that may be 0": {part(2, 1, 3), part(4, 0, 8), 0.5, 0, inf, stats.StatusOK},
		"a denominator of 0":          {part(2, 1, 3), part(0, 0, 1), 0, 0, inf, stats.StatusZeroDenominator},
		"a numerator that is unusable": {
			stats.Interval{Point: 1, Status: stats.StatusNoData},
			part(4, 3, 6), 0.25, 0,
			inf, stats.StatusNoData,
		},
	} {
		got := stats.CombineRatio(c.a, c.b)
		if !(math.Abs(got.Point-c.point) < 1e-9 && got.Status == c.status && got.N == c.a.N+c.b.N &&
			got.Clusters == c.a.Clusters+c.b.Clusters) {
			t.Errorf("%s: %+v", name, got)
		}
		if c.status == stats.StatusOK &&
			!(math.Abs(got.Lower-c.lower) < 1e-9 && (got.Upper == c.upper || math.Abs(got.Upper-c.upper) < 1e-9)) {
			t.Errorf("%s: [%g, %g], want [%g, %g]", name, got.Lower, got.Upper, c.lower, c.upper)
		}
	}
}

// TestDifferenceP holds p values against tables of the t distribution.
func TestDifferenceP(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		difference, se float64
		freedom        int
		want           float64
	}{
		{2.228139, 1, 10, 0.05},
		{-4.456278, 2, 10, 0.05},
		{1, 1, 1, 0.5},
		{0, 1, 10, 1},
		{5, 0, 10, 1},
		{5, 1, 0, 1},
		{5, math.NaN(), 10, 1},
	} {
		about(t, "p", stats.DifferenceP(c.difference, c.se, c.freedom), c.want)
	}
}

// TestImpliedSE: a normal interval of 95 % ends 1.959964 standard errors from its point, one of 90 %
// 1.644854, and the farther end counts.
func TestImpliedSE(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ point, lower, upper, confidence, want float64 }{
		{5, 5 - 1.9599639845, 5 + 1.9599639845, 0.95, 1},
		{-1, -1, -1 + 3.919927969, 0.95, 2},
		{1, 1 - 1.6448536270, 1, 0.9, 1},
		{2, 2, 2, 0.95, 0},
	} {
		iv := stats.Interval{Point: c.point, Lower: c.lower, Upper: c.upper, Confidence: c.confidence}
		about(t, "the standard error", iv.ImpliedSE(), c.want)
	}
}
