// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package gates

import (
	"fmt"
	"math"
	"strings"

	"github.com/callvet/callvet/panel"
	"github.com/callvet/callvet/stats"
	"github.com/callvet/callvet/stats/gate"
)

// maxAttempts is the largest number of attempts at a task that is suggested.
const maxAttempts = 20

// cureNumber sets how many more tasks a bound needs, or how many attempts at each.
func (c *claim) cureNumber(m *panel.Metric) {
	iv := m.Interval
	patient := *c.g
	patient.MinUnits = new(int) // how far the interval itself is from deciding
	decide := func(iv stats.Interval) gate.Verdict { return patient.Hold(iv, 1, 0).Verdict }
	var n gate.Needed
	var attempts int
	switch {
	case m.Labelled != nil: // its labels also determine the width of the interval
		if c.cureLabels(m) {
			return
		}
	case !iv.Usable() || decide(iv) != gate.Inconclusive:
	case m.Unit == panel.UnitRate:
		n = gate.NeededCases(gate.Rule{Direction: c.g.Direction, Bound: c.g.Bound}, iv)
		attempts = attemptsForRate(iv, n.Growth)
	default:
		n = gate.NeededForMean(iv, decide)
	}
	c.settle(n, max(c.g.LeastUnits()-iv.Clusters, moreForQuantile(m)), attempts, c.noNumber(m))
}

// cureLabels sets how many more labels the gate needs; false where it has enough, or lacks tasks.
func (c *claim) cureLabels(m *panel.Metric) bool {
	l, least := m.Labelled, c.g.LeastUnits()
	more := least - m.Interval.Clusters
	if more <= 0 || l.Tasks < least {
		return false
	}
	thing, next := c.task, "callvet label next"
	if l.Of != "attempts" {
		thing = strings.TrimSuffix(l.Of, "s")
		next += " --unit " + thing
	}
	c.v.Cure = fmt.Sprintf("label %s: %s", count(more, "more "+thing), next)
	return true
}

// lookAgain is how to evaluate again without raising the error rate, which holds for one
// evaluation. Source: Statistics specification, section 16.6.
const lookAgain = "; these and more together are a second look, which errs up to 7 % of the time and not 2.5 %"

// settle sets a number of further tasks, at least least, and how many attempts at each task do as
// well. otherwise is the text where there is no number.
func (c *claim) settle(n gate.Needed, least, attempts int, otherwise string) {
	c.v.NeededHalf, c.v.Needed = n.Half, max(n.Half, n.Most, least)
	switch {
	case c.v.Needed <= 0:
		c.v.Cure = otherwise
	case n.Most > least:
		c.v.NeededHalf = max(n.Half, least)
		c.v.Cure = fmt.Sprintf("needs about %s", count(n.Most, "more "+c.task))
		if c.v.NeededHalf < n.Most {
			c.v.Cure = fmt.Sprintf("needs about %d to %s, to be decided with a chance of %.0f to %.0f %%",
				c.v.NeededHalf, count(n.Most, "more "+c.task), 100*gate.HalfChance, 100*gate.MostChance)
		}
	case n.Half > least:
		c.v.Cure = fmt.Sprintf(
			"needs about %s, to be decided with a chance of 50 %%; it may be too near to the bound for any number",
			count(n.Half, "more "+c.task))
	default:
		c.v.NeededHalf = 0
		c.v.Cure = "needs " + count(least, "more "+c.task)
	}
	if c.v.Needed > least && c.v.Needed > 0 {
		defer func() { c.v.Cure += lookAgain }()
	}
	if attempts > 0 && c.v.Needed > least {
		c.v.NeededAttempts = attempts
		c.v.Cure += fmt.Sprintf(", or %d attempts at each %s", attempts, c.task)
	}
	if n.Toward != gate.Inconclusive && n.Most == c.v.Needed && n.Most > 0 {
		c.v.Cure += "; it will then probably have " + verdictWord(n.Toward)
	}
}

// attemptsForRate is how many values a task needs so that the same tasks give growth times as much
// information. It is 0 where no affordable number does, or where the correlation within tasks is
// unknown.
func attemptsForRate(iv stats.Interval, growth float64) int {
	k := float64(iv.N) / float64(iv.Clusters)
	alike, ok := iv.Alike()
	if !ok || growth <= 1 {
		return 0
	}
	// More attempts help where the values of a task have a low correlation. The estimate may be too
	// low: add one standard error.
	r := min(1, alike.Correlation+alike.SE)
	// k values are worth k/(1+(k-1)r) tasks.
	worth := growth * k / (1 + (k-1)*r)
	return attemptsOf(worth * (1 - r) / (1 - worth*r))
}

// attemptsOf rounds a number of attempts up. It is 0 for a negative x, where no number is enough,
// and for more than maxAttempts.
func attemptsOf(x float64) int {
	if x > maxAttempts {
		return 0
	}
	return int(math.Ceil(max(0, x)))
}

// attemptsForChange is attemptsForRate for a change: growth times as much information on the mean
// of the tasks' differences. More attempts reduce the variance within a task, not the variance
// between tasks.
func attemptsForChange(d *change, growth float64) int {
	within, k := 0.0, 0.0
	for _, side := range []stats.Interval{d.Baseline, d.Candidate} {
		r, ok := side.Alike()
		if !ok || d.Relative {
			return 0
		}
		n := float64(side.N) / float64(side.Clusters)
		k = max(k, n)
		within += side.Point * (1 - side.Point) * (1 - r.Correlation) / n
	}
	all := d.Change.SE * d.Change.SE * float64(d.Cases)
	within = min(within, all)
	if growth <= 1 || !(all > 0) {
		return 0
	}
	return attemptsOf(k * within / (all/growth - (all - within)))
}
