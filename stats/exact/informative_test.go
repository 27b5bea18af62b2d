// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package exact

import (
	"math"
	"math/rand/v2"
	"testing"
)

// shares is how often Informative holds for a world of tasks.
func shares(tasks int, task func(r *rand.Rand) (yes, n int)) float64 {
	const reps = 400
	r := rand.New(rand.NewPCG(11, uint64(tasks)))
	hit := 0
	for range reps {
		var x Rate
		for range tasks {
			x.Add(task(r))
		}
		if x.Informative() {
			hit++
		}
	}
	return float64(hit) / reps
}

func calls(r *rand.Rand, n int, q float64) (yes, all int) {
	for range n {
		if r.Float64() >= q {
			yes++
		}
	}
	return yes, n
}

func geometric(r *rand.Rand) int { return 1 + int(math.Log(1-r.Float64())/math.Log(0.75)) }

// pareto has an infinite variance but for its limit: a few tasks make most calls.
func pareto(r *rand.Rand) int { return min(1000, int(math.Pow(1-r.Float64(), -1/1.5))) }

// mixed failure rates differ between tasks, whatever their size.
func mixed(r *rand.Rand) float64 { return []float64{0.02, 0.1, 0.8}[r.IntN(3)] }

// retries is a task of up to steps steps, each tried again up to 4 times.
func retries(r *rand.Rand, steps int, q float64) (yes, n int) {
	for range 1 + r.IntN(steps) {
		for range 5 {
			n++
			if r.Float64() >= q {
				yes++
				break
			}
		}
	}
	return yes, n
}

func TestInformative(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name     string
		tasks    int
		task     func(r *rand.Rand) (yes, n int)
		min, max float64
	}{
		{"too few", 9, func(r *rand.Rand) (int, int) { return retries(r, 3, 0.5) }, 0, 0},
		{"one size", 200, func(r *rand.Rand) (int, int) { return calls(r, 4, 0.3) }, 0, 0},
		{"nothing fails", 200, func(r *rand.Rand) (int, int) { n := geometric(r); return n, n }, 0, 0},
		{"all fail", 200, func(r *rand.Rand) (int, int) { return 0, geometric(r) }, 0, 0},
		{"exactly in proportion", 200, func(r *rand.Rand) (int, int) { n := geometric(r); return n, 3 * n }, 0, 0},
		{"in proportion, few tasks", 10, func(r *rand.Rand) (int, int) { return calls(r, geometric(r), 0.3) }, 0, 0.05},
		{"in proportion", 100, func(r *rand.Rand) (int, int) { return calls(r, geometric(r), 0.3) }, 0, 0.01},
		{
			"in proportion, hard tasks", 100,
			func(r *rand.Rand) (int, int) { return calls(r, geometric(r), mixed(r)) }, 0, 0.02,
		},
		{
			"in proportion, a few huge tasks", 300,
			func(r *rand.Rand) (int, int) { return calls(r, pareto(r), 0.3) }, 0, 0.02,
		},
		{
			"a few huge tasks, hard tasks", 300,
			func(r *rand.Rand) (int, int) { return calls(r, pareto(r), mixed(r)) }, 0, 0.05,
		},
		{"retries of one step", 50, func(r *rand.Rand) (int, int) { return retries(r, 1, 0.2) }, 0.95, 1},
		{"retries", 100, func(r *rand.Rand) (int, int) { return retries(r, 3, 0.2) }, 0.95, 1},
		{"retries of hard tasks", 100, func(r *rand.Rand) (int, int) { return retries(r, 8, mixed(r)) }, 0.95, 1},
		{
			"big tasks fail less", 100,
			func(r *rand.Rand) (int, int) { n := geometric(r); return calls(r, n, 0.9/float64(n)) }, 0, 0,
		},
	} {
		if got := shares(tc.tasks, tc.task); got < tc.min || got > tc.max {
			t.Errorf("%s: informative in %.3f of the worlds, want %g to %g", tc.name, got, tc.min, tc.max)
		}
	}
}
