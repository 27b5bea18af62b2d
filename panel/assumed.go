// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package panel

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/callvet/callvet/stats"
)

// AttemptsAreOne is the assumption of intervals about several attempts at a task. Source:
// Statistics specification, section 16.1.
const AttemptsAreOne = "attempts at a task are taken as one until they differ (correlation 1)"

// EffectiveSize explains n_eff.
const EffectiveSize = "n_eff is how many independent observations an interval counts"

// Repeat records that a task has up to n attempts, and the assumption of the intervals about them.
func (p *Panels) Repeat(n int) {
	if p.Repeats = max(p.Repeats, n, 1); p.Repeats > 1 {
		p.Assumed = AttemptsAreOne
	}
}

// Alike is how much the attempts of a target at a task are alike in a metric, as earlier runs of the
// suite show it.
type Alike struct {
	Target string `json:"target"`
	Metric string `json:"metric"`
	stats.Correlation
}

// CorrelationText writes a measured correlation: "correlation 0.42, measured on 6 earlier runs".
func CorrelationText(c stats.Correlation) string {
	text := strings.TrimSuffix(strings.TrimRight(strconv.FormatFloat(c.Upper, 'f', 2, 64), "0"), ".")
	return fmt.Sprintf("correlation %s, measured on %s", text, Plural(c.Runs, "earlier run", "earlier runs"))
}

// ByAttempt reports whether a metric is a rate with one yes or no for each attempt: a correlation
// between attempts then changes its interval.
func (m *Metric) ByAttempt() bool {
	return m.Unit == UnitRate && m.Of == "attempts" && !m.Fractional
}

// Alike is how much the attempts at a task are alike in a rate by attempt; ok is false where its
// values do not show it.
func (m *Metric) Alike() (a stats.Alike, ok bool) {
	if !m.ByAttempt() {
		return a, false
	}
	return m.Interval.AlikeAttempts(m.Seen())
}

// Correlated is the metric with a measured correlation between the attempts at a task in place of
// 1. A task has at most the given number of attempts.
func (m *Metric) Correlated(attempts int, c *stats.Correlation) *Metric {
	out := *m
	out.Interval = m.Interval.Correlated(m.Seen(), attempts, c.Upper)
	if out.Values <= out.Interval.N {
		out.Values = 0
	}
	if m.Lost == nil {
		return &out
	}
	lost := *m.Lost
	for _, iv := range []*stats.Interval{&lost.Low, &lost.High} {
		n := iv.N
		if m.Name == MetricPass && n == iv.Clusters { // one attempt a task counts
			n = lost.Of
		}
		*iv = iv.Correlated(n, attempts, c.Upper)
	}
	out.Lost = &lost
	return &out
}
