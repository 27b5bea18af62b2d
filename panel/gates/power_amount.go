// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package gates

import (
	"math/rand/v2"

	"github.com/callvet/callvet/stats"
	"github.com/callvet/callvet/stats/gate"
)

// AmountTrial is an upper bound on the mean of an amount, one value a task.
type AmountTrial struct {
	Gate Gate
	// Mean and SD, both above 0, are the mean and standard deviation of the tasks: lognormal
	// amounts, or counts of events if Counted.
	Mean, SD float64
	Counted  bool
}

// Trial draws the tasks and returns the gate's verdict on them.
func (a *AmountTrial) Trial(rng *rand.Rand, tasks int) gate.Verdict {
	if a.Counted {
		var c stats.Counts
		for range tasks {
			c.Add(float64(stats.DrawCount(rng, a.Mean, a.SD)), 1, true)
		}
		return a.Gate.Hold(c.Interval(confidence), 1, 0).Verdict
	}
	var r stats.Ratio
	for range tasks {
		r.Add(stats.DrawAmount(rng, a.Mean, a.SD), 1)
	}
	return a.Gate.Hold(r.Interval(confidence), 1, 0).Verdict
}
