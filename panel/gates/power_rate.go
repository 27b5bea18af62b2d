// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package gates

import (
	"math/rand/v2"
	"sort"

	"github.com/callvet/callvet/stats"
	"github.com/callvet/callvet/stats/exact"
	"github.com/callvet/callvet/stats/gate"
)

// confidence is the two-sided confidence of the intervals that gates use.
const confidence = 0.95

// RateTrial is a bound on a rate of tasks.
type RateTrial struct {
	Gate Gate
	// Truth is the true rate, in [0,1].
	Truth float64
	// Attempts is how many values each task has, and Correlation the correlation of the values of a
	// task, in [0,1).
	Attempts    int
	Correlation float64
	// Measured is the correlation from earlier runs that the gate uses; nil: the gate takes the
	// attempts at a task as one until they differ.
	Measured *stats.Correlation
}

// Trial draws the tasks and returns the gate's verdict on them.
func (r *RateTrial) Trial(rng *rand.Rand, tasks int) gate.Verdict {
	var sum exact.Rate
	for passes, times := range stats.DrawSplit(rng, tasks, stats.PassesLaw(r.Attempts, r.Truth, r.Correlation)) {
		sum.AddAttemptsTimes(passes, r.Attempts, stats.AttemptsOf(passes, r.Attempts), uint64(times))
	}
	iv := sum.Interval(confidence, stats.DefaultRho0)
	if r.Measured != nil {
		iv = iv.Correlated(sum.N(), r.Attempts, r.Measured.Upper)
	}
	return r.Gate.Hold(iv, 1, 0).Verdict
}

// passes reports whether the gate passes this number of tasks with one value each.
func (r *RateTrial) passes(tasks, successes int) bool {
	var sum exact.Rate
	sum.AddTimes(1, 1, uint64(successes))
	sum.AddTimes(0, 1, uint64(tasks-successes))
	return r.Gate.Hold(sum.Interval(confidence, stats.DefaultRho0), 1, 0).Verdict == gate.Pass
}

// Allowed is how many tasks may be on the wrong side (failures, or hits for an upper bound) so that
// the gate still passes, with one value a task. It is -1 when the gate fails even with none.
func (r *RateTrial) Allowed(tasks int) int {
	return sort.Search(tasks+1, func(wrong int) bool {
		if r.Gate.Direction == gate.AtMost {
			return !r.passes(tasks, wrong)
		}
		return !r.passes(tasks, tasks-wrong)
	}) - 1
}

// Exact is the probability, in [0,1], that the gate passes with this number of tasks with one value
// each. allowed is how many of them may be on the wrong side.
func (r *RateTrial) Exact(tasks int) (chance float64, allowed int) {
	if allowed = r.Allowed(tasks); allowed < 0 {
		return 0, allowed
	}
	return stats.BinomialCDF(allowed, tasks, r.wrong()), allowed
}

// wrong is the share of tasks on the wrong side.
func (r *RateTrial) wrong() float64 {
	if r.Gate.Direction == gate.AtMost {
		return r.Truth
	}
	return 1 - r.Truth
}

// bound is the lower bound on the share of the right side.
func (r *RateTrial) bound() float64 {
	if r.Gate.Direction == gate.AtMost {
		return 1 - r.Gate.Bound
	}
	return r.Gate.Bound
}

// Fewest is the smallest number of tasks with one value each that pass with at least the
// probability power, and how many of them may be on the wrong side. ok is false when two million
// are not enough. For larger numbers the probability is a sawtooth: it may fall slightly below
// power until one more task may be on the wrong side.
func (r *RateTrial) Fewest(power float64) (tasks, allowed int, ok bool) {
	// The closed form gives the start of the search; the gate decides.
	n, _, ok := gate.SampleSize(r.bound(), 1-r.wrong(), power, gate.Alpha)
	if !ok {
		return 0, 0, false
	}
	for n = max(n, r.Gate.LeastUnits()); ; n++ {
		if chance, allowed := r.Exact(n); chance >= power {
			return n, allowed, true
		}
	}
}

// Smallest is the smallest number of tasks that pass with the given number on the wrong side.
func (r *RateTrial) Smallest(wrong int) (tasks int, ok bool) {
	n, ok := gate.MinN(r.bound(), wrong, gate.Alpha)
	if !ok {
		return 0, false
	}
	for n = max(n, r.Gate.LeastUnits()); r.Allowed(n) < wrong; n++ {
	}
	return n, true
}
