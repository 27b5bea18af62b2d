// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package stats

import (
	"math"
	"math/rand/v2"
	"slices"
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
		if got := prior.Chance(Count{float64(c.passes), float64(c.passes + c.failures)}); math.Abs(got-c.want) > 1e-4 {
			t.Errorf("%d and %d: %g, want %g", c.passes, c.failures, got, c.want)
		}
	}
	rng := rand.New(rand.NewPCG(1, 2))
	var sure, alike, mixed []Count
	for range 300 {
		sure = append(sure, Count{3, 3})
		yes := 3 * rng.IntN(2)
		alike = append(alike, Count{float64(yes), 3})
		n := 0
		for range 3 {
			n += rng.IntN(2)
		}
		mixed = append(mixed, Count{float64(n), 3})
	}
	for name, c := range map[string]struct {
		cases     []Count
		low, high float64 // of a case that passes two and fails two others
	}{"sure": {sure, 0, 0.003}, "alike": {alike, 0, 0.01}, "by chance": {mixed, 0.05, 0.0626}} {
		if got := PopulationOf(append(c.cases, Count{0, 0}, Count{5, 2})).Chance(Count{2, 4}); !(got >= c.low &&
			got <= c.high) {
			t.Errorf("%s: %g is not in [%g, %g]", name, got, c.low, c.high)
		}
	}
}

// TestExtremes: what is named, and how often its interval holds the truth.
func TestExtremes(t *testing.T) {
	t.Parallel()
	named := func(groups ...Count) (low, high []int) {
		a, b := Extremes(groups, 0.95)
		for _, x := range a {
			low = append(low, x.Index)
		}
		for _, x := range b {
			high = append(high, x.Index)
		}
		return low, high
	}
	for name, c := range map[string]struct {
		groups    []Count
		low, high []int
	}{
		"none":            {},
		"one":             {groups: []Count{{0, 20}}},
		"nothing differs": {groups: []Count{{10, 20}, {10, 20}, {10, 20}}},
		"by chance":       {groups: []Count{{15, 20}, {18, 20}, {17, 20}, {16, 20}}},
		"one is bad":      {groups: []Count{{19, 20}, {18, 20}, {5, 20}, {19, 20}}, low: []int{2}, high: []int{0, 3}},
		"two are bad alike": {
			groups: []Count{{19, 20}, {2, 20}, {20, 20}, {19, 20}, {2, 20}, {19, 20}},
			low:    []int{1, 4}, high: []int{2},
		},
		"few":        {groups: []Count{{0, 1}, {18, 20}, {19, 20}, {17, 20}}},
		"two groups": {groups: []Count{{50, 100}, {95, 100}}, low: []int{0}, high: []int{1}},
		"effective size": {
			groups: []Count{{12.4, 25.3}, {120.1, 130.2}, {118, 125.5}}, low: []int{0},
			high: []int{2},
		},
	} {
		low, high := named(c.groups...)
		if !slices.Equal(low, c.low) || !slices.Equal(high, c.high) {
			t.Errorf("%s: lowest %v, highest %v", name, low, high)
		}
	}
}

// TestPopulationOrder: groups in another order give the same bytes.
func TestPopulationOrder(t *testing.T) {
	t.Parallel()
	groups := []Count{}
	for i := range 60 {
		groups = append(groups, Count{Passed: float64(i*i%17) / 3, N: float64(6 + i%29)})
	}
	want := PopulationOf(groups).Group(groups[0])
	for range 20 {
		groups = append(groups[1:], groups[0])
		if got := PopulationOf(groups).Group(Count{N: 6}); got.Interval(0.95) != want.Interval(0.95) {
			t.Fatalf("%+v, want %+v", got.Interval(0.95), want.Interval(0.95))
		}
	}
}
