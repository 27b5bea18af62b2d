// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package dist

import (
	"math"
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
		p := rapid.SampledFrom([]float64{1e-6, 0.025, 0.3, 0.5, 0.975, 0.9999}).Draw(t, "p")
		x := BetaQuantile(a, b, p)
		// Near 1 the spacing of floats itself moves the probability.
		if got := Beta(a, b, x); math.Abs(got-p) > 1e-9 && x < 1-1e-9 {
			t.Fatalf("Beta(%g, %g, %g) = %g, want %g", a, b, x, got, p)
		}
		df := max(1, a)
		if got := T(df, TQuantile(df, p)); math.Abs(got-p) > 1e-11 {
			t.Fatalf("T with %g degrees: %g, want %g", df, got, p)
		}
		if got := 1 - ChiSquaredUpper(df, ChiSquaredQuantile(df, p)); math.Abs(got-p) > 1e-9 {
			t.Fatalf("chi-squared with %g degrees: %g, want %g", df, got, p)
		}
	})
}

func TestGaussLegendre(t *testing.T) {
	t.Parallel()
	for _, n := range []int{1, 2, 5, 64, 300} {
		nodes, weights := GaussLegendre(n)
		sum, square := 0.0, 0.0
		for i, x := range nodes {
			sum += weights[i]
			square += weights[i] * x * x
		}
		if math.Abs(sum-1) > 1e-13 || (n > 1 && math.Abs(square-1.0/3) > 1e-13) {
			t.Errorf("%d nodes: weights sum to %.17g, x² integrates to %.17g", n, sum, square)
		}
	}
}

func TestOutsideIsNaN(t *testing.T) {
	t.Parallel()
	for _, x := range []float64{Beta(0, 1, 0.5), Beta(1, 1, 2), BetaQuantile(1, 1, -1), BetaQuantile(1, -1, 0.5), NormalQuantile(2), LogBeta(-1, 2)} {
		if !math.IsNaN(x) {
			t.Errorf("got %g, want NaN", x)
		}
	}
}

func BenchmarkBetaQuantile(b *testing.B) {
	for b.Loop() {
		BetaQuantile(9001.5, 1000.5, 0.025)
	}
}
