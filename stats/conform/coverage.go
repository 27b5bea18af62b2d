// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package conform

import (
	"fmt"
	"hash/fnv"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/callvet/callvet/stats"
	"github.com/callvet/callvet/stats/gate"
	"github.com/callvet/callvet/stats/judge"
)

// Study is a simulation of how often a claim holds.
type Study struct {
	Name string
	// Low and High bound the share of trials where it holds.
	Low, High float64
	// Cost is the cost of a trial relative to others; Run makes fewer of expensive ones.
	Cost int
	// Strict: the band already leaves room for the noise of the simulation.
	Strict bool
	// Trial draws data once and reports whether it holds. It draws from rng alone.
	Trial func(rng *rand.Rand) bool
}

// Outcome is what a study found.
type Outcome struct {
	Share  float64
	Trials int
	// OK: the share is in the study's band, extended by three standard errors of the simulation
	// unless it is Strict.
	OK bool
}

// Run makes trials/Cost trials. The outcome depends only on the seed and the study's name, not on
// other studies.
func (s Study) Run(trials int, seed uint64) Outcome {
	n := max(1, trials/max(1, s.Cost))
	name := fnv.New64a()
	name.Write([]byte(s.Name))
	rng := rand.New(rand.NewPCG(seed, name.Sum64()))
	held := 0
	for range n {
		if s.Trial(rng) {
			held++
		}
	}
	share := float64(held) / float64(n)
	slack := func(p float64) float64 {
		if s.Strict {
			return 0
		}
		return 3*math.Sqrt(p*(1-p)/float64(n)) + 1/float64(n)
	}
	return Outcome{Share: share, Trials: n, OK: share >= s.Low-slack(s.Low) && share <= s.High+slack(s.High)}
}

// Studies are the simulations, with the bands of the Statistics specification:
// coverage of 95 % intervals in designs that cover the metrics of a panel.
func Studies() []Study {
	var out []Study
	out = append(out, clusteredStudies()...)
	out = append(out, judgeStudies()...)
	out = append(out, amountStudies()...)
	out = append(out, countStudies()...)
	out = append(out, extremeStudies()...)
	return append(out, otherStudies()...)
}

const (
	level = 0.95
	tail  = (1 - level) / 2
)

// holds is whether the truth is in lower..upper.
func holds(lower, truth, upper float64) bool { return lower <= truth && truth <= upper }

func covers(iv stats.Interval, truth float64) bool { return holds(iv.Lower, truth, iv.Upper) }

// central is whether the truth is in an interval, by the probability below it (the lesser and the
// greater one where there are two), without computing the ends.
func central(lesser, greater float64) bool { return lesser >= tail && greater <= 1-tail }

// yes is true with that probability.
func yes(rng *rand.Rand, chance float64) bool { return stats.DrawPasses(rng, 1, chance) == 1 }

// calls draws cases of 1 + Poisson(4) calls each.
func calls(rng *rand.Rand, cases int, p, icc float64) stats.Clusters {
	var c stats.Clusters
	for range cases {
		n := 1 + stats.DrawEvents(rng, 4, 1)
		c.Add(float64(stats.DrawPasses(rng, n, stats.DrawRate(rng, p, icc))), n, true)
	}
	return c
}

// f1 is usually 1, else a quarter: a typical distribution of argument F1.
func f1(rng *rand.Rand) float64 {
	if yes(rng, 0.8) {
		return 1
	}
	return float64(rng.IntN(4)) / 4
}

func clusteredStudies() []Study {
	neff := func(name string, cases int, p, icc float64) Study {
		return Study{Name: "n_eff interval, " + name, Low: 0.944, High: 1, Trial: func(rng *rand.Rand) bool {
			c := calls(rng, cases, p, icc)
			return covers(c.Interval(level, stats.DefaultRho0), p)
		}}
	}
	falsePass := Study{
		Name: "n_eff interval, gate does not pass falsely, 50 cases at .9", Low: 0.957, High: 1,
		Trial: func(rng *rand.Rand) bool {
			c := calls(rng, 50, 0.9, 0.3)
			return holds(c.Interval(level, stats.DefaultRho0).Lower, 0.9, math.Inf(1))
		},
	}
	fractional := func(name string, cases int, draw func(*rand.Rand) float64, truth float64) Study {
		return Study{Name: "n_eff interval of a score, " + name, Low: 0.948, High: 1, Trial: func(rng *rand.Rand) bool {
			var c stats.Clusters
			for range cases {
				c.Add(draw(rng), 1, false)
			}
			return covers(c.Interval(level, stats.DefaultRho0), truth)
		}}
	}
	return []Study{
		neff("20 cases at .9, ICC .3", 20, 0.9, 0.3), neff("50 cases at .9, ICC 0", 50, 0.9, 0),
		neff("50 cases at .98, ICC .5", 50, 0.98, 0.5), neff("200 cases at .98, ICC .3", 200, 0.98, 0.3),
		neff("200 cases at .995, ICC .1", 200, 0.995, 0.1), neff("200 cases at .9, ICC .5", 200, 0.9, 0.5),
		falsePass,
		fractional("20 cases", 20, f1, 0.875), fractional("50 cases", 50, f1, 0.875),
		fractional("200 cases", 200, f1, 0.875),
	}
}

// labelled draws a calibration of m tasks of prevalence truth.
func labelled(rng *rand.Rand, m int, truth, s, t float64) judge.Calibration {
	pass := stats.DrawPasses(rng, m, truth)
	return judge.Calibration{
		LabelledPass: pass, TruePositive: stats.DrawPasses(rng, pass, s),
		LabelledFail: m - pass, TrueNegative: stats.DrawPasses(rng, m-pass, t),
	}
}

func transported(rng *rand.Rand, n, m int, truth, s, t float64) (judge.Judged, judge.Calibration) {
	k := stats.DrawPasses(rng, n, truth*s+(1-truth)*(1-t))
	return judge.Judged{Pass: float64(k), N: float64(n)}, labelled(rng, m, truth, s, t)
}

// The true rates where attempts are labelled several times.
const often, oftenSens, oftenSpec = 0.8, 0.9, 0.8

// labelledOften draws a calibration of several attempts at each task with correlated errors of the
// judge, and its passes and failures by task.
func labelledOften(rng *rand.Rand, tasks, attempts int, icc float64) (c judge.Calibration, pass, fail stats.Clusters) {
	for range tasks {
		s, t := stats.DrawRate(rng, oftenSens, icc), stats.DrawRate(rng, oftenSpec, icc)
		m := stats.DrawPasses(rng, attempts, stats.DrawRate(rng, often, icc))
		tp, tn := stats.DrawPasses(rng, m, s), stats.DrawPasses(rng, attempts-m, t)
		c.LabelledPass, c.TruePositive = c.LabelledPass+m, c.TruePositive+tp
		c.LabelledFail, c.TrueNegative = c.LabelledFail+attempts-m, c.TrueNegative+tn
		pass.Add(float64(tp), m, true)
		fail.Add(float64(tn), attempts-m, true)
	}
	return c, pass, fail
}

func judgeStudies() []Study {
	lang := func(name string, n, m int, truth, s, t float64) Study {
		return Study{Name: "Lang-Reiczigel, " + name, Low: 0.929, High: 1, Trial: func(rng *rand.Rand) bool {
			j, c := transported(rng, n, m, truth, s, t)
			x := judge.LangReiczigel(j, c, level)
			return holds(x.Lower, truth, x.Upper)
		}}
	}
	repeated := func(tasks, attempts int, icc, low float64) Study {
		one := func(rng *rand.Rand) stats.Interval {
			var run stats.Clusters
			c, pass, fail := labelledOften(rng, tasks, attempts, icc)
			c.PassWorth, c.FailWorth = pass.Interval(level, stats.DefaultRho0).NEff,
				fail.Interval(level, stats.DefaultRho0).NEff
			for range 300 {
				run.Add(float64(stats.DrawPasses(rng, 1, often*oftenSens+(1-often)*(1-oftenSpec))), 1, true)
			}
			return judge.TrueSuccess(run.Interval(level, stats.DefaultRho0), c, level)
		}
		return Study{Name: fmt.Sprintf("true success, calibrated with %d labelled attempts at %d tasks, ICC %g",
			tasks*attempts, tasks, icc), Low: low, High: 1, Trial: func(rng *rand.Rand) bool {
			iv := one(rng)
			for !iv.Usable() { // a refused estimate claims nothing
				iv = one(rng)
			}
			return covers(iv, often)
		}}
	}
	strat := func(name string, n, m int, truth, s, t float64) Study {
		return Study{
			Name: "post-stratified Jeffreys, " + name, Low: 0.934, High: 1, Cost: 10,
			Trial: func(rng *rand.Rand) bool {
				return stratifiedCovers(drawStrata(rng, n, m, truth, s, t), truth)
			},
		}
	}
	melded := Study{
		Name: "melded Clopper-Pearson, 200 judged, 200 labels", Low: 0.96, High: 1, Cost: 10,
		Trial: func(rng *rand.Rand) bool {
			j, c := transported(rng, 200, 200, 0.85, 0.95, 0.9)
			low, high := judge.MeldedBelow(j, c, 0.85)
			return central(low, high)
		},
	}
	jeffreys := Study{
		Name: "transported Jeffreys, 200 judged, 200 labels", Low: 0.939, High: 1, Cost: 10,
		Trial: func(rng *rand.Rand) bool {
			j, c := transported(rng, 200, 200, 0.85, 0.95, 0.9)
			below := judge.TransportedBelow(j, c, 0.85)
			return central(below, below)
		},
	}
	ppi := Study{Name: "PPI++, 200 labels, 1,000 judged", Low: 0.93, High: 0.97, Trial: func(rng *rand.Rand) bool {
		draw := func(n int) (labels, scores []float64) {
			for range n {
				y := stats.DrawPasses(rng, 1, 0.85)
				labels = append(labels, float64(y))
				scores = append(scores, float64(stats.DrawPasses(rng, 1, []float64{0.1, 0.95}[y])))
			}
			return labels, scores
		}
		labels, scores := draw(200)
		_, others := draw(1000)
		p := judge.PPI(labels, scores, others, judge.Tuned, level)
		return holds(p.Lower, 0.85, p.Upper)
	}}
	return []Study{
		lang("50 judged, 50 labels", 50, 50, 0.7, 0.95, 0.9), lang("200 judged, 200 labels", 200, 200, 0.85, 0.9, 0.8),
		lang("1,000 judged, 50 labels", 1000, 50, 0.85, 0.95, 0.9),
		lang("1,000 judged, 200 labels", 1000, 200, 0.95, 0.98, 0.98),
		lang("200 judged, 200 labels, weak judge", 200, 200, 0.7, 0.7, 0.7),
		strat("50 judged, 50 labels", 50, 50, 0.85, 0.95, 0.9), strat("200 judged, 50 labels", 200, 50, 0.85, 0.9, 0.8),
		strat("1,000 judged, 200 labels", 1000, 200, 0.95, 0.95, 0.9),
		jeffreys, melded, ppi,
		repeated(200, 1, 0, 0.94), repeated(60, 4, 0.3, 0.93), repeated(40, 5, 0.6, 0.93), repeated(100, 3, 0.6, 0.93),
	}
}

// drawStrata judges n tasks and labels m of them at random.
func drawStrata(rng *rand.Rand, n, m int, truth, s, t float64) judge.Strata {
	out := judge.Strata{N: n}
	for i := range n {
		passed := yes(rng, truth)
		verdict := yes(rng, 1-t)
		if passed {
			verdict = yes(rng, s)
		}
		hit := 0
		if passed {
			hit = 1
		}
		if verdict {
			out.JudgePass++
		}
		switch {
		case i >= m:
		case verdict:
			out.LabelledPass++
			out.TruePassInPass += hit
		default:
			out.LabelledFail++
			out.TruePassInFail += hit
		}
	}
	return out
}

// stratifiedCovers is whether the interval contains the truth, without computing its ends. Where a
// stratum has no label there is no interval and no claim.
func stratifiedCovers(s judge.Strata, truth float64) bool {
	f := judge.StratifiedBelow(s, truth)
	if math.IsNaN(f) {
		return true
	}
	missed := s.LabelledPass + s.LabelledFail - s.TruePassInPass - s.TruePassInFail
	if missed == 0 { // the upper end is 1
		return holds(tail, f, math.Inf(1))
	}
	return central(f, f)
}

// differences draws cases of 4 trials on both sides without a true change.
func differences(rng *rand.Rand, cases int) []float64 {
	diffs := make([]float64, cases)
	for i := range diffs {
		p := stats.DrawRate(rng, 0.85, 0.6)
		candidate, baseline := stats.DrawPasses(rng, 4, p), stats.DrawPasses(rng, 4, p)
		diffs[i] = float64(candidate-baseline) / 4
	}
	return diffs
}

// severalCalls draws the total cost of 1 to 5 calls of a case, with a mean of 1 by call.
func severalCalls(rng *rand.Rand) (total, calls float64) {
	n := float64(1 + rng.IntN(5))
	return n * (0.5 + rng.Float64()), n
}

func otherStudies() []Study {
	paired := Study{
		Name: "paired mean difference, 100 cases of 4 trials, nothing changed", Low: 0.94, High: 1,
		Trial: func(rng *rand.Rand) bool {
			iv, _ := stats.PairedMean(differences(rng, 100), level)
			return covers(iv, 0)
		},
	}
	mcnemar := Study{
		Name: "McNemar mid-p raises no false alarm, 200 cases", Low: 0.95, High: 1,
		Trial: func(rng *rand.Rand) bool {
			b := stats.DrawPasses(rng, 200, 0.1)
			down := stats.DrawPasses(rng, b, 0.5)
			return stats.McNemar(down, b-down) > 0.05
		},
	}
	type rule func(stats.Pairs, float64) stats.Interval
	difference := func(name string, f rule) Study {
		return Study{Name: name + ", 100 pairs", Low: 0.94, High: 0.99, Trial: func(rng *rand.Rand) bool {
			n := stats.DrawSplit(rng, 100, []float64{0.75, 0.05, 0.1, 0.1})
			p := stats.Pairs{Both: n[0], CandidateOnly: n[1], BaselineOnly: n[2], Neither: n[3]}
			return covers(f(p, level), -0.05)
		}}
	}
	order := Study{Name: "p90 by order statistics, 50 cases", Low: 0.95, High: 1, Trial: func(rng *rand.Rand) bool {
		obs := make([]stats.Observation, 50)
		for i := range obs {
			obs[i] = stats.Observation{Value: rng.ExpFloat64(), Cluster: int32(i)}
		}
		return covers(stats.QuantileIntervals(obs, level, 0.9)[0], math.Log(10))
	}}
	woodruff := Study{
		Name: "p90 by Woodruff, 60 cases of 5 calls", Low: 0.949, High: 1,
		Trial: func(rng *rand.Rand) bool {
			var obs []stats.Observation
			for i := range 60 {
				own := rng.NormFloat64() * math.Sqrt(0.25)
				for range 5 {
					obs = append(obs,
						stats.Observation{Value: own + rng.NormFloat64()*math.Sqrt(0.75), Cluster: int32(i)})
				}
			}
			return covers(stats.QuantileIntervals(obs, level, 0.9)[0], 1.2815515655446004)
		},
	}
	ratio := Study{Name: "ratio of totals, 100 cases", Low: 0.93, High: 0.97, Trial: func(rng *rand.Rand) bool {
		var r stats.Ratio
		for range 100 {
			r.Add(severalCalls(rng))
		}
		return covers(r.Interval(level), 1)
	}}
	bca := Study{
		Name: "BCa of a skewed mean, 50 cases", Low: 0.92, High: 0.97, Cost: 40,
		Trial: func(rng *rand.Rand) bool {
			data := make([]float64, 50)
			for i := range data {
				data[i] = rng.ExpFloat64()
			}
			b := stats.Bootstrap(len(data), 2000, level, [2]uint64{rng.Uint64(), rng.Uint64()},
				func(units []int) float64 {
					return averageAt(data, units)
				})
			return holds(b.Lower, 1, b.Upper)
		},
	}
	return append([]Study{
		paired, mcnemar, difference("Newcombe paired", stats.Newcombe), difference("Tango", stats.Tango), order,
		woodruff, ratio, bca,
	}, slices.Concat(sequentialStudies(), untilStudies())...)
}

// looked draws cases at a rate of .85 one by one and calls find after each every cases, until it
// returns true.
func looked(rng *rand.Rand, cases, every int, find func(s, f int) bool) bool {
	s := 0
	for i := range cases {
		s += stats.DrawPasses(rng, 1, 0.85)
		if n := i + 1; n%every == 0 && !find(s, n-s) {
			return false
		}
	}
	return true
}

func sequentialStudies() []Study {
	sequence := Study{
		Name: "confidence sequence, looked at after every fifth of 300 cases", Low: 0.95, High: 1,
		Cost: 4, Trial: func(rng *rand.Rand) bool {
			return looked(rng, 300, 5,
				func(s, f int) bool { return covers(gate.ConfidenceSequence(s, f, 0.05, gate.Prior{}), 0.85) })
		},
	}
	evidence := Study{
		Name: "e-process never passes falsely, looked at after each of 500 cases", Low: 0.975, High: 1,
		Trial: func(rng *rand.Rand) bool {
			return looked(rng, 500, 1,
				func(s, f int) bool { return !gate.PassEValue(s, f, 0.85, gate.Prior{}).Rejects(gate.Alpha) })
		},
	}
	return []Study{sequence, evidence}
}
