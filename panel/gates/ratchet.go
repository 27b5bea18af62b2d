// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package gates

import (
	"fmt"
	"slices"
	"strings"

	"github.com/callvet/callvet/panel"
	"github.com/callvet/callvet/stats/gate"
)

// NewlyFailing is the metric of a gate of kind Ratchet: how many cases passed all their attempts in
// the baseline and pass none now.
const NewlyFailing = "newly_failing"

// leastAttempts is the default number of attempts at a case that each side needs.
const leastAttempts = 2

// About is the population that a gate is about. Gates of single cases are about this suite.
func (g *Gate) About() panel.Population {
	if g.Kind == Ratchet || g.Key == KeyCase {
		return panel.ThisSuite
	}
	return g.Population.Or()
}

// Populations are the populations of the verdicts, each once.
func (r *Report) Populations() []panel.Population {
	var out []panel.Population
	for i := range r.Verdicts {
		if p := r.Verdicts[i].Population.Or(); !slices.Contains(out, p) {
			out = append(out, p)
		}
	}
	return out
}

// ratchet limits how many cases may newly fail. It is about this suite, not about tasks like these.
// Source: Statistics specification, section 16.7.
func (c *claim) ratchet(in *Input, t *panel.TargetPanel) {
	r := ratchetOf(in, t)
	if r == nil {
		c.leaveOpen(ReasonNoBaseline, c.g.Metric+": there is no baseline to compare with",
			"a baseline with the same "+c.task+"s: --baseline")
		return
	}
	least := leastAttempts
	if c.g.Attempts > 0 {
		least = c.g.Attempts
	}
	fell, allowed := len(r.Cases), int(c.g.Bound)
	c.v.N, c.v.Units, c.v.Of = r.Compared, r.Compared, c.task+"s"
	head := fmt.Sprintf("%s %d of %s that passed each attempt in the baseline", c.g.Metric, fell, c.tasks(r.Compared))
	alarm := fmt.Sprintf("without any change some would fall with a chance of %s", rounded(r.FalseAlarm))
	switch {
	case r.Compared > 0 && min(r.Baseline, r.Candidate) < least:
		c.leaveOpen(ReasonFewAttempts,
			fmt.Sprintf("%s: a %s has %d in the baseline and %d now, the gate wants %d on both sides", head, c.task,
				r.Baseline, r.Candidate, least),
			fmt.Sprintf("callvet run --repeat %d, or attempts: 1 on the gate (%s)", least, alarm))
	case fell > allowed:
		c.v.Verdict, c.v.Reason = gate.Fail, ReasonFell
		c.v.Sentence = fmt.Sprintf("%s: more than %d: failed (%s)", head, allowed, alarm)
	case fell+len(r.Unknown) > allowed:
		c.leaveOpen(ReasonLost, fmt.Sprintf("%s, and of %s the attempts now are lost (%s)", head, c.tasks(len(r.Unknown)),
			strings.Join(r.Unknown[:min(len(r.Unknown), maxPlaces)], ", ")), c.resume("run those attempts again"))
	case r.Compared == 0:
		c.leaveOpen(ReasonNoMetric, c.g.Metric+": no "+c.task+" passed each attempt in the baseline",
			"compare pass_rate with the baseline")
	default:
		c.v.Verdict, c.v.Reason = gate.Pass, ReasonNoneFell
		c.v.Sentence = fmt.Sprintf("%s: not more than %d: passed (%s)", head, allowed, alarm)
	}
	for _, id := range r.Cases[:min(fell, maxPlaces)] {
		c.v.Open = append(c.v.Open, Place{Task: id, Why: "passed each attempt, passes none"})
	}
}

func ratchetOf(in *Input, t *panel.TargetPanel) *panel.Ratchet {
	if in.Comparison == nil {
		return nil
	}
	for i := range in.Comparison.Targets {
		if tc := &in.Comparison.Targets[i]; sameTarget(in, tc, t) {
			return tc.Ratchet
		}
	}
	return nil
}
