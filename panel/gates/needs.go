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

// cureNumber says how many more tasks a bound needs, or how many attempts at each.
func (c *claim) cureNumber(m *panel.Metric) {
	iv := m.Interval
	patient := *c.g
	patient.MinUnits = new(int) // how far the interval itself is from deciding
	decide := func(iv stats.Interval) gate.Verdict { return patient.Hold(iv, 1, 0).Verdict }
	var n gate.Needed
	var attempts int
	switch {
	case m.Labelled != nil: // its labels decide how far the ends are apart, too
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

// cureLabels names how many more labels the gate wants; false where it has enough, or lacks tasks.
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

// lookAgain is how to look again without losing the error rate: a gate has it for one look.
// Source: Statistics specification, section 16.6.
const lookAgain = "; these and more together are a second look, which errs up to 7 % of the time and not 2.5 %"

// settle tells a number of further tasks of which least are needed whatever they say, and
// how many attempts at each task do as well; otherwise is said where there is no number.
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

// attemptsForRate is how many values a task must have so that the same tasks tell growth
// times as much; 0 where no affordable number does, or where nothing shows how much those
// of a task are alike.
func attemptsForRate(iv stats.Interval, growth float64) int {
	k := float64(iv.N) / float64(iv.Clusters)
	alike, ok := iv.Alike()
	if !ok || growth <= 1 {
		return 0
	}
	// Attempts are offered where values of a task seem to have little in common. Some of
	// those only seem so: take one standard error more.
	r := min(1, alike.Correlation+alike.SE)
	// k values are worth k/(1+(k-1)r) tasks.
	worth := growth * k / (1 + (k-1)*r)
	return attemptsOf(worth * (1 - r) / (1 - worth*r))
}

// attemptsOf rounds a number of attempts up; none below 0, where no number of them is enough,
// and none that nobody would pay for.
func attemptsOf(x float64) int {
	if x > maxAttempts {
		return 0
	}
	return int(math.Ceil(max(0, x)))
}

// attemptsForChange is attemptsForRate for a change: growth times as much information
// on the mean of the tasks' differences, of which what varies within a task gets less
// with more attempts and what varies between tasks does not.
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
