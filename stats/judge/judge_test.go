// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package judge

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/callvet/callvet/stats"
)

func judgedRate(pass, n int) stats.Interval {
	var c stats.Clusters
	for i := range n {
		x := 0.0
		if i < pass {
			x = 1
		}
		c.Add(x, 1, true)
	}
	return c.Interval(0.95, stats.DefaultRho0)
}

func TestTrueSuccessRefuses(t *testing.T) {
	t.Parallel()
	good := Calibration{TruePositive: 152, LabelledPass: 160, TrueNegative: 36, LabelledFail: 40}
	for _, tc := range []struct {
		name   string
		judged stats.Interval
		c      Calibration
		want   stats.Status
	}{
		{"fine", judgedRate(160, 200), good, stats.StatusOK},
		{
			"all judged passed", judgedRate(200, 200),
			Calibration{TruePositive: 180, LabelledPass: 180, TrueNegative: 18, LabelledFail: 20},
			stats.StatusOK,
		},
		{"nothing judged", stats.Interval{Status: stats.StatusNoData}, good, stats.StatusNoData},
		{"one case", judgedRate(1, 1), good, stats.StatusSingleCluster},
		{
			"chance", judgedRate(160, 200),
			Calibration{TruePositive: 50, LabelledPass: 100, TrueNegative: 50, LabelledFail: 100},
			NotInformative,
		},
		{
			"worse than chance", judgedRate(160, 200),
			Calibration{TruePositive: 30, LabelledPass: 100, TrueNegative: 40, LabelledFail: 100},
			NotInformative,
		},
		{"no true fail", judgedRate(160, 200), Calibration{TruePositive: 50, LabelledPass: 50}, NoLabelledFail},
		{"no true pass", judgedRate(160, 200), Calibration{TrueNegative: 50, LabelledFail: 50}, NoLabelledPass},
		{
			"nine true fails", judgedRate(160, 200),
			Calibration{TruePositive: 95, LabelledPass: 100, TrueNegative: 9, LabelledFail: 9},
			TooFewUnits,
		},
		{
			"the run is not the judge's", judgedRate(200, 200),
			Calibration{TruePositive: 170, LabelledPass: 180, TrueNegative: 18, LabelledFail: 20},
			Mismatch,
		},
		{
			"more hits than labels", judgedRate(160, 200),
			Calibration{TruePositive: 5, LabelledPass: 4, TrueNegative: 1, LabelledFail: 9},
			stats.StatusInvalid,
		},
	} {
		got := TrueSuccess(tc.judged, tc.c, 0.95)
		if got.Status != tc.want {
			t.Errorf("%s: %s, want %s", tc.name, got.Status, tc.want)
		}
		if !got.Usable() && (got.Lower != 0 || got.Upper != 1) {
			t.Errorf("%s: refused with the ends %g and %g", tc.name, got.Lower, got.Upper)
		}
		if !(got.Lower <= got.Point && got.Point <= got.Upper) {
			t.Errorf("%s: %g is not within %g and %g", tc.name, got.Point, got.Lower, got.Upper)
		}
	}
}

func TestStratifiedEdges(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name string
		s    Strata
		want stats.Status
	}{
		{"nothing", Strata{}, stats.StatusNoData},
		{
			"no label among the fails",
			Strata{JudgePass: 80, N: 100, LabelledPass: 40, TruePassInPass: 39},
			MissingStratum,
		},
		{
			"more labels than tasks",
			Strata{JudgePass: 8, N: 10, LabelledPass: 9, TruePassInPass: 9, LabelledFail: 1},
			stats.StatusInvalid,
		},
		{
			"two labels among the fails",
			Strata{JudgePass: 80, N: 100, LabelledPass: 40, TruePassInPass: 39, LabelledFail: 2},
			TooFewUnits,
		},
		{
			"all fails labelled, though few",
			Strata{JudgePass: 98, N: 100, LabelledPass: 40, TruePassInPass: 39, LabelledFail: 2},
			stats.StatusOK,
		},
		{"no judged fail", Strata{JudgePass: 100, N: 100, LabelledPass: 40, TruePassInPass: 40}, stats.StatusOK},
	} {
		got := Stratified(tc.s, 0.95)
		if got.Status != tc.want || !(got.Lower <= got.Point && got.Point <= got.Upper) {
			t.Errorf("%s: %+v, want %s", tc.name, got, tc.want)
		}
	}
	if all := Stratified(Strata{JudgePass: 100, N: 100, LabelledPass: 40, TruePassInPass: 40}, 0.95); all.Upper != 1 ||
		all.Point != 1 || all.Lower < 0.85 {
		t.Errorf("all passed: %+v", all)
	}
	if !math.IsNaN(StratifiedBelow(Strata{}, 0.5)) {
		t.Error("a probability from nothing")
	}
}

// The distribution function at an interval's end has the level of the end.
func TestEndsAgreeWithDistribution(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(3, 4))
	for range 6 {
		n := 30 + r.IntN(270)
		k := 5 + r.IntN(n-10)
		m1, m0 := 5+r.IntN(k-4), 5+r.IntN(n-k-4)
		s := Strata{
			JudgePass: k, N: n, LabelledPass: m1, TruePassInPass: r.IntN(m1 + 1),
			LabelledFail: m0, TruePassInFail: r.IntN(m0 + 1),
		}
		lower, upper := StratifiedNodes(s, 0.95, Nodes)
		if a, b := StratifiedBelow(s, lower),
			StratifiedBelow(s, upper); math.Abs(a-0.025) > 1e-6 || math.Abs(b-0.975) > 1e-6 {
			t.Fatalf("%+v: %g below %g, %g below %g", s, a, lower, b, upper)
		}
		iv := Stratified(s, 0.95)
		if math.Abs(iv.Lower-lower) > 0.01 || (iv.Point != 1 && math.Abs(iv.Upper-upper) > 0.01) {
			t.Fatalf("%+v: %g %g by the exact rate, %g %g by plain quadrature", s, iv.Lower, iv.Upper, lower, upper)
		}
	}
}

// The table of labels needed, Statistics specification, section 4.7.
func TestUsableJudge(t *testing.T) {
	t.Parallel()
	for c, want := range map[Calibration]bool{
		{TruePositive: 152, LabelledPass: 160, TrueNegative: 36, LabelledFail: 40}: true,
		{TruePositive: 152, LabelledPass: 160, TrueNegative: 9, LabelledFail: 9}:   false, // too few fails
		{TruePositive: 65, LabelledPass: 100, TrueNegative: 65, LabelledFail: 100}: false, // J of .3 at best
		{}: false,
	} {
		if got := c.Usable(0.95); got != want {
			t.Errorf("%+v: %v", c, got)
		}
	}
}

func TestRejectsNonsense(t *testing.T) {
	t.Parallel()
	good := Calibration{TruePositive: 9, LabelledPass: 10, TrueNegative: 9, LabelledFail: 10}
	for name, s := range map[string]stats.Status{
		"more passes than tasks": RoganGladen(Judged{Pass: 5, N: 4}, good, 0.95).Status,
		"confidence":             LangReiczigel(Judged{Pass: 5, N: 9}, good, 1).Status,
		"ppi lengths":            PPI([]float64{1}, nil, []float64{1}, Tuned, 0.95).Status,
		"ppi range":              PPI([]float64{2}, []float64{1}, []float64{1}, Tuned, 0.95).Status,
		"auc lengths":            AUC([]bool{true}, nil, 0.95).Status,
		"auc NaN":                AUC([]bool{true, false}, []float64{math.NaN(), 1}, 0.95).Status,
	} {
		if s != stats.StatusInvalid {
			t.Errorf("%s: %s", name, s)
		}
	}
	if _, err := FindDrift(good, Calibration{TruePositive: 2, LabelledPass: 1}); err == nil {
		t.Error("drift of impossible counts")
	}
	if _, _, ok := Brier([]bool{true}, []float64{1.5}, 10); ok {
		t.Error("a probability of 1.5")
	}
	if Isotonic([]float64{1}, nil) != nil {
		t.Error("a score without label")
	}
}

func BenchmarkStratified(b *testing.B) {
	s := Strata{JudgePass: 170, N: 200, LabelledPass: 100, TruePassInPass: 95, LabelledFail: 20, TruePassInFail: 5}
	for b.Loop() {
		Stratified(s, 0.95)
	}
}

func BenchmarkTrueSuccess(b *testing.B) {
	judged := judgedRate(160, 200)
	c := Calibration{TruePositive: 152, LabelledPass: 160, TrueNegative: 36, LabelledFail: 40}
	for b.Loop() {
		TrueSuccess(judged, c, 0.95)
	}
}

// TestStratifiedAt: its ends are those of Stratified, wherever these are not within the promised
// 0.0005 of the bound.
func TestStratifiedAt(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(3, 3))
	for range 12 {
		n := 30 + rng.IntN(600)
		s := Strata{N: n, JudgePass: rng.IntN(n + 1)}
		s.LabelledPass, s.LabelledFail = min(s.JudgePass, rng.IntN(100)), min(n-s.JudgePass, rng.IntN(60))
		s.TruePassInPass, s.TruePassInFail = s.LabelledPass-rng.IntN(1+s.LabelledPass/4), rng.IntN(1+s.LabelledFail/2)
		want := Stratified(s, 0.95)
		for _, bound := range []float64{
			want.Lower - 0.0005, want.Lower + 0.0005, want.Upper - 0.0005,
			want.Upper + 0.0005,
		} {
			if got := StratifiedAt(s, bound, 0.95); got.Status != want.Status || want.Defined() &&
				(got.Point != want.Point ||
					(got.Lower >= bound) != (want.Lower >= bound) && want.Lower > 0 ||
					(got.Upper < bound) != (want.Upper < bound) && want.Upper < 1) {
				t.Errorf("%+v at %v: %+v, want %+v", s, bound, got, want)
			}
		}
	}
}
