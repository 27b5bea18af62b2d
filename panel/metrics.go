// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package panel

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/score/selection"
	"github.com/callvet/callvet/stats"
)

// The metrics that do not come from a scorer. A judged attempt is one that
// passed or failed; a metric for which nothing counts is undefined, never 0.
const (
	// MetricPass is passed ÷ judged attempts.
	MetricPass = "pass_rate"
	// MetricError is attempts that ended in an error of the infrastructure ÷
	// attempts made; such attempts are in no other rate.
	MetricError = "error_rate"
	// MetricUnparseable is judged attempts whose call could not be read ÷ judged attempts.
	MetricUnparseable = "unparseable_rate"
	// MetricRepaired is judged attempts whose calls had to be mended ÷ judged attempts.
	MetricRepaired = "repaired_rate"
	// MetricNative is judged attempts whose calls came in the provider's own form
	// ÷ judged attempts; an attempt without a call counts as native.
	MetricNative = "native_format_rate"
	// MetricOverCall is unnecessary ÷ made calls of all judged attempts; undefined
	// when no call was made. Source: Evaluating Tool Calling.
	MetricOverCall = "over_call_rate"
	// MetricMiss is needed calls not made ÷ needed calls of all judged attempts;
	// undefined when none is needed. Source: Evaluating Tool Calling.
	MetricMiss = "miss_rate"
	// MetricAbstention is attempts without any call ÷ judged attempts of cases
	// that want none; undefined without such cases.
	MetricAbstention = "abstention_accuracy"
	// MetricInBudget is executions that took no longer than their tool's latency budget ÷
	// executions whose time is known, of tools that have one. The budget is for nine of
	// ten executions. MetricInP50 is the same of the time that half of them should take.
	// Source: Evaluating Tool Calling, §2.1.
	MetricInBudget = "latency_budget_kept"
	MetricInP50    = "latency_budget_p50_kept"
	// MetricRateLimited is executed calls that the tool refused because of its rate
	// limit ÷ executed calls, of tools that have one.
	MetricRateLimited = "rate_limited_rate"
	// MetricLatencyP50 and MetricLatencyP90 are quantiles of the time from the
	// first request to the last byte, without waiting for a slot. Cached attempts
	// and errors are left out; a timeout counts as at least its limit.
	MetricLatencyP50 = "latency_p50"
	MetricLatencyP90 = "latency_p90"
	// MetricFirstP50 is the median time to the first token, where answers are streamed.
	MetricFirstP50 = "first_token_p50"
	// MetricTokens is input and output tokens ÷ attempts that report usage, errors included.
	MetricTokens = "tokens_per_attempt"
	// MetricCost is cost ÷ attempts whose price is known, errors included.
	MetricCost = "cost_per_attempt"
	// MetricCostPerPass is the cost of all attempts whose price is known ÷ those
	// of them that passed; undefined when none did.
	MetricCostPerPass = "cost_per_pass"
	// MetricPassAt with k behind it is the chance that at least one of k attempts
	// at a case passes, estimated from its repeats without bias; absent for runs
	// without repeats. Source: Chen et al. 2021, Evaluating Large Language Models
	// Trained on Code.
	MetricPassAt = "pass@"
	// MetricPassHat with k behind it is the chance that all of k attempts at a
	// case pass; absent for runs without repeats. Source: Yao et al. 2024,
	// τ-bench.
	MetricPassHat = "pass^"
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
	mInBudget
	mInP50
	mRateLimited
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
	mInBudget:    {MetricInBudget, "within latency budget", "executions", false},
	mInP50:       {MetricInP50, "within p50 budget", "executions", false},
	mRateLimited: {MetricRateLimited, "rate limited", "executed calls", true},
}

// order of scores that most suites have; others follow by name.
var order = [...]string{
	"overall", "tool_selection", "tool_precision", "tool_recall", "tool_f1", "order",
	"arg_accuracy", "arg_em", "arg_em_keys", "arg_f1", "arg_precision", "arg_recall",
	"schema_valid", "required_present", "type_correct", "hallucination_free", "grounded_args", "format", "assertions",
	"completion", "efficiency", "redundancy", "detour", "prerequisites", "data_flow",
}

// lowerScores are scores for which less is better.
var lowerScores = [...]string{"hallucinated_args", "missing_required", "redundancy", "detour", scoreOverCall, scoreMiss, selection.MatchPartial, selection.MatchNone, selection.FalseAbstention, selection.ToolsBlocked, selection.AgentGate}

// rho is the correlation of a case's attempts where the data cannot show it. A search
// in this process gives the same every time: its repeats are worth nothing.
func rho(t *callvet.Target) float64 {
	if t.Selects && t.Provider == "retrieve" {
		return 1
	}
	return stats.DefaultRho0
}

// slice makes the table of one slice.
func (a *Accumulator) slice(s *sums, id sliceID, rho float64, wall, firstToken []stats.Observation) Slice {
	out := Slice{
		Key: id.key, Value: id.value, Cases: s.cases, Cells: s.cells,
		Verdicts: s.counts.verdicts, Usage: s.counts.usage, NotEvaluated: s.counts.open,
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
		out.Metrics = append(out.Metrics, a.rateMetric(s, i, judged, rho))
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
	known := slices.Concat(order[:], selectionOrder[:])
	var rest []string
	for _, n := range a.names[len(builtin):] {
		if !slices.Contains(known, n) {
			rest = append(rest, n)
		}
	}
	slices.SortFunc(rest, byDepth)
	for _, n := range append(known, rest...) {
		if i, ok := a.index[n]; ok {
			out = append(out, i)
		}
	}
	return out
}

// byDepth orders names, those that differ in a number behind an @ by that number.
func byDepth(a, b string) int {
	x, k, _ := strings.Cut(a, "@")
	y, l, _ := strings.Cut(b, "@")
	return cmp.Or(cmp.Compare(x, y), cmp.Compare(len(k), len(l)), cmp.Compare(k, l))
}

func (a *Accumulator) rateMetric(s *sums, i, judged int, rho float64) Metric {
	m := Describe(a.names[i])
	perAttempt := m.Of == "attempts" && i != mError
	var c stats.Clusters
	if i < len(s.metrics) {
		c = s.metrics[i]
	}
	m.Interval = c.Interval(a.cfg.Confidence, rho)
	if perAttempt {
		m.Excluded = max(0, judged-m.Interval.N)
		if i < len(s.unknown) {
			m.Unknown = s.unknown[i]
		}
	}
	m.Warnings = rateWarnings(&m, judged)
	return m
}

// MetricName is the one name of a metric that people write in several ways, "overcall_rate"
// for "over_call_rate"; other names are as they are.
// Source: Evaluating Tool Calling, §3.2 and §9.
func MetricName(s string) string {
	switch s {
	case "overcall_rate":
		return MetricOverCall
	case "overcall":
		return scoreOverCall
	}
	return s
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
	if t, ok := selectionTitle(name); ok {
		return t
	}
	return strings.ReplaceAll(name, "_", " ")
}

func (a *Accumulator) trialMetrics(s *sums) []Metric {
	if s.passAt == nil {
		return nil
	}
	var out []Metric
	add := func(name string, c *stats.Clusters) {
		m := Describe(name)
		m.Interval = c.Interval(a.cfg.Confidence, stats.DefaultRho0)
		m.Warnings = rateWarnings(&m, m.Interval.N)
		if s.shortTrials > 0 {
			m.Warnings = append(m.Warnings, plural(s.shortTrials, "case has", "cases have")+" fewer judged attempts than repeats")
		}
		out = append(out, m)
	}
	for i, k := range trialCounts(a.cfg.Repeats) {
		add(fmt.Sprint(MetricPassAt, k), &s.passAt[i])
		add(fmt.Sprint(MetricPassHat, k), &s.passHat[i])
	}
	return out
}

// amounts are the metrics that are no rates.
func (a *Accumulator) amounts(s *sums, wall, firstToken []stats.Observation) []Metric {
	var out []Metric
	conf := a.cfg.Confidence
	add := func(name string, iv stats.Interval) *Metric {
		if !iv.Defined() {
			return nil
		}
		m := Describe(name)
		m.Interval = iv
		if m.Unit != UnitMS {
			m.Warnings = AmountWarnings(&m, "case")
		}
		out = append(out, m)
		return &out[len(out)-1]
	}
	q := stats.QuantileIntervals(wall, conf, 0.5, 0.9)
	for i, name := range []string{MetricLatencyP50, MetricLatencyP90} {
		if m := add(name, q[i]); m != nil {
			m.Warnings = latencyWarnings(m, wall)
		}
	}
	add(MetricFirstP50, stats.QuantileIntervals(firstToken, conf, 0.5)[0])
	m := add(MetricTokens, notNegative(s.tokens.Interval(conf)))
	if u := s.counts.usage.UsageUnknown; m != nil && u > 0 {
		m.Excluded = u
		m.Warnings = append(m.Warnings, plural(u, "attempt told no usage that can be true and is", "attempts told no usage that can be true and are")+" left out")
	}
	m = add(MetricCost, notNegative(s.cost.Interval(conf)))
	if u := s.counts.usage.CostUnknown; m != nil && u > 0 {
		m.Excluded = u
		m.Warnings = append(m.Warnings, plural(u, "attempt has no known cost and is", "attempts have no known cost and are")+" left out")
	}
	add(MetricCostPerPass, notNegative(s.perPass.Interval(conf)))
	return out
}

// notNegative clips the lower end of an amount that cannot be below 0.
func notNegative(iv stats.Interval) stats.Interval {
	if !math.IsInf(iv.Lower, -1) {
		iv.Lower = max(0, iv.Lower)
	}
	return iv
}

// Describe gives what is known of a metric by its name alone: title, unit, what
// its n counts and the good direction. Every name that is not the panel's own
// is taken for a score.
func Describe(name string) Metric {
	m := Metric{Name: name, Title: Title(name), Unit: UnitRate, Of: "attempts"}
	for i := range builtin {
		if d := &builtin[i]; d.name == name {
			m.Title, m.Of, m.LowerIsBetter = d.title, d.of, d.lowerIsBetter
			return m
		}
	}
	switch {
	case name == MetricLatencyP50, name == MetricLatencyP90, name == MetricFirstP50:
		m.Unit, m.LowerIsBetter = UnitMS, true
	case name == MetricTokens:
		m.Unit, m.Of, m.LowerIsBetter = UnitTokens, "cases", true
	case name == MetricCost, name == MetricCostPerPass:
		m.Unit, m.Of, m.LowerIsBetter = UnitUSD, "cases", true
	case strings.HasPrefix(name, MetricPassAt), strings.HasPrefix(name, MetricPassHat):
		m.Of = "cases"
	default:
		m.LowerIsBetter = slices.Contains(lowerScores[:], name)
	}
	return m
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
	return strings.HasPrefix(name, MetricPassAt) || strings.HasPrefix(name, MetricPassHat)
}
