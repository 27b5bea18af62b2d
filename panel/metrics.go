// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package panel

import (
	"cmp"
	"slices"
	"strings"

	"github.com/callvet/callvet/score"
)

// The metrics that do not come from a scorer. A judged attempt is one that
// passed or failed; a metric for which nothing counts is undefined, never 0.
const (
	// MetricPass is passed ÷ judged attempts.
	MetricPass = "pass_rate"
	// MetricError is attempts that ended in an error of the infrastructure ÷
	// attempts made; such attempts are in no other rate.
	MetricError = "error_rate"
	// MetricUnparseable is judged attempts with a call that could not be read ÷ judged attempts.
	MetricUnparseable = "unparseable_rate"
	// MetricRepaired is judged attempts with repaired calls ÷ judged attempts.
	MetricRepaired = "repaired_rate"
	// MetricNative is judged attempts with calls in the provider's own form
	// ÷ judged attempts; an attempt without a call counts as native.
	MetricNative = "native_format_rate"
	// MetricOverCall is unnecessary ÷ made calls of all judged attempts; undefined
	// when no call was made. Source: Evaluating Tool Calling.
	MetricOverCall = "over_call_rate"
	// MetricOverCallByTask is tasks with an unneeded call ÷ tasks with a labelled call or without
	// any; undefined where no call is labelled.
	MetricOverCallByTask = "over_call_rate_by_task"
	// MetricMiss is needed calls not made ÷ needed calls of all judged attempts;
	// undefined when none is needed. Source: Evaluating Tool Calling.
	MetricMiss = "miss_rate"
	// MetricAbstention is attempts without any call ÷ judged attempts of cases
	// that want none; undefined without such cases.
	MetricAbstention = "abstention_accuracy"
	// MetricInBudget is executions that took no longer than their tool's latency budget ÷
	// executions with a known time, of tools that have one. Nine of ten executions should keep
	// the budget. MetricInP50 is the same for the budget of the median. Source: Evaluating Tool
	// Calling, §2.1.
	MetricInBudget = "latency_budget_kept"
	MetricInP50    = "latency_budget_p50_kept"
	// MetricRateLimited is executed calls that the tool refused because of a rate limit ÷
	// executed calls.
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
	// MetricCost is cost ÷ attempts with a known price, errors included.
	MetricCost = "cost_per_attempt"
	// MetricCostPerPass is the cost of all attempts with a known price ÷ those
	// of them that passed; undefined when none did.
	MetricCostPerPass = "cost_per_pass"
	// MetricPassAt is the chance that at least one of k attempts at a case passes,
	// estimated from its repeats without bias; absent for runs without repeats. Source: Chen et al.
	// 2021, Evaluating Large Language Models Trained on Code.
	MetricPassAt = "pass@"
	// MetricPassHat is the chance that all of k attempts at a case pass; absent for
	// runs without repeats. Source: Yao et al. 2024, τ-bench.
	MetricPassHat = "pass^"
	// MetricJudgedCalls and MetricJudgedTurns are the shares of judged calls and turns that the judge
	// named after the colon passes.
	MetricJudgedCalls = "judged_calls:"
	MetricJudgedTurns = "judged_turns:"
	// MetricTrueCalls and MetricTrueTurns are the same shares, corrected by labels of people.
	MetricTrueCalls = "true_calls:"
	MetricTrueTurns = "true_turns:"
)

// OfJudge reports whether a metric is the share of attempts that a judge passes, raw or corrected
// by a calibration.
func OfJudge(metric string) bool {
	name, _, _ := strings.Cut(metric, ":")
	return name == "judged_pass" || name == "true_success"
}

// JudgedPart is what a metric of judged calls or turns counts, "call" or "turn", and whether the
// metric is corrected by labels; "" for any other metric.
func JudgedPart(name string) (thing string, corrected bool) {
	for _, p := range [...]struct {
		prefix, thing string
		corrected     bool
	}{
		{MetricJudgedCalls, "call", false},
		{MetricTrueCalls, "call", true},
		{MetricJudgedTurns, "turn", false},
		{MetricTrueTurns, "turn", true},
	} {
		if strings.HasPrefix(name, p.prefix) {
			return p.thing, p.corrected
		}
	}
	return "", false
}

// Positions of the built-in rates.
type description struct {
	name, title, of string
	lowerIsBetter   bool
}

var builtin = [...]description{
	{MetricPass, "pass", "attempts", false},
	{MetricError, "errors", "attempts", true},
	{MetricUnparseable, "unparseable", "attempts", true},
	{MetricRepaired, "repaired", "attempts", true},
	{MetricNative, "native format", "attempts", false},
	{MetricOverCall, "unneeded calls", "calls", true},
	{MetricOverCallByTask, "unneeded calls, by task", "tasks", true},
	{MetricMiss, "missed calls", "needed calls", true},
	{MetricAbstention, "abstention", "no-call attempts", false},
	{MetricInBudget, "within latency budget", "executions", false},
	{MetricInP50, "within p50 budget", "executions", false},
	{MetricRateLimited, "rate limited", "executed calls", true},
}

// order of scores that most suites have; others follow by name.
var order = [...]string{
	"overall", "tool_selection", "tool_precision", "tool_recall", "tool_f1", "order",
	"arg_accuracy", "arg_em", "arg_em_keys", "arg_f1", "arg_precision", "arg_recall",
	"schema_valid", "required_present", "type_correct", "hallucination_free", "grounded_args", "format", "assertions",
	"completion", "efficiency", "redundancy", "detour", "prerequisites", "data_flow",
}

// lowerScores are scores for which less is better.
var lowerScores = [...]string{
	"attack_success", "attack_exposed", "hallucinated_args", "missing_required", "redundancy",
	"detour", scoreOverCall, scoreMiss, score.MatchPartial, score.MatchNone, score.MatchNoneExpected,
	score.FalseAbstention, score.ToolsBlocked, score.AgentGate,
}

// byDepth orders names; names that differ only in a number after an @ by that number.
func byDepth(a, b string) int {
	x, k, _ := strings.Cut(a, "@")
	y, l, _ := strings.Cut(b, "@")
	return cmp.Or(cmp.Compare(x, y), cmp.Compare(len(k), len(l)), cmp.Compare(k, l))
}

// ScoreOrder sorts names of scores in the order of tables: scores of attempts, scores of decisions,
// others by name.
func ScoreOrder(names []string) []string {
	known := slices.Concat(order[:], selectionOrder[:])
	place := func(n string) int {
		if i := slices.Index(known, n); i >= 0 {
			return i
		}
		return len(known)
	}
	slices.SortFunc(names, func(a, b string) int { return cmp.Or(cmp.Compare(place(a), place(b)), byDepth(a, b)) })
	return names
}

// MetricName is the one name of a metric that people write in several ways, "overcall_rate" for
// "over_call_rate"; other names are unchanged. Source: Evaluating Tool Calling, §3.2 and §9.
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
		return "unneeded calls, mean by attempt"
	case scoreMiss:
		return "missed calls, mean by attempt"
	}
	if t, ok := selectionTitle(name); ok {
		return t
	}
	return strings.ReplaceAll(name, "_", " ")
}

// Scores of attempts with a corresponding metric of calls.
const (
	scoreOverCall = "over_call"
	scoreMiss     = "miss"
)

// Describe returns what the name of a metric implies: title, unit, what its n counts and the good
// direction. Every name that is not built in is a score.
func Describe(name string) Metric {
	m := Metric{Name: name, Title: Title(name), Unit: UnitRate, Of: "attempts"}
	for i := range builtin {
		if d := &builtin[i]; d.name == name {
			m.Title, m.Of, m.LowerIsBetter = d.title, d.of, d.lowerIsBetter
			return m
		}
	}
	thing, _ := JudgedPart(name)
	switch {
	case thing != "":
		m.Of = thing + "s"
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
