// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package main

import (
	"fmt"
	"math"

	"github.com/callvet/callvet/panel"
	"github.com/callvet/callvet/panel/gates"
	"github.com/callvet/callvet/stats"
	"github.com/callvet/callvet/stats/conform"
	"github.com/callvet/callvet/stats/gate"
)

// above is how much more often than promised an open gate may decide. Numbers are whole and rounded up
// to two digits, and a few more tasks may allow one more failure.
const above = 0.1

// neededStudies compare "needs N more" of open gates with what happens. The truth is drawn
// from a gate's prior. Tasks are drawn until a gate is open, and then as many more as it reports.
// Half of the gates must decide after the first number, four in five after the second.
func neededStudies() []conform.Study {
	var out []conform.Study
	study := func(name string, chance float64, trial func(t *trialRun) bool) {
		out = append(out, strictly(name, chance-bar, chance+above, trial))
	}
	both := func(name string, trial func(t *trialRun, most bool) bool) {
		study(name+", half", gate.HalfChance, func(t *trialRun) bool { return trial(t, false) })
		study(name+", four in five", gate.MostChance, func(t *trialRun) bool { return trial(t, true) })
	}
	for _, c := range []struct {
		bound     float64
		direction gate.Direction
		tasks     int
		attempts  int
		icc       float64
	}{
		{0.85, gate.AtLeast, 100, 1, 0},
		{0.85, gate.AtLeast, 40, 1, 0},
		{0.9, gate.AtLeast, 300, 1, 0},
		{0.1, gate.AtMost, 100, 1, 0},
		{0.7, gate.AtLeast, 100, 3, 0.3},
		{0.85, gate.AtLeast, 200, 4, 0.5},
	} {
		g := gates.Gate{Metric: "pass_rate", Kind: gates.Bound, Direction: c.direction, Bound: c.bound}
		o := openRate{g, c.tasks, c.attempts, c.icc}
		both(fmt.Sprintf("needs more: %s %g, open after %d tasks of %d, alike by %g", c.direction, c.bound, c.tasks,
			c.attempts, c.icc), o.decides)
	}
	for _, icc := range []float64{0.05, 0.1} {
		o := openRate{
			gates.Gate{Metric: "pass_rate", Kind: gates.Bound, Direction: gate.AtLeast, Bound: 0.8},
			150, 3, icc,
		}
		study(fmt.Sprintf("needs more attempts: >= 0.8, open after 150 tasks of 3, alike by %g", icc), gate.MostChance,
			o.decidesByAttempts)
		out[len(out)-1].Cost = 10 // few open gates need attempts
	}
	study("needs more attempts: pass_rate against a baseline, open after 100 tasks of 3", gate.MostChance,
		changeByAttempts)
	for _, k := range []int{1, 3} {
		both(fmt.Sprintf("needs more: pass_rate against a baseline, open after 100 tasks of %d", k),
			func(t *trialRun, most bool) bool { return openChange(t, 100, k, most) })
	}
	both("needs more: cost, open after 60 tasks", openCost)
	return out
}

// openRate is a bound on a rate with its first tasks.
type openRate struct {
	gate            gates.Gate
	tasks, attempts int
	icc             float64
}

func (o openRate) decides(t *trialRun, most bool) bool {
	for {
		truth := stats.DrawRate(t.Rand, 0.5, 0.5) // the distribution of Jeffreys
		law := stats.PassesLaw(o.attempts, truth, o.icc)
		var sum stats.Clusters
		add := func(tasks int) stats.Interval {
			for passes, n := range stats.DrawSplit(t.Rand, tasks, law) {
				sum.Merge(alikeTasks(passes, o.attempts, n))
			}
			return sum.Interval(confidence, stats.DefaultRho0)
		}
		iv := add(o.tasks)
		if o.gate.Hold(iv, 1, 0).Verdict != gate.Inconclusive {
			continue
		}
		if more := number(held(o.gate, panel.UnitRate, iv), most); more > 0 {
			return o.gate.Hold(add(more), 1, 0).Verdict != gate.Inconclusive
		}
	}
}

// number is the number of tasks that an open gate reports; 0 without a number.
func number(v *gates.Verdict, most bool) int {
	switch {
	case !most:
		return v.NeededHalf
	case v.Needed > v.NeededHalf:
		return v.Needed
	}
	return 0
}

// alikeTasks are n tasks with as many passes each.
func alikeTasks(passes, attempts, n int) stats.Clusters {
	var c, twice stats.Clusters
	twice.AddAttempts(float64(passes), attempts, true, stats.AttemptsOf(passes, attempts))
	for ; n > 0; n /= 2 {
		if n%2 == 1 {
			c.Merge(twice)
		}
		twice.Merge(twice)
	}
	return c
}

// openChange: the loss is anything from -0.15 to 0.2 of a rate of 0.7.
func openChange(t *trialRun, tasks, attempts int, most bool) bool {
	const rate, icc, largest = 0.7, 0.5, 20_000
	pairing, _ := panel.PairingOf(panel.MetricPass)
	for {
		loss := -0.15 + 0.35*t.Float64()
		of := steady(attempts, rate, icc, 0, loss)
		var before, after []panel.Share
		add := func(n int) panel.Difference {
			for range n {
				b, a := of(t.Rand)
				before, after = append(before, b), append(after, a)
			}
			return panel.PairedOf(&pairing, before, after, confidence)
		}
		g := gates.Gate{Metric: pairing.Metric, Kind: gates.Regression}
		d := add(tasks)
		if g.HoldChange(&d, &pairing).Verdict != gate.Inconclusive {
			continue
		}
		if more := number(changed(pairing.Metric, d), most); more > 0 && more < largest {
			d = add(more)
			return g.HoldChange(&d, &pairing).Verdict != gate.Inconclusive
		}
	}
}

// openCost: the mean is 1, and the bound anything from 0.6 to 1.6.
func openCost(t *trialRun, most bool) bool {
	for {
		g := gates.Gate{Metric: panel.MetricCost, Kind: gates.Bound, Direction: gate.AtMost, Bound: 0.6 + t.Float64()}
		var sum stats.Ratio
		add := func(n int) stats.Interval {
			for range n {
				sum.Add(stats.DrawLognormal(t.Rand, 0.7), 1)
			}
			return sum.Interval(confidence)
		}
		iv := add(60)
		if g.Hold(iv, 1, 0).Verdict != gate.Inconclusive {
			continue
		}
		if more := number(held(g, panel.UnitUSD, iv), most); more > 0 && more < 1_000_000 {
			return g.Hold(add(more), 1, 0).Verdict != gate.Inconclusive
		}
	}
}

// decidesByAttempts makes more attempts at the same tasks.
func (o openRate) decidesByAttempts(t *trialRun) bool {
	for {
		truth := stats.DrawRate(t.Rand, 0.5, 0.5)
		if math.Abs(truth-o.gate.Bound) > 0.2 {
			continue // rarely open
		}
		own, passed := make([]float64, o.tasks), make([]int, o.tasks)
		have := 0
		add := func(attempts int) stats.Interval {
			var sum stats.Clusters
			have += attempts
			for i := range own {
				passed[i] += stats.DrawPasses(t.Rand, attempts, own[i])
				sum.AddAttempts(float64(passed[i]), have, true, stats.AttemptsOf(passed[i], have))
			}
			return sum.Interval(confidence, stats.DefaultRho0)
		}
		for i := range own {
			own[i] = stats.DrawRate(t.Rand, truth, o.icc)
		}
		iv := add(o.attempts)
		if o.gate.Hold(iv, 1, 0).Verdict != gate.Inconclusive {
			continue
		}
		if v := held(o.gate, panel.UnitRate, iv); v.NeededAttempts > 0 && v.Needed > v.NeededHalf {
			return o.gate.Hold(add(v.NeededAttempts-have), 1, 0).Verdict != gate.Inconclusive
		}
	}
}

// changeByAttempts makes more attempts at the same tasks on both sides; the loss is as in
// openChange.
func changeByAttempts(t *trialRun) bool {
	const tasks, attempts, rate, icc = 100, 3, 0.7, 0.3
	pairing, _ := panel.PairingOf(panel.MetricPass)
	g := gates.Gate{Metric: pairing.Metric, Kind: gates.Regression}
	for {
		loss := -0.15 + 0.35*t.Float64()
		own := make([]float64, tasks)
		before, after := make([]panel.Share, tasks), make([]panel.Share, tasks)
		add := func(n int) panel.Difference {
			for i, rate0 := range own {
				before[i].Sum += float64(stats.DrawPasses(t.Rand, n, rate0))
				after[i].Sum += float64(stats.DrawPasses(t.Rand, n, rate0*(1-loss/rate)))
				before[i].N, after[i].N = before[i].N+n, after[i].N+n
				before[i].Binary, after[i].Binary = true, true
			}
			return panel.PairedOf(&pairing, before, after, confidence)
		}
		for i := range own {
			own[i] = stats.DrawRate(t.Rand, rate, icc)
		}
		d := add(attempts)
		if g.HoldChange(&d, &pairing).Verdict != gate.Inconclusive {
			continue
		}
		if v := changed(pairing.Metric, d); v.NeededAttempts > 0 && v.Needed > v.NeededHalf {
			d = add(v.NeededAttempts - attempts)
			return g.HoldChange(&d, &pairing).Verdict != gate.Inconclusive
		}
	}
}
