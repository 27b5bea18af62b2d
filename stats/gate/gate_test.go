// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package gate

import (
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/callvet/callvet/stats"
)

// The tables of the Statistics specification, section 8.
func TestPlanningTables(t *testing.T) {
	t.Parallel()
	for bound, want := range map[float64][]int{
		0.98: {183, 277, 359, 436}, 0.97: {122, 184, 239, 290}, 0.9: {36, 54, 70, 85},
		0.85: {23, 35, 46, 56}, 0.8: {17, 26, 34, 41}, 0.99: {368, 555, 720, 874},
	} {
		got := make([]int, len(want))
		for f := range want {
			got[f], _ = MinN(bound, f, Alpha)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("bound %g (-want +got):\n%s", bound, diff)
		}
	}
	for _, tc := range []struct {
		bound, truth float64
		n80, n90     int
	}{
		{0.98, 0.99, 1233, 1539},
		{0.98, 0.999, 183, 277},
		{0.9, 0.93, 697, 920},
		{0.85, 0.88, 1031, 1374},
		{0.85, 0.9, 356, 469},
		{0.85, 0.95, 75, 93},
		{0.8, 0.9, 107, 137},
	} {
		a, _, _ := SampleSize(tc.bound, tc.truth, 0.8, Alpha)
		b, _, _ := SampleSize(tc.bound, tc.truth, 0.9, Alpha)
		if a != tc.n80 || b != tc.n90 {
			t.Errorf("%g against %g: %d and %d cases, want %d and %d", tc.truth, tc.bound, a, b, tc.n80, tc.n90)
		}
	}
	for truth, want := range map[float64]float64{0.9: 0.47, 0.92: 0.82, 0.95: 0.997} {
		if p, ok := PassProbability(0.85, truth, 200, Alpha); !ok || math.Abs(p-want) > 0.005 {
			t.Errorf("200 cases at %g pass .85 with %.3f, want %.3f", truth, p, want)
		}
	}
	if n, ok := PairedRates(0.1, 0.05, 0.05, 0.8); !ok || math.Ceil(n) != 312 {
		t.Errorf("paired rates: %g cases", n)
	}
}

// Passing by counts is passing by the interval.
func TestMinNIsTheInterval(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		bound := rapid.Float64Range(0.05, 0.98).Draw(t, "bound")
		f := rapid.IntRange(0, 12).Draw(t, "failures")
		n, ok := MinN(bound, f, Alpha)
		if !ok {
			t.Fatal("no number")
		}
		lower := func(n int) float64 { return stats.ClopperPearson(n-f, n, 0.95, stats.TwoSided).Lower }
		if lower(n) < bound-1e-9 || (n > f+1 && lower(n-1) >= bound) {
			t.Fatalf("%d failures pass %g first with %d cases, but the limits are %g and %g", f, bound, n, lower(n), lower(n-1))
		}
	})
}

// Starting near the answer must not step over it.
func TestSampleSizeIsTheSmallest(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		bound := rapid.Float64Range(0.05, 0.98).Draw(t, "bound")
		truth := bound + (1-bound)*rapid.Float64Range(0.08, 0.95).Draw(t, "better by")
		power := rapid.SampledFrom([]float64{0.3, 0.5, 0.8, 0.95}).Draw(t, "power")
		n, failures, ok := SampleSize(bound, truth, power, Alpha)
		if !ok {
			t.Skip("beyond two million cases")
		}
		for f := range failures {
			tooth, _ := MinN(bound, f, Alpha)
			if p, _ := PassProbability(bound, truth, tooth, Alpha); p >= power && tooth < n {
				t.Fatalf("%d cases, but %d with %d failures are enough", n, tooth, f)
			}
		}
	})
}

func TestImpossiblePlans(t *testing.T) {
	t.Parallel()
	for failures, want := range []int{1, 2, 3} { // a rate of 0 or more is what every rate is
		if n, ok := MinN(0, failures, Alpha); !ok || n != want {
			t.Errorf("a bound of 0 with %d failures: %d", failures, n)
		}
	}
	if _, ok := MinN(1, 0, Alpha); ok {
		t.Error("a bound of 1 can never be passed")
	}
	if _, _, ok := SampleSize(0.9, 0.9, 0.8, Alpha); ok {
		t.Error("a truth at the bound was planned for")
	}
	if _, ok := PassProbability(0.9, 0.95, 0, Alpha); ok {
		t.Error("no case can pass")
	}
	if _, _, ok := TwoRates(0.5, 0.5, 0.05, 0.8); ok {
		t.Error("no difference was planned for")
	}
	if _, ok := PairedMean(0.1, 0, 0, 0, 1, 0.1, 0.05, 0.8); ok {
		t.Error("no trial was planned for")
	}
}

func TestNeededCases(t *testing.T) {
	t.Parallel()
	iv := stats.ClopperPearson(180, 200, 0.95, stats.TwoSided)
	rule := Rule{Direction: AtLeast, Bound: 0.85}
	if got := NeededCases(rule, iv, 0.8); got != (Needed{More: 156, Toward: Pass}) {
		t.Errorf("90 %% of 200 against .85: %+v", got) // 356 in all, by the table
	}
	iv = stats.ClopperPearson(20, 200, 0.95, stats.TwoSided)
	if got := NeededCases(Rule{Direction: AtMost, Bound: 0.15}, iv, 0.8); got != (Needed{More: 156, Toward: Pass}) {
		t.Errorf("10 %% of 200 against at most .15: %+v", got)
	}
	iv = stats.ClopperPearson(82, 100, 0.95, stats.TwoSided)
	if got := NeededCases(rule, iv, 0.8); got.Toward != Fail || got.More < 500 {
		t.Errorf("82 %% of 100 against .85: %+v", got)
	}
	for _, iv := range []stats.Interval{{Status: stats.StatusNoData}, stats.ClopperPearson(85, 100, 0.95, stats.TwoSided)} {
		if got := NeededCases(rule, iv, 0.8); got.More != 0 {
			t.Errorf("%+v: %+v", iv, got)
		}
	}
	var c stats.Clusters // five trials a case, all alike: cases count, not trials
	for i := range 40 {
		c.Add(float64(5*min(1, i%10)), 5, true)
	}
	clustered := NeededCases(rule, c.Interval(0.95, stats.DefaultRho0), 0.8)
	plain := NeededCases(rule, stats.ClopperPearson(36, 40, 0.95, stats.TwoSided), 0.8)
	if clustered.Toward != Pass || math.Abs(float64(clustered.More-plain.More)) > 40 {
		t.Errorf("clustered %+v, plain %+v", clustered, plain)
	}
}

func TestDecideEdges(t *testing.T) {
	t.Parallel()
	ok := func(lower, point, upper float64) Evidence {
		return Evidence{Interval: stats.Interval{Lower: lower, Point: point, Upper: upper, Status: stats.StatusOK}, Units: 100, Coverage: 1}
	}
	for _, tc := range []struct {
		name string
		rule Rule
		e    Evidence
		want Decision
	}{
		{"no direction", Rule{Bound: 0.5}, ok(0, 0.5, 1), Decision{Inconclusive, ReasonInvalid}},
		{"no bound", Rule{Direction: AtLeast, Bound: math.NaN()}, ok(0, 0.5, 1), Decision{Inconclusive, ReasonInvalid}},
		{"no upper end", Rule{Direction: AtMost, Bound: 9}, ok(1, 2, math.Inf(1)), Decision{Inconclusive, ReasonStraddles}},
		{"unknown coverage", Rule{Direction: AtLeast, Bound: 0.5, MinCoverage: 0.9}, Evidence{Interval: ok(0.9, 0.9, 0.9).Interval, Coverage: math.NaN()}, Decision{Inconclusive, ReasonCoverage}},
		{"zero value", Rule{Direction: AtLeast, Bound: 0.5}, Evidence{}, Decision{Inconclusive, ""}},
	} {
		if got := Decide(tc.rule, tc.e); got != tc.want {
			t.Errorf("%s: %+v, want %+v", tc.name, got, tc.want)
		}
	}
	diff := func(lower, point, upper float64) stats.Interval { return ok(lower, point, upper).Interval }
	for _, tc := range []struct {
		iv   stats.Interval
		want Verdict
	}{
		{diff(-0.03, 0, 0.03), Pass},
		{diff(-0.2, -0.1, -0.01), Fail},
		{diff(-0.2, -0.05, 0.1), Inconclusive},
		{diff(-0.009, -0.005, -0.001), Pass},
		{stats.Interval{Status: stats.StatusTooFew}, Inconclusive},
	} {
		if got := DecideRegression(tc.iv, Margin, MinEffect); got.Verdict != tc.want {
			t.Errorf("%+v: %+v, want %s", tc.iv, got, tc.want)
		}
	}
}

func TestZeroIncidents(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		incidents, exposure int
		rate                float64
		want                Zero
	}{
		{0, 20, 0, Zero{Decision{Pass, ReasonNoIncident}, 1 - math.Pow(0.05, 1.0/20), 0}}, // < 13.9 %
		{0, 58, 0.05, Zero{Decision{Inconclusive, ReasonSmallExposure}, 1 - math.Pow(0.05, 1.0/58), 59}},
		{0, 59, 0.05, Zero{Decision{Pass, ReasonNoIncident}, 1 - math.Pow(0.05, 1.0/59), 59}},
	} {
		got := DecideZero(tc.incidents, tc.exposure, tc.rate, 0.95)
		if math.Abs(got.Upper-tc.want.Upper) > 1e-12 {
			t.Errorf("upper %g, want %g", got.Upper, tc.want.Upper)
		}
		if got.Upper = tc.want.Upper; got != tc.want {
			t.Errorf("%+v, want %+v", got, tc.want)
		}
	}
	if z := DecideZero(0, 0, 0, 0.95); z.Verdict != Inconclusive || z.Reason != ReasonNoExposure {
		t.Errorf("no exposure: %+v", z)
	}
	if v, block := Combine(nil, Strict); v != Inconclusive || !block {
		t.Errorf("no gate: %s, %v", v, block)
	}
}

func TestSequentialRejectsNonsense(t *testing.T) {
	t.Parallel()
	for _, e := range []EValue{PassEValue(-1, 0, 0.5, Prior{}), PassEValue(1, 0, 1, Prior{}), ChangeEValue(-1, 2)} {
		if e.Status != stats.StatusInvalid || e.Rejects(0.5) {
			t.Errorf("%+v", e)
		}
	}
	if e := PassEValue(0, 100_000, 0.99, Prior{}); math.IsNaN(e.Log) || math.IsInf(e.Log, 0) || e.Log > -10 {
		t.Errorf("overwhelming failure: %+v", e)
	}
	iv := ConfidenceSequence(0, 0, 0.05, Prior{})
	if iv.Status != stats.StatusNoData || iv.Lower != 0 || iv.Upper != 1 {
		t.Errorf("nothing seen: %+v", iv)
	}
}

func BenchmarkNeededCases(b *testing.B) {
	iv := stats.ClopperPearson(905, 1000, 0.95, stats.TwoSided)
	for b.Loop() {
		NeededCases(Rule{Direction: AtLeast, Bound: 0.904}, iv, 0.8)
	}
}

// TestCasesForChanges: by hand, and against the intervals that they are about.
func TestCasesForChanges(t *testing.T) {
	t.Parallel()
	if n, ok := MeanCases(0.0004, 0.01, 0.05, 0.8); !ok || n != 34 { // (2.0345 + 0.8530)^2 * 4 = 33.4
		t.Errorf("a mean: %d %v", n, ok)
	}
	if n, ok := MeanCases(0, 0.01, 0.05, 0.8); !ok || n != 2 {
		t.Errorf("no variance: %d %v", n, ok)
	}
	for name, ok := range map[string]bool{
		"too near": second(MeanCases(1, 1e-4, 0.05, 0.8)), "no distance": second(MeanCases(1, 0, 0.05, 0.8)), "nothing to tell": second(CasesToTell(0.1, 0, 10, 0.05, 0.8)),
	} {
		if ok {
			t.Error(name)
		}
	}
	if n, ok := CasesToTell(0.1, 0.05, 100, 0.05, 0.8); !ok || math.Abs(n-817.3) > 0.1 { // (2 * 2.80159 / 1.95996)^2 * 100
		t.Errorf("to tell: %g", n)
	}
	for _, margin := range []float64{0.02, 0.05, 0.1, 0.3} {
		lower := func(n int) float64 {
			return min(stats.Tango(stats.Pairs{Both: n}, 0.95).Lower, -stats.ClopperPearson(0, n, 0.95, stats.TwoSided).Upper)
		}
		if n := CasesUnchanged(margin, 0.05); lower(n) < -margin-1e-9 || lower(n-1) >= -margin {
			t.Errorf("margin %g: %d cases, and %g, %g", margin, n, lower(n), lower(n-1))
		}
	}
}

func second[T any](_ T, ok bool) bool { return ok }
