// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package conform

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/callvet/callvet/stats/gate"
)

// TestTasksUntilDecided: the published numbers of tasks until the gate is decided, or until the last one.
func TestTasksUntilDecided(t *testing.T) {
	t.Parallel()
	const trials = 1000
	for _, p := range powerPoints() {
		rng, sum := seeded(), 0.0
		for range trials {
			s := boundedBy(p.bound, p.alpha)
			follow(s, p.most, taskMeans(rng, 1, p.truth, 0))
			sum += float64(s.N())
		}
		if mean := sum / trials; math.Abs(mean/p.tasks-1) > 0.06 {
			t.Errorf("bound %g at %g, alpha %g: %.1f tasks of %d are asked, want %g", p.bound, p.truth, p.alpha, mean,
				p.most, p.tasks)
		}
	}
}

// TestLooks: what is drawn in looks that end with the first decision.
func TestLooks(t *testing.T) {
	t.Parallel()
	for name, looks := range map[string]func(draw func() float64) gate.Verdict{
		"ten looks": func(draw func() float64) gate.Verdict { return tenLooks(0.8, draw) },
		"fixed":     func(draw func() float64) gate.Verdict { return fixedLooks(0.8, draw) },
		"mixed":     func(draw func() float64) gate.Verdict { return mixedLooks(0.8, 80, draw) },
		"every one": func(draw func() float64) gate.Verdict {
			return follow(boundedBy(0.8, gate.Alpha), untilTasks, draw)
		},
	} {
		for x, want := range map[float64]struct {
			verdict gate.Verdict
			drawn   map[string]int
		}{
			1: {gate.Pass, map[string]int{"ten looks": 80, "fixed": 80, "mixed": 80, "every one": 30}},
			0: {gate.Fail, map[string]int{"ten looks": 80, "fixed": 80, "mixed": 80, "every one": 4}},
			0.8: {gate.Inconclusive, map[string]int{
				"ten looks": untilTasks, "fixed": untilTasks, "mixed": untilTasks,
				"every one": untilTasks,
			}},
		} {
			drawn := 0
			got := looks(func() float64 { drawn++; return x })
			if got != want.verdict || drawn != want.drawn[name] {
				t.Errorf("%s at %g: %s after %d, want %s after %d", name, x, got, drawn, want.verdict, want.drawn[name])
			}
		}
	}
}

// TestCompletion: so many tasks are asked at a time, and the ones that take less are completed first.
func TestCompletion(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		times []float64
		want  []int
	}{
		{nil, []int{}},
		{[]float64{3, 1, 2}, []int{1, 2, 0}},
		{[]float64{9, 9, 9, 9, 9, 9, 9, 5, 1, 1}, []int{7, 8, 9, 0, 1, 2, 3, 4, 5, 6}},
	} {
		if d := cmp.Diff(tc.want, completion(tc.times)); d != "" {
			t.Errorf("%v: %s", tc.times, d)
		}
	}
}

// TestPairDraw: the mean of drawn pairs is the loss.
func TestPairDraw(t *testing.T) {
	t.Parallel()
	draw, sum := pairDraw(rand.New(rand.NewPCG(1, 1)), 0.05), 0.0
	const n = 100_000
	for range n {
		sum += 1 - 2*draw()
	}
	if mean := sum / n; math.Abs(mean-0.05) > 0.005 {
		t.Errorf("the mean loss is %g, want 0.05", mean)
	}
}
