// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package panel

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/callvet/callvet/stats"
)

// Names of the metrics that do not come from a scorer.
const (
	MetricPass        = "pass_rate"
	MetricError       = "error_rate"
	MetricUnparseable = "unparseable_rate"
	MetricRepaired    = "repaired_rate"
	MetricNative      = "native_format_rate"
	MetricOverCall    = "over_call_rate"
	MetricMiss        = "miss_rate"
	MetricAbstention  = "abstention_accuracy"
	MetricLatencyP50  = "latency_p50"
	MetricLatencyP90  = "latency_p90"
	MetricFirstP50    = "first_token_p50"
	MetricTokens      = "tokens_per_attempt"
	MetricCost        = "cost_per_attempt"
	MetricCostPerPass = "cost_per_pass"
)

// Positions of the built-in rates.
const (
	mPass = iota
	mError
	mUnparseable
	mRepaired
	mNative
	mOverCall
	mMiss
	mAbstention
)

type description struct {
	name, title, of string
	lowerIsBetter   bool
}

var builtin = [...]description{
	mPass:        {MetricPass, "pass", "attempts", false},
	mError:       {MetricError, "errors", "attempts", true},
	mUnparseable: {MetricUnparseable, "unparseable", "attempts", true},
	mRepaired:    {MetricRepaired, "repaired", "attempts", true},
	mNative:      {MetricNative, "native format", "attempts", false},
	mOverCall:    {MetricOverCall, "over-call", "calls", true},
	mMiss:        {MetricMiss, "missed calls", "needed calls", true},
	mAbstention:  {MetricAbstention, "abstention", "no-call attempts", false},
}

// order of scores that most suites have; others follow by name.
var order = [...]string{
	"overall", "tool_selection", "tool_precision", "tool_recall", "tool_f1", "order",
	"arg_accuracy", "arg_em", "arg_em_keys", "arg_f1", "arg_precision", "arg_recall",
	"schema_valid", "required_present", "type_correct", "hallucination_free", "grounded_args", "format", "assertions",
	"completion", "efficiency", "redundancy", "detour", "prerequisites", "data_flow",
}

// lowerScores are scores for which less is better.
var lowerScores = [...]string{"hallucinated_args", "missing_required", "redundancy", "detour", scoreOverCall, scoreMiss}

// slice makes the table of one slice.
func (a *Accumulator) slice(s *sums, id sliceID, wall, firstToken []stats.Observation) Slice {
	out := Slice{
		Key: id.key, Value: id.value, Cases: s.cases, Cells: s.cells,
		Verdicts: s.counts.verdicts, Usage: s.counts.usage,
	}
	for i, n := range s.counts.outcomes {
		out.Outcomes = append(out.Outcomes, Count{string(outcomes[i]), n})
	}
	for i, n := range s.counts.classes {
		if n > 0 {
			out.Classes = append(out.Classes, Count{string(classes[i]), n})
		}
	}
	judged := s.counts.verdicts.Pass + s.counts.verdicts.Fail
	for _, i := range a.metricOrder() {
		if i >= len(s.metrics) || s.metrics[i].N() == 0 {
			if i != mPass {
				continue
			}
		}
		out.Metrics = append(out.Metrics, a.rateMetric(s, i, judged))
	}
	out.Metrics = append(out.Metrics, a.trialMetrics(s)...)
	out.Metrics = append(out.Metrics, a.amounts(s, wall, firstToken)...)
	out.Warnings = sliceWarnings(&out, s)
	return out
}

// metricOrder lists the positions of rates: built-in, well-known, then by name,
// whatever the order in which they were first seen.
func (a *Accumulator) metricOrder() []int {
	var out []int
	for i := range builtin {
		out = append(out, i)
	}
	var rest []string
	for _, n := range a.names[len(builtin):] {
		if !slices.Contains(order[:], n) {
			rest = append(rest, n)
		}
	}
	slices.Sort(rest)
	for _, n := range append(slices.Clone(order[:]), rest...) {
		if i, ok := a.index[n]; ok {
			out = append(out, i)
		}
	}
	return out
}

func (a *Accumulator) rateMetric(s *sums, i, judged int) Metric {
	m := Metric{Name: a.names[i], Title: Title(a.names[i]), Unit: UnitRate, Of: "attempts"}
	perAttempt := true
	if i < len(builtin) {
		d := builtin[i]
		m.Title, m.Of, m.LowerIsBetter = d.title, d.of, d.lowerIsBetter
		perAttempt = d.of == "attempts" && i != mError
	} else {
		m.LowerIsBetter = slices.Contains(lowerScores[:], m.Name)
	}
	var c stats.Clusters
	if i < len(s.metrics) {
		c = s.metrics[i]
	}
	m.Interval = c.Interval(a.cfg.Confidence, stats.DefaultRho0)
	if perAttempt {
		m.Excluded = max(0, judged-m.Interval.N)
	}
	m.Warnings = rateWarnings(&m, judged)
	return m
}

// Title makes a readable name of a metric's name.
func Title(name string) string {
	switch name {
	case "tool_selection":
		return "tool"
	case "arg_accuracy":
		return "arguments"
	case scoreOverCall:
		return "over-call, mean by attempt"
	case scoreMiss:
		return "missed calls, mean by attempt"
	}
	return strings.ReplaceAll(name, "_", " ")
}

func (a *Accumulator) trialMetrics(s *sums) []Metric {
	if s.passAt == nil {
		return nil
	}
	var out []Metric
	add := func(name string, c *stats.Clusters) {
		m := Metric{Name: name, Title: name, Unit: UnitRate, Of: "cases", Interval: c.Interval(a.cfg.Confidence, stats.DefaultRho0)}
		m.Warnings = rateWarnings(&m, m.Interval.N)
		if s.shortTrials > 0 {
			m.Warnings = append(m.Warnings, plural(s.shortTrials, "case has", "cases have")+" fewer judged attempts than repeats")
		}
		out = append(out, m)
	}
	for i, k := range trialCounts(a.cfg.Repeats) {
		add(fmt.Sprintf("pass@%d", k), &s.passAt[i])
		add(fmt.Sprintf("pass^%d", k), &s.passHat[i])
	}
	return out
}

// amounts are the metrics that are no rates.
func (a *Accumulator) amounts(s *sums, wall, firstToken []stats.Observation) []Metric {
	var out []Metric
	conf := a.cfg.Confidence
	add := func(name, title string, unit Unit, of string, iv stats.Interval) *Metric {
		if !iv.Defined() {
			return nil
		}
		out = append(out, Metric{Name: name, Title: title, Unit: unit, Of: of, LowerIsBetter: true, Interval: iv})
		return &out[len(out)-1]
	}
	q := stats.QuantileIntervals(wall, conf, 0.5, 0.9)
	for i, name := range []string{MetricLatencyP50, MetricLatencyP90} {
		if m := add(name, strings.ReplaceAll(name, "_", " "), UnitMS, "attempts", q[i]); m != nil {
			m.Warnings = latencyWarnings(m, wall)
		}
	}
	add(MetricFirstP50, "first token p50", UnitMS, "attempts", stats.QuantileIntervals(firstToken, conf, 0.5)[0])
	add(MetricTokens, "tokens per attempt", UnitTokens, "cases", notNegative(s.tokens.Interval(conf)))
	m := add(MetricCost, "cost per attempt", UnitUSD, "cases", notNegative(s.cost.Interval(conf)))
	if u := s.counts.usage.CostUnknown; m != nil && u > 0 {
		m.Excluded = u
		m.Warnings = append(m.Warnings, plural(u, "attempt has", "attempts have")+" no known price and are left out")
	}
	add(MetricCostPerPass, "cost per pass", UnitUSD, "cases", notNegative(s.perPass.Interval(conf)))
	return out
}

// notNegative clips the lower end of an amount that cannot be below 0.
func notNegative(iv stats.Interval) stats.Interval {
	if !math.IsInf(iv.Lower, -1) {
		iv.Lower = max(0, iv.Lower)
	}
	return iv
}

// BuiltIn reports whether a metric comes from the panel itself and not from a
// scorer.
func BuiltIn(name string) bool {
	for i := range builtin {
		if builtin[i].name == name {
			return true
		}
	}
	switch name {
	case MetricLatencyP50, MetricLatencyP90, MetricFirstP50, MetricTokens, MetricCost, MetricCostPerPass:
		return true
	}
	return strings.HasPrefix(name, "pass@") || strings.HasPrefix(name, "pass^")
}
