// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package stats

import (
	"math"
	"math/rand/v2"
	"testing"
)

// nest makes tasks of verdicts by attempt and sample.
func nest(tasks ...[][]float64) []NestedTask {
	out := make([]NestedTask, len(tasks))
	for i := range tasks {
		for _, samples := range tasks[i] {
			out[i].Add(samples...)
		}
	}
	return out
}

// attemptsOf are attempts with one verdict each.
func attemptsOf(ys ...float64) (out [][]float64) {
	for _, y := range ys {
		out = append(out, []float64{y})
	}
	return out
}

func variances(v Variance) (out [sourceCount]float64) {
	for i := range v.Sources {
		if e := v.Sources[i].Estimate; e != nil {
			out[i] = *e
		}
	}
	return out
}

// TestNestedVarianceByHand: components that were worked out by hand.
func TestNestedVarianceByHand(t *testing.T) {
	t.Parallel()
	for name, x := range map[string]struct {
		all, recorded []NestedTask
		want          [sourceCount]float64
		flips, judge  float64
	}{
		// Within tasks: variance 1/2 in one of two tasks. Between: (1 - 1/2)²/2 less half of that.
		"two tasks of two": {
			all:  nest(attemptsOf(1, 1), attemptsOf(1, 0)),
			want: [sourceCount]float64{0, 0.25, 0, 0}, flips: 0.5, judge: math.NaN(),
		},
		"tasks alike": { // the means are equal, so that the estimate is below 0
			all:  nest(attemptsOf(1, 0), attemptsOf(0, 1)),
			want: [sourceCount]float64{-0.25, 0.5, 0, 0}, flips: 1, judge: math.NaN(),
		},
		"only the judge": { // one attempt at each task
			all:  nest([][]float64{{1, 1}}, [][]float64{{1, 0}}),
			want: [sourceCount]float64{0, 0, 0, 0.25}, flips: math.NaN(), judge: 0.5,
		},
		"all three": { // by samples 1/8; attempts: 3/8 a task less half of 1/8
			all:  nest([][]float64{{1, 1}, {0, 0}}, [][]float64{{1, 1}, {1, 0}}),
			want: [sourceCount]float64{-0.125, 0.25, 0, 0.125}, flips: 0.75, judge: 0.25,
		},
		// Task means 1 and 1/3: the sum of squares between them is 8/15, and its coefficient is 5 - (4+9)/5.
		"unbalanced": {
			all:  nest(attemptsOf(1, 1), attemptsOf(1, 0, 0)),
			want: [sourceCount]float64{(8.0/15 - 2.0/9) / 2.4, 2.0 / 9, 0, 0}, flips: 1.0 / 3, judge: math.NaN(),
		},
		"tools": { // recordings leave nothing that varies
			all: nest(attemptsOf(1, 1), attemptsOf(1, 0)), recorded: nest(attemptsOf(1, 1), attemptsOf(0, 0)),
			want: [sourceCount]float64{0, 0, 0.25, 0}, flips: 0.5, judge: math.NaN(),
		},
	} {
		v := NestedVariance(x.all, x.recorded, 99, [2]uint64{1, 2})
		for i, got := range variances(v) {
			if math.Abs(got-x.want[i]) > 1e-12 {
				t.Errorf("%s: %s: %g, want %g", name, sourceNames()[i], got, x.want[i])
			}
		}
		if math.Abs(v.TargetFlips.Point-x.flips) > 1e-12 || v.TargetFlips.Defined() == math.IsNaN(x.flips) {
			t.Errorf("%s: attempts differ in %+v, want %g", name, v.TargetFlips, x.flips)
		}
		if math.Abs(v.JudgeFlips.Point-x.judge) > 1e-12 || v.JudgeFlips.Defined() == math.IsNaN(x.judge) {
			t.Errorf("%s: verdicts differ in %+v, want %g", name, v.JudgeFlips, x.judge)
		}
	}
}

// TestNestedVarianceShares: shares are of the estimates with those below 0 as 0, sum to 1, and lie in their
// intervals; one of 0 has an interval from 0. The standard error is that of the components.
func TestNestedVarianceShares(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(3, 4))
	clipped := 0
	for range 200 {
		tasks := make([]NestedTask, 2+rng.IntN(30))
		for i := range tasks {
			rate := rng.Float64()
			for range 1 + rng.IntN(4) {
				samples := make([]float64, 1+rng.IntN(3))
				for k := range samples {
					samples[k] = float64(DrawPasses(rng, 1, rate))
				}
				tasks[i].Add(samples...)
			}
		}
		v := NestedVariance(tasks, nil, 99, [2]uint64{1, 2})
		if v.Status != StatusOK {
			continue
		}
		one, mean := 0.0, 0.0
		for i := range v.Sources {
			s := &v.Sources[i]
			if s.Known() != (s.Share != nil) || s.Known() != (s.OfMean != nil) {
				t.Fatalf("%+v: a share without data, or none", s)
			}
			if !s.Known() {
				continue
			}
			one, mean = one+s.Share.Point, mean+s.OfMean.Point
			for _, iv := range []*Interval{s.Share, s.OfMean} {
				if !(0 <= iv.Lower && iv.Lower <= iv.Point && iv.Point <= iv.Upper && iv.Upper <= 1) {
					t.Fatalf("%s: %+v", s.Source, iv)
				}
				if *s.Estimate <= 0 {
					if clipped++; iv.Point != 0 || iv.Lower != 0 {
						t.Fatalf("%s: an estimate of %g gives %+v", s.Source, *s.Estimate, iv)
					}
				}
			}
		}
		if math.Abs(one-1) > 1e-9 || math.Abs(mean-1) > 1e-9 {
			t.Fatalf("shares sum to %g and %g", one, mean)
		}
		se, suite := v.SE(1, 1, 1), v.SuiteSE()
		if math.Abs(v.SE(4, 1, 1)-se/2) > 1e-12 || suite > se || v.SE(1, 4, 1) < se/2-1e-12 || v.SE(1, 1, 9) > se {
			t.Fatalf("standard errors %g, %g", se, suite)
		}
		if within := v.SE(1, math.Inf(1), 1); math.Abs(se*se-suite*suite-within*within) > 1e-12 {
			t.Fatalf("%g² is not %g² and %g²", se, suite, within)
		}
	}
	if clipped < 20 {
		t.Errorf("only %d estimates below 0", clipped)
	}
}

// TestNestedVarianceBalanced: in a balanced design the standard error is that of the tasks' means.
func TestNestedVarianceBalanced(t *testing.T) {
	t.Parallel()
	v := NestedVariance(nest([][]float64{{1, 1}, {1, 0}}, [][]float64{{0, 0}, {0, 1}}, [][]float64{{1, 1}, {1, 1}}),
		nil, 99,
		[2]uint64{1, 2})
	means, m, s := []float64{0.75, 0.25, 1}, 2.0/3, 0.0
	for _, x := range means {
		s += (x - m) * (x - m) / 2 / 3
	}
	for i := range v.Sources {
		if s := &v.Sources[i]; s.Known() && *s.Estimate < 0 {
			t.Fatalf("%+v", v.Sources)
		}
	}
	if got := v.SE(1, 1, 1); math.Abs(got-math.Sqrt(s)) > 1e-12 || math.Abs(v.Mean.Point-m) > 1e-12 {
		t.Errorf("%g, want %g; mean %g", got, math.Sqrt(s), v.Mean.Point)
	}
}

// TestNestedVarianceNothing: what has no shares has a status, and no variance does not exclude one.
func TestNestedVarianceNothing(t *testing.T) {
	t.Parallel()
	for name, x := range map[string]struct {
		tasks []NestedTask
		want  Status
	}{
		"no task":          {nil, StatusFewAttempts},
		"one task":         {nest(attemptsOf(1, 0)), StatusFewAttempts},
		"one attempt each": {nest(attemptsOf(1), attemptsOf(0)), StatusFewAttempts},
		"all pass":         {nest(attemptsOf(1, 1), attemptsOf(1, 1)), StatusZeroVariance},
	} {
		if v := NestedVariance(x.tasks, nil, 99, [2]uint64{1, 2}); v.Status != x.want || v.Sources != nil {
			t.Errorf("%s: %s, want %s", name, v.Status, x.want)
		}
	}
	steady := make([]NestedTask, 20)
	for i := range steady {
		steady[i] = nest(attemptsOf(float64(i%2), float64(i%2), float64(i%2)))[0]
	}
	s := NestedVariance(steady, nil, 999, [2]uint64{1, 2}).Sources[1].Share
	// Twenty tasks without a flip allow one in 1 - 0.025^(1/20) = 0.168 of pairs, twice the variance.
	if want := 0.1684 / 2 / (0.25 * 20 / 19); s.Point != 0 || math.Abs(s.Upper-want) > 0.001 ||
		s.Status != StatusCapped {
		t.Errorf("attempts that never differ: %+v, want an upper end of %g", s, want)
	}
}
