// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package gates

import (
	"math"
	"math/rand/v2"
	"sort"

	"github.com/callvet/callvet/stats/gate"
)

// Trial draws the data of a gate once, for n tasks or labels, and returns the gate's verdict.
type Trial func(rng *rand.Rand, n int) gate.Verdict

// MostTasks is the largest size that Fewest tries.
const MostTasks = 20_000

const (
	// seed, together with the size, seeds every simulation.
	seed = 0x63616c6c766574
	// trials is the number of draws: the standard error of a probability of 0.8 is 0.6 percentage
	// points.
	trials = 4000
	// batch is after how many trials Fewest checks whether more are needed.
	batch = 200
)

// Chance is the share of simulated gates of size n with the wanted verdict, in [0,1], with a
// standard error of at most 0.8 percentage points.
func Chance(t Trial, n int, want gate.Verdict) float64 {
	rng := rand.New(rand.NewPCG(seed, uint64(n)))
	hits := 0
	for range trials {
		if t(rng, n) == want {
			hits++
		}
	}
	return float64(hits) / trials
}

// reaches reports whether Chance is at least power; it stops where that is clear.
func reaches(t Trial, n int, want gate.Verdict, power float64) bool {
	rng := rand.New(rand.NewPCG(seed, uint64(n)))
	hits := 0
	for done := 1; done <= trials; done++ {
		if t(rng, n) == want {
			hits++
		}
		if done%batch == 0 {
			share := float64(hits) / float64(done)
			if math.Abs(share-power) > 4*math.Sqrt(power*(1-power)/float64(done)) {
				return share > power
			}
		}
	}
	return float64(hits) >= power*trials
}

// Fewest is a size in the grid Sizes, at least least. With it the gate returns the wanted verdict
// with at least the probability power, and with the size before it does not. If the largest size is
// not enough or smaller than least, ok is false.
func Fewest(t Trial, want gate.Verdict, power float64, least int) (n int, ok bool) {
	if least > MostTasks {
		return 0, false
	}
	grid := Sizes()
	grid = grid[sort.SearchInts(grid, least):]
	// The size doubles until it is enough, so that no trial is larger than it must be.
	low, high := -1, 0
	for !reaches(t, grid[high], want, power) {
		if high == len(grid)-1 {
			return 0, false
		}
		low = high
		high = min(len(grid)-1, max(high+1, sort.SearchInts(grid, 2*grid[high])))
	}
	at := low + 1 + sort.Search(high-low-1, func(i int) bool { return reaches(t, grid[low+1+i], want, power) })
	return grid[at], true
}

// Sizes are the sizes that Fewest tries: all up to 40, then steps of two to five per cent, up to
// MostTasks.
func Sizes() []int {
	var out []int
	for n := 1; n < 40; n++ {
		out = append(out, n)
	}
	n := 40
	for unit := 1; n < MostTasks; unit *= 10 {
		for _, part := range []struct{ end, step int }{{100, 2}, {200, 5}, {400, 10}} {
			for ; n < part.end*unit && n < MostTasks; n += part.step * unit {
				out = append(out, n)
			}
		}
	}
	return append(out, MostTasks)
}
