// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package main

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/labels"
	"github.com/callvet/callvet/panel"
	"github.com/callvet/callvet/stats"
	"github.com/callvet/callvet/stats/conform"
	"github.com/callvet/callvet/stats/exact"
)

// decisionStudies test the assumptions of verdicts: repeats, families of claims, unpaired sides,
// labels of other outputs. Source: Statistics specification, section 16.
func decisionStudies() []conform.Study {
	return slices.Concat(repeatStudies(), latencyStudies(), familyStudies(), rankStudies(), suiteStudies(),
		labelStudies())
}

// latencyStudies measure how often the upper end of a p90 is below the truth. They use times of
// attempts that are alike within a task, and times of calls that are alike within a task and more
// so within an attempt: log times are normal.
func latencyStudies() []conform.Study {
	var out []conform.Study
	truth := math.Exp(stats.NormalQuantile(0.9))
	for _, tasks := range []int{40, 60, 100, 200} {
		for _, k := range []int{2, 3, 5, 10} {
			for _, icc := range []float64{0.3, 0.6, 0.9} {
				out = append(out, conform.Study{
					Name: fmt.Sprintf("upper end of a p90 below the truth, %d tasks of %d alike by %g", tasks, k, icc),
					High: 0.03, Cost: 2,
					Trial: func(rng *rand.Rand) bool {
						var q exact.Quantiles
						for range tasks {
							own, times := rng.NormFloat64()*math.Sqrt(icc), make([]float64, k)
							for i := range times {
								times[i] = math.Exp(own + rng.NormFloat64()*math.Sqrt(1-icc))
							}
							q.Add(times, 0)
						}
						return q.Intervals(0.95, 0.9)[0].Upper < truth
					},
				})
			}
		}
	}
	return slices.Concat(out, callStudies(truth))
}

// callStudies are latencyStudies of 1 to 8 calls in each attempt.
func callStudies(truth float64) []conform.Study {
	var out []conform.Study
	for _, tasks := range []int{60, 100, 200} {
		for _, k := range []int{1, 3, 10} {
			for _, icc := range [][2]float64{{0, 0.3}, {0.3, 0.6}, {0.6, 0.9}, {0.9, 0.9}} {
				out = append(out, conform.Study{
					Name: fmt.Sprintf(
						"upper end of a p90 of calls below the truth, %d tasks of %d attempts, alike by %g, calls by %g", tasks, k, icc[0], icc[1]),
					High: 0.03, Cost: 6,
					Trial: func(rng *rand.Rand) bool {
						var q exact.Quantiles
						for range tasks {
							task, times := rng.NormFloat64()*math.Sqrt(icc[0]), []float64(nil)
							for range k {
								attempt := task + rng.NormFloat64()*math.Sqrt(icc[1]-icc[0])
								for range 1 + rng.IntN(8) {
									times = append(times, math.Exp(attempt+rng.NormFloat64()*math.Sqrt(1-icc[1])))
								}
							}
							q.Add(times, 0)
						}
						iv := q.Intervals(0.95, 0.9)[0]
						return iv.Upper < truth || math.IsInf(iv.Upper, 1)
					},
				})
			}
		}
	}
	return out
}

// rankStudies measure two chances: that one of ten equal targets has a better rank than another, and
// that the best of ten targets alone has the first rank.
func rankStudies() []conform.Study {
	const targets = 10
	ranks := func(rng *rand.Rand, s side, better float64) []panel.Rank {
		rates := s.rates(rng)
		for _, task := range rates {
			if better > 0 {
				task[0] = stats.DrawRate(rng, better, s.icc)
			}
		}
		l := s.ledger(rng, rates)
		of := make([]panel.Contender, targets)
		for i := range of {
			of[i] = panel.Contender{Ledger: l, Target: fmt.Sprint("t", i)}
		}
		return panel.Ranks(of, panel.MetricPass, confidence)
	}
	return []conform.Study{
		{
			Name: "ranks: any of 10 equal targets is better than another, 60 tasks", High: 0.05, Cost: 10,
			Trial: func(rng *rand.Rand) bool {
				return slices.ContainsFunc(
					ranks(rng, side{tasks: 60, targets: targets, attempts: 1, rate: 0.8, icc: 0.3},
						0), func(r panel.Rank) bool { return r.Best > 1 })
			},
		},
		{
			Name: "ranks: one target of 0.95 and nine of 0.8, 200 tasks: it is first alone", Low: 0.5, High: 1, Cost: 20,
			Trial: func(rng *rand.Rand) bool {
				return ranks(rng, side{tasks: 200, targets: targets, attempts: 1, rate: 0.8, icc: 0.3},
					0.95)[0] == panel.Rank{Best: 1, Worst: 1}
			},
		},
	}
}

// suiteStudies measure what a comparison about this suite reports as better or worse. The limit
// without a change is for each direction separately, since a gate is about one direction. The power is
// that of a loss of 10 points in some tasks, which then fail wholly. How large it is depends on how
// alike the attempts at a task are. Comparisons about tasks like these have less. Source:
// Statistics specification, section 16.7.
func suiteStudies() []conform.Study {
	verdict := func(rng *rand.Rand, icc, loss float64, about panel.Population) panel.Change {
		s := side{tasks: 50, targets: 1, attempts: 3, rate: 0.8, icc: icc}
		before := s.rates(rng)
		now := slices.Clone(before)
		left := loss * float64(s.tasks)
		for i := range now {
			if left <= 0 {
				break
			}
			keep := max(0, before[i][0]-left)
			left -= before[i][0] - keep
			now[i] = []float64{keep}
		}
		d := panel.DiffWith(s.ledger(rng, before), s.ledger(rng, now),
			panel.DiffConfig{Confidence: confidence, Population: about})
		return d.Targets[0].Overall.Verdict
	}
	study := func(name string, low, high, icc, loss float64, about panel.Population, want panel.Change) conform.Study {
		name = fmt.Sprintf("%s, 50 tasks of 3 alike by %g: %s", about, icc, name)
		return conform.Study{
			Name: name, Low: low, High: high, Cost: 4,
			Trial: func(rng *rand.Rand) bool { return verdict(rng, icc, loss, about) == want },
		}
	}
	var out []conform.Study
	for _, icc := range []float64{0.3, 0.7} {
		out = append(out, study("no change is called worse", 0, 0.03, icc, 0, panel.ThisSuite, panel.ChangeWorse),
			study("no change is called better", 0, 0.03, icc, 0, panel.ThisSuite, panel.ChangeBetter))
	}
	const lost = "a loss of 10 points in some tasks is called worse"
	return append(out, study(lost, 0.5, 1, 0.3, 0.1, panel.ThisSuite, panel.ChangeWorse),
		study(lost, 0.85, 1, 0.7, 0.1, panel.ThisSuite, panel.ChangeWorse),
		study(lost, 0.4, 1, 0.7, 0.1, panel.TasksLikeThese, panel.ChangeWorse))
}

// repeatStudies measure how often a rate at its bound passes, if attempts repeat each other.
func repeatStudies() []conform.Study {
	passes := func(name string, bound float64, tasks, attempts int, icc, high float64) conform.Study {
		return conform.Study{
			Name: fmt.Sprintf("false pass, %d tasks of %d %s, bound %g", tasks, attempts, name, bound),
			High: high, Cost: 2,
			Trial: trialOf(func(t *trialRun) bool { return t.rate(tasks, attempts, bound, icc).Lower >= bound }),
		}
	}
	var out []conform.Study
	for _, bound := range []float64{0.8, 0.9, 0.95} {
		for _, tasks := range []int{30, 100} {
			for _, k := range []int{1, 2, 3, 5, 10} {
				out = append(out, passes("that agree", bound, tasks, k, 1, 0.03))
			}
			for _, icc := range []float64{0.3, 0.6, 0.9} {
				for _, k := range []int{3, 10} {
					out = append(out, passes(fmt.Sprintf("alike by %g", icc), bound, tasks, k, icc, 0.045))
				}
			}
		}
	}
	return out
}

// side is the distribution of one side of a comparison.
type side struct {
	first, tasks int // the number in the id of the first task
	targets      int
	slices       int
	attempts     int
	rate, icc    float64
}

// rates draws the rate of each task of each target.
func (s side) rates(rng *rand.Rand) [][]float64 {
	out := make([][]float64, s.tasks)
	for i := range out {
		for range s.targets {
			out[i] = append(out[i], stats.DrawRate(rng, s.rate, s.icc))
		}
	}
	return out
}

// ledger draws the attempts of a side at tasks with these rates.
func (s side) ledger(rng *rand.Rand, rates [][]float64) *panel.Ledger {
	targets := make([]string, s.targets)
	for i := range targets {
		targets[i] = fmt.Sprint("t", i)
	}
	l := panel.NewLedger("r", targets, []string{"part"})
	for i := range s.tasks {
		c := &callvet.Case{ID: fmt.Sprint("c", s.first+i)}
		if s.slices > 0 {
			c.Fields = map[string]string{"part": fmt.Sprint(i % s.slices)}
		}
		for t := range targets {
			for k := range s.attempts {
				verdict := callvet.VerdictFail
				if rng.Float64() < rates[i][t] {
					verdict = callvet.VerdictPass
				}
				l.Add(c, &callvet.Cell{
					Target: t, Repeat: k, Trace: callvet.Trace{Outcome: callvet.OutcomeCalled},
					Result: callvet.Result{Verdict: verdict},
				})
			}
		}
	}
	return l
}

// familyStudies measure how often any claim is made without a difference, and how often the interval
// of an unpaired difference contains the true difference.
func familyStudies() []conform.Study {
	claims := func(name string, s side, of func(*panel.TargetComparison) bool) conform.Study {
		return conform.Study{Name: name, High: 0.05, Cost: 10, Trial: func(rng *rand.Rand) bool {
			rates := s.rates(rng)
			d := panel.Diff(s.ledger(rng, rates), s.ledger(rng, rates), confidence)
			for i := range d.Targets {
				if of(&d.Targets[i]) {
					return true
				}
			}
			return false
		}}
	}
	claimed := func(d *panel.Difference) bool {
		return d.Verdict == panel.ChangeBetter || d.Verdict == panel.ChangeWorse
	}
	out := []conform.Study{
		claims("any of 10 equal targets is better or worse, 60 tasks",
			side{tasks: 60, targets: 10, attempts: 1, rate: 0.8, icc: 0.3},
			func(t *panel.TargetComparison) bool { return claimed(&t.Overall) }),
		claims("any of 10 equal slices is better or worse, 200 tasks",
			side{tasks: 200, targets: 1, slices: 10, attempts: 1, rate: 0.8, icc: 0.3},
			func(t *panel.TargetComparison) bool {
				for i := range t.Slices {
					if claimed(&t.Slices[i]) {
						return true
					}
				}
				return false
			}),
		claims("any of 60 equal cases of 5 attempts has a stable change",
			side{tasks: 60, targets: 1, attempts: 5, rate: 0.8, icc: 0.5}, func(t *panel.TargetComparison) bool {
				for i := range t.Changes {
					if t.Changes[i].Stability == "stable" {
						return true
					}
				}
				return false
			}),
	}
	for _, c := range []struct {
		before, after   float64
		tasks, attempts int
	}{{0.7, 0.7, 100, 1}, {0.7, 0.55, 100, 1}, {0.8, 0.7, 60, 3}, {0.5, 0.6, 200, 2}} {
		name := fmt.Sprintf("unpaired difference, %d tasks of %d, %g to %g", c.tasks, c.attempts, c.before, c.after)
		out = append(out, conform.Study{Name: name, Low: 0.93, High: 0.975, Cost: 5, Trial: func(rng *rand.Rand) bool {
			a := side{tasks: c.tasks, targets: 1, attempts: c.attempts, rate: c.before, icc: 0.4}
			b := a
			b.first, b.tasks, b.rate = 10_000, c.tasks+20, c.after
			before, after := a.ledger(rng, a.rates(rng)), b.ledger(rng, b.rates(rng))
			d := panel.DiffWith(before, after,
				panel.DiffConfig{Confidence: confidence, Unpaired: true}).Targets[0].Overall.Change
			return d.Lower <= c.after-c.before && c.after-c.before <= d.Upper
		}})
	}
	return out
}

// relabelled is a run. Some of its tasks have the output of an earlier run, which has labels.
type relabelled struct {
	tasks          int
	unchanged      float64 // the share of outputs that did not change
	truthOf        [2]float64
	sens, spec     float64
	earlier, fresh int // labels of the earlier run, and of changed outputs of this one
}

// drawn is the estimate of a run, and the true share of runs like it.
func (c relabelled) drawn(rng *rand.Rand) (stats.Interval, float64) {
	in := labels.CalibrationInput{Judge: "j", RunID: "now"}
	fresh := c.fresh
	for i := range c.tasks {
		k := labels.Key{TaskID: fmt.Sprint("t", i), Unit: labels.Task}
		same := rng.Float64() < c.unchanged
		one := func(output string, truth float64) (bool, labels.Judgement) {
			truly := rng.Float64() < truth
			judged := rng.Float64() < c.sens
			if !truly {
				judged = rng.Float64() >= c.spec
			}
			return truly, labels.Judgement{
				Key: k, Fingerprint: fingerprintOf(k.TaskID + output),
				Verdict: labels.Verdict{Judge: labels.Judge{Name: "j"}, Pass: &judged},
			}
		}
		label := func(v labels.Judgement, run string, truly bool) {
			in.Labels = append(in.Labels,
				labels.Label{
					Key: k, Fingerprint: v.Fingerprint, Run: run, By: "a", Role: labels.Calibrating,
					Pass: &truly, Stratum: labels.Random, Judged: []labels.Verdict{v.Verdict},
				})
		}
		truly, was := one("", c.truthOf[0])
		in.Opinions = append(in.Opinions,
			labels.Label{Key: k, Fingerprint: was.Fingerprint, Run: "before", Judged: []labels.Verdict{was.Verdict}})
		if i < c.earlier {
			label(was, "before", truly)
		}
		now := was
		if !same {
			if truly, now = one(" now", c.truthOf[1]); fresh > 0 {
				label(now, "now", truly)
				fresh--
			}
		}
		in.Run = append(in.Run, now)
	}
	r, err := labels.Calibrate(in)
	if err != nil {
		panic(err) // the input is made in this file
	}
	return r.Success[0].True, c.unchanged*c.truthOf[0] + (1-c.unchanged)*c.truthOf[1]
}

func fingerprintOf(output string) string {
	return labels.Fingerprint(output, nil, &callvet.Trace{CaseID: "c"})
}

// labelStudies measure the value of labels of an earlier run, by the share of unchanged outputs.
func labelStudies() []conform.Study {
	base := relabelled{tasks: 400, truthOf: [2]float64{0.85, 0.6}, sens: 0.9, spec: 0.8, earlier: 200, fresh: 120}
	var out []conform.Study
	for _, unchanged := range []float64{0, 0.3, 1} {
		c := base
		c.unchanged = unchanged
		out = append(out, conform.Study{
			Name: fmt.Sprintf("true success, %g of the outputs are unchanged", unchanged),
			Low:  0.93, High: 1, Cost: 20, Trial: func(rng *rand.Rand) bool {
				iv, truth := c.drawn(rng)
				return iv.Usable() && iv.Lower <= truth && truth <= iv.Upper
			},
		})
	}
	// Labels of an agent that is better than the run. If all outputs changed, they show only the errors
	// of the judge; if some are unchanged, the changed ones need new labels.
	other := base
	other.fresh = 0
	for _, p := range []struct{ unchanged, high float64 }{{0, 0.03}, {0.3, 0}} {
		c := other
		c.unchanged = p.unchanged
		name := fmt.Sprintf("labels of a better agent alone pass a run, %g of the outputs are unchanged", p.unchanged)
		out = append(out, conform.Study{Name: name, High: p.high, Cost: 20, Trial: func(rng *rand.Rand) bool {
			iv, truth := c.drawn(rng)
			return iv.Usable() && iv.Lower > truth
		}})
	}
	return out
}
