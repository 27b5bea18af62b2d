// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package gates

import (
	"fmt"
	"slices"
	"strings"

	"github.com/callvet/callvet/panel"
	"github.com/callvet/callvet/stats"
)

// correlated is the metric with the correlation between attempts that the gate uses. Where it was
// not measured, the metric is unchanged and gets a note. Source: Statistics specification,
// section 16.1.
func (c *claim) correlated(in *Input, m *panel.Metric) *panel.Metric {
	if c.g.Correlation != CorrelationMeasured {
		return m
	}
	at := slices.IndexFunc(in.Alike, func(a panel.Alike) bool { return a.Target == c.v.Target && a.Metric == m.Name })
	runs := 0
	if at >= 0 {
		runs = in.Alike[at].Runs
	}
	var why string
	switch {
	case !m.ByAttempt():
		why = "only a rate with one yes or no by attempt has a correlation"
	case runs < stats.MinCorrelationRuns:
		why = fmt.Sprintf("it needs %d earlier runs that show it, and there are %d", stats.MinCorrelationRuns, runs)
	default:
		alike := in.Alike[at].Correlation
		c.v.Correlation = &alike
		return m.Correlated(in.Panels.Repeats, &alike)
	}
	c.v.Notes = append(c.v.Notes, "correlation: measured was not used: "+why+"; it is 1")
	return m
}

// assumed lists the assumptions and the meaning of the numbers in all verdicts.
func assumed(in *Input, vs []Verdict) []string {
	var out []string
	if in.Panels.Assumed != "" && slices.ContainsFunc(vs, func(v Verdict) bool { return v.Correlation == nil }) {
		out = append(out, in.Panels.Assumed)
	}
	for i := range vs {
		c := vs[i].Correlation
		if c == nil {
			continue
		}
		if s := vs[i].Gate.Metric + ": " + panel.CorrelationText(*c); !slices.Contains(out, s) {
			out = append(out, s)
		}
	}
	if slices.ContainsFunc(vs, func(v Verdict) bool { return strings.Contains(v.Sentence, "n_eff") }) {
		out = append(out, panel.EffectiveSize)
	}
	return out
}
