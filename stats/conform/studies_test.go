// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package conform

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/callvet/callvet/stats"
	"github.com/callvet/callvet/stats/judge"
)

func seeded() *rand.Rand { return rand.New(rand.NewPCG(8, 9)) }

// TestStudyRun: a share in the band is right, and so is one within three standard errors
// and one trial of it, unless the study is strict.
func TestStudyRun(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		low, high           float64
		strict              bool
		cost, trials, holds int
		wantTrials          int
		wantOK              bool
	}{
		"the lower bound":               {0.75, 0.9, true, 0, 100, 75, 100, true},
		"below the lower bound":         {0.75, 0.9, true, 1, 100, 74, 100, false},
		"the upper bound":               {0.5, 0.75, true, 1, 100, 75, 100, true},
		"above the upper bound":         {0.5, 0.75, true, 1, 100, 76, 100, false},
		"dearer trials are fewer":       {0.5, 0.75, true, 4, 100, 13, 25, true},
		"one trial at least":            {1, 1, true, 40, 7, 1, 1, true},
		"just below, by chance":         {0.9, 1, false, 1, 100, 81, 100, true}, // 3*sqrt(.09/100) and 1/100
		"too far below for chance":      {0.9, 1, false, 1, 100, 79, 100, false},
		"just above, by chance":         {0, 0.1, false, 1, 100, 19, 100, true},
		"too far above for chance":      {0, 0.1, false, 1, 100, 21, 100, false},
		"all are no exception":          {0, 0.5, false, 1, 100, 67, 100, false}, // .15 and .01
		"a band without room but one":   {1, 1, false, 1, 200, 199, 200, true},
		"a band without room for two":   {1, 1, false, 1, 200, 198, 200, false},
		"many trials leave little room": {0.5, 1, false, 1, 10_000, 4848, 10_000, false}, // .015 and .0001
		"but they leave some":           {0.5, 1, false, 1, 10_000, 4850, 10_000, true},
	} {
		made := 0
		got := Study{
			Name: name, Low: tc.low, High: tc.high, Strict: tc.strict, Cost: tc.cost,
			Trial: func(*rand.Rand) bool {
				made++
				return made <= tc.holds
			},
		}.Run(tc.trials, 1)
		want := Outcome{Share: float64(tc.holds) / float64(tc.wantTrials), Trials: tc.wantTrials, OK: tc.wantOK}
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("%s: %s", name, d)
		}
	}
}

// TestHolds: the ends of an interval are in it.
func TestHolds(t *testing.T) {
	t.Parallel()
	for truth, want := range map[float64]bool{0.24: false, 0.25: true, 0.5: true, 0.75: true, 0.76: false} {
		if holds(0.25, truth, 0.75) != want || covers(stats.Interval{Lower: 0.25, Upper: 0.75}, truth) != want {
			t.Errorf("%g in .25 to .75: not %t", truth, want)
		}
	}
	for _, tc := range []struct {
		lesser, greater float64
		want            bool
	}{
		{tail, 0.5, true},
		{0.5, 1 - tail, true},
		{0.02, 0.5, false},
		{0.5, 0.98, false},
		{0.98, 0.98, false},
		{0.02, 0.02, false},
	} {
		if central(tc.lesser, tc.greater) != tc.want {
			t.Errorf("with a chance of %g or %g below it, the truth is in the interval: not %t", tc.lesser,
				tc.greater, tc.want)
		}
	}
}

// TestDrawn holds what the studies draw against the mean and the variance that they say
// it has.
func TestDrawn(t *testing.T) {
	t.Parallel()
	first := func(a amount) func(*rand.Rand) float64 {
		return func(rng *rand.Rand) float64 {
			total, attempts := a(rng)
			return total / attempts
		}
	}
	second := func(a amount) func(*rand.Rand) float64 {
		return func(rng *rand.Rand) float64 {
			_, attempts := a(rng)
			return attempts
		}
	}
	spread := func(sigma float64) float64 { return math.Expm1(sigma * sigma) }
	// A tenth is 10 times as dear: the square of 1 in 0.9 of them and of 10 in 0.1.
	rareSquares := (0.9 + 0.1*100) / (1.9 * 1.9) * (1 + spread(0.3))
	for name, tc := range map[string]struct {
		draw           func(*rand.Rand) float64
		mean, variance float64
	}{
		"lognormal":       {first(logs(0.5)), 1, spread(0.5)},
		"gamma":           {first(gammas(0.25)), 1, 4},
		"rare":            {first(rare(0.1, 10)), 1, rareSquares - 1},
		"attempts":        {second(repeated(1)), 2.5, 1.25},
		"one attempt":     {second(rare(0.1, 10)), 1, 0},
		"calls of a case": {func(rng *rand.Rand) float64 { _, n := severalCalls(rng); return n }, 3, 2},
		"cost of a call": {
			func(rng *rand.Rand) float64 { total, n := severalCalls(rng); return total / n },
			1, 1.0 / 12,
		},
		"argument F1": {f1, 0.875, 0.8 + 0.2*(1.0/16+4.0/16+9.0/16)/4 - 0.875*0.875},
		"events":      {func(rng *rand.Rand) float64 { return float64(events(rng, 2, 1.5, 0, 1)) }, 3, 3},
		"events that vary": {
			func(rng *rand.Rand) float64 { return float64(events(rng, 2, 1.5, 0.5, 1)) },
			3, 3 + 0.5*9,
		},
		"events in bursts": {func(rng *rand.Rand) float64 { return float64(events(rng, 2, 1.5, 0, 2)) }, 3, 9},
		"yes": {
			func(rng *rand.Rand) float64 { return map[bool]float64{true: 1}[yes(rng, 0.3)] }, 0.3,
			0.21,
		},
		"nothing is changed": {
			func(rng *rand.Rand) float64 { return differences(rng, 1)[0] }, 0,
			2 * 0.85 * 0.15 * (1 - 0.6) / 4,
		},
	} {
		const n = 100_000
		rng := seeded()
		sum, squares := 0.0, 0.0
		for range n {
			x := tc.draw(rng)
			sum += x
			squares += (x - tc.mean) * (x - tc.mean)
		}
		if d := math.Abs(sum/n - tc.mean); d > 5*math.Sqrt(tc.variance/n)+1e-12 {
			t.Errorf("%s: mean %g, want %g", name, sum/n, tc.mean)
		}
		if d := math.Abs(squares/n - tc.variance); d > 0.08*tc.variance+1e-12 {
			t.Errorf("%s: variance %g, want %g", name, squares/n, tc.variance)
		}
	}
	// Attempts of a case are alike: what they cost has the variance of the case, and a
	// share of that of the attempt.
	rng := seeded()
	var totals, attempts float64
	for range 100_000 {
		total, n := repeated(0.5)(rng)
		totals, attempts = totals+total, attempts+n
	}
	if mean := totals / attempts; math.Abs(mean-1) > 0.01 {
		t.Errorf("an attempt of several costs %g, want 1", mean)
	}
}

// near allows for the noise of the draws below.
var near = cmpopts.EquateApprox(0, 0.01)

// TestDrawnCounts holds how many of each kind the studies draw against what they ask for.
func TestDrawnCounts(t *testing.T) {
	t.Parallel()
	const n = 40_000
	c := calls(seeded(), n, 0.9, 0.3)
	if d := cmp.Diff([]float64{n, 0.9}, []float64{float64(c.Cases()), c.Sum() / float64(c.N())}, near); d != "" {
		t.Errorf("calls: %s", d)
	}
	if mean := float64(c.N()) / n; math.Abs(mean-5) > 0.05 {
		t.Errorf("%g calls a case, want 5", mean)
	}

	share := func(x, n int) float64 { return float64(x) / float64(n) }
	// Of 85 % that pass the judge passes 90 %, of the others 20 %.
	const passed, verdicts = 0.85, 0.85*0.9 + 0.15*0.2
	s := drawStrata(seeded(), n, n/4, passed, 0.9, 0.8)
	if s.N != n || s.LabelledPass+s.LabelledFail != n/4 {
		t.Errorf("%d tasks, %d and %d labelled", s.N, s.LabelledPass, s.LabelledFail)
	}
	if d := cmp.Diff([]float64{verdicts, verdicts, 0.85 * 0.9 / verdicts, 0.85 * 0.1 / (1 - verdicts)}, []float64{
		share(s.JudgePass, s.N), share(s.LabelledPass, n/4), share(s.TruePassInPass, s.LabelledPass),
		share(s.TruePassInFail, s.LabelledFail),
	}, cmpopts.EquateApprox(0, 0.02)); d != "" {
		t.Errorf("strata: %s", d)
	}

	j, k := transported(seeded(), n, n, passed, 0.9, 0.8)
	if d := cmp.Diff([]float64{n, verdicts, passed, 1 - passed, 0.9, 0.8}, []float64{
		j.N, j.Pass / j.N, share(k.LabelledPass, n), share(k.LabelledFail, n), share(k.TruePositive, k.LabelledPass),
		share(k.TrueNegative, k.LabelledFail),
	}, near); d != "" {
		t.Errorf("calibration: %s", d)
	}

	k, pass, fail := labelledOften(seeded(), n/4, 4, 0.3)
	if d := cmp.Diff([]float64{often, 1 - often, oftenSens, oftenSpec}, []float64{
		share(k.LabelledPass, n), share(k.LabelledFail, n), share(k.TruePositive, k.LabelledPass),
		share(k.TrueNegative, k.LabelledFail),
	}, cmpopts.EquateApprox(0, 0.02)); d != "" {
		t.Errorf("labelled often: %s", d)
	}
	if d := cmp.Diff([]float64{
		float64(k.LabelledPass), float64(k.TruePositive), float64(k.LabelledFail),
		float64(k.TrueNegative),
	},
		[]float64{float64(pass.N()), pass.Sum(), float64(fail.N()), fail.Sum()}); d != "" {
		t.Errorf("labelled often, by task: %s", d)
	}
	for _, x := range differences(seeded(), 1000) {
		if !(math.Abs(x) <= 1) || x*4 != math.Trunc(x*4) {
			t.Errorf("a mean difference of 4 trials is %g", x)
		}
	}
	if got := averageAt([]float64{1, 2, 6}, []int{0, 2, 2, 0}); got != 3.5 {
		t.Errorf("the average of 1, 6, 6 and 1 is %g", got)
	}
}

// TestLooked: how often a study calls find, and that it ends with the result of find.
func TestLooked(t *testing.T) {
	t.Parallel()
	var at []int
	successes := 0
	all := looked(seeded(), 3000, 500, func(s, f int) bool {
		if s < successes || math.Abs(float64(s)-0.85*float64(s+f)) > 5*math.Sqrt(0.85*0.15*float64(s+f)) {
			t.Errorf("%d successes of %d", s, s+f)
		}
		successes = s
		at = append(at, s+f)
		return true
	})
	if d := cmp.Diff([]int{500, 1000, 1500, 2000, 2500, 3000}, at); d != "" || !all {
		t.Error(all, d)
	}
	looks := 0
	if looked(seeded(), 100, 1, func(s, f int) bool { looks++; return s+f < 7 }) || looks != 7 {
		t.Errorf("what is found at the 7th is found after %d", looks)
	}
}

// TestStratifiedCovers: with every label a pass the interval goes up to 1, and the truth
// next to 1 is in it; with a label that fails it is not.
func TestStratifiedCovers(t *testing.T) {
	t.Parallel()
	clean := judge.Strata{N: 50, JudgePass: 50, LabelledPass: 40, TruePassInPass: 40}
	mixed := judge.Strata{
		N: 50, JudgePass: 40, LabelledPass: 20, TruePassInPass: 20, LabelledFail: 10,
		TruePassInFail: 10,
	}
	inPass, inFail := clean, mixed
	inPass.TruePassInPass = 39
	inFail.TruePassInFail = 9
	one := clean
	one.JudgePass = 49
	for name, tc := range map[string]struct {
		strata judge.Strata
		truth  float64
		want   bool
	}{
		"all passed":                         {clean, 0.99999, true},
		"all passed, far below":              {clean, 0.8, false},
		"all passed, in the middle":          {clean, 0.98, true},
		"all passed, of either verdict":      {mixed, 0.99999, true},
		"all but one passed":                 {inPass, 0.99999, false},
		"all but one passed, in the middle":  {inPass, 0.96, true},
		"all but one passed, of those below": {inFail, 0.99999, false},
		"no label of a verdict":              {one, 0.1, true},
	} {
		if got := stratifiedCovers(tc.strata, tc.truth); got != tc.want {
			t.Errorf("%s: %t", name, got)
		}
	}
}

// TestNames: a name identifies what is drawn; no two studies share one, and with it their draws.
func TestNames(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, s := range Studies() {
		if seen[s.Name] {
			t.Errorf("two studies are named %q", s.Name)
		}
		seen[s.Name] = true
	}
	if !seen["true success, calibrated with 240 labelled attempts at 60 tasks, ICC 0.3"] {
		t.Error("60 tasks of 4 attempts are not counted as 240")
	}
}

// TestMethodsAtEdges asks methods for what the reference values do not have.
func TestMethodsAtEdges(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name, method, input string
		want                Fields
	}{
		{
			"a matrix of a case", "confusion_matrix", `{"expected_labels":["a"],"predicted_labels":["a"]}`,
			Fields{"status": stats.StatusOK},
		},
		{
			"a matrix of none", "confusion_matrix", `{"expected_labels":[],"predicted_labels":[]}`,
			Fields{"status": stats.StatusNoData},
		},
		{
			"lengths that differ", "confusion_matrix", `{"expected_labels":["a"],"predicted_labels":[]}`,
			Fields{"error": "length_mismatch"},
		},
		{
			"the first of a list", "retrieval_metrics", `{"expected":["a"],"retrieved":["a"],"k":1}`,
			Fields{"status": stats.StatusOK},
		},
		{
			"nothing expected", "retrieval_metrics", `{"expected":[],"retrieved":["a"],"k":1}`,
			Fields{"status": stats.StatusNoGold, "error": nil},
		},
		{
			"none of a list", "retrieval_metrics", `{"expected":["a"],"retrieved":["a"],"k":0}`,
			Fields{"error": "invalid_input"},
		},
		{
			"differences that do not vary", "paired_difference",
			`{"candidate":[1,1,1],"baseline":[0,0,0],"confidence":0.95}`,
			Fields{"mean_diff": 1.0, "t": nil},
		},
		{
			"differences that vary", "paired_difference", `{"candidate":[2,1,0],"baseline":[0,0,0],"confidence":0.95}`,
			Fields{"mean_diff": 1.0, "se": 1 / math.Sqrt(3), "t": math.Sqrt(3)},
		},
		{
			"a gate without a lower end", "gate_decision",
			`{"status":"ok","units":50,"min_units":30,"coverage":1,"min_coverage":0.9,"direction":">=","threshold":0.5,"point":0.6,"upper":0.7}`,
			Fields{"verdict": "INCONCLUSIVE"},
		},
		{
			"a gate without an upper end", "gate_decision",
			`{"status":"ok","units":50,"min_units":30,"coverage":1,"min_coverage":0.9,"direction":"<=","threshold":0.5,"point":0.4,"lower":0.3}`,
			Fields{"verdict": "INCONCLUSIVE"},
		},
	} {
		got := Methods()[tc.method].Run(json.RawMessage(tc.input))
		for key, want := range tc.want {
			if d := cmp.Diff(plain(want), plain(got[key]), cmpopts.EquateApprox(0, 1e-12)); d != "" {
				t.Errorf("%s: %s: %s\nof %v", tc.name, key, d, got)
			}
		}
	}
}

// TestReport: how near the values came, according to a report.
func TestReport(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		file     string
		maxError float64
		ok       bool
	}{
		"absolute": {`{"tolerance":{"abs":2},"part":[{"id":"a","expected":{"x":200}}]}`, 1, true},
		"relative": {
			`{"tolerance":{"rel":0.01},"part":[{"id":"a","expected":{"x":200}}]}`,
			1.0 / 200, true,
		},
		"more relative than absolute": {`{"tolerance":{"rel":0.01,"abs":0.001},"part":[{"id":"a","expected":{"x":200}}]}`, 1.0 / 200, true},
		"as relative as absolute":     {`{"tolerance":{"rel":0.01,"abs":0.01},"part":[{"id":"a","expected":{"x":200}}]}`, 1, true},
		"relative to 0": {
			`{"tolerance":{"rel":0.01},"part":[{"id":"a","expected":{"zero":0}}]}`, 0,
			true,
		},
		"off": {
			`{"tolerance":{"abs":0.5},"part":[{"id":"a","expected":{"x":200}}]}`, 1,
			false,
		},
		"no case of this part":         {`{"tolerance":{"abs":2},"other":[{"id":"a","expected":{"x":200}}]}`, 0, false},
		"a tolerance of the value":     {`{"part":[{"id":"a","expected":{"own":200}}]}`, 0, true},
		"off by what is just allowed":  {`{"tolerance":{"abs":1},"part":[{"id":"a","expected":{"x":200}}]}`, 1, true},
		"the case's own tolerance":     {`{"part":[{"id":"a","expected":{"x":200,"off":1}}]}`, 1, true},
		"the case's own is too strict": {`{"part":[{"id":"a","expected":{"x":200,"off":0.9}}]}`, 1, false},
	} {
		m := Method{
			Run:      func(json.RawMessage) Fields { return Fields{"x": 201, "zero": 0.0, "own": 201.0} },
			Absolute: map[string]float64{"own": 1},
			PerCase:  "off",
		}
		r, err := Check("x", "part", []byte(tc.file), m)
		if err != nil {
			t.Fatal(err)
		}
		if r.MaxError != tc.maxError || r.OK() != tc.ok {
			t.Errorf("%s: largest difference %g, ok %t, problems %v", name, r.MaxError, r.OK(), r.Problems)
		}
	}
}
