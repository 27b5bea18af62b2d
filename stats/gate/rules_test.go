// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package gate

import (
	"math"
	"testing"

	"github.com/callvet/callvet/stats"
)

func interval(lower, point, upper float64) stats.Interval {
	return stats.Interval{Lower: lower, Point: point, Upper: upper, Status: stats.StatusOK}
}

// TestDecide: an end of the interval that stands on the bound meets it.
func TestDecide(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		direction           Direction
		lower, point, upper float64
		units               int
		coverage            float64
		want                Verdict
		reason              string
	}{
		{AtLeast, 0.85, 0.9, 0.95, 30, 0.9, Pass, ReasonLowerMeets},
		{AtLeast, 0.86, 0.9, 0.95, 30, 0.9, Pass, ReasonLowerMeets},
		{AtLeast, 0.84, 0.9, 0.95, 30, 0.9, Inconclusive, ReasonStraddles},
		{AtLeast, 0.7, 0.8, 0.85, 30, 0.9, Inconclusive, ReasonStraddles},
		{AtLeast, 0.7, 0.8, 0.84, 30, 0.9, Fail, ReasonUpperMisses},
		{AtMost, 0.7, 0.8, 0.85, 30, 0.9, Pass, ReasonUpperMeets},
		{AtMost, 0.7, 0.8, 0.84, 30, 0.9, Pass, ReasonUpperMeets},
		{AtMost, 0.84, 0.9, 0.95, 30, 0.9, Inconclusive, ReasonStraddles},
		{AtMost, 0.85, 0.9, 0.95, 30, 0.9, Inconclusive, ReasonStraddles},
		{AtMost, 0.86, 0.9, 0.95, 30, 0.9, Fail, ReasonLowerMisses},
		{AtLeast, 0.9, 0.9, 0.9, 29, 0.9, Inconclusive, ReasonTooFewUnits},
		{AtLeast, 0.9, 0.9, 0.9, 30, 0.89, Inconclusive, ReasonCoverage},
	} {
		rule := Rule{Direction: tc.direction, Bound: 0.85, MinUnits: MinUnits, MinCoverage: MinCoverage}
		got := Decide(rule,
			Evidence{Interval: interval(tc.lower, tc.point, tc.upper), Units: tc.units, Coverage: tc.coverage})
		if got != (Decision{tc.want, tc.reason}) {
			t.Errorf("%+v: %+v", tc, got)
		}
	}
}

func TestDecideRegressionAtTheEnds(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		lower, point, upper, margin, effect float64
		want                                Verdict
	}{
		{-0.05, 0, 0.05, 0.05, 0.01, Inconclusive}, // just as much may be lost
		{-0.049, 0, 0.05, 0.05, 0.01, Pass},
		{-0.06, -0.03, 0, 0.05, 0.01, Inconclusive}, // perhaps no loss at all
		{-0.06, -0.03, -0.001, 0.05, 0.01, Fail},
		{-0.06, -0.01, -0.001, 0.05, 0.01, Inconclusive}, // the least effect itself is none
		{-0.06, -0.011, -0.001, 0.05, 0.01, Fail},
		{0.01, 0.02, 0.03, 0, 0, Pass},
		{-0.03, -0.02, -0.01, 0, 0, Fail},
		{0, 0.01, 0.02, 0, 0, Inconclusive},
		{-0.01, 0, 0.01, -0.05, 0.01, Inconclusive},
		{-0.01, 0, 0.01, 0.05, -0.01, Inconclusive},
	} {
		if got := DecideRegression(interval(tc.lower, tc.point, tc.upper), tc.margin,
			tc.effect); got.Verdict != tc.want {
			t.Errorf("%+v: %+v", tc, got)
		}
	}
	if got := DecideRegression(interval(0, 0, 0), -1, 0); got.Reason != ReasonInvalid {
		t.Errorf("a margin below 0: %+v", got)
	}
	if got := DecideRegression(interval(0, 0, 0), 0, -1); got.Reason != ReasonInvalid {
		t.Errorf("an effect below 0: %+v", got)
	}
}

// TestCombine: one required failure fails all, one open gate leaves it open.
func TestCombine(t *testing.T) {
	t.Parallel()
	pass, fail, open, optional := Single{Pass, true}, Single{Fail, true}, Single{Inconclusive, true},
		Single{Fail, false}
	for _, tc := range []struct {
		gates []Single
		want  Verdict
		block map[Policy]bool
	}{
		{[]Single{pass}, Pass, map[Policy]bool{Strict: false, Lenient: false}},
		{[]Single{pass, pass}, Pass, map[Policy]bool{Strict: false, Lenient: false}},
		{[]Single{pass, optional}, Pass, map[Policy]bool{Strict: false, Lenient: false}},
		{[]Single{pass, open}, Inconclusive, map[Policy]bool{Strict: true, Lenient: false}},
		{[]Single{open, pass}, Inconclusive, map[Policy]bool{Strict: true, Lenient: false}},
		{[]Single{open, pass, fail}, Fail, map[Policy]bool{Strict: true, Lenient: true}},
		{[]Single{fail, pass}, Fail, map[Policy]bool{Strict: true, Lenient: true}},
		{[]Single{optional}, Inconclusive, map[Policy]bool{Strict: true, Lenient: false}},
	} {
		for policy, block := range tc.block {
			if got, stops := Combine(tc.gates, policy); got != tc.want || stops != block {
				t.Errorf("%v, %s: %s, stops %v", tc.gates, policy, got, stops)
			}
		}
	}
}

func TestDecideZeroAtTheEnds(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		incidents, exposure int
		rate, conf          float64
		want                Verdict
		reason              string
		required            int
	}{
		{1, 100, 0, 0.95, Fail, ReasonIncident, 0},
		{0, 1, 0, 0.95, Pass, ReasonNoIncident, 0},
		{0, 0, 0.1, 0.95, Inconclusive, ReasonNoExposure, 0},
		{-1, 10, 0, 0.95, Inconclusive, ReasonInvalid, 0},
		{0, -1, 0, 0.95, Inconclusive, ReasonInvalid, 0},
		{0, 10, 0, 0, Inconclusive, ReasonInvalid, 0},
		{0, 10, 0, 1, Inconclusive, ReasonInvalid, 0},
		{0, 10, -0.1, 0.95, Inconclusive, ReasonInvalid, 0},
		{0, 10, 1, 0.95, Inconclusive, ReasonInvalid, 0},
		{0, 10, math.NaN(), 0.95, Inconclusive, ReasonInvalid, 0},
		{0, 5, 0.5, 0.95, Pass, ReasonNoIncident, 5}, // 0.5^5 = 0.031
		{0, 4, 0.5, 0.95, Inconclusive, ReasonSmallExposure, 5},
	} {
		got := DecideZero(tc.incidents, tc.exposure, tc.rate, tc.conf)
		if got.Decision != (Decision{tc.want, tc.reason}) || got.Required != tc.required {
			t.Errorf("%+v: %+v", tc, got)
		}
	}
}

// TestPassProbabilityIsOfTheDecision: the chance is that of all outcomes that Decide passes.
func TestPassProbabilityIsOfTheDecision(t *testing.T) {
	t.Parallel()
	for _, bound := range []float64{0.3, 0.5, 0.85, 0.98} {
		for _, truth := range []float64{0, 0.25, 0.5, 0.9, 0.99, 1} {
			for _, n := range []int{1, 2, 5, 20, 36, 54, 60, 200} {
				want, passing := 0.0, -1
				for k := 0; k <= n; k++ {
					iv := stats.ClopperPearson(k, n, 1-2*Alpha, stats.TwoSided)
					if Decide(Rule{Direction: AtLeast, Bound: bound},
						Evidence{Interval: iv, Units: n, Coverage: 1}).Verdict != Pass {
						continue
					}
					passing = max(passing, n-k)
					a, _ := math.Lgamma(float64(n + 1))
					b, _ := math.Lgamma(float64(k + 1))
					c, _ := math.Lgamma(float64(n - k + 1))
					p := math.Exp(a - b - c)
					want += p * math.Pow(truth, float64(k)) * math.Pow(1-truth, float64(n-k))
				}
				if got, ok := PassProbability(bound, truth, n, Alpha); !ok || !(math.Abs(got-want) <= 1e-9) {
					t.Errorf("%d cases of %g pass %g: %g %v, want %g", n, truth, bound, got, ok, want)
				}
				if got := MaxFailures(bound, n, Alpha); got != passing {
					t.Errorf("%d cases pass %g with %d failures, want %d", n, bound, got, passing)
				}
			}
		}
	}
}

// TestSampleSizeByCounting: no smaller number of cases has the power.
func TestSampleSizeByCounting(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ bound, truth, power float64 }{
		{0.3, 0.9, 0.8},
		{0.5, 0.7, 0.8},
		{0.5, 0.7, 0.95},
		{0.85, 0.95, 0.8},
		{0.8, 1, 0.9},
		{0.9, 0.97, 0.5},
		{0.6, 0.65, 0.3},
	} {
		n, failures, ok := SampleSize(tc.bound, tc.truth, tc.power, Alpha)
		want := 1
		for {
			if p, _ := PassProbability(tc.bound, tc.truth, want, Alpha); p >= tc.power {
				break
			}
			want++
		}
		if !ok || n != want || failures != MaxFailures(tc.bound, n, Alpha) {
			t.Errorf("%+v: %d cases, %d failures; want %d and %d", tc, n, failures, want,
				MaxFailures(tc.bound, want, Alpha))
		}
	}
}

// TestPlansByHand: the formulas of the named sources, computed by hand.
func TestPlansByHand(t *testing.T) {
	t.Parallel()
	const z = 1.959963984540054 + 0.8416212335729143 // two-sided 5 %, power 80 %
	if n, ok := PairedMean(0.04, 0.2, 0.1, 5, 4, 0.05, 0.05, 0.8); !ok ||
		!(math.Abs(n-z*z*(0.04+0.2/5+0.1/4)/0.0025) <= 1e-6) {
		t.Errorf("a mean difference: %g", n)
	}
	if n, ok := PairedMean(0, 0, 0.1, 1, 1, -0.1, 0.05, 0.8); !ok || !(math.Abs(n-z*z*0.1/0.01) <= 1e-6) {
		t.Errorf("all variance within cases: %g", n)
	}
	if n, ok := PairedMean(0.1, 0, 0, 1, 1, 0.1, 0.05, 0.8); !ok || !(math.Abs(n-z*z*0.1/0.01) <= 1e-6) {
		t.Errorf("no variance within cases: %g", n)
	}
	// Cohen 1988: h of .5 and .75 is 2*asin(sqrt(.75)) - 2*asin(sqrt(.5)) = 0.5236.
	if n, h, ok := TwoRates(0.5, 0.75, 0.05, 0.8); !ok || !(math.Abs(h-math.Pi/6) <= 1e-12) ||
		!(math.Abs(n-2*z*z/(h*h)) <= 1e-3) {
		t.Errorf("two rates: %g cases, h %g", n, h)
	}
	// The number that comes out has the power that was asked for, both tails counted.
	for _, tc := range []struct{ p1, p2, alpha, power float64 }{
		{0, 0.1, 0.05, 0.8},
		{1, 0.9, 0.01, 0.9},
		{0.4, 0.5, 0.05, 0.06},
		{0.3, 1, 0.3, 0.4},
		{0.2, 0, 0.05, 0.5},
	} {
		n, h, ok := TwoRates(tc.p1, tc.p2, tc.alpha, tc.power)
		d, crit := h*math.Sqrt(n/2), stats.NormalQuantile(1-tc.alpha/2)
		if power := stats.Normal(d-crit) + stats.Normal(-d-crit); !ok || !(math.Abs(power-tc.power) <= 1e-9) {
			t.Errorf("%+v: %g cases have a power of %g", tc, n, power)
		}
	}
	if n, ok := PairedRates(0.1, 0.1, 0.05, 0.8); !ok ||
		!(math.Abs(n-math.Pow(1.959963984540054*math.Sqrt(0.1)+0.8416212335729143*math.Sqrt(0.09), 2)/0.01) <= 1e-6) {
		t.Errorf("all changes one way: %g cases", n)
	}
	if n, ok := PairedRates(1, -0.5, 0.05, 0.8); !ok ||
		!(math.Abs(n-math.Pow(1.959963984540054+0.8416212335729143*math.Sqrt(0.75), 2)/0.25) <= 1e-6) {
		t.Errorf("every case changes: %g cases", n)
	}
}

// TestPlansRefuse: what no number of cases can show is not planned for.
func TestPlansRefuse(t *testing.T) {
	t.Parallel()
	nan := math.NaN()
	for name, ok := range map[string]bool{
		"MinN: bound below 0":      second(MinN(-0.1, 0, Alpha)),
		"MinN: alpha 0":            second(MinN(0.9, 0, 0)),
		"MinN: failures below 0":   second(MinN(0.9, -1, Alpha)),
		"pass: truth below 0":      second(PassProbability(0.9, -0.1, 10, Alpha)),
		"pass: truth above 1":      second(PassProbability(0.9, 1.1, 10, Alpha)),
		"pass: no case":            second(PassProbability(0.9, 0.95, 0, Alpha)),
		"size: truth at bound":     third(SampleSize(0.9, 0.9, 0.01, Alpha)), // 36 of 36 pass with a chance of .02
		"size: truth above 1":      third(SampleSize(0.9, 1.01, 0.8, Alpha)),
		"size: power 1":            third(SampleSize(0.9, 0.95, 1, Alpha)),
		"size: too near":           third(SampleSize(0.9, 0.9001, 0.8, Alpha)),
		"two: equal":               third(TwoRates(0.5, 0.5, 0.05, 0.8)),
		"two: first below 0":       third(TwoRates(-0.1, 0.5, 0.05, 0.8)),
		"two: first above 1":       third(TwoRates(1.1, 0.5, 0.05, 0.8)),
		"two: second below 0":      third(TwoRates(0.5, -0.1, 0.05, 0.8)),
		"two: second above 1":      third(TwoRates(0.5, 1.1, 0.05, 0.8)),
		"two: power is alpha":      third(TwoRates(0.4, 0.5, 0.05, 0.05)),
		"mean: omega below 0":      second(PairedMean(-1, 1, 1, 1, 1, 0.1, 0.05, 0.8)),
		"mean: first below 0":      second(PairedMean(1, -1, 1, 1, 1, 0.1, 0.05, 0.8)),
		"mean: second below 0":     second(PairedMean(1, 1, -1, 1, 1, 0.1, 0.05, 0.8)),
		"mean: no trial of one":    second(PairedMean(1, 1, 1, 0, 1, 0.1, 0.05, 0.8)),
		"mean: no trial of other":  second(PairedMean(1, 1, 1, 1, 0, 0.1, 0.05, 0.8)),
		"mean: no difference":      second(PairedMean(1, 1, 1, 1, 1, 0, 0.05, 0.8)),
		"mean: unknown difference": second(PairedMean(1, 1, 1, 1, 1, nan, 0.05, 0.8)),
		"rates: no difference":     second(PairedRates(0.1, 0, 0.05, 0.8)),
		"rates: more than change":  second(PairedRates(0.1, 0.11, 0.05, 0.8)),
		"rates: more than all":     second(PairedRates(1.1, 0.1, 0.05, 0.8)),
		"rates: alpha 0":           second(PairedRates(0.2, 0.1, 0, 0.8)),
	} {
		if ok {
			t.Error(name)
		}
	}
	for name, ok := range map[string]bool{
		"bound 1": second(MinN(1, 0, Alpha)), "bound 0, failures below 0": second(MinN(0, -1, Alpha)),
		"bound 0, alpha 0": second(MinN(0, 0, 0)),
	} {
		if ok {
			t.Error("MinN: " + name)
		}
	}
	if n, ok := MinN(0, 3, Alpha); !ok || n != 4 { // whatever has one pass is above 0
		t.Errorf("a bound of 0: %d %v", n, ok)
	}
	if n, ok := MinN(0, 0, Alpha); !ok || n != 1 {
		t.Errorf("a bound of 0, no failure: %d %v", n, ok)
	}
	if n, ok := MinN(0.5, 0, 0.5); !ok || n != 1 { // one success: the lower end is alpha
		t.Errorf("half of one: %d %v", n, ok)
	}
}

func second[T any](_ T, ok bool) bool { return ok }

func third[A, B any](_ A, _ B, ok bool) bool { return ok }

// TestEValuesByIntegration: the mixture is an integral over the rates above the threshold.
func TestEValuesByIntegration(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		s, f      int
		threshold float64
		prior     Prior
	}{
		{8, 2, 0.5, Prior{}},
		{3, 7, 0.5, Prior{}},
		{30, 1, 0.85, Prior{2, 3}},
		{0, 4, 0.25, Prior{3, 1}},
		{5, 0, 0.75, Prior{1, 2}},
		{0, 0, 0.5, Prior{}},
	} {
		prior := tc.prior
		if prior == (Prior{}) {
			prior = Prior{1, 1}
		}
		const steps = 200_000
		mixture, base := 0.0, 0.0
		for i := range steps {
			p := tc.threshold + (1-tc.threshold)*(float64(i)+0.5)/steps
			w := math.Pow(p, prior.A-1) * math.Pow(1-p, prior.B-1)
			mixture += w * math.Pow(p/tc.threshold, float64(tc.s)) * math.Pow((1-p)/(1-tc.threshold), float64(tc.f))
			base += w
		}
		got := PassEValue(tc.s, tc.f, tc.threshold, tc.prior)
		want := math.Log(mixture / base)
		if got.Status != stats.StatusOK || !(math.Abs(got.Log-want) <= 1e-6) ||
			!(math.Abs(got.P-min(1, math.Exp(-want))) <= 1e-6) {
			t.Errorf("%+v: %+v, want a logarithm of %g", tc, got, want)
		}
	}
	// 2^8 * B(9, 1) = 256/9 = 28.4: enough at 5 %, not at 1 %.
	if e := ChangeEValue(8, 0); !(math.Abs(e.Log-math.Log(256.0/9)) <= 1e-12) || !e.Rejects(0.05) || e.Rejects(0.01) ||
		!(math.Abs(e.P-9.0/256) <= 1e-12) {
		t.Errorf("eight changes one way: %+v", e)
	}
	// 2^5 * B(4, 3) = 32/60.
	if e := ChangeEValue(3, 2); !(math.Abs(e.Log-math.Log(32.0/60)) <= 1e-12) || e.P != 1 || e.Rejects(0.5) {
		t.Errorf("three against two: %+v", e)
	}
	if e := ChangeEValue(0, 0); e.Log != 0 || !e.Rejects(1) || e.P != 1 {
		t.Errorf("no change: %+v", e)
	}
	for name, e := range map[string]EValue{
		"successes":  PassEValue(-1, 1, 0.5, Prior{}),
		"failures":   PassEValue(1, -1, 0.5, Prior{}),
		"threshold":  PassEValue(1, 1, 0, Prior{}),
		"prior A":    PassEValue(1, 1, 0.5, Prior{0, 1}),
		"prior B":    PassEValue(1, 1, 0.5, Prior{1, 0}),
		"one change": ChangeEValue(-1, 0),
		"the other":  ChangeEValue(0, -1),
	} {
		if e.Status != stats.StatusInvalid || e.P != 1 {
			t.Errorf("%s: %+v", name, e)
		}
	}
}

// TestConfidenceSequenceEnds: at the ends the evidence against a rate is just 1/alpha.
func TestConfidenceSequenceEnds(t *testing.T) {
	t.Parallel()
	lbeta := func(a, b float64) float64 {
		x, _ := math.Lgamma(a)
		y, _ := math.Lgamma(b)
		z, _ := math.Lgamma(a + b)
		return x + y - z
	}
	for _, tc := range []struct {
		s, f  int
		prior Prior
	}{{8, 2, Prior{1, 1}}, {50, 50, Prior{1, 1}}, {3, 40, Prior{2, 5}}, {7, 0, Prior{1, 1}}, {0, 7, Prior{1, 1}}} {
		const alpha = 0.05
		iv := ConfidenceSequence(tc.s, tc.f, alpha, tc.prior)
		s, f := float64(tc.s), float64(tc.f)
		against := func(p float64) float64 {
			e := lbeta(tc.prior.A+s, tc.prior.B+f) - lbeta(tc.prior.A, tc.prior.B)
			if s > 0 {
				e -= s * math.Log(p)
			}
			if f > 0 {
				e -= f * math.Log(1-p)
			}
			return math.Exp(e)
		}
		if tc.s == 0 && iv.Lower != 0 || tc.s > 0 && !(math.Abs(against(iv.Lower)-1/alpha) <= 1e-6) {
			t.Errorf("%+v: lower end %g", tc, iv.Lower)
		}
		if tc.f == 0 && iv.Upper != 1 || tc.f > 0 && !(math.Abs(against(iv.Upper)-1/alpha) <= 1e-6) {
			t.Errorf("%+v: upper end %g", tc, iv.Upper)
		}
		n := tc.s + tc.f
		if iv.Status != stats.StatusOK || iv.Point != s/float64(n) || !(iv.Lower <= iv.Point && iv.Point <= iv.Upper) ||
			iv.N != n || iv.Clusters != n || iv.NEff != float64(n) || iv.Confidence != 0.95 {
			t.Errorf("%+v: %+v", tc, iv)
		}
	}
	for name, iv := range map[string]stats.Interval{
		"successes": ConfidenceSequence(-1, 1, 0.05, Prior{}),
		"failures":  ConfidenceSequence(1, -1, 0.05, Prior{}),
		"alpha":     ConfidenceSequence(1, 1, 1, Prior{}),
		"prior":     ConfidenceSequence(1, 1, 0.05, Prior{1, 0}),
	} {
		if iv.Status != stats.StatusInvalid {
			t.Errorf("%s: %+v", name, iv)
		}
	}
}
