// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package conform

import (
	"fmt"
	"math/rand/v2"

	"github.com/callvet/callvet/stats"
)

// amount draws the total cost of one case and its number of attempts, with a mean of 1 by attempt.
type amount func(rng *rand.Rand) (total, attempts float64)

// once is one attempt a case.
func once(one func(*rand.Rand) float64) amount {
	return func(rng *rand.Rand) (float64, float64) { return one(rng), 1 }
}

func logs(sigma float64) amount {
	return once(func(rng *rand.Rand) float64 { return stats.DrawLognormal(rng, sigma) })
}

// repeated cases have 1 to 4 attempts with equal costs.
func repeated(sigma float64) amount {
	return func(rng *rand.Rand) (total, attempts float64) {
		own := stats.DrawLognormal(rng, sigma)
		for range 1 + rng.IntN(4) {
			total, attempts = total+own*stats.DrawLognormal(rng, 0.3), attempts+1
		}
		return total, attempts
	}
}

func gammas(shape float64) amount {
	return once(func(rng *rand.Rand) float64 { return stats.DrawGamma(rng, shape) })
}

// rare cases, a share of all, cost times as much.
func rare(share, times float64) amount {
	return once(func(rng *rand.Rand) float64 {
		x := stats.DrawLognormal(rng, 0.3) / (1 + share*(times-1))
		if yes(rng, share) {
			x *= times
		}
		return x
	})
}

// amountStudies compare the upper end of mean amounts with the truth. A gate with an upper bound
// uses this end.
func amountStudies() []Study {
	upper := func(name string, cases int, low float64, one amount) Study {
		return Study{
			Name: fmt.Sprintf("upper end of a mean amount, %s, %d cases", name, cases), Low: low, High: 1,
			Trial: func(rng *rand.Rand) bool {
				var r stats.Ratio
				for range cases {
					r.Add(one(rng))
				}
				return holds(0, 1, r.Interval(level).Upper)
			},
		}
	}
	var out []Study
	for _, cases := range []int{20, 50, 200} {
		out = append(out,
			upper("lognormal .5", cases, 0.96, logs(0.5)), upper("lognormal 1", cases, 0.95, logs(1)),
			upper("lognormal 1.25", cases, 0.94, logs(1.25)),
			upper("1 to 4 attempts, lognormal 1", cases, 0.95, repeated(1)),
			upper("gamma of shape 1/4", cases, 0.955, gammas(0.25)))
	}
	out = append(out,
		upper("lognormal 1.5", 20, 0.93, logs(1.5)), upper("lognormal 1.5", 30, 0.94, logs(1.5)),
		upper("lognormal 1.5", 100, 0.94, logs(1.5)),
		upper("one in ten 10 times as dear", 30, 0.93, rare(0.1, 10)),
		upper("one in twenty 20 times as dear", 100, 0.95, rare(0.05, 20)))
	both := Study{
		Name: "mean amount, lognormal 1, 50 cases, both ends", Low: 0.95, High: 1,
		Trial: func(rng *rand.Rand) bool {
			var r stats.Ratio
			for range 50 {
				r.Add(stats.DrawLognormal(rng, 1), 1)
			}
			return covers(r.Interval(level), 1)
		},
	}
	perPass := Study{
		Name: "upper end of cost per pass, lognormal 1, 50 cases, half pass", Low: 0.95, High: 1,
		Trial: func(rng *rand.Rand) bool {
			var r stats.Ratio
			for range 50 {
				r.Add(stats.DrawLognormal(rng, 1), float64(rng.IntN(2)))
			}
			return holds(0, 2, r.Interval(level).Upper)
		},
	}
	return append(out, both, perPass)
}

// countStudies compare the upper end of mean counts with the truth: attempts of a case share their
// rate, which varies by dispersion, and events come in bursts.
func countStudies() []Study {
	upper := func(cases, attempts int, mean, dispersion, bursts, low float64) Study {
		name := fmt.Sprintf("upper end of a mean count of %g, %d cases of %d, dispersion %g, bursts of %g", mean, cases,
			attempts, dispersion, bursts)
		return Study{Name: name, Low: low, High: 1, Trial: func(rng *rand.Rand) bool {
			c := counted(rng, cases, attempts, mean, dispersion, bursts)
			return holds(0, mean, c.Interval(level).Upper)
		}}
	}
	out := []Study{
		upper(50, 1, 0.03, 0, 1, 0.97), upper(100, 1, 0.05, 0, 1, 0.97), upper(200, 1, 0.02, 0, 1, 0.97),
		upper(60, 1, 1, 0, 1, 0.97),
		upper(40, 3, 0.1, 1, 1, 0.96), upper(100, 3, 0.03, 1, 1, 0.96), upper(50, 1, 0.5, 1, 1, 0.96),
		upper(20, 3, 1, 3, 1, 0.94),
		upper(100, 1, 0.2, 0, 2, 0.955), upper(40, 3, 0.1, 0, 2, 0.955), upper(200, 1, 0.03, 0, 2, 0.955),
		upper(50, 1, 0.15, 0, 3, 0.91),
	}
	both := Study{
		Name: "mean count of 3, 60 cases of 2, dispersion .5, both ends", Low: 0.94, High: 1,
		Trial: func(rng *rand.Rand) bool {
			c := counted(rng, 60, 2, 3, 0.5, 1)
			return covers(c.Interval(level), 3)
		},
	}
	return append(out, both)
}

func counted(rng *rand.Rand, cases, attempts int, mean, dispersion, bursts float64) stats.Counts {
	var c stats.Counts
	for range cases {
		n := events(rng, attempts, mean, dispersion, bursts)
		c.Add(float64(n), float64(attempts), n == 0)
	}
	return c
}

// events draws the number of events in the attempts at one case.
func events(rng *rand.Rand, attempts int, mean, dispersion, bursts float64) int {
	rate := mean
	if dispersion > 0 {
		rate *= stats.DrawGamma(rng, 1/dispersion)
	}
	return stats.DrawEvents(rng, rate*float64(attempts), bursts)
}
