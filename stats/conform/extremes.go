// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package conform

import (
	"fmt"
	"math/rand/v2"

	"github.com/callvet/callvet/stats"
)

// slicesOf draws the rates of some slices, which correlate as icc, and passes of 20 tasks of each.
func slicesOf(rng *rand.Rand, many int, p, icc float64) (rates []float64, seen []stats.Count) {
	const tasks = 20
	for range many {
		rates = append(rates, stats.DrawRate(rng, p, icc))
		seen = append(seen, stats.Count{Passed: float64(stats.DrawPasses(rng, tasks, rates[len(rates)-1])), N: tasks})
	}
	return rates, seen
}

// lowestCovers is whether the interval of the slice with the lowest estimate of ten contains its
// rate.
func lowestCovers(rng *rand.Rand, p, icc float64) bool {
	rates, seen := slicesOf(rng, 10, p, icc)
	population, lowest := stats.PopulationOf(seen), 0
	for i := range seen {
		if seen[i].Passed < seen[lowest].Passed {
			lowest = i
		}
	}
	of := population.Group(seen[lowest])
	below := of.Below(rates[lowest])
	return central(below, below)
}

// extremeStudies are about the slice that is named the worst or the best of several. Source:
// Statistics specification, section 16.5.
func extremeStudies() (out []Study) {
	for _, p := range []float64{0.7, 0.9} {
		for _, icc := range []float64{0.02, 0.05, 0.1, 0.3} {
			out = append(out, Study{
				Name: fmt.Sprintf("worst of 10 slices of 20 tasks at %g, spread %g", p, icc), Low: 0.93,
				High: 1, Cost: 10,
				Trial: func(rng *rand.Rand) bool { return lowestCovers(rng, p, icc) },
			})
		}
		out = append(out, Study{
			Name: fmt.Sprintf("no worst and no best of 10 slices of 20 tasks alike at %g", p), Low: 0.95,
			High: 1, Cost: 10,
			Trial: func(rng *rand.Rand) bool {
				_, seen := slicesOf(rng, 10, p, 0)
				low, high := stats.Extremes(seen, level)
				return len(low)+len(high) == 0
			},
		})
	}
	return out
}
