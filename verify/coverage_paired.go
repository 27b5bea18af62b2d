// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package main

import (
	"fmt"
	"math/rand/v2"

	"github.com/callvet/callvet/panel"
	"github.com/callvet/callvet/stats"
	"github.com/callvet/callvet/stats/conform"
	"github.com/callvet/callvet/stats/gate"
)

const confidence = 0.95

// sides draws the attempts at one task before and after.
type sides func(rng *rand.Rand) (before, after panel.Share)

// compared draws n tasks and compares them as a gate does.
func compared(rng *rand.Rand, p *panel.Pairing, tasks int, of sides) panel.Difference {
	before, after := make([]panel.Share, tasks), make([]panel.Share, tasks)
	for i := range before {
		before[i], after[i] = of(rng)
	}
	return panel.PairedOf(p, before, after, confidence)
}

func attempts(rng *rand.Rand, n int, rate float64) panel.Share {
	return panel.Share{Sum: float64(stats.DrawPasses(rng, n, rate)), N: n, Binary: true}
}

// steady attempts pass as often after as before, except that a share of the tasks breaks wholly, and
// every task loses a part of its rate.
func steady(k int, mean, icc, broken, loss float64) sides {
	return func(rng *rand.Rand) (before, after panel.Share) {
		was := stats.DrawRate(rng, mean, icc)
		is := was * (1 - loss/mean)
		if rng.Float64() < broken/mean {
			is = 0
		}
		return attempts(rng, k, was), attempts(rng, k, is)
	}
}

// pairedStudies compare the intervals of changes in panels and gates with the truth. They measure
// both ends, the end that a gate passes by, and how often a gate passes that should pass.
func pairedStudies() []conform.Study {
	rate := &panel.Pairing{Metric: panel.MetricPass, Unit: panel.UnitRate}
	study := func(name string, low, high float64, cost int, hold func(rng *rand.Rand) bool) conform.Study {
		return conform.Study{Name: name, Low: low, High: high, Cost: cost, Trial: hold}
	}
	holds := func(name string, tasks int, truth, low float64, p *panel.Pairing, of sides) conform.Study {
		return study(name, low, 1, 2, func(rng *rand.Rand) bool {
			d := compared(rng, p, tasks, of)
			return d.Change.Lower <= truth && truth <= d.Change.Upper
		})
	}
	passes := func(name string, tasks int, low, high float64, of sides) conform.Study {
		return study(name, low, high, 2, func(rng *rand.Rand) bool {
			d := compared(rng, rate, tasks, of)
			return gate.DecideRegression(d.Change, gate.Margin, gate.MinEffect).Verdict == gate.Pass
		})
	}
	var out []conform.Study
	for _, k := range []int{1, 3, 5} {
		for _, tasks := range []int{40, 100, 200} {
			name := fmt.Sprintf("change of a pass rate, %d tasks of %d, ", tasks, k)
			least := 0.94
			if tasks == 40 && k > 1 { // two broken tasks are expected, and often there is none
				least = 0.93
			}
			out = append(out,
				holds(name+"nothing changed", tasks, 0, 0.94, rate, steady(k, 0.85, 0.6, 0, 0)),
				holds(name+"all lose a little", tasks, -0.05, 0.94, rate, steady(k, 0.85, 0.6, 0, 0.05)),
				holds(name+"one in twenty breaks", tasks, -0.05, least, rate, steady(k, 0.95, 0.3, 0.05, 0)))
		}
	}
	// The power gained by more attempts: 0.85 and 0.23 with Tango's interval at three attempts.
	out = append(out,
		passes("gate against a baseline passes, 200 tasks of 3, nothing changed", 200, 0.88, 1,
			steady(3, 0.85, 0.45, 0, 0)),
		passes("gate against a baseline passes, 40 tasks of 3, nothing changed", 40, 0.3, 1,
			steady(3, 0.85, 0.6, 0, 0)),
		passes("gate against a baseline does not pass, 200 tasks of 3 that lose 5 %", 200, 0, 0.04,
			steady(3, 0.85, 0.6, 0, 0.05)),
		passes("gate against a baseline does not pass, 200 tasks of 3, one in twenty breaks", 200, 0, 0.04,
			steady(3, 0.85, 0.6, 0.05, 0)))
	return append(out, amountChanges(holds, study)...)
}

func amountChanges(holds func(string, int, float64, float64, *panel.Pairing, sides) conform.Study,
	study func(string, float64, float64, int, func(*rand.Rand) bool) conform.Study,
) []conform.Study {
	cost := &panel.Pairing{Metric: panel.MetricCost, Relative: true, LowerIsBetter: true, Unit: panel.UnitUSD}
	calls := &panel.Pairing{
		Metric: "unneeded_calls_per_attempt", Relative: true, LowerIsBetter: true,
		Unit: panel.UnitCount,
	}
	costs := func(task, before, after, ratio float64) sides {
		return func(rng *rand.Rand) (b, a panel.Share) {
			own := stats.DrawLognormal(rng, task)
			return panel.Share{
				Sum: own * stats.DrawLognormal(rng, before),
				N:   1,
			}, panel.Share{Sum: ratio * own * stats.DrawLognormal(rng, after), N: 1}
		}
	}
	events := func(before, after float64, k int) sides {
		return func(rng *rand.Rand) (b, a panel.Share) {
			own := stats.DrawGamma(rng, 1)
			side := func(mean float64) panel.Share {
				return panel.Share{Sum: float64(stats.DrawEvents(rng, own*mean*float64(k), 1)), N: k}
			}
			return side(before), side(after)
		}
	}
	out := []conform.Study{
		holds("change of a cost, 30 tasks", 30, 0.05, 0.94, cost, costs(0.7, 0.3, 0.3, 1.05)),
		holds("change of a cost, 100 tasks, 20 % more", 100, 0.2, 0.94, cost, costs(1, 0.7, 0.7, 1.2)),
		holds("change of a cost, 50 tasks, the candidate has a tail", 50, 0, 0.94, cost, costs(0.5, 0.2, 1, 1)),
		holds("change of a count, 60 tasks of .2", 60, 0, 0.95, calls, events(0.2, 0.2, 1)),
		holds("change of a count, 60 tasks of 3, .05 to .1", 60, 1, 0.95, calls, events(0.05, 0.1, 3)),
		holds("change of a count, 200 tasks of .5", 200, 0, 0.94, calls, events(0.5, 0.5, 1)),
	}
	for _, mean := range []float64{0.02, 0.05} {
		out = append(out,
			study(fmt.Sprintf("gate on a count against a baseline does not pass, 100 tasks of %g, half as many again",
				mean), 0, 0.04, 2, func(rng *rand.Rand) bool {
				d := compared(rng, calls, 100, events(mean, mean*1.5, 1))
				c := d.Change
				c.Point, c.Lower, c.Upper = -c.Point, -c.Upper, -c.Lower
				return gate.DecideRegression(c, 0.5, gate.MinEffect).Verdict == gate.Pass
			}))
	}
	return out
}
