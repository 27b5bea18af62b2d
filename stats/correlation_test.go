// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package stats_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/callvet/callvet/stats"
)

func TestMeasureCorrelation(t *testing.T) {
	t.Parallel()
	runs := func(se float64, r ...float64) (out []stats.Alike) {
		for _, x := range r {
			out = append(out, stats.Alike{Correlation: x, SE: se})
		}
		return out
	}
	for name, tc := range map[string]struct {
		runs []stats.Alike
		want stats.Correlation
		ok   bool
	}{
		"four are too few": {runs(0, .5, .5, .5, .5), stats.Correlation{Runs: 4}, false},
		"all alike":        {runs(0, .5, .5, .5, .5, .5), stats.Correlation{Mean: .5, Upper: .5, Runs: 5}, true},
		// The 80 % quantile of t with 4 degrees of freedom is 0.94096.
		"as uncertain as one run": {
			runs(.1, .5, .5, .5, .5, .5),
			stats.Correlation{Mean: .5, Upper: .594096, Runs: 5},
			true,
		},
		// The standard error of the mean of the runs is sqrt(.025/5) = .0707107.
		"runs that differ more": {
			runs(.01, .3, .4, .5, .6, .7),
			stats.Correlation{Mean: .5, Upper: .566536, Runs: 5},
			true,
		},
		"at most 1": {runs(.2, .9, .9, .9, .9, .9), stats.Correlation{Mean: .9, Upper: 1, Runs: 5}, true},
	} {
		got, ok := stats.MeasureCorrelation(tc.runs)
		if ok != tc.ok || got.Runs != tc.want.Runs || ok &&
			(math.Abs(got.Mean-tc.want.Mean) > 1e-9 || math.Abs(got.Upper-tc.want.Upper) > 1e-5) {
			t.Errorf("%s: %+v %v, want %+v", name, got, ok, tc.want)
		}
	}
}

// repeated are tasks with several attempts each; passes[i] of them pass.
func repeated(attempts int, passes ...int) *stats.Clusters {
	var c stats.Clusters
	for _, y := range passes {
		c.AddAttempts(float64(y), attempts, true, stats.AttemptsOf(y, attempts))
	}
	return &c
}

func times(n, y int) (out []int) {
	for range n {
		out = append(out, y)
	}
	return out
}

func TestCorrelated(t *testing.T) {
	t.Parallel()
	all, few, many := repeated(3, times(30, 3)...), repeated(3, append(times(29, 3), 2)...),
		repeated(3, append(times(20, 3), times(10, 1)...)...)
	agree := repeated(3, append(times(28, 3), 0, 0)...)
	for name, tc := range map[string]struct {
		c           *stats.Clusters
		correlation float64
		attempts    int
		worth       float64
		n           int
		status      stats.Status
	}{
		"all pass, correlation 1":         {all, 1, 3, 30, 30, stats.StatusBoundary},
		"all pass, half alike":            {all, .5, 3, 45, 90, stats.StatusBoundary},
		"all pass, nothing in common":     {all, 0, 3, 90, 90, stats.StatusBoundary},
		"some tasks may have had more":    {all, .5, 5, 30, 30, stats.StatusBoundary},
		"fewer than there are":            {all, .5, 2, 45, 90, stats.StatusBoundary},
		"one differs, half alike":         {few, .5, 3, 45, 90, stats.StatusCapped},
		"one differs, correlation 1":      {few, 1, 3, 30, 90, stats.StatusCapped},
		"many differ: the data show it":   {many, 0, 3, many.Interval(.95, .3).NEff, 90, stats.StatusOK},
		"all agree, some fail: they show": {agree, 0, 3, 30, 30, stats.StatusOK},
		"no correlation":                  {all, math.NaN(), 3, 30, 30, stats.StatusBoundary},
	} {
		iv := tc.c.Interval(.95, stats.DefaultRho0)
		got := iv.Correlated(90, tc.attempts, tc.correlation)
		if math.Abs(got.NEff-tc.worth) > 1e-9 || got.N != tc.n || got.Status != tc.status {
			t.Errorf("%s: %+v, want n_eff %v of %d, %s", name, got, tc.worth, tc.n, tc.status)
		}
		if got.NEff == iv.NEff && got != iv {
			t.Errorf("%s: the interval changed: %+v, %+v", name, got, iv)
		}
		if got.NEff > iv.NEff && !(got.Lower > iv.Lower && got.Upper <= iv.Upper && got.Point == iv.Point) {
			t.Errorf("%s: [%v, %v], before [%v, %v]", name, got.Lower, got.Upper, iv.Lower, iv.Upper)
		}
	}
	// All of 90 independent attempts pass: the exact lower end is .025^(1/90).
	free := all.Interval(.95, stats.DefaultRho0)
	if got := free.Correlated(90, 3, 0).Lower; math.Abs(got-math.Pow(.025, 1./90)) > 1e-9 {
		t.Errorf("lower end %v", got)
	}
	one := repeated(3, 3).Interval(.95, stats.DefaultRho0)
	if got := one.Correlated(3, 3, 0); got != one {
		t.Errorf("one task: %+v", got)
	}
}

func TestAlikeAttempts(t *testing.T) {
	t.Parallel()
	agree, all := repeated(3, append(times(28, 3), 0, 0)...).Interval(.95, stats.DefaultRho0),
		repeated(3, times(30, 3)...).Interval(.95, stats.DefaultRho0)
	if a, ok := agree.AlikeAttempts(90); !ok || a != (stats.Alike{Correlation: 1}) {
		t.Errorf("all agree: %+v %v", a, ok)
	}
	if a, ok := all.AlikeAttempts(90); ok {
		t.Errorf("all pass: %+v", a)
	}
	some := repeated(3, append(times(20, 3), times(10, 1)...)...).Interval(.95, stats.DefaultRho0)
	plain, ok := some.Alike()
	a, also := some.AlikeAttempts(90)
	if wide := plain.SE / math.Sqrt(4*some.Point*(1-some.Point)); !ok || !also || a.Correlation != plain.Correlation ||
		math.Abs(a.SE-wide) > 1e-12 || a.SE <= plain.SE {
		t.Errorf("%+v, plain %+v", a, plain)
	}
}

// TestMeasuredGate: with a measured correlation, that which five earlier runs of the same tasks show, a gate
// passes falsely in at most 4.5 % of samples, and the limit is above the correlation in most of them.
func TestMeasuredGate(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("draws too much for the race detector")
	}
	const tasks, attempts, samples = 40, 3, 1500
	for _, bound := range []float64{.9, .95} {
		for _, correlation := range []float64{.3, .8} {
			rng := rand.New(rand.NewPCG(7, uint64(1000*bound+10*correlation)))
			passed, above, shown := 0, 0, 0
			for range samples {
				rates := make([]float64, tasks)
				for i := range rates {
					rates[i] = stats.DrawRate(rng, bound, correlation)
				}
				run := func() stats.Interval {
					y := make([]int, tasks)
					for i, p := range rates {
						y[i] = stats.DrawPasses(rng, attempts, p)
					}
					return repeated(attempts, y...).Interval(.95, stats.DefaultRho0)
				}
				var before []stats.Alike
				for range stats.MinCorrelationRuns {
					iv := run()
					if a, ok := iv.AlikeAttempts(tasks * attempts); ok {
						before = append(before, a)
					}
				}
				iv := run()
				if c, ok := stats.MeasureCorrelation(before); ok {
					iv, shown = iv.Correlated(tasks*attempts, attempts, c.Upper), shown+1
					if c.Upper >= correlation {
						above++
					}
				}
				if iv.Lower >= bound {
					passed++
				}
			}
			if share := float64(passed) / samples; share > .045 {
				t.Errorf("bound %v, correlation %v: passed falsely %v", bound, correlation, share)
			}
			if share := float64(above) / float64(shown); share < .75 {
				t.Errorf("bound %v, correlation %v: the limit is above it in %v of %d", bound, correlation,
					share, shown)
			}
		}
	}
}
