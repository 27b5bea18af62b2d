// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package judge

import (
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/callvet/callvet/stats"
)

const z = 1.959963984540054

func near(got, want, tolerance float64) bool { return got == want || math.Abs(got-want) <= tolerance }

// TestAllocationByHand: a guess of 0.9 deviates by 0.3, one of 0.2 by 0.4.
func TestAllocationByHand(t *testing.T) {
	t.Parallel()
	approx := cmpopts.EquateApprox(0, 1e-9)
	sure := math.Sqrt(101) / 102 // one of 102
	for name, tc := range map[string]struct {
		p, a, b float64
		labels  int
		want    Allocation
		ok      bool
	}{
		"three to one":        {0.8, 0.9, 0.2, 100, Allocation{75, 25, 75}, true},
		"few fails":           {0.99, 0.9, 0.2, 100, Allocation{95, 5, 100 * 0.297 / 0.301}, true},
		"few passes":          {0.01, 0.9, 0.2, 100, Allocation{5, 95, 100 * 0.003 / 0.399}, true},
		"few labels":          {0.99, 0.9, 0.2, 8, Allocation{4, 4, 8 * 0.297 / 0.301}, true},
		"few labels of fails": {0.01, 0.9, 0.2, 7, Allocation{3, 4, 7 * 0.003 / 0.399}, true},
		"one label":           {0.8, 0.9, 0.2, 1, Allocation{1, 0, 0.75}, true},
		"all passed":          {1, 0.9, 0.2, 100, Allocation{100, 0, 100}, true},
		"none passed":         {0, 0.9, 0.2, 100, Allocation{0, 100, 0}, true},
		"sure of the passes":  {0.5, 1, 0.5, 100, Allocation{16, 84, 100 * sure / (sure + 0.5)}, true},
		"sure of the fails":   {0.5, 0.5, 0, 100, Allocation{84, 16, 50 / (sure + 0.5)}, true},
		"no labels":           {0.8, 0.9, 0.2, 0, Allocation{}, false},
		"no rate":             {1.1, 0.9, 0.2, 100, Allocation{}, false},
		"no guess of passes":  {0.8, -0.1, 0.2, 100, Allocation{}, false},
		"no guess of fails":   {0.8, 0.9, math.NaN(), 100, Allocation{}, false},
	} {
		got, ok := AllocateByVerdict(tc.p, tc.a, tc.b, tc.labels)
		if diff := cmp.Diff(tc.want, got, approx); diff != "" || ok != tc.ok {
			t.Errorf("by verdict, %s: %v %s", name, ok, diff)
		}
	}
	smooth := math.Sqrt(0.95 * 0.05) // nine of nine, drawn to a half by a label
	for name, tc := range map[string]struct {
		p, s, t       float64
		labels, pilot int
		want          Allocation
		ok            bool
	}{
		"one label":        {0.8, 1, 1, 1, 0, Allocation{1, 0, 0.8}, true},
		"no pilot":         {0.8, 1, 1, 100, 0, Allocation{80, 20, 80}, true},
		"a perfect pilot":  {0.8, 1, 0.5, 100, 9, Allocation{64, 36, 100 * 0.8 * smooth / (0.8*smooth + 0.1)}, true},
		"all as the pilot": {0.8, 1, 0.5, 18, 9, Allocation{9, 9, 18 * 0.8 * smooth / (0.8*smooth + 0.1)}, true},
		"few fails":        {0.99, 0.5, 0.5, 40, 9, Allocation{31, 9, 39.6}, true},
		"few passes":       {0.01, 0.5, 0.5, 40, 9, Allocation{9, 31, 0.4}, true},
		"less than twice":  {0.8, 1, 0.5, 17, 9, Allocation{}, false},
		"no labels":        {0.8, 1, 0.5, 0, 0, Allocation{}, false},
		"less than none":   {0.8, 1, 0.5, 10, -1, Allocation{}, false},
		"no rate":          {0.8, 2, 0.5, 10, 1, Allocation{}, false},
	} {
		got, ok := AllocateByTruth(tc.p, tc.s, tc.t, tc.labels, tc.pilot)
		if diff := cmp.Diff(tc.want, got, approx); diff != "" || ok != tc.ok {
			t.Errorf("by truth, %s: %v %s", name, ok, diff)
		}
	}
}

// TestCalibrationByHand: what labels are worth, and which tables cannot be.
func TestCalibrationByHand(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		c    Calibration
		few  bool
		s, t float64 // effective labels
	}{
		"ten and ten": {
			Calibration{TruePositive: 10, LabelledPass: 10, TrueNegative: 10, LabelledFail: 10},
			false, 10, 10,
		},
		"nine and ten": {
			Calibration{TruePositive: 9, LabelledPass: 9, TrueNegative: 10, LabelledFail: 10},
			true, 9, 10,
		},
		"ten and nine": {
			Calibration{TruePositive: 10, LabelledPass: 10, TrueNegative: 9, LabelledFail: 9},
			true, 10, 9,
		},
		"thirty worth half": {Calibration{
			TruePositive: 20, LabelledPass: 30, TrueNegative: 24, LabelledFail: 30,
			PassWorth: 15, FailWorth: 10,
		}, false, 15, 10},
		"worth more": {Calibration{
			TruePositive: 20, LabelledPass: 30, TrueNegative: 24, LabelledFail: 30,
			PassWorth: 31, FailWorth: 9.5,
		}, true, 30, 9.5},
		"worth as many": {Calibration{
			TruePositive: 20, LabelledPass: 30, TrueNegative: 24, LabelledFail: 30,
			PassWorth: 30,
		}, false, 30, 30},
	} {
		s, u := tc.c.Sensitivity(0.95), tc.c.Specificity(0.95)
		if tc.c.Few() != tc.few || s.NEff != tc.s || u.NEff != tc.t || s.N != tc.c.LabelledPass ||
			u.N != tc.c.LabelledFail {
			t.Errorf("%s: %v, %+v, %+v", name, tc.c.Few(), s, u)
		}
		want := stats.EffectiveRate(share(tc.c.TruePositive, tc.c.LabelledPass), tc.c.LabelledPass,
			tc.c.LabelledPass, tc.s, 0.95)
		if !near(s.Lower, want.Lower, 1e-12) || !near(s.Upper, want.Upper, 1e-12) {
			t.Errorf("%s: %+v, want %+v", name, s, want)
		}
		if exact := tc.s == float64(tc.c.LabelledPass); (s.Method == "clopper_pearson") != exact {
			t.Errorf("%s: by %s", name, s.Method)
		}
		j := Judged{Pass: 6, N: 9}
		p, sens, spec := 6.0/9, share(tc.c.TruePositive, tc.c.LabelledPass), share(tc.c.TrueNegative, tc.c.LabelledFail)
		x := (p + spec - 1) / (sens + spec - 1)
		se := math.Sqrt(p*(1-p)/9+x*x*sens*(1-sens)/tc.s+(1-x)*(1-x)*spec*(1-spec)/tc.t) / (sens + spec - 1)
		if rg := RoganGladen(j, tc.c, 0.95); !near(rg.Raw, x, 1e-12) || !near(rg.SE, se, 1e-12) ||
			!near(rg.WaldLower, max(0, x-z*se), 1e-12) || !near(rg.WaldUpper, min(1, x+z*se), 1e-12) {
			t.Errorf("%s: %+v, want %g with an error of %g", name, rg, x, se)
		}
		// The adjusted rates count two tasks more, one of them judged rightly.
		lr := LangReiczigel(j, tc.c, 0.95)
		if !near(lr.Sensitivity, (sens*tc.s+1)/(tc.s+2), 1e-12) ||
			!near(lr.Specificity, (spec*tc.t+1)/(tc.t+2), 1e-12) || !near(lr.P, (6+z*z/2)/(9+z*z), 1e-12) {
			t.Errorf("%s: %+v", name, lr)
		}
	}
	// The interval of Youden's J is as wide as both parts squared and added, within [-1,1].
	c := Calibration{TruePositive: 18, LabelledPass: 20, TrueNegative: 16, LabelledFail: 20}
	s, u, y := c.Sensitivity(0.95), c.Specificity(0.95), c.Youden(0.95)
	if !near(y.Point, 0.7, 1e-12) || !near(y.Lower, 0.7-math.Hypot(0.9-s.Lower, 0.8-u.Lower), 1e-12) ||
		!near(y.Upper, 0.7+math.Hypot(s.Upper-0.9, u.Upper-0.8), 1e-12) || y.Confidence != 0.95 {
		t.Errorf("%+v", y)
	}
	if y := (Calibration{LabelledPass: 2, LabelledFail: 2}).Youden(0.95); y.Lower != -1 || y.Point != -1 {
		t.Errorf("always wrong: %+v", y)
	}
	if y := (Calibration{TruePositive: 2, LabelledPass: 2, TrueNegative: 2, LabelledFail: 2}).Youden(
		0.95); y.Upper != 1 || y.Point != 1 {
		t.Errorf("always right: %+v", y)
	}

	good := Calibration{TruePositive: 9, LabelledPass: 10, TrueNegative: 10, LabelledFail: 10}
	for name, tc := range map[string]struct {
		j     Judged
		c     Calibration
		conf  float64
		rg    stats.Status
		lr    stats.Status
		drift bool
	}{
		"good":              {Judged{5, 9}, good, 0.95, stats.StatusOK, stats.StatusOK, true},
		"all passed":        {Judged{9, 9}, good, 0.95, stats.StatusOK, stats.StatusOK, true},
		"none passed":       {Judged{0, 9}, good, 0.95, stats.StatusOK, stats.StatusOK, true},
		"nothing judged":    {Judged{}, good, 0.95, stats.StatusNoData, stats.StatusNoData, true},
		"sure":              {Judged{5, 9}, good, 1, stats.StatusInvalid, stats.StatusInvalid, true},
		"not sure at all":   {Judged{5, 9}, good, 0, stats.StatusInvalid, stats.StatusInvalid, true},
		"passes below 0":    {Judged{-1, 9}, good, 0.95, stats.StatusInvalid, stats.StatusInvalid, true},
		"more passes":       {Judged{10, 9}, good, 0.95, stats.StatusInvalid, stats.StatusInvalid, true},
		"less than nothing": {Judged{-1, -1}, good, 0.95, stats.StatusInvalid, stats.StatusInvalid, true},
		"no true fail": {
			Judged{5, 9},
			Calibration{TruePositive: 9, LabelledPass: 10},
			0.95, NoLabelledFail,
			stats.StatusOK, true,
		},
		"no true pass": {
			Judged{5, 9},
			Calibration{TrueNegative: 9, LabelledFail: 10},
			0.95, NoLabelledPass,
			stats.StatusOK, true,
		},
		"by chance": {
			Judged{5, 9},
			Calibration{TruePositive: 5, LabelledPass: 10, TrueNegative: 5, LabelledFail: 10},
			0.95, NotInformative,
			NotInformative, true,
		},
		"hits below 0": {
			Judged{5, 9},
			Calibration{TruePositive: -1, LabelledPass: 10, TrueNegative: 9, LabelledFail: 10},
			0.95,
			stats.StatusInvalid, stats.StatusInvalid, false,
		},
		"more hits": {
			Judged{5, 9},
			Calibration{TruePositive: 11, LabelledPass: 10, TrueNegative: 9, LabelledFail: 10},
			0.95,
			stats.StatusInvalid, stats.StatusInvalid, false,
		},
		"rejections below 0": {
			Judged{5, 9},
			Calibration{TruePositive: 9, LabelledPass: 10, TrueNegative: -1, LabelledFail: 10},
			0.95,
			stats.StatusInvalid, stats.StatusInvalid, false,
		},
		"more rejections": {
			Judged{5, 9},
			Calibration{TruePositive: 9, LabelledPass: 10, TrueNegative: 11, LabelledFail: 10},
			0.95,
			stats.StatusInvalid, stats.StatusInvalid, false,
		},
		"passes of no worth": {
			Judged{5, 9},
			Calibration{TruePositive: 9, LabelledPass: 10, TrueNegative: 9, LabelledFail: 10, PassWorth: -1},
			0.95,
			stats.StatusInvalid, stats.StatusInvalid, false,
		},
		"fails of no worth": {
			Judged{5, 9},
			Calibration{TruePositive: 9, LabelledPass: 10, TrueNegative: 9, LabelledFail: 10, FailWorth: -1},
			0.95,
			stats.StatusInvalid, stats.StatusInvalid, false,
		},
	} {
		rg, lr := RoganGladen(tc.j, tc.c, tc.conf), LangReiczigel(tc.j, tc.c, tc.conf)
		_, err := FindDrift(tc.c, good)
		_, back := FindDrift(good, tc.c)
		if rg.Status != tc.rg || lr.Status != tc.lr || (err == nil) != tc.drift || (back == nil) != tc.drift {
			t.Errorf("%s: %s and %s, %v, %v", name, rg.Status, lr.Status, err, back)
		}
		if tc.rg != stats.StatusOK && (!math.IsNaN(rg.Point) || rg.WaldLower != 0 || rg.WaldUpper != 1) ||
			tc.lr != stats.StatusOK && (lr.Lower != 0 || lr.Upper != 1) {
			t.Errorf("%s refused with %+v and %+v", name, rg, lr)
		}
	}
}

// TestMismatchByHand: Fisher's chances, counted.
func TestMismatchByHand(t *testing.T) {
	t.Parallel()
	c := Calibration{TruePositive: 1, LabelledPass: 4, TrueNegative: 1, LabelledFail: 4}
	for name, tc := range map[string]struct {
		j            Judged
		c            Calibration
		above, below float64
		mismatch     bool
	}{
		"three of four":       {Judged{3, 4}, c, 17.0 / 70, 22.0 / 28, false},
		"rounded":             {Judged{3.4, 3.6}, c, 17.0 / 70, 22.0 / 28, false},
		"one of four":         {Judged{1, 4}, c, 22.0 / 28, 17.0 / 70, false},
		"nothing":             {Judged{}, c, 1, 1, false},
		"no labels":           {Judged{3, 4}, Calibration{}, 1, 1, false},
		"nonsense":            {Judged{5, 4}, c, 1, 1, false},
		"nonsense of labels":  {Judged{4, 4}, Calibration{TruePositive: 5, LabelledPass: 4}, 1, 1, false},
		"five against five":   {Judged{5, 5}, Calibration{LabelledPass: 5}, 1.0 / 252, 1, true},
		"four against five":   {Judged{4, 4}, Calibration{LabelledPass: 5}, 1.0 / 126, 1, false},
		"fails, five to five": {Judged{0, 5}, Calibration{LabelledFail: 5}, 1, 1.0 / 252, true},
		"worth half": {
			Judged{3, 4},
			Calibration{TruePositive: 2, LabelledPass: 8, PassWorth: 4},
			17.0 / 70, 1, false,
		},
	} {
		f := FindMismatch(tc.j, tc.c)
		if !near(f.PAbove, tc.above, 1e-9) || !near(f.PBelow, tc.below, 1e-9) || f.Mismatch != tc.mismatch {
			t.Errorf("%s: %+v, want %g and %g", name, f, tc.above, tc.below)
		}
	}
	// Three of four against one of four: 34 of 70 tables are not likelier.
	stored := Calibration{TruePositive: 3, LabelledPass: 4, TrueNegative: 4, LabelledFail: 4}
	d, err := FindDrift(stored, Calibration{TruePositive: 1, LabelledPass: 4, LabelledFail: 4})
	if err != nil || !near(d.PSensitivity, 34.0/70, 1e-9) || !near(d.PSpecificity, 2.0/70, 1e-9) ||
		!near(d.PHolm, 4.0/70, 1e-9) {
		t.Errorf("%+v, %v", d, err)
	}
	if d, err := FindDrift(stored, Calibration{TruePositive: 4, LabelledPass: 4}); err != nil ||
		!near(d.PSensitivity, 1, 1e-9) || d.PSpecificity != 1 || d.PHolm != 1 {
		t.Errorf("%+v, %v", d, err)
	}
	if d, err := FindDrift(Calibration{}, stored); err != nil || d.PSensitivity != 1 || d.PSpecificity != 1 {
		t.Errorf("%+v, %v", d, err)
	}
}

// TestPoweredByHand: labels alone are a mean with its normal interval.
func TestPoweredByHand(t *testing.T) {
	t.Parallel()
	labels, scores := make([]float64, MinPPI), make([]float64, MinPPI)
	for i := range labels {
		labels[i], scores[i] = float64(i%2), 0.25+0.5*float64(i%2)
	}
	others := []float64{0.5, 1, 0.25, 0.75}
	if p := PPI(labels, scores, others, 0, 0.95); p.Status != stats.StatusOK || p.Few || !near(p.Point, 0.5, 1e-12) ||
		!near(p.RawUpper, 0.5+z*0.05, 1e-12) || !near(p.RawLower, 0.5-z*0.05, 1e-12) {
		t.Errorf("labels alone: %+v", p)
	}
	// The rest is always 0.25 below; the mean of the other scores is 0.625, their variance 0.078125.
	if p := PPI(labels, labels, others, 1, 0.95); !near(p.Point, 0.625, 1e-12) ||
		!near(p.Upper, 0.625+z*math.Sqrt(0.078125/4), 1e-12) || p.Lambda != 1 {
		t.Errorf("the judge alone: %+v", p)
	}
	// Covariance 0.125 in 100; variance of the 104 scores by their deviations.
	m := (50.0 + 2.5) / 104
	v := (50*(0.25-m)*(0.25-m) + 50*(0.75-m)*(0.75-m) + (0.5-m)*(0.5-m) + (1-m)*(1-m) + (0.25-m)*(0.25-m) +
		(0.75-m)*(0.75-m)) / 103
	if p := PPI(labels, scores, others, Tuned, 0.95); !near(p.Lambda, 0.125/((1+100.0/4)*v), 1e-12) {
		t.Errorf("tuned: %+v, want %g", p, 0.125/(26*v))
	}
	if p := PPI(labels[1:], scores[1:], others, Tuned, 0.95); !p.Few {
		t.Errorf("99 labels: %+v", p)
	}
	if p := PPI(labels, make([]float64, MinPPI), make([]float64, 3), Tuned, 0.95); p.Lambda != 0 ||
		!near(p.Point, 0.5, 1e-12) {
		t.Errorf("scores that say nothing: %+v", p)
	}
	for name, tc := range map[string]struct {
		labels, others []float64
		lambda, conf   float64
		want           stats.Status
	}{
		"no label":      {nil, others, 0.5, 0.95, stats.StatusNoData},
		"no other task": {labels, nil, 0.5, 0.95, stats.StatusNoData},
		"above 1":       {labels, others, 1.01, 0.95, stats.StatusInvalid},
		"below 0":       {labels, others, -0.01, 0.95, stats.StatusInvalid},
		"sure":          {labels, others, 0.5, 1, stats.StatusInvalid},
		"unsure":        {labels, others, 0.5, 0, stats.StatusInvalid},
	} {
		if p := PPI(tc.labels, tc.labels, tc.others, tc.lambda, tc.conf); p.Status != tc.want || p.Lower != 0 ||
			p.Upper != 1 {
			t.Errorf("%s: %+v", name, p)
		}
	}
}

// TestAllLabelled: with a label on every task only the true passes count, as a rate.
func TestAllLabelled(t *testing.T) {
	t.Parallel()
	s := Strata{JudgePass: 20, N: 30, LabelledPass: 20, TruePassInPass: 16, LabelledFail: 10, TruePassInFail: 2}
	p := ProfileInternal(s, 0.95)
	log := func(x float64) float64 { return 18*math.Log(x) + 12*math.Log(1-x) }
	falls := func(x float64) float64 { return 2 * (log(0.6) - log(x)) }
	if p.Status != stats.StatusOK || !near(p.Point, 0.6, 1e-12) || !near(p.PPV, 0.8, 1e-12) ||
		!near(p.NPV, 0.8, 1e-12) {
		t.Errorf("%+v", p)
	}
	if !near(falls(p.Lower), z*z, 1e-6) || !near(falls(p.Upper), z*z, 1e-6) || p.Lower >= 0.6 || p.Upper <= 0.6 {
		t.Errorf("the ends %g and %g fall by %g and %g, want %g", p.Lower, p.Upper, falls(p.Lower), falls(p.Upper), z*z)
	}
	if want := 18*math.Log(18) + 12*math.Log(12) - 30*math.Log(30) + 16*math.Log(16) + 2*math.Log(2) - 18*math.Log(18) +
		8*math.Log(8) + 4*math.Log(4) - 12*math.Log(12); !near(p.LogLikelihood, want, 1e-9) {
		t.Errorf("the logarithm of the likelihood is %.12g, want %.12g", p.LogLikelihood, want)
	}
	// A judge known to be perfect: what it passes is what is right.
	perfect := Calibration{TruePositive: 1e9, LabelledPass: 1e9, TrueNegative: 1e9, LabelledFail: 1e9}
	q := ProfileTransport(Judged{Pass: 18, N: 30}, perfect, 0.95)
	if !near(falls(q.Lower), z*z, 1e-3) || !near(falls(q.Upper), z*z, 1e-3) || !math.IsNaN(q.PPV) ||
		!math.IsNaN(q.NPV) {
		t.Errorf("a perfect judge: %+v falls by %g and %g", q, falls(q.Lower), falls(q.Upper))
	}
	if q := ProfileTransport(Judged{Pass: 30, N: 30}, perfect, 0.95); q.Upper != 1 ||
		!near(q.Lower, math.Exp(-z*z/60), 1e-6) {
		t.Errorf("all passed: %+v", q)
	}
	if q := ProfileTransport(Judged{N: 30}, perfect, 0.95); q.Lower != 0 || !near(q.Upper, 1-math.Exp(-z*z/60), 1e-6) {
		t.Errorf("none passed: %+v", q)
	}
	for name, p := range map[string]Profile{
		"transported": ProfileTransport(Judged{}, perfect, 0.95),
		"internal":    ProfileInternal(Strata{}, 0.95),
	} {
		if p.Status != stats.StatusNoData || !math.IsNaN(p.Point) || p.Lower != 0 || p.Upper != 1 {
			t.Errorf("nothing, %s: %+v", name, p)
		}
	}
}

// TestPerfectJudge: with a judge known to be perfect each interval is that of a rate.
func TestPerfectJudge(t *testing.T) {
	t.Parallel()
	perfect := Calibration{TruePositive: 1e9, LabelledPass: 1e9, TrueNegative: 1e9, LabelledFail: 1e9}
	for _, pass := range []int{0, 4, 25, 30} {
		j := Judged{Pass: float64(pass), N: 30}
		exact := stats.ClopperPearson(pass, 30, 0.95, stats.TwoSided)
		iv := Melded(j, perfect, 0.95)
		if iv.Status != stats.StatusOK || iv.N != 30 || !near(iv.Lower, exact.Lower, 1e-6) ||
			!near(iv.Upper, exact.Upper, 1e-6) || !near(iv.Point, float64(pass)/30, 1e-6) {
			t.Errorf("%d of 30, melded: %+v, want %+v", pass, iv, exact)
		}
		a, b := float64(pass)+0.5, float64(30-pass)+0.5
		iv = Transported(j, perfect, 0.95)
		if iv.Status != stats.StatusOK || !near(iv.Lower, stats.BetaQuantile(a, b, 0.025), 1e-6) ||
			!near(iv.Upper, stats.BetaQuantile(a, b, 0.975), 1e-6) {
			t.Errorf("%d of 30, transported: %+v", pass, iv)
		}
		low, high := MeldedBelow(j, perfect, 0.5)
		if !near(TransportedBelow(j, perfect, 0.5), stats.Beta(a, b, 0.5), 1e-6) ||
			!near(low, stats.BinomialUpper(pass, 30, 0.5), 1e-6) ||
			!near(high, 1-stats.BinomialCDF(pass, 30, 0.5), 1e-6) {
			t.Errorf("%d of 30 below a half: %g and %g", pass, low, high)
		}
	}
	low, high := MeldedBelow(Judged{}, perfect, 0.5)
	for _, x := range []float64{low, high, TransportedBelow(Judged{}, perfect, 0.5)} {
		if !math.IsNaN(x) {
			t.Errorf("%g is the chance of nothing", x)
		}
	}
	for name, iv := range map[string]stats.Interval{
		"melded":      Melded(Judged{}, perfect, 0.95),
		"transported": Transported(Judged{}, perfect, 0.95),
	} {
		if iv.Status != stats.StatusNoData || iv.Lower != 0 || iv.Upper != 1 {
			t.Errorf("nothing, %s: %+v", name, iv)
		}
	}
}

// TestChance: two nodes by hand. Of four pairs of rates one is better than chance.
func TestChance(t *testing.T) {
	t.Parallel()
	s, u := spread{[]float64{0.4, 0.8}, []float64{0.25, 0.75}}, spread{[]float64{0.2, 0.6}, []float64{0.5, 0.5}}
	// 0.8 + 0.6: a share of 0.5 is judged passed with 0.5*0.8 + 0.5*0.4.
	at := stats.Beta(3, 4, 0.6)
	for chance, want := range map[rest]float64{leftOut: at, asZero: 0.375*at + 0.625, asOne: 0.375 * at} {
		if got := belowTransported(s, u, 3, 4, chance)(0.5); !near(got, want, 1e-12) {
			t.Errorf("%d: %g, want %g", chance, got, want)
		}
	}
	if got := belowTransported(spread{[]float64{0.4}, []float64{1}}, spread{[]float64{0.4}, []float64{1}}, 3, 4,
		leftOut)(0.5); got != 0 {
		t.Errorf("all no better than chance: %g", got)
	}
	for _, tc := range []struct{ a, b, q, want float64 }{
		{0, 1, 0.3, 1},
		{1, 0, 0.3, 0},
		{1, 0, 1, 1},
		{1, 1, 0.3, 0.3},
	} {
		if got := rateBelow(tc.a, tc.b, tc.q); !near(got, tc.want, 1e-12) {
			t.Errorf("Beta(%g, %g) below %g: %g", tc.a, tc.b, tc.q, got)
		}
	}
	for _, tc := range []struct{ a, b, want float64 }{{0, 3, 0}, {3, 0, 1}, {1, 1, 0.5}} {
		if got := quantiles(tc.a, tc.b, 1); !near(got.at[0], tc.want, 1e-12) || !near(got.weight[0], 1, 1e-12) {
			t.Errorf("Beta(%g, %g): %+v", tc.a, tc.b, got)
		}
	}
	// A sure rate is reached at once, another where it is; outside it is an end.
	for i, tc := range []struct {
		below func(float64) float64
		want  float64
	}{
		{func(float64) float64 { return 1 }, 0},
		{func(float64) float64 { return 0 }, 1},
		{func(x float64) float64 { return 0.3 + x }, 0},
		{func(x float64) float64 { return 0.3 * x }, 1},
		{func(x float64) float64 { return x }, 0.3},
		{func(x float64) float64 { return math.Pow(x, 9) }, math.Pow(0.3, 1.0/9)},
		{func(x float64) float64 { return 1 - math.Pow(1-x, 40) }, 1 - math.Pow(0.7, 1.0/40)},
		{func(x float64) float64 { return float64(int(x + 0.75)) }, 0.25},
	} {
		got := reach(tc.below, 0.3)
		if sure := tc.want == 0 || tc.want == 1; sure && got != tc.want || !near(got, tc.want, 1e-9) {
			t.Errorf("%d: reached at %.12g, want %.12g", i, got, tc.want)
		}
	}
}

// TestStrataByHand: impossible tables, and verdicts that do not occur.
func TestStrataByHand(t *testing.T) {
	t.Parallel()
	good := Strata{JudgePass: 20, N: 30, LabelledPass: 10, TruePassInPass: 8, LabelledFail: 5, TruePassInFail: 1}
	with := func(change func(s *Strata)) Strata {
		s := good
		change(&s)
		return s
	}
	for name, tc := range map[string]struct {
		s     Strata
		want  stats.Status
		point float64
	}{
		"good": {good, stats.StatusOK, 2.0/3*0.8 + 1.0/3*0.2},
		"five of the passes": {
			with(func(s *Strata) { s.LabelledPass, s.TruePassInPass = 5, 5 }), stats.StatusOK,
			2.0/3 + 1.0/15,
		},
		"four of the passes": {
			with(func(s *Strata) { s.LabelledPass, s.TruePassInPass = 4, 4 }), TooFewUnits,
			2.0/3 + 1.0/15,
		},
		"four of the fails": {with(func(s *Strata) { s.LabelledFail = 4 }), TooFewUnits, 2.0/3*0.8 + 1.0/12},
		"all of four passes": {Strata{
			JudgePass: 4, N: 30, LabelledPass: 4, TruePassInPass: 3, LabelledFail: 8,
			TruePassInFail: 2,
		}, stats.StatusOK, 0.1 + 26.0/30/4},
		"none passed":          {Strata{N: 30, LabelledFail: 8, TruePassInFail: 2}, stats.StatusOK, 0.25},
		"all failed, truly":    {Strata{N: 30, LabelledFail: 8}, stats.StatusOK, 0},
		"none labelled pass":   {with(func(s *Strata) { s.LabelledPass, s.TruePassInPass = 0, 0 }), MissingStratum, 0},
		"none labelled fail":   {with(func(s *Strata) { s.LabelledFail, s.TruePassInFail = 0, 0 }), MissingStratum, 0},
		"passes below 0":       {with(func(s *Strata) { s.JudgePass = -1 }), stats.StatusInvalid, 0},
		"more passes":          {with(func(s *Strata) { s.JudgePass = 31 }), stats.StatusInvalid, 0},
		"true passes below 0":  {with(func(s *Strata) { s.TruePassInPass = -1 }), stats.StatusInvalid, 0},
		"more true passes":     {with(func(s *Strata) { s.TruePassInPass = 11 }), stats.StatusInvalid, 0},
		"true fails below 0":   {with(func(s *Strata) { s.TruePassInFail = -1 }), stats.StatusInvalid, 0},
		"more true fails":      {with(func(s *Strata) { s.TruePassInFail = 6 }), stats.StatusInvalid, 0},
		"more labelled passes": {with(func(s *Strata) { s.LabelledPass = 21 }), stats.StatusInvalid, 0},
		"more labelled fails":  {with(func(s *Strata) { s.LabelledFail = 11 }), stats.StatusInvalid, 0},
		"every task labelled": {Strata{
			JudgePass: 6, N: 12, LabelledPass: 6, TruePassInPass: 6, LabelledFail: 6,
			TruePassInFail: 6,
		}, stats.StatusOK, 1},
		"every task, and right": {
			Strata{JudgePass: 6, N: 12, LabelledPass: 6, TruePassInPass: 6, LabelledFail: 6},
			stats.StatusOK, 0.5,
		},
	} {
		iv := StratifiedAt(tc.s, 0.5, 0.95)
		if iv.Status != tc.want || !near(iv.Point, tc.point, 1e-12) {
			t.Errorf("%s: %+v", name, iv)
		}
		if profile := tc.s.status(0.95); tc.want != TooFewUnits && profile != tc.want {
			t.Errorf("%s: %s", name, profile)
		}
	}
	for _, conf := range []float64{0, 1} {
		if iv := Stratified(good, conf); iv.Status != stats.StatusInvalid {
			t.Errorf("confidence %g: %+v", conf, iv)
		}
	}
	// Of 20 passes 16 are thought right, of 10 fails 2 wrong.
	nan := math.NaN()
	for name, tc := range map[string]struct {
		s    Strata
		want Verification
	}{
		"both": {good, Verification{16.0 / 18, 8.0 / 12, 8.0 / 9, 4.0 / 6, stats.StatusOK}},
		"all passed": {
			Strata{JudgePass: 20, N: 20, LabelledPass: 10, TruePassInPass: 8},
			Verification{1, 0, 1, 0, stats.StatusOK},
		},
		"all failed": {Strata{N: 20, LabelledFail: 10, TruePassInFail: 2}, Verification{0, 1, 0, 1, stats.StatusOK}},
		"all right": {
			Strata{JudgePass: 20, N: 20, LabelledPass: 10, TruePassInPass: 10},
			Verification{1, nan, 1, nan, stats.StatusOK},
		},
		"nothing": {Strata{}, Verification{nan, nan, nan, nan, stats.StatusNoData}},
	} {
		if diff := cmp.Diff(tc.want, BeggGreenes(tc.s), cmpopts.EquateApprox(0, 1e-12),
			cmpopts.EquateNaNs()); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
	// p*a + (1-p)*b for a known a and b is a rate between them.
	for _, tc := range []struct{ x, a, b, want float64 }{
		{0.5, 0.8, 0.2, stats.Beta(3, 4, 0.5)},
		{0.35, 0.8, 0.2, stats.Beta(3, 4, 0.25)},
		{0.35, 0.2, 0.8, 1 - stats.Beta(3, 4, 0.75)},
		{0.5, 0.5, 0.5, 1},
		{0.4, 0.5, 0.5, 0},
		{0.9, 0.8, 0.2, 1},
		{0.1, 0.8, 0.2, 0},
	} {
		if got := mixtureBelow(tc.x, tc.a, tc.b, 3, 4); !near(got, tc.want, 1e-12) {
			t.Errorf("below %g between %g and %g: %g, want %g", tc.x, tc.a, tc.b, got, tc.want)
		}
	}
	// An end is never between the point and the bound that has no end on that side.
	if iv := StratifiedAt(Strata{N: 30, LabelledFail: 8}, 1e-9, 0.95); iv.Lower != 0 || iv.Point != 0 {
		t.Errorf("all failed: %+v", iv)
	}
	if iv := StratifiedAt(Strata{N: 30, JudgePass: 30, LabelledPass: 8, TruePassInPass: 8}, 1-1e-9,
		0.95); iv.Upper != 1 || iv.Point != 1 {
		t.Errorf("all passed: %+v", iv)
	}
	// Beta(3/2, 7/2) has the variance 0.035, Beta(5/2, 1/2) 5/144 and Beta(5/2, 15/2) 3/176.
	rate, pass, fail := Strata{
		JudgePass: 2, N: 9, LabelledPass: 2, TruePassInPass: 2, LabelledFail: 4,
		TruePassInFail: 1,
	}.variances()
	if gap := 5.0/6 - 0.3; !near(rate, gap*gap*3/176, 1e-12) || !near(pass, 4.0/81*5/144, 1e-12) ||
		!near(fail, 49.0/81*0.035, 1e-12) {
		t.Errorf("variances by %g, %g and %g", rate, pass, fail)
	}
	// Whichever of the three rates is integrated exactly, it is one distribution.
	for name, s := range map[string]Strata{
		"few labels of passes": {
			JudgePass: 150, N: 300, LabelledPass: 8, TruePassInPass: 5, LabelledFail: 100,
			TruePassInFail: 9,
		},
		"few labels of fails": {
			JudgePass: 150, N: 300, LabelledPass: 100, TruePassInPass: 91, LabelledFail: 8,
			TruePassInFail: 3,
		},
		"few tasks": {
			JudgePass: 20, N: 30, LabelledPass: 20, TruePassInPass: 19, LabelledFail: 10,
			TruePassInFail: 1,
		},
	} {
		f, g := stratified(s, 24), plainly(s, 48)
		for _, x := range []float64{0.2, 0.35, 0.5, 0.65} {
			if !near(f(x), g(x), 2e-3) {
				t.Errorf("%s: below %g: %g and %g", name, x, f(x), g(x))
			}
		}
	}
}

// TestScoresByHand: ranks, bins and steps of a few scores.
func TestScoresByHand(t *testing.T) {
	t.Parallel()
	// Passes 1, 2 and 3 against fails 1 and 2: 1/4, 3/4 and 1 of the fails are below.
	a := AUC([]bool{true, true, true, false, false}, []float64{1, 2, 3, 1, 2}, 0.95)
	m := 2.0 / 3
	v10 := ((0.25-m)*(0.25-m) + (0.75-m)*(0.75-m) + (1-m)*(1-m)) / 3
	v01 := (1.0/6 + 0.5) / 2 // shares of passes below: 1/6 and 1/2
	v01 = ((1.0/6-v01)*(1.0/6-v01) + (0.5-v01)*(0.5-v01)) / 2
	v := v10/2 + v01/1
	if !near(a.AUC, m, 1e-12) || !near(a.Variance, v, 1e-12) || !near(a.Lower, max(0, m-z*math.Sqrt(v)), 1e-12) ||
		!near(a.Upper, min(1, m+z*math.Sqrt(v)), 1e-12) || a.Status != stats.StatusOK {
		t.Errorf("%+v, want %g with the variance %g", a, m, v)
	}
	for name, tc := range map[string]struct {
		labels []bool
		conf   float64
		want   stats.Status
	}{
		"one pass":  {[]bool{true, false, false}, 0.95, TooFewInClass},
		"one fail":  {[]bool{true, true, false}, 0.95, TooFewInClass},
		"passes":    {[]bool{true, true, true}, 0.95, SingleClass},
		"fails":     {[]bool{false, false, false}, 0.95, SingleClass},
		"nothing":   {nil, 0.95, stats.StatusNoData},
		"sure":      {[]bool{true, true, false}, 1, stats.StatusInvalid},
		"uncertain": {[]bool{true, true, false}, 0, stats.StatusInvalid},
	} {
		if a := AUC(tc.labels, []float64{1, 2, 3}[:len(tc.labels)], tc.conf); a.Status != tc.want ||
			!math.IsNaN(a.Variance) || a.Lower != 0 || a.Upper != 1 {
			t.Errorf("%s: %+v", name, a)
		}
	}
	// Two bins: 0 and 1/2 in the first one, 3/4 and 1 in the second.
	brier, ece, ok := Brier([]bool{false, true, true, false}, []float64{0, 0.5, 0.75, 1}, 2)
	if !ok || !near(brier, (0.25+0.0625+1)/4, 1e-12) || !near(ece, (0.5+0.75)/4, 1e-12) {
		t.Errorf("a score of %g, an error of %g, %v", brier, ece, ok)
	}
	if brier, ece, ok := Brier([]bool{true}, []float64{0}, 1); !ok || brier != 1 || ece != 1 {
		t.Errorf("wrong in one bin: %g, %g, %v", brier, ece, ok)
	}
	for name, bins := range map[string]int{"no bin": 0, "fewer": -1} {
		if _, _, ok := Brier([]bool{true}, []float64{1}, bins); ok {
			t.Error(name)
		}
	}
	if _, _, ok := Brier(nil, nil, 3); ok {
		t.Error("of nothing")
	}
	// 1 is right in one of two, 2 in none of one, 3 and 4 always: 1 and 2 share 1/3.
	steps := Isotonic([]float64{4, 1, 3, 1, 2}, []bool{true, true, true, false, false})
	if diff := cmp.Diff([]Step{{1, 1.0 / 3}, {2, 1.0 / 3}, {3, 1}, {4, 1}}, steps,
		cmpopts.EquateApprox(0, 1e-12)); diff != "" {
		t.Error(diff)
	}
	if steps := Isotonic([]float64{1, math.NaN()}, []bool{true, false}); steps != nil {
		t.Errorf("NaN: %v", steps)
	}
}

// TestTrueSuccessByHand: the sentence for each refusal, and the informedness a gate needs.
func TestTrueSuccessByHand(t *testing.T) {
	t.Parallel()
	j := stats.ClopperPearson(160, 200, 0.95, stats.TwoSided)
	good := Calibration{TruePositive: 152, LabelledPass: 160, TrueNegative: 36, LabelledFail: 40}
	iv, lr := TrueSuccess(j, good, 0.95), LangReiczigel(Judged{Pass: 160, N: 200}, good, 0.95)
	if !near(iv.Point, 0.7/0.85, 1e-12) || iv.Lower != lr.Lower || iv.Upper != lr.Upper || iv.N != 200 || iv.SE <= 0 {
		t.Errorf("%+v, want the ends %g and %g", iv, lr.Lower, lr.Upper)
	}
	if got := Effective(stats.Interval{Point: 0.25, NEff: 40}); got != (Judged{Pass: 10, N: 40}) {
		t.Errorf("a quarter of 40: %+v", got)
	}
	for status, refused := range map[stats.Status]bool{
		NotInformative: true, NoLabelledPass: true, NoLabelledFail: true, TooFewUnits: true, Mismatch: true,
		stats.StatusOK: false, stats.StatusNoData: false,
	} {
		if got := Refusal(status); (got != "") != refused {
			t.Errorf("%s: %q", status, got)
		}
	}
}

// TestVerifiedCalibration: the worth of labels is that of a variance by derivatives, taken numerically elsewhere:
// with respect to the rates of success in both verdicts and to the share that the judge passes.
func TestVerifiedCalibration(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		s    Strata
		want Calibration
	}{
		{
			Strata{N: 1000, JudgePass: 800, LabelledPass: 100, TruePassInPass: 90, LabelledFail: 100, TruePassInFail: 10},
			Calibration{TruePositive: 972973, TrueNegative: 692308, PassWorth: 100, FailWorth: 49.8478},
		},
		{
			Strata{N: 1000, JudgePass: 500, LabelledPass: 100, TruePassInPass: 95, LabelledFail: 20, TruePassInFail: 10},
			Calibration{TruePositive: 655172, TrueNegative: 909091, PassWorth: 84.6960, FailWorth: 15},
		},
		{
			Strata{N: 400, JudgePass: 150, LabelledPass: 60, TruePassInPass: 50, LabelledFail: 40, TruePassInFail: 4},
			Calibration{TruePositive: 833333, TrueNegative: 900000, PassWorth: 31.8693, FailWorth: 46},
		},
		{Strata{N: 10, JudgePass: 5}, Calibration{}},
	} {
		if tc.want.TruePositive > 0 {
			tc.want.LabelledPass, tc.want.LabelledFail = 1_000_000, 1_000_000
		}
		if d := cmp.Diff(tc.want, VerifiedCalibration(tc.s), cmpopts.EquateApprox(0, 1e-3)); d != "" {
			t.Errorf("%+v: %s", tc.s, d)
		}
	}
}

// TestSways: p-values are those of the exact sign test, adjusted together; impossible counts keep their place and
// change nothing of the others.
func TestSways(t *testing.T) {
	t.Parallel()
	got := Sways([]Change{{Rose: 12, Fell: 2, Same: 6}, {Rose: -1}, {Rose: 5, Fell: 6}, {Rose: 1, Fell: 9, Same: 3}}, 0.95)
	type line struct {
		P, Holm float64
		Swayed  bool
	}
	want := []line{{0.012939453125, 0.038818359375, true}, {1, 1, false}, {1, 1, false}, {0.021484375, 0.04296875, true}}
	for i, w := range want {
		g := got[i]
		if d := cmp.Diff(w, line{g.P, g.PHolm, g.Swayed}, cmpopts.EquateApprox(0, 1e-12)); d != "" {
			t.Errorf("change %d: %s", i, d)
		}
	}
	if got[0].Difference.Point <= 0 || got[3].Difference.Point >= 0 {
		t.Errorf("differences %v, %v", got[0].Difference.Point, got[3].Difference.Point)
	}
}
