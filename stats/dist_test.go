// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package stats

import (
	"cmp"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// The references were computed with 50 digits.
func TestReferences(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		fn   string
		args []float64
		want float64
	}{
		{"beta", []float64{5.0, 10000.0, 0.0004}, 0.37147571162172279759},
		{"beta", []float64{100000.0, 100000.0, 0.501}, 0.81445325544244324535},
		{"beta", []float64{0.5, 0.5, 1e-08}, 0.000063661977342861430846},
		{"beta", []float64{997.0, 4.0, 0.999}, 0.98107316654963953635},
		{"beta", []float64{20000.5, 13.5, 0.9994}, 0.62946699936566430676},
		{"beta", []float64{1000000.0, 1000000.0, 0.5005}, 0.9213504224190753254},
		{"beta", []float64{3.0, 1000000.0, 1e-06}, 0.080301672981258640139},
		{"beta", []float64{0.01, 20.0, 0.3}, 0.99999876384894766089},
		{"normq", []float64{1e-10}, -6.3613409024040561991},
		{"normq", []float64{1e-300}, -37.047096299361199237},
		{"normq", []float64{0.3}, -0.52440051270804081597},
		{"normq", []float64{0.975}, 1.9599639845400538556},
		{"normq", []float64{0.9999999}, 5.1993375822906610937},
		{"pmf", []float64{5.0, 10.0, 0.3}, 0.10291934519999998912},
		{"pmf", []float64{1000.0, 2000.0, 0.5}, 0.01783901114585432073},
		{"pmf", []float64{19990.0, 20000.0, 0.999}, 0.0058032227905504625143},
		{"pmf", []float64{0.0, 7.0, 0.25}, 0.13348388671875},
		{"pmf", []float64{3.0, 100000.0, 1e-05}, 0.061312933621630639214},
		{"lbeta", []float64{200.5, 3.5}, -17.373588664777975174},
		{"lbeta", []float64{100000.0, 200000.0}, -190958.88527911684967},
		{"lbeta", []float64{0.001, 5.0}, 6.905672657062074722},
		{"lbeta", []float64{12.0, 1000000.0}, -148.28388484944440486},
		{"lbeta", []float64{5, 0.001}, 6.905672657062074722},
		{"lbeta", []float64{9.5, 999.5}, -53.969865034305424056},
		{"lbeta", []float64{0.5, 0.5}, 1.1447298858494001741},
		{"lbeta", []float64{3, 1000}, -20.033116159382222436},
		{"lbeta", []float64{1e12, 2}, -2*math.Log(1e12) - 1e-12},
		{"lbeta", []float64{2, 1e12}, -2*math.Log(1e12) - 1e-12},
		{"lbeta upper", []float64{2, 3, 0.25}, -0.30343042941992009605},
		{"lbeta upper", []float64{3, 700, 0.75}, -958.56717179676434757},
		{"lbeta upper", []float64{0.5, 2500, 0.5}, -1737.0060155781939502},
		{"lbeta upper", []float64{20, 4000.5, 0.25}, -1058.9005367311883884},
		{"lbeta upper", []float64{700, 3000, 0.9}, -5192.4637826659096032},
		{"lchoose", []float64{5, 2}, math.Log(10)},
		{"lchoose", []float64{10, 3}, math.Log(120)},
		{"lchoose", []float64{100, 50}, 66.783841652017426009},
		{"lchoose", []float64{2000, 7}, 44.670644462318538924},
		// A first step from the left beyond 1.
		{"betaq", []float64{0.5, 3, 0.95}, 0.49947351317611616306},
		{"betaq", []float64{0.4, 2, 0.9}, 0.47853257055675149476},
		// A probability that is negligible next to 1.
		{"betaq", []float64{160437, 149024, 2.3e-17}, 0.51089608353877398061},
		{"betaq", []float64{149024, 160437, 0.4}, 0.48133228056163398893},
		{"normq", []float64{1e-305}, -37.356346093067103689},
		{"normq", []float64{1e-16}, -8.2220822161304356152},
		{"normq", []float64{1e-5}, -4.2648907939228246102},
		{"normq", []float64{0.4}, -0.25334710313579974132},
		{"normq", []float64{0.4999}, -0.00025066283008800749239},
		{"normq", []float64{0.95}, 1.6448536269514722843},
		{"chiq", []float64{0.5, 0.025}, 5.2732025912599936276e-7},
		{"chiq", []float64{5, 0.975}, 12.832501994030026784},
		{"poisson lower", []float64{1, 0.025}, -math.Log1p(-0.025)},
		{"poisson lower", []float64{0.5, 0.025}, 0.000491034558587628011},
		{"poisson lower", []float64{7, 0.05}, 3.28531569189467186},
		{"poisson lower", []float64{123.25, 0.025}, 102.452931677457681},
		{"poisson lower", []float64{999998, 0.025}, 998038.985300259039},
		{"poisson", []float64{0, 0.05}, -math.Log(0.05)},
		{"poisson", []float64{7, 0.05}, 13.1481138024321197},
		{"poisson upper", []float64{0, 0.025}, -math.Log(0.025)},
		{"poisson upper", []float64{0.5, 0.025}, 4.67420180224807384},
		{"poisson upper", []float64{7, 0.05}, 13.1481138024321197},
		{"poisson upper", []float64{123.25, 0.025}, 147.028426559562932},
		{"poisson upper", []float64{999998, 0.025}, 1001959.90998546804},
	} {
		a := tc.args
		var got float64
		switch tc.fn {
		case "beta":
			got = Beta(a[0], a[1], a[2])
		case "normq":
			got = NormalQuantile(a[0])
		case "pmf":
			got = BinomialPMF(int(a[0]), int(a[1]), a[2])
		case "lbeta":
			got = LogBeta(a[0], a[1])
		case "betaq":
			got = BetaQuantile(a[0], a[1], a[2])
		case "lbeta upper":
			got = LogBetaUpper(a[0], a[1], a[2])
		case "lchoose":
			got = LogChoose(int(a[0]), int(a[1]))
		case "chiq":
			got = ChiSquaredQuantile(a[0], a[1])
		case "poisson":
			got = PoissonUpper(int(a[0]), a[1])
		case "poisson lower":
			got, _ = PoissonLimits(a[0], a[1])
		case "poisson upper":
			_, got = PoissonLimits(a[0], a[1])
		}
		if !(math.Abs(got-tc.want) <= 1e-12*math.Abs(tc.want)) {
			t.Errorf("%s%v = %.17g, want %.17g", tc.fn, a, got, tc.want)
		}
	}
}

func TestQuantilesInvert(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		a := math.Exp(rapid.Float64Range(-1, 12).Draw(t, "log a"))
		b := math.Exp(rapid.Float64Range(-1, 12).Draw(t, "log b"))
		p := rapid.SampledFrom([]float64{1e-20, 1e-6, 0.025, 0.3, 0.5, 0.975, 0.9999}).Draw(t, "p")
		x := BetaQuantile(a, b, p)
		// Near 1 the spacing of floats itself moves the probability.
		if got := Beta(a, b, x); !(math.Abs(got-p) <= 1e-9*p) && x < 1-1e-9 {
			t.Fatalf("Beta(%g, %g, %g) = %g, want %g", a, b, x, got, p)
		}
		df := max(1, a)
		if got := T(df, TQuantile(df, p)); !(math.Abs(got-p) <= 1e-11*p) {
			t.Fatalf("T with %g degrees: %g, want %g", df, got, p)
		}
		p = max(p, 1e-6)
		if got := 1 - ChiSquaredUpper(df, ChiSquaredQuantile(df, p)); !(math.Abs(got-p) <= 1e-9) {
			t.Fatalf("chi-squared with %g degrees: %g, want %g", df, got, p)
		}
	})
}

// TestClosedForms: where a distribution has a formula of its own.
func TestClosedForms(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		a := math.Exp(rapid.Float64Range(-1, 8).Draw(t, "log a"))
		p := rapid.SampledFrom([]float64{1e-20, 1e-10, 0.025, 0.3, 0.5, 0.7, 0.975, 1 - 1e-10}).Draw(t, "p")
		same := func(what string, got, want, tolerance float64) {
			t.Helper()
			if !(math.Abs(got-want) <= tolerance*math.Abs(want)) {
				t.Fatalf("%s with a = %g and p = %g is %.17g, want %.17g", what, a, p, got, want)
			}
		}
		// The smallest of a values that are equally likely in [0,1], and the largest.
		same("the beta quantile (1, a)", BetaQuantile(1, a, p), -math.Expm1(math.Log1p(-p)/a), 1e-13)
		same("the beta quantile (a, 1)", BetaQuantile(a, 1, p), math.Pow(p, 1/a), 1e-13)
		same("the arcsine quantile", BetaQuantile(0.5, 0.5, p), math.Pow(math.Sin(math.Pi*p/2), 2), 1e-13)
		// One and two degrees of freedom.
		side := float64(cmp.Compare(p, 0.5))
		same("Cauchy's quantile", TQuantile(1, p), side/math.Tan(math.Pi*min(p, 1-p)), 1e-13)
		same("the t quantile", TQuantile(2, p), (2*p-1)/math.Sqrt(2*p*(1-p)), 1e-13)
		x := math.Sqrt(a) // of no meaning but some distance from 0
		same("Cauchy's tail", TUpper(1, x), math.Atan(1/x)/math.Pi, 1e-13)
		same("Cauchy's other tail", TUpper(1, -x), 1-math.Atan(1/x)/math.Pi, 1e-13)
		same("the t tail", TUpper(2, x), 1/(2+x*x+x*math.Sqrt(2+x*x)), 1e-13)
		same("one degree of freedom", ChiSquaredUpper(1, x), 2*Normal(-math.Sqrt(x)), 1e-13)
		same("two degrees of freedom", ChiSquaredUpper(2, x), math.Exp(-x/2), 1e-13)
	})
}

// TestDistSums: a tail of the binomial distribution is a sum of single chances, and both
// are exact at their ends.
func TestDistSums(t *testing.T) {
	t.Parallel()
	for _, n := range []int{0, 1, 2, 7, 40} {
		for _, p := range []float64{0, 0.001, 0.25, 0.5, 0.9, 1} {
			sum := 0.0
			for k := -1; k <= n+1; k++ {
				if got := BinomialUpper(k, n, p); !(math.Abs(got-(1-sum)) <= 1e-14) {
					t.Errorf("%d or more of %d at %g: %.17g, want %.17g", k, n, p, got, 1-sum)
				}
				chance := 0.0
				if k >= 0 && k <= n {
					chance = math.Exp(LogChoose(n, k)) * math.Pow(p, float64(k)) * math.Pow(1-p, float64(n-k))
				}
				if got := BinomialPMF(k, n, p); !(math.Abs(got-chance) <= 1e-13*chance) {
					t.Errorf("%d of %d at %g: %.17g, want %.17g", k, n, p, got, chance)
				}
				sum += chance
				if got := BinomialCDF(k, n, p); !(math.Abs(got-sum) <= 1e-14) {
					t.Errorf("%d or fewer of %d at %g: %.17g, want %.17g", k, n, p, got, sum)
				}
			}
		}
	}
	if got := LogChoose(9, 0) + LogChoose(9, 9); got != 0 {
		t.Errorf("one way to choose none or all: %g, want 0 exactly", got)
	}
}

// TestEnds: where a value is exact, infinite or none.
func TestEnds(t *testing.T) {
	t.Parallel()
	inf, nan := math.Inf(1), math.NaN()
	lower, _ := PoissonLimits(0, 0.025)
	for i, tc := range []struct{ got, want float64 }{
		{Beta(2, 3, 0), 0},
		{Beta(2, 3, 1), 1},
		{Beta(0, 1, 0.5), nan},
		{Beta(1, 0, 0.5), nan},
		{Beta(1, 1, 2), nan},
		{Beta(1, 1, nan), nan},
		{BetaQuantile(2, 3, 0), 0},
		{BetaQuantile(2, 3, 1), 1},
		{BetaQuantile(2, 2, 0.5), 0.5},
		{BetaQuantile(1, 1, -1), nan},
		{BetaQuantile(1, 1, 2), nan},
		{BetaQuantile(1, 1, nan), nan},
		{BetaQuantile(1, 0, 0.5), nan},
		{BetaQuantile(0, 1, 0.5), nan},
		{BetaQuantile(1, -1, 0.5), nan},
		{LogBeta(1, 1), 0},
		{LogBeta(-1, 2), nan},
		{LogBeta(2, -1), nan},
		{LogBeta(-1, -2), nan},
		{LogBeta(0, 1), nan},
		{LogBeta(nan, 1), nan},
		{LogBeta(1, nan), nan},
		{LogBetaUpper(2, 3, 0), 0},
		{LogBetaUpper(2, 3, 1), -inf},
		{LogBetaUpper(0, 3, 0.5), nan},
		{LogBetaUpper(2, 3, 2), nan},
		{NormalQuantile(0), -inf},
		{NormalQuantile(0.5), 0},
		{NormalQuantile(1), inf},
		{NormalQuantile(2), nan},
		{NormalQuantile(-1), nan},
		{NormalQuantile(nan), nan},
		{T(3, 0), 0.5},
		{TQuantile(3, 0), -inf},
		{TQuantile(3, 0.5), 0},
		{TQuantile(3, 1), inf},
		{TQuantile(3, 2), nan},
		{TQuantile(3, -1), nan},
		{TQuantile(3, nan), nan},
		{TQuantile(0, 0.3), nan},
		{TQuantile(-1, 0.3), nan},
		{ChiSquaredQuantile(2, 0), 0},
		{lower, 0},
	} {
		if tc.got != tc.want && !(math.IsNaN(tc.got) && math.IsNaN(tc.want)) {
			t.Errorf("row %d: got %g, want %g", i, tc.got, tc.want)
		}
	}
}

// TestParts holds what the distributions are made of to all its digits. The references
// were computed with 60 digits.
func TestParts(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ n, want, tolerance float64 }{
		{0.25, 0.27251040121343206088, 1e-14},
		{1, 0.08106146679532725822, 1e-14},
		{5.5, 0.015134973221917378874, 1e-12},
		// The series begins at 16 and there already has all digits.
		{16, 0.0052076559196096404407, 2e-15},
		{17.25, 0.0048303772270869518262, 2e-15},
		{25, 0.0033331556367280928758, 2e-15},
		{100, 0.00083333055563491468338, 2e-15},
		{12345, 6.7503712689434044919e-6, 2e-15},
	} {
		if got := stirling(tc.n); !(math.Abs(got-tc.want) <= tc.tolerance*tc.want) {
			t.Errorf("stirling(%g) = %.17g, want %.17g", tc.n, got, tc.want)
		}
	}
	for _, tc := range []struct{ x, m, want float64 }{
		{0, 0, 0},
		{0, 3, 3},
		{3, 3, 0},
		{9, 11, 0.19396374084063954856},
		{11, 9, 0.20737765008366277399},
		{9.1, 11, 0.17445018059234776638},
		{11, 9.1, 0.18582945203122813031},
		{1, 20, 16.004267726446009007},
		{20, 1, 40.914645471079819869},
		{1000, 1001, 0.0004996669164668331906},
		{1e6, 1e6 + 1, 4.9999966666691666647e-7},
	} {
		if got := deviance(tc.x, tc.m); !(math.Abs(got-tc.want) <= 1e-14*tc.want) {
			t.Errorf("deviance(%g, %g) = %.17g, want %.17g", tc.x, tc.m, got, tc.want)
		}
	}
	// Beyond a million the limits are an approximation.
	lower, upper := PoissonLimits(2e6, 0.025)
	if !(math.Abs(lower/1997229.13962580221-1) < 1e-9) || !(math.Abs(upper/2002773.75537296201-1) < 1e-9) {
		t.Errorf("limits of two million events: %.12g and %.12g", lower, upper)
	}
}

// TestFirstGuess: a search that starts near the answer takes few steps. How near differs.
func TestFirstGuess(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ a, b, p, within float64 }{
		{2, 8, 0.1, 0.02},
		{8, 2, 0.1, 0.008},
		{2, 8, 0.01, 0.1},
		{1.5, 5, 0.3, 0.05},
		{3, 3, 0.01, 0.03},
		{30, 5, 0.2, 7e-4},
		{5, 30, 0.2, 2e-3},
		{1.2, 40, 0.05, 0.16},
		{40, 1.2, 0.05, 0.012},
		{200, 100, 0.025, 2e-6},
		{100, 200, 0.4, 1e-7},
		{0.5, 3, 0.001, 4e-7},
		{1, 9, 0.01, 5e-3},
		{9, 1, 0.1, 1e-15},
		{4, 4.5, 0.6, 2e-3},
		{1, 1, 0.3, 1e-15},
		{20, 0.5, 0.3, 3e-3},
		{0.5, 20, 0.5, 0.14},
	} {
		guess, x := shapeOf(tc.a, tc.b).firstGuess(tc.p, 1-tc.p), BetaQuantile(tc.a, tc.b, tc.p)
		if !(math.Abs(guess-x) <= tc.within*x) {
			t.Errorf("beta (%g, %g) at %g: the guess is %g, the answer %g", tc.a, tc.b, tc.p, guess, x)
		}
	}
}

// TestGaussLegendre: n nodes integrate every power up to 2n-1 exactly.
func TestGaussLegendre(t *testing.T) {
	t.Parallel()
	for _, n := range []int{1, 2, 3, 5, 64, 300} {
		nodes, weights := GaussLegendre(n)
		if !slices.IsSorted(nodes) || nodes[0] <= 0 || nodes[n-1] >= 1 {
			t.Errorf("%d nodes: %v", n, nodes)
		}
		for power := range min(2*n, 40) {
			sum := 0.0
			for i, x := range nodes {
				sum += weights[i] * math.Pow(x, float64(power))
			}
			if want := 1 / float64(power+1); !(math.Abs(sum-want) <= 1e-13) {
				t.Errorf("%d nodes: the integral of x^%d is %.17g, want %.17g", n, power, sum, want)
			}
		}
	}
}

func BenchmarkBetaQuantile(b *testing.B) {
	for b.Loop() {
		BetaQuantile(9001.5, 1000.5, 0.025)
	}
}
