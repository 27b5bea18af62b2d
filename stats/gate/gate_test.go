// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package gate

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"
	"gonum.org/v1/gonum/stat/distuv"
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
			t.Fatalf("%d failures pass %g first with %d cases, but the limits are %g and %g", f, bound, n,
				lower(n), lower(n-1))
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
	if _, _, ok := SampleSize(0.9, 0.9, 0.01, Alpha); ok {
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

// TestNeededCases draws the truth as the data leave it open, and further cases of it:
// as many gates decide as the numbers promise.
func TestNeededCases(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		rule    Rule
		n, good int
	}{
		"89 % of 200":              {Rule{Direction: AtLeast, Bound: 0.85}, 200, 178},
		"87 % of 100 to be 80":     {Rule{Direction: AtLeast, Bound: 0.8}, 100, 87},
		"10 % of 200, at most .08": {Rule{Direction: AtMost, Bound: 0.08}, 200, 20},
		"at the bound":             {Rule{Direction: AtLeast, Bound: 0.9}, 50, 45},
		"none failed":              {Rule{Direction: AtLeast, Bound: 0.95}, 40, 40},
	} {
		seen := stats.ClopperPearson(tc.good, tc.n, 0.95, stats.TwoSided)
		got := NeededCases(tc.rule, seen)
		if !(0 < got.Half && got.Half < got.Most) || got.Growth != 1+float64(got.Most)/float64(tc.n) {
			t.Errorf("%s: %+v", name, got)
		}
		decided := func(more int) float64 {
			rng, decided := rand.New(rand.NewPCG(1, uint64(more))), 0
			const draws = 4000
			truth := distuv.Beta{Alpha: float64(tc.good) + 0.5, Beta: float64(tc.n-tc.good) + 0.5, Src: rng}
			for range draws {
				k := int(distuv.Binomial{N: float64(more), P: truth.Rand(), Src: rng}.Rand())
				iv := stats.ClopperPearson(tc.good+k, tc.n+more, 0.95, stats.TwoSided)
				if Decide(tc.rule, Evidence{Interval: iv, Coverage: 1}).Verdict != Inconclusive {
					decided++
				}
			}
			return float64(decided) / draws
		}
		// The chance has teeth: it may jump above what is asked for at the very number.
		for more, want := range map[int]float64{got.Half: HalfChance, got.Most: MostChance} {
			if at, before := decided(more), decided(more*9/10); at < want-0.03 || before > want+0.03 {
				t.Errorf("%s: %d more decide with %v, a tenth fewer with %v, want %v", name, more, at, before, want)
			}
		}
	}
	rule := Rule{Direction: AtLeast, Bound: 0.85}
	if got := NeededCases(rule, stats.Interval{Status: stats.StatusNoData}); got != (Needed{Toward: Inconclusive}) {
		t.Errorf("of nothing: %+v", got)
	}
	if got := NeededCases(Rule{Direction: AtLeast, Bound: 0.98},
		stats.ClopperPearson(182, 182, 0.95, stats.TwoSided)); got.Half != 1 || got.Most != 1 || got.Toward != Pass {
		t.Errorf("one short: %+v", got)
	}
	mirrored := NeededCases(Rule{Direction: AtMost, Bound: 0.15}, stats.ClopperPearson(20, 200, 0.95, stats.TwoSided))
	if plain := NeededCases(rule, stats.ClopperPearson(180, 200, 0.95, stats.TwoSided)); mirrored != plain {
		t.Errorf("%+v, mirrored %+v", plain, mirrored)
	}
	var c stats.Clusters // five trials a case, all alike: cases count, not trials
	for i := range 40 {
		c.Add(float64(5*min(1, i%10)), 5, true)
	}
	clustered := NeededCases(rule, c.Interval(0.95, stats.DefaultRho0))
	plain := NeededCases(rule, stats.ClopperPearson(36, 40, 0.95, stats.TwoSided))
	if clustered.Half < 1 || math.Abs(float64(clustered.Half-plain.Half)) > 0.4*float64(plain.Half) {
		t.Errorf("clustered %+v, plain %+v", clustered, plain)
	}
}

// TestNeededForMean: the interval of a mean shrinks by the root of the cases, and the estimate
// moves by the uncertainty that the cases seen leave. Half a standard error below the bound, with
// ends two standard errors away, it decides for a truth beyond it.
func TestNeededForMean(t *testing.T) {
	t.Parallel()
	at := func(point float64) stats.Interval {
		return stats.Interval{
			Point: point, Lower: point - 2, Upper: point + 2, SE: 1, N: 100, Clusters: 100,
			Confidence: 0.95, Status: stats.StatusOK,
		}
	}
	below := func(iv stats.Interval) Verdict {
		return Decide(Rule{Direction: AtMost, Bound: 10}, Evidence{Interval: iv, Coverage: 1}).Verdict
	}
	got := NeededForMean(at(9.5), below)
	for more, want := range map[int]float64{got.Half: HalfChance, got.Most: MostChance} {
		rng, decided := rand.New(rand.NewPCG(2, uint64(more))), 0
		const draws = 4000
		for range draws {
			truth := 9.5 + rng.NormFloat64()
			fresh := truth + 10/math.Sqrt(float64(more))*rng.NormFloat64() // one case varies by 10
			iv := at((100*9.5 + float64(more)*fresh) / float64(100+more))
			h := 2 * math.Sqrt(100/float64(100+more))
			iv.Lower, iv.Upper = iv.Point-h, iv.Point+h
			if below(iv) != Inconclusive {
				decided++
			}
		}
		if share := float64(decided) / draws; math.Abs(share-want) > 0.03 {
			t.Errorf("%d more decide with %v, want %v", more, share, want)
		}
	}
	if near := NeededForMean(at(8.2), below); near.Most >= got.Most || near.Toward != Pass {
		t.Errorf("nearly decided: %+v", near)
	}
	endless := at(9)
	endless.Upper = math.Inf(1)
	if got := NeededForMean(endless, below); got != (Needed{Toward: Inconclusive}) {
		t.Errorf("without an end: %+v", got)
	}
}

func TestDecideEdges(t *testing.T) {
	t.Parallel()
	ok := func(lower, point, upper float64) Evidence {
		return Evidence{
			Interval: stats.Interval{Lower: lower, Point: point, Upper: upper, Status: stats.StatusOK},
			Units:    100, Coverage: 1,
		}
	}
	for _, tc := range []struct {
		name string
		rule Rule
		e    Evidence
		want Decision
	}{
		{"no direction", Rule{Bound: 0.5}, ok(0, 0.5, 1), Decision{Inconclusive, ReasonInvalid}},
		{"no bound", Rule{Direction: AtLeast, Bound: math.NaN()}, ok(0, 0.5, 1), Decision{Inconclusive, ReasonInvalid}},
		{
			"no upper end",
			Rule{Direction: AtMost, Bound: 9},
			ok(1, 2, math.Inf(1)),
			Decision{Inconclusive, ReasonStraddles},
		},
		{
			"unknown coverage",
			Rule{Direction: AtLeast, Bound: 0.5, MinCoverage: 0.9},
			Evidence{Interval: ok(0.9, 0.9, 0.9).Interval, Coverage: math.NaN()},
			Decision{Inconclusive, ReasonCoverage},
		},
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
		NeededCases(Rule{Direction: AtLeast, Bound: 0.904}, iv)
	}
}

// TestCasesForChanges: by hand, and against the intervals that they are about.
func TestCasesForChanges(t *testing.T) {
	t.Parallel()
	for _, margin := range []float64{0.02, 0.05, 0.1, 0.3} {
		lower := func(n int) float64 {
			return min(stats.Tango(stats.Pairs{Both: n}, 0.95).Lower,
				-stats.ClopperPearson(0, n, 0.95, stats.TwoSided).Upper)
		}
		if n := CasesUnchanged(margin, 0.05); lower(n) < -margin-1e-9 || lower(n-1) >= -margin {
			t.Errorf("margin %g: %d cases, and %g, %g", margin, n, lower(n), lower(n-1))
		}
	}
}
