// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package stats_test

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/callvet/callvet/stats"
)

func about(t *testing.T, what string, got, want float64) {
	t.Helper()
	if !(math.Abs(got-want) <= 1e-4*math.Abs(want)) {
		t.Errorf("%s is %g, want %g", what, got, want)
	}
}

// TestCounts: by hand, from the tables of Garwood's limits.
func TestCounts(t *testing.T) {
	t.Parallel()
	count := func(cases, attempts int, events func(i int) float64) stats.Interval {
		var c stats.Counts
		for i := range cases {
			c.Add(events(i), float64(attempts), events(i) == 0)
		}
		return c.Interval(0.95)
	}
	none := count(60, 1, func(int) float64 { return 0 })
	about(t, "the upper end of no event in 60 cases", none.Upper, 2*3.68888/60)
	if none.Status != stats.StatusBoundary || none.Lower != 0 || none.NEff != 30 || !none.Usable() {
		t.Errorf("no event: %+v", none)
	}
	about(t, "the upper end of no event in 60 cases of 3",
		count(60, 3, func(int) float64 { return 0 }).Upper, 3.68888/30)
	few := count(60, 1, func(i int) float64 { return float64(min(1, i/58)) }) // 2 cases
	if few.Status != stats.StatusCapped || few.NEff != 30 {
		t.Errorf("two events: %+v", few)
	}
	// One event stands for the two: 5.57164 in 30 attempts, and a burst's skewness.
	about(t, "the upper end of two events", few.Upper, 5.57164/30+(1+2*1.959964*1.959964)/6/60)
	// 20 of 40 cases have two events: the variance is 1.0256 and the mean 1, with 39
	// degrees of freedom for it.
	half := count(40, 1, func(i int) float64 { return float64(2 * (i % 2)) })
	about(t, "the effective attempts", half.NEff, 40/1.025641*0.938939)
	if half.Status != stats.StatusOK || half.Lower >= 1 || half.Upper <= 1 {
		t.Errorf("half: %+v", half)
	}
	// Always three: no spread to see.
	same := count(50, 1, func(int) float64 { return 3 })
	if same.Status != stats.StatusNoSpread || same.Usable() || !math.IsInf(same.Lower, -1) ||
		!math.IsInf(same.Upper, 1) || same.Point != 3 {
		t.Errorf("always three: %+v", same)
	}
	var uneven, unlike stats.Counts
	for i := range 50 {
		attempts := float64(1 + i%2)
		uneven.Add(3*attempts, attempts, true) // three in each of one or two attempts
		unlike.Add(3, 2, false)                // three in two attempts
	}
	if iv := uneven.Interval(0.95); iv.Status != stats.StatusNoSpread {
		t.Errorf("always three, in one or two attempts: %+v", iv)
	}
	if iv := unlike.Interval(0.95); iv.Status != stats.StatusZeroVariance || !iv.Usable() || iv.Lower > 1.2 ||
		iv.Upper < 1.8 {
		t.Errorf("three in two attempts: %+v", iv)
	}
	for name, iv := range map[string]stats.Interval{
		"nothing":    count(0, 1, nil),
		"no attempt": count(3, 0, func(int) float64 { return 1 }),
	} {
		if iv.Status != stats.StatusNoData {
			t.Errorf("%s: %+v", name, iv)
		}
	}
	if iv := count(1, 5, func(int) float64 { return 2 }); iv.Status != stats.StatusSingleCluster || iv.Point != 0.4 ||
		!math.IsInf(iv.Upper, 1) {
		t.Errorf("one case: %+v", iv)
	}
}

// TestTail: the factor by hand, and that it never falls with the skewness.
func TestTail(t *testing.T) {
	t.Parallel()
	const z = 1.959964
	about(t, "without skewness", stats.Tail(20, 0, 0.95), 2.093024)
	about(t, "with the tail on the other side", stats.Tail(20, -3, 0.95), 2.093024)
	about(t, "skewness 2 of 16", stats.Tail(16, 2, 0.95), 2.13145*(1+0.5*(1+2*z*z)/(6*z)+0.4*0.25*z))
	about(t, "all in one case", stats.Tail(16, 100, 0.95), stats.Tail(16, 4, 0.95))
	rapid.Check(t, func(t *rapid.T) {
		n, a, b := rapid.IntRange(2, 500).Draw(t, "n"), rapid.Float64Range(-5, 30).Draw(t, "a"),
			rapid.Float64Range(-5, 30).Draw(t, "b")
		if x, y := stats.Tail(n, min(a, b), 0.95), stats.Tail(n, max(a, b), 0.95); x > y {
			t.Fatalf("%g for %g, %g for %g", x, min(a, b), y, max(a, b))
		}
	})
}

// TestRatioParts: parts of a ratio add up to the whole in any order, the skewness
// included, and both ends reach at least as far as those of the t interval.
func TestRatioParts(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		costs := rapid.SliceOfN(rapid.Float64Range(0, 50), 2, 40).Draw(t, "costs")
		var whole, merged stats.Ratio
		parts := make([]stats.Ratio, 3)
		for i, c := range costs {
			whole.Add(c, float64(1+i%3))
			parts[i*7%3].Add(c, float64(1+i%3))
		}
		for _, p := range []int{2, 0, 1} {
			merged.Merge(parts[p])
		}
		a, b, plain := whole.Interval(0.95), merged.Interval(0.95), whole.TInterval(0.95)
		if a.Status != b.Status || a.Usable() &&
			(math.Abs(a.Lower-b.Lower) > 1e-6*(1+a.SE) || math.Abs(a.Upper-b.Upper) > 1e-6*(1+a.SE)) {
			t.Fatalf("%+v and %+v", a, b)
		}
		if a.Usable() && (a.Lower > plain.Lower+1e-9 || a.Upper < plain.Upper-1e-9) {
			t.Fatalf("%+v is shorter than %+v", a, plain)
		}
	})
}

// TestNoSpread: an amount that never varies has no interval, also in parts.
func TestNoSpread(t *testing.T) {
	t.Parallel()
	var a, b stats.Ratio
	for i := range 60 {
		a.Add(0.01*float64(1+i%2), float64(1+i%2))
		b.Add(0.01, 1)
	}
	a.Merge(b)
	iv := a.Interval(0.95)
	if iv.Status != stats.StatusNoSpread || iv.Usable() || !iv.Defined() || !math.IsInf(iv.Lower, -1) ||
		!math.IsInf(iv.Upper, 1) {
		t.Errorf("%+v", iv)
	}
}
