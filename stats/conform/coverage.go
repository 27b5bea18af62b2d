// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package conform

import (
	"fmt"
	"hash/fnv"
	"math"
	"math/rand/v2"

	"github.com/callvet/callvet/stats"
	"github.com/callvet/callvet/stats/draw"
	"github.com/callvet/callvet/stats/gate"
	"github.com/callvet/callvet/stats/judge"
)

// Study is a simulation of how often something that should hold does hold.
type Study struct {
	Name string
	// Low and High bound the share of trials in which it holds.
	Low, High float64
	// Cost is how much dearer than others a trial is; fewer are run then.
	Cost int
	// Strict tells that the band leaves room for the noise of the simulation.
	Strict bool
	// Trial draws data once and reports whether it holds. It draws from rng alone.
	Trial func(rng *rand.Rand) bool
}

// Outcome is what a study found.
type Outcome struct {
	Share  float64
	Trials int
	// OK tells that the share is in the study's band, give or take three standard
	// errors of the simulation unless it is Strict.
	OK bool
}

// Run makes trials/Cost trials. The same seed gives a study of the same name the same
// outcome, whatever other studies there are.
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
	return append(out, otherStudies()...)
}

const level = 0.95

func covers(iv stats.Interval, truth float64) bool { return iv.Lower <= truth && truth <= iv.Upper }

// calls draws cases of 1 + Poisson(4) calls each.
func calls(rng *rand.Rand, cases int, p, icc float64) stats.Clusters {
	var c stats.Clusters
	for range cases {
		n := 1 + draw.Events(rng, 4, 1)
		c.Add(float64(draw.Passes(rng, n, draw.Rate(rng, p, icc))), n, true)
	}
	return c
}

func clusteredStudies() []Study {
	neff := func(name string, cases int, p, icc float64) Study {
		return Study{Name: "n_eff interval, " + name, Low: 0.944, High: 1, Trial: func(rng *rand.Rand) bool {
			c := calls(rng, cases, p, icc)
			return covers(c.Interval(level, stats.DefaultRho0), p)
		}}
	}
	falsePass := Study{Name: "n_eff interval, gate does not pass falsely, 50 cases at .9", Low: 0.957, High: 1, Trial: func(rng *rand.Rand) bool {
		c := calls(rng, 50, 0.9, 0.3)
		return c.Interval(level, stats.DefaultRho0).Lower <= 0.9
	}}
	fractional := func(name string, cases int, draw func(*rand.Rand) float64, truth float64) Study {
		return Study{Name: "n_eff interval of a score, " + name, Low: 0.948, High: 1, Trial: func(rng *rand.Rand) bool {
			var c stats.Clusters
			for range cases {
				c.Add(draw(rng), 1, false)
			}
			return covers(c.Interval(level, stats.DefaultRho0), truth)
		}}
	}
	// Mostly 1, the rest spread over quarters: argument F1 as runs show it.
	f1 := func(rng *rand.Rand) float64 {
		if rng.Float64() < 0.8 {
			return 1
		}
		return float64(rng.IntN(4)) / 4
	}
	return []Study{
		neff("20 cases at .9, ICC .3", 20, 0.9, 0.3), neff("50 cases at .9, ICC 0", 50, 0.9, 0),
		neff("50 cases at .98, ICC .5", 50, 0.98, 0.5), neff("200 cases at .98, ICC .3", 200, 0.98, 0.3),
		neff("200 cases at .995, ICC .1", 200, 0.995, 0.1), neff("200 cases at .9, ICC .5", 200, 0.9, 0.5),
		falsePass,
		fractional("20 cases", 20, f1, 0.875), fractional("50 cases", 50, f1, 0.875), fractional("200 cases", 200, f1, 0.875),
	}
}

// labelled draws a calibration of m tasks of prevalence truth.
func labelled(rng *rand.Rand, m int, truth, s, t float64) judge.Calibration {
	pass := draw.Passes(rng, m, truth)
	return judge.Calibration{
		LabelledPass: pass, TruePositive: draw.Passes(rng, pass, s),
		LabelledFail: m - pass, TrueNegative: draw.Passes(rng, m-pass, t),
	}
}

func transported(rng *rand.Rand, n, m int, truth, s, t float64) (judge.Judged, judge.Calibration) {
	k := draw.Passes(rng, n, truth*s+(1-truth)*(1-t))
	return judge.Judged{Pass: float64(k), N: float64(n)}, labelled(rng, m, truth, s, t)
}

func judgeStudies() []Study {
	lang := func(name string, n, m int, truth, s, t float64) Study {
		return Study{Name: "Lang-Reiczigel, " + name, Low: 0.929, High: 1, Trial: func(rng *rand.Rand) bool {
			j, c := transported(rng, n, m, truth, s, t)
			x := judge.LangReiczigel(j, c, level)
			return x.Lower <= truth && truth <= x.Upper
		}}
	}
	// Attempts at one task are labelled several times, and the judge errs alike in them.
	repeated := func(tasks, attempts int, icc, low float64) Study {
		const truth, sens, spec = 0.8, 0.9, 0.8
		one := func(rng *rand.Rand) stats.Interval {
			var c judge.Calibration
			var pass, fail, run stats.Clusters
			for range tasks {
				s, t := draw.Rate(rng, sens, icc), draw.Rate(rng, spec, icc)
				m := draw.Passes(rng, attempts, draw.Rate(rng, truth, icc))
				tp, tn := draw.Passes(rng, m, s), draw.Passes(rng, attempts-m, t)
				c.LabelledPass, c.TruePositive = c.LabelledPass+m, c.TruePositive+tp
				c.LabelledFail, c.TrueNegative = c.LabelledFail+attempts-m, c.TrueNegative+tn
				pass.Add(float64(tp), m, true)
				fail.Add(float64(tn), attempts-m, true)
			}
			c.PassWorth, c.FailWorth = pass.Interval(level, stats.DefaultRho0).NEff, fail.Interval(level, stats.DefaultRho0).NEff
			for range 300 {
				run.Add(float64(draw.Passes(rng, 1, truth*sens+(1-truth)*(1-spec))), 1, true)
			}
			return judge.TrueSuccess(run.Interval(level, stats.DefaultRho0), c, level)
		}
		return Study{Name: fmt.Sprintf("true success, calibrated with %d labelled attempts at %d tasks, ICC %g", tasks*attempts, tasks, icc), Low: low, High: 1, Trial: func(rng *rand.Rand) bool {
			iv := one(rng)
			for !iv.Usable() { // what is refused claims nothing
				iv = one(rng)
			}
			return covers(iv, truth)
		}}
	}
	strat := func(name string, n, m int, truth, s, t float64) Study {
		return Study{Name: "post-stratified Jeffreys, " + name, Low: 0.934, High: 1, Cost: 10, Trial: func(rng *rand.Rand) bool {
			return stratifiedCovers(drawStrata(rng, n, m, truth, s, t), truth)
		}}
	}
	melded := Study{Name: "melded Clopper-Pearson, 200 judged, 200 labels", Low: 0.96, High: 1, Cost: 10, Trial: func(rng *rand.Rand) bool {
		j, c := transported(rng, 200, 200, 0.85, 0.95, 0.9)
		low, high := judge.MeldedBelow(j, c, 0.85)
		return low >= (1-level)/2 && high <= 1-(1-level)/2
	}}
	jeffreys := Study{Name: "transported Jeffreys, 200 judged, 200 labels", Low: 0.939, High: 1, Cost: 10, Trial: func(rng *rand.Rand) bool {
		j, c := transported(rng, 200, 200, 0.85, 0.95, 0.9)
		below := judge.TransportedBelow(j, c, 0.85)
		return below >= (1-level)/2 && below <= 1-(1-level)/2
	}}
	ppi := Study{Name: "PPI++, 200 labels, 1,000 judged", Low: 0.93, High: 0.97, Trial: func(rng *rand.Rand) bool {
		draw := func(n int) (labels, scores []float64) {
			for range n {
				y := draw.Passes(rng, 1, 0.85)
				labels = append(labels, float64(y))
				scores = append(scores, float64(draw.Passes(rng, 1, []float64{0.1, 0.95}[y])))
			}
			return labels, scores
		}
		labels, scores := draw(200)
		_, others := draw(1000)
		p := judge.PPI(labels, scores, others, judge.Tuned, level)
		return p.Lower <= 0.85 && 0.85 <= p.Upper
	}}
	return []Study{
		lang("50 judged, 50 labels", 50, 50, 0.7, 0.95, 0.9), lang("200 judged, 200 labels", 200, 200, 0.85, 0.9, 0.8),
		lang("1,000 judged, 50 labels", 1000, 50, 0.85, 0.95, 0.9), lang("1,000 judged, 200 labels", 1000, 200, 0.95, 0.98, 0.98),
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
		passed := rng.Float64() < truth
		verdict := rng.Float64() < 1-t
		if passed {
			verdict = rng.Float64() < s
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

// stratifiedCovers is whether the interval holds the truth, told without finding
// its ends. Where a stratum has no label there is no interval, and nothing claimed.
func stratifiedCovers(s judge.Strata, truth float64) bool {
	f := judge.StratifiedBelow(s, truth)
	if math.IsNaN(f) {
		return true
	}
	a := (1 - level) / 2
	low, high := f >= a, f <= 1-a
	missed := s.LabelledPass + s.LabelledFail - s.TruePassInPass - s.TruePassInFail
	allPassed := missed == 0 && (s.LabelledFail > 0 || s.JudgePass == s.N)
	return low && (high || allPassed)
}

func otherStudies() []Study {
	paired := Study{Name: "paired mean difference, 100 cases of 4 trials, nothing changed", Low: 0.94, High: 1, Trial: func(rng *rand.Rand) bool {
		diffs := make([]float64, 100)
		for i := range diffs {
			p := draw.Rate(rng, 0.85, 0.6)
			candidate, baseline := draw.Passes(rng, 4, p), draw.Passes(rng, 4, p)
			diffs[i] = float64(candidate-baseline) / 4
		}
		iv, _ := stats.PairedMean(diffs, level)
		return covers(iv, 0)
	}}
	mcnemar := Study{Name: "McNemar mid-p raises no false alarm, 200 cases", Low: 0.95, High: 1, Trial: func(rng *rand.Rand) bool {
		b := draw.Passes(rng, 200, 0.1)
		down := draw.Passes(rng, b, 0.5)
		return stats.McNemar(down, b-down) > 0.05
	}}
	type rule func(stats.Pairs, float64) stats.Interval
	difference := func(name string, f rule) Study {
		return Study{Name: name + ", 100 pairs", Low: 0.94, High: 0.99, Trial: func(rng *rand.Rand) bool {
			var p stats.Pairs
			for range 100 {
				switch u := rng.Float64(); {
				case u < 0.75:
					p.Both++
				case u < 0.80:
					p.CandidateOnly++
				case u < 0.90:
					p.BaselineOnly++
				default:
					p.Neither++
				}
			}
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
	woodruff := Study{Name: "p90 by Woodruff, 60 cases of 5 calls", Low: 0.949, High: 1, Trial: func(rng *rand.Rand) bool {
		var obs []stats.Observation
		for i := range 60 {
			own := rng.NormFloat64() * math.Sqrt(0.25)
			for range 5 {
				obs = append(obs, stats.Observation{Value: own + rng.NormFloat64()*math.Sqrt(0.75), Cluster: int32(i)})
			}
		}
		return covers(stats.QuantileIntervals(obs, level, 0.9)[0], 1.2815515655446004)
	}}
	ratio := Study{Name: "ratio of totals, 100 cases", Low: 0.93, High: 0.97, Trial: func(rng *rand.Rand) bool {
		var r stats.Ratio
		for range 100 {
			n := float64(1 + rng.IntN(5))
			r.Add(n*(0.5+rng.Float64()), n)
		}
		return covers(r.Interval(level), 1)
	}}
	bca := Study{Name: "BCa of a skewed mean, 50 cases", Low: 0.92, High: 0.97, Cost: 40, Trial: func(rng *rand.Rand) bool {
		data := make([]float64, 50)
		for i := range data {
			data[i] = rng.ExpFloat64()
		}
		b := stats.Bootstrap(len(data), 2000, level, [2]uint64{rng.Uint64(), rng.Uint64()}, func(units []int) float64 {
			s := 0.0
			for _, u := range units {
				s += data[u]
			}
			return s / float64(len(units))
		})
		return b.Lower <= 1 && 1 <= b.Upper
	}}
	return append([]Study{
		paired, mcnemar, difference("Newcombe paired", stats.Newcombe), difference("Tango", stats.Tango), order, woodruff, ratio, bca,
	}, sequentialStudies()...)
}

func sequentialStudies() []Study {
	sequence := Study{Name: "confidence sequence, looked at after each of 300 cases", Low: 0.95, High: 1, Cost: 4, Trial: func(rng *rand.Rand) bool {
		s, f := 0, 0
		for range 300 {
			if rng.Float64() < 0.85 {
				s++
			} else {
				f++
			}
			// At the truth itself: the interval holds it unless the evidence does not.
			if (s+f)%5 == 0 && !covers(gate.ConfidenceSequence(s, f, 0.05, gate.Prior{}), 0.85) {
				return false
			}
		}
		return true
	}}
	evidence := Study{Name: "e-process never passes falsely, looked at after each of 500 cases", Low: 0.975, High: 1, Trial: func(rng *rand.Rand) bool {
		s, f := 0, 0
		for range 500 {
			if rng.Float64() < 0.85 {
				s++
			} else {
				f++
			}
			if gate.PassEValue(s, f, 0.85, gate.Prior{}).Rejects(gate.Alpha) {
				return false
			}
		}
		return true
	}}
	return []Study{sequence, evidence}
}
