// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package plan

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"github.com/callvet/callvet/panel"
	"github.com/callvet/callvet/panel/gates"
	"github.com/callvet/callvet/stats/gate"
)

// OfGate is the plan of a gate of a file.
type OfGate struct {
	Gate string `json:"gate"`
	// Slice is the slice of the gate, "language=pt"; the numbers are of its tasks. "" is all tasks.
	Slice string `json:"slice,omitempty"`
	// NoPlan is why there is no plan; then Plan is nil.
	NoPlan string `json:"no_plan,omitempty"`
	Plan   *Plan  `json:"plan,omitempty"`
}

// withGates are the fields that apply to a gate file. Its gates have their own metrics and bounds.
var withGates = []string{
	"gates", "truth", "power", "attempts", "correlation", "discordant", "baseline_diff", "looks",
}

// gates plans each gate of a file.
func (q *Ask) gates() (*Plan, error) {
	for _, field := range q.Given {
		if !slices.Contains(withGates, field) {
			return nil, wrong(field, "leave {"+field+"} out", "{%s} is of no use with {gates}: each gate has its own",
				field)
		}
	}
	one := *q
	one.Metric = panel.MetricPass
	if err := one.checkNumbers(); err != nil {
		return nil, err
	}
	p := &Plan{Format: format, Version: version, Power: q.Power, Gates: make([]OfGate, len(q.File))}
	for i := range q.File {
		g := &q.File[i]
		of := &p.Gates[i]
		of.Gate = g.Label()
		if g.Key != "" {
			of.Slice = g.Key + "=" + g.Value
		}
		if of.NoPlan = q.unplanned(g); of.NoPlan != "" {
			continue
		}
		sub, err := Make(q.of(g))
		if err != nil {
			of.NoPlan = err.Error()
			continue
		}
		of.Plan = sub
	}
	return p, nil
}

// metricOf is the metric that a gate is planned by.
func metricOf(g *gates.Gate) string {
	name, _, _ := strings.Cut(panel.MetricName(g.Metric), ":") // judged_pass of one of several judges
	return name
}

// unplanned returns why a gate has no number of tasks; "" if it may have one.
func (q *Ask) unplanned(g *gates.Gate) string {
	metric := metricOf(g)
	k := kindOf(metric)
	switch {
	case g.Kind == gates.Ratchet:
		return "it counts cases that fail now, whatever their number"
	case g.About() == panel.ThisSuite:
		return "it is about the attempts at each case of this suite, and not about tasks like these"
	case g.Kind == gates.Zero && (k != incidents || g.MaxRate == 0):
		return "it fails at the first incident, and has no max_rate to show"
	case g.Kind == gates.Zero:
		return ""
	case g.Kind == gates.Regression && k != rates:
		return "it is an amount, and how many tasks it needs depends on the spread of the tasks' differences: plan it " +
			"alone, with sd"
	case g.Kind == gates.Regression && !(q.given("truth") && (q.given("discordant") || q.given("correlation"))):
		return "it needs the baseline's rate and how often attempts differ by chance: give truth, and discordant or " +
			"correlation"
	case g.Kind == gates.Regression:
		return ""
	case k == incidents:
		return "it is a count of incidents: plan it with max_rate"
	case k == quantiles:
		return "it is a quantile: plan the share of tasks within the bound as a rate"
	case k == changes:
		return "it is known only against a baseline"
	case k == means:
		return "it is an amount, and how many tasks it needs depends on its spread: plan it alone, with sd or a pilot"
	case (g.Direction == gate.AtMost) != toBeLow(metric):
		return "its bound is on the bad side of the metric"
	}
	return ""
}

// of returns the request for the plan of one gate.
func (q *Ask) of(g *gates.Gate) Ask {
	sub := Ask{
		Metric: metricOf(g), Power: q.Power, Attempts: q.Attempts, MinUnits: g.LeastUnits(),
		Looks: cmp.Or(q.Looks, LooksAny), Given: []string{"power", "min_n", "looks"},
	}
	use := func(field string) {
		if q.given(field) {
			sub.Given = append(sub.Given, field)
		}
	}
	if len(sub.Attempts) == 0 {
		sub.Attempts = []int{1}
	}
	sub.Correlation = q.Correlation
	use("correlation")
	sub.Truth = q.Truth
	if toBeLow(sub.Metric) { // the same quality
		sub.Truth = math.Round((1-q.Truth)*1e12) / 1e12
	}
	use("truth")
	switch g.Kind {
	case gates.Zero:
		sub = Ask{Metric: sub.Metric, MaxRate: g.MaxRate, Looks: sub.Looks, Given: []string{"max_rate", "looks"}}
	case gates.Regression:
		sub.Discordant, sub.MinEffect, sub.Margin = q.Discordant, g.MinEffect, gate.Margin
		use("discordant")
		if g.Margin != nil {
			sub.Margin = *g.Margin
		}
		sub.Diff = q.Diff
		if !q.given("baseline_diff") {
			sub.Diff = cmp.Or(sub.Margin, gate.Margin)
		}
		sub.Given = append(sub.Given, "baseline_diff", "margin")
	default:
		sub.Bound = g.Bound
		sub.Given = append(sub.Given, "bound")
	}
	return sub
}
