// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package gates

import (
	"strings"

	"github.com/callvet/callvet/panel"
	"github.com/callvet/callvet/stats"
	"github.com/callvet/callvet/stats/gate"
)

// ByTask is the decision on the same bound by the metric by task of a rate of calls.
type ByTask struct {
	Metric   string          `json:"metric"`
	Verdict  gate.Verdict    `json:"verdict"`
	Reason   string          `json:"reason"`
	Interval *stats.Interval `json:"interval,omitempty"`
}

// byTask compares the share of tasks with an unneeded call with the gate on over_call_rate, where
// tasks with more unneeded calls make more calls. Neither number then replaces the other, and the
// worse verdict counts. Where a side of a comparison makes no call, the share of tasks decides
// alone. Source: Statistics specification, sections 16.4 and 16.8.
func (c *claim) byTask(in *Input, t *panel.TargetPanel) {
	if c.g.Metric != panel.MetricOverCall || c.g.Kind == Zero {
		return
	}
	alone := c.g.Kind == Regression && c.v.Reason == string(stats.StatusZeroDenominator)
	m := c.slice.Metric(c.g.Metric)
	if !alone && (m == nil || !m.Informative) {
		return
	}
	g := *c.g
	g.Metric = panel.ByTask(c.g.Metric)
	v := Verdict{
		Gate: g, Population: c.v.Population, Target: c.v.Target, Key: c.v.Key, Value: c.v.Value,
		Verdict: gate.Inconclusive,
	}
	o := claim{g: &g, v: &v, slice: c.slice, task: c.task, conf: c.conf, gone: c.gone}
	o.decide(in, t)
	if alone && v.Interval == nil {
		return
	}
	own := withoutVerdict(c.v)
	if alone || severity(v.Verdict) > severity(c.v.Verdict) {
		c.v.Verdict, c.v.Reason, c.v.End, c.v.Cure, c.v.P = v.Verdict, v.Reason, v.End, v.Cure, v.P
		c.v.Needed, c.v.NeededHalf, c.v.NeededAttempts = v.Needed, v.NeededHalf, v.NeededAttempts
	}
	if alone {
		c.v.Interval, c.v.N, c.v.Units, c.v.Of = v.Interval, v.N, v.Units, v.Of
	} else {
		c.v.Notes = append(c.v.Notes,
			"tasks with more unneeded calls make more calls: the gate counts calls and tasks, and the worse verdict counts")
	}
	c.v.ByTask = &ByTask{Metric: g.Metric, Verdict: v.Verdict, Reason: v.Reason, Interval: v.Interval}
	c.v.Sentence = own + "; " + withoutVerdict(&v) + ": " + verdictWord(c.v.Verdict)
}

// withoutVerdict is the sentence of a verdict up to its last word.
func withoutVerdict(v *Verdict) string {
	return strings.TrimSuffix(v.Sentence, ": "+verdictWord(v.Verdict))
}

// severity orders verdicts.
func severity(v gate.Verdict) int {
	switch v {
	case gate.Pass:
		return 0
	case gate.Fail:
		return 2
	}
	return 1
}
