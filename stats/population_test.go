// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package stats

import (
	"math"
	"math/rand/v2"
	"testing"
)

// TestPopulation: the prior by hand, and what many cases show.
func TestPopulation(t *testing.T) {
	t.Parallel()
	// The mean is uniform on (0,1): a trial passes with a chance of one half, and two trials of a case
	// both pass with E[m² + m(1-m)r] = 1/3 + 1/6·1/2.
	prior := PopulationOf(nil)
	for _, c := range []struct {
		passes, failures int
		want             float64
	}{{0, 0, 1}, {1, 0, 0.5}, {0, 1, 0.5}, {2, 0, 1./3 + 1./12}, {1, 1, 1./6 - 1./12}} {
		if got := prior.Chance(c.passes, c.failures); math.Abs(got-c.want) > 1e-4 {
			t.Errorf("%d and %d: %g, want %g", c.passes, c.failures, got, c.want)
		}
	}
	rng := rand.New(rand.NewPCG(1, 2))
	var sure, alike, mixed []Trials
	for range 300 {
		sure = append(sure, Trials{3, 3})
		yes := 3 * rng.IntN(2)
		alike = append(alike, Trials{3, yes})
		n := 0
		for range 3 {
			n += rng.IntN(2)
		}
		mixed = append(mixed, Trials{3, n})
	}
	for name, c := range map[string]struct {
		cases     []Trials
		low, high float64 // of a case that passes two and fails two others
	}{"sure": {sure, 0, 0.003}, "alike": {alike, 0, 0.01}, "by chance": {mixed, 0.05, 0.0626}} {
		if got := PopulationOf(append(c.cases, Trials{0, 0}, Trials{2, 5})).Chance(2, 2); !(got >= c.low && got <= c.high) {
			t.Errorf("%s: %g is not in [%g, %g]", name, got, c.low, c.high)
		}
	}
}
