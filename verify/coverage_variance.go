// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package main

import (
	"fmt"
	"math/rand/v2"

	"github.com/callvet/callvet/stats"
	"github.com/callvet/callvet/stats/conform"
)

// nestedDesign draws verdicts with known components: tasks have beta rates around mean with a share of
// tasks in the variance, attempts around the rate of their task, samples by the rate of their attempt.
type nestedDesign struct {
	name              string
	tasks, attempts   int
	samples           int
	mean              float64
	ofTasks, ofTarget float64 // shares; the rest is the judge's, or the target's with one sample
	unbalanced        bool    // 1 to twice as many attempts, 1 to as many samples
	// ofTools is the share that vanishes if recordings answer; -1: they are compared, and it is 0.
	ofTools float64
}

func (d *nestedDesign) shares() map[stats.Source]float64 {
	tools := max(0, d.ofTools)
	if d.samples == 1 {
		return map[stats.Source]float64{
			stats.SourceTasks: d.ofTasks, stats.SourceTarget: 1 - d.ofTasks - tools, stats.SourceTools: tools,
		}
	}
	return map[stats.Source]float64{
		stats.SourceTasks: d.ofTasks, stats.SourceTarget: d.ofTarget - tools, stats.SourceTools: tools,
		stats.SourceJudge: 1 - d.ofTasks - d.ofTarget,
	}
}

func (d *nestedDesign) draw(rng *rand.Rand) (all, recorded []stats.NestedTask) {
	rest := 1 - d.ofTasks
	within := 0.0 // of an attempt's rate
	if d.samples > 1 {
		within = d.ofTarget / rest
	}
	fill := func(t *stats.NestedTask, rate float64) {
		n := d.attempts
		if d.unbalanced {
			n = 1 + rng.IntN(2*d.attempts)
		}
		for range n {
			of, k := stats.DrawRate(rng, rate, within), d.samples
			if d.unbalanced {
				k = 1 + rng.IntN(d.samples)
			}
			samples := make([]float64, k)
			for i := range samples {
				samples[i] = float64(stats.DrawPasses(rng, 1, of))
			}
			t.Add(samples...)
		}
	}
	all = make([]stats.NestedTask, d.tasks)
	if d.ofTools != 0 {
		recorded = make([]stats.NestedTask, d.tasks)
	}
	for i := range all {
		rate := stats.DrawRate(rng, d.mean, d.ofTasks)
		fill(&all[i], rate)
		if recorded != nil { // recordings fix a part of the variance
			fill(&recorded[i], stats.DrawRate(rng, rate, max(0, d.ofTools)/rest))
		}
	}
	return all, recorded
}

// ofMean returns the shares of the variance of the mean in a balanced design.
func (d *nestedDesign) ofMean() map[stats.Source]float64 {
	out, total := d.shares(), 0.0
	for of := range out {
		if of != stats.SourceTasks {
			out[of] /= float64(d.attempts)
		}
		if of == stats.SourceJudge {
			out[of] /= float64(d.samples)
		}
		total += out[of]
	}
	for of := range out {
		out[of] /= total
	}
	return out
}

// study measures how often the interval of a source contains the truth.
func (d nestedDesign) study(what string, of stats.Source, truth float64,
	interval func(*stats.VarianceShare) *stats.Interval,
) conform.Study {
	return conform.Study{
		Name: fmt.Sprintf("%s, %s: %s, %.3g", what, d.name, of, truth), Low: 0.93, High: 1, Cost: 10,
		Trial: func(rng *rand.Rand) bool {
			all, recorded := d.draw(rng)
			v := stats.NestedVariance(all, recorded, 499, [2]uint64{rng.Uint64(), 1})
			for i := range v.Sources {
				if s := &v.Sources[i]; s.Source == of {
					iv := interval(s)
					return iv.Lower <= truth+1e-9 && truth-1e-9 <= iv.Upper
				}
			}
			return true // all verdicts are equal, which is printed without shares
		},
	}
}

// varianceStudies measure how often the intervals of shares contain the truth.
func varianceStudies() []conform.Study {
	var out []conform.Study
	for _, d := range []nestedDesign{
		{name: "25 tasks of 4", tasks: 25, attempts: 4, samples: 1, mean: 0.5, ofTasks: 0.4},
		{name: "25 tasks of 4, tasks alike", tasks: 25, attempts: 4, samples: 1, mean: 0.5},
		{name: "25 tasks of 4, nearly alike", tasks: 25, attempts: 4, samples: 1, mean: 0.5, ofTasks: 0.05},
		{name: "25 tasks of 4, attempts nearly alike", tasks: 25, attempts: 4, samples: 1, mean: 0.5, ofTasks: 0.98},
		{name: "100 tasks of 3 at .9", tasks: 100, attempts: 3, samples: 1, mean: 0.9, ofTasks: 0.6},
		{name: "30 tasks of 1 to 4", tasks: 30, attempts: 2, samples: 1, mean: 0.8, ofTasks: 0.5, unbalanced: true},
		{name: "25 tasks of 4 by 3", tasks: 25, attempts: 4, samples: 3, mean: 0.5, ofTasks: 0.4, ofTarget: 0.36},
		{
			name: "25 tasks of 4 by 3, a judge that hardly varies", tasks: 25, attempts: 4, samples: 3, mean: 0.7,
			ofTasks: 0.4, ofTarget: 0.594,
		},
		{
			name: "50 tasks of 3 by 2, attempts alike", tasks: 50, attempts: 3, samples: 2, mean: 0.7, ofTasks: 0.4,
			ofTarget: 0,
		},
		{
			name: "50 tasks of 1 to 6 by 1 to 3", tasks: 50, attempts: 3, samples: 3, mean: 0.7, ofTasks: 0.4,
			ofTarget: 0.48, unbalanced: true,
		},
		{
			name: "200 tasks of 1 to 4 by 1 or 2 at .95", tasks: 200, attempts: 2, samples: 2, mean: 0.95, ofTasks: 0.5,
			ofTarget: 0.45, unbalanced: true,
		},
		{name: "50 tasks of 4, tools", tasks: 50, attempts: 4, samples: 1, mean: 0.7, ofTasks: 0.5, ofTools: 0.2},
		{name: "50 tasks of 4, tools alike", tasks: 50, attempts: 4, samples: 1, mean: 0.7, ofTasks: 0.5, ofTools: -1},
		{
			name: "50 tasks of 1 to 6 by 1 or 2, tools", tasks: 50, attempts: 3, samples: 2, mean: 0.7, ofTasks: 0.5,
			ofTarget: 0.35, unbalanced: true, ofTools: 0.105,
		},
	} {
		shares := d.shares()
		for _, of := range []stats.Source{stats.SourceTasks, stats.SourceTarget, stats.SourceTools, stats.SourceJudge} {
			truth, due := shares[of]
			if of == stats.SourceTools && d.ofTools == 0 || !due {
				continue
			}
			out = append(out, d.study("share of variance", of, truth,
				func(s *stats.VarianceShare) *stats.Interval { return s.Share }))
			if !d.unbalanced {
				out = append(out, d.study("share of the variance of a mean", of, d.ofMean()[of],
					func(s *stats.VarianceShare) *stats.Interval { return s.OfMean }))
			}
		}
	}
	return out
}
