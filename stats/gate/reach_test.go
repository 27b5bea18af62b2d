// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package gate

import (
	"math"
	"testing"

	"github.com/callvet/callvet/stats"
)

// TestReach: the smallest number of units with the chance, and the verdict of at least
// four in five of the decisions there.
func TestReach(t *testing.T) {
	t.Parallel()
	from := func(first int, pass, fail float64) future {
		return func(n int) (float64, float64) {
			if n < first {
				return 0, 0
			}
			return pass, fail
		}
	}
	m := MostChance
	for name, tc := range map[string]struct {
		f      future
		from   int
		chance float64
		n      int
		toward Verdict
	}{
		"at once":               {from(1, 1, 0), 1, 0.5, 1, Pass},
		"the second":            {from(2, 1, 0), 1, 0.5, 2, Pass},
		"between two doublings": {from(21, 0, 1), 1, 0.5, 21, Fail},
		"just before a power":   {from(31, 0, 1), 1, 0.5, 31, Fail},
		"just after a power":    {from(33, 0, 1), 1, 0.5, 33, Fail},
		"from a later one":      {from(3, 1, 0), 10, 0.5, 10, Pass},
		"both together":         {from(7, 0.25, 0.25), 1, 0.5, 7, Inconclusive},
		"most pass":             {from(7, m, 1-m), 1, 0.5, 7, Pass},
		"just most fail":        {from(7, 1-m, m), 1, 0.5, 7, Fail},
		"most fail":             {from(7, 1-m-0.01, m+0.01), 1, 0.5, 7, Fail},
		"too few pass":          {from(7, m-0.01, 1.01-m), 1, 0.5, 7, Inconclusive},
		"most of half":          {from(7, 0.5, 0), 1, 0.5, 7, Pass},
		"most of half, failing": {from(7, 0, 0.5), 1, 0.5, 7, Fail},
		"never":                 {from(1, 0.2, 0.2), 1, 0.5, 0, Inconclusive},
	} {
		if n, toward := tc.f.reach(tc.from, tc.chance); n != tc.n || toward != tc.toward {
			t.Errorf("%s: %d toward %s, want %d toward %s", name, n, toward, tc.n, tc.toward)
		}
	}
	if got := from(1_500_000, 1, 0).needed(100, 100); got != (Needed{Toward: Inconclusive}) {
		t.Errorf("more than are worth telling: %+v", got)
	}
	// Units count in cases: half a unit a case needs twice as many.
	if got := from(30, 1, 0).needed(50, 100); got != (Needed{Half: 60, Most: 60, Toward: Pass, Growth: 1.6}) {
		t.Errorf("half a unit a case: %+v", got)
	}
	if got := from(30, 1, 0).needed(200, 100); got != (Needed{Half: 15, Most: 15, Toward: Pass, Growth: 1.15}) {
		t.Errorf("two units a case: %+v", got)
	}
}

// TestTwoDigits: reported numbers are rounded up, never down.
func TestTwoDigits(t *testing.T) {
	t.Parallel()
	for n, want := range map[int]int{
		1: 1, 99: 99, 100: 100, 101: 110, 110: 110, 999: 1000, 1000: 1000, 1001: 1100,
		123456: 130000,
	} {
		if got := twoDigits(n); got != want {
			t.Errorf("%d: %d, want %d", n, got, want)
		}
	}
}

// TestNeededWithoutParts: a standard error that was not kept follows from the ends of a normal
// interval, and an effective number that was not kept is the number of cases.
func TestNeededWithoutParts(t *testing.T) {
	t.Parallel()
	const z = 1.959963984540054
	decide := func(iv stats.Interval) Verdict {
		return Decide(Rule{Direction: AtMost, Bound: 10}, Evidence{Interval: iv, Coverage: 1}).Verdict
	}
	iv := stats.Interval{
		Point: 9, Lower: 9 - z, Upper: 9 + z, SE: 1, N: 100, Clusters: 100, NEff: 100,
		Confidence: 0.95, Status: stats.StatusOK,
	}
	bare := iv
	bare.SE = 0
	if a, b := NeededForMean(iv, decide), NeededForMean(bare, decide); a != b || a.Most == 0 {
		t.Errorf("with its standard error %+v, without %+v", a, b)
	}
	skew := bare // the mean of both sides
	skew.Lower, skew.Upper = 9-1.5*z, 9+0.5*z
	full := skew
	full.SE = 1
	if a, b := NeededForMean(full, decide), NeededForMean(skew, decide); a != b {
		t.Errorf("skewed, with its standard error %+v, without %+v", a, b)
	}
	rate := stats.ClopperPearson(9, 10, 0.95, stats.TwoSided)
	unknown := rate
	unknown.NEff = 0
	rule := Rule{Direction: AtLeast, Bound: 0.8}
	if a, b := NeededCases(rule, rate), NeededCases(rule, unknown); a != b || a.Half == 0 {
		t.Errorf("with its effective number %+v, without %+v", a, b)
	}
	one := stats.ClopperPearson(1, 1, 0.95, stats.TwoSided)
	if got := NeededCases(Rule{Direction: AtLeast, Bound: 0.5}, one); got.Half == 0 {
		t.Errorf("of one case: %+v", got)
	}
	single := iv
	single.Clusters = 1
	if got := NeededForMean(single, decide); got.Half == 0 {
		t.Errorf("a mean of one case: %+v", got)
	}
	for name, ends := range map[string][2]float64{
		"no width": {9, 9}, "no lower end": {math.Inf(-1), 10},
		"no upper end": {8, math.Inf(1)},
	} {
		other := iv
		other.Lower, other.Upper = ends[0], ends[1]
		if got := NeededForMean(other, decide); got != (Needed{Toward: Inconclusive}) {
			t.Errorf("%s: %+v", name, got)
		}
	}
}
