// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package panel

import (
	"slices"
	"strings"
)

// The metrics that only a comparison shows: means can be compared case by case, quantiles cannot.
const (
	// MetricLatencyMean is the mean time of an attempt in milliseconds, over the attempts of
	// latency_p50; a timeout counts with its limit.
	MetricLatencyMean = "latency_mean"
	// MetricToolTimeMean is the mean over attempts of the sum of their calls'
	// execution times, in milliseconds.
	MetricToolTimeMean = "tool_time_mean"
	// MetricToolLatencyMean is the mean execution time of calls, in milliseconds.
	MetricToolLatencyMean = "tool_latency_mean"
)

// Pairing is how a metric is compared with a baseline, case by case.
type Pairing struct {
	Metric string `json:"metric"`
	// LowerIsBetter: less is better.
	LowerIsBetter bool `json:"lower_is_better,omitempty"`
	// Relative: changes are shares of the baseline's mean, as for cost, tokens and time. Other
	// changes are differences: of counts in their unit, of rates in [-1,1].
	Relative bool `json:"relative,omitempty"`
	// Unit is the unit of the metric itself.
	Unit Unit `json:"unit"`
}

// amountsPaired are the metrics that are no rates.
var amountsPaired = [...]string{
	MetricCost, MetricTokens, "calls_per_attempt", "unneeded_calls_per_attempt", MetricLatencyMean, MetricToolTimeMean,
	MetricToolLatencyMean,
}

// ratesPaired are the rates of trace files and those of runs that do not come from
// a scorer.
var ratesPaired = [...]string{
	MetricPass, "judged_pass", MetricError, "schema_valid", "schema_valid_by_task", "unknown_tool_rate",
	"tool_selection", "tool_selection_by_task",
	MetricOverCall, MetricOverCallByTask, MetricMiss, "arg_em", "arg_em_by_task", "arg_em_keys", "arg_precision",
	"arg_recall", "arg_f1", "execution_success", "execution_success_by_task",
	"rate_limited_rate", "timeout_rate", "rejected_rate", MetricRepaired, "result_consistency", "postconditions",
	"safe_calls", "safe_calls_by_task",
	"safety_incidents", "blocked_incidents", MetricUnparseable, MetricNative, MetricAbstention, MetricInBudget,
	MetricInP50,
	"schema_valid_by_call", "tool_selection_by_call", "arg_em_by_call", "arg_em_keys_by_call", "arg_precision_by_call",
	"arg_recall_by_call", "arg_f1_by_call", MetricRepaired + ByCall,
}

// lowerPaired are rates of trace files for which less is better.
var lowerPaired = [...]string{
	"unknown_tool_rate", "rate_limited_rate", "timeout_rate", "rejected_rate",
	"safety_incidents", "blocked_incidents",
}

// ratesOfCalls are the rates of calls, in addition to those with ByCall. Scores like schema_valid are not: their
// values are those of calls only where no attempt was scored.
var ratesOfCalls = [...]string{
	"unknown_tool_rate", MetricOverCall, MetricMiss, "execution_success", MetricRateLimited, "timeout_rate",
	"rejected_rate", "result_consistency", "postconditions", "safe_calls", MetricInBudget, MetricInP50,
}

// RateOfCalls reports whether the values of a metric are those of calls, and not one of each attempt.
func RateOfCalls(name string) bool {
	return strings.HasSuffix(name, ByCall) || slices.Contains(ratesOfCalls[:], name)
}

// TaskMeans returns how a metric is compared that has a mean of each task in [0,1], which a decision task by
// task needs. why is not empty for other metrics.
func TaskMeans(name string) (p Pairing, why string) {
	p, unpaired := PairingOf(name)
	switch {
	case unpaired != "":
		return p, "it has no mean of each task in [0,1]"
	case p.Unit != UnitRate:
		return p, "it is an amount"
	case RateOfCalls(name):
		return p, ofCalls(name)
	}
	return p, ""
}

// ofCalls is why a rate of calls has no means of tasks.
func ofCalls(name string) string {
	if by := ByTask(name); slices.Contains(ratesPaired[:], by) {
		return "it is a rate of calls; " + by + " can be decided early"
	}
	return "it is a rate of calls"
}

// Comparable lists the metrics that can be compared with a baseline; scores of a
// scorer can be too, and judged_pass of one of several judges (judged_pass:NAME).
func Comparable() []string { return slices.Concat(ratesPaired[:], amountsPaired[:]) }

// PairingOf returns how a metric is compared with a baseline. For a metric that cannot be compared,
// why is the reason and the closest metric that can.
func PairingOf(name string) (p Pairing, why string) {
	p = Pairing{Metric: name, Unit: UnitRate}
	part, _ := JudgedPart(name)
	switch {
	case part != "":
		return p, "verdicts on " + part + "s are in no paired test; judged_pass, of a judge of tasks, can be"
	case slices.Contains(amountsPaired[:], name):
		p.LowerIsBetter, p.Unit = true, Describe(name).Unit
		switch {
		case strings.HasSuffix(name, "_mean"):
			p.Unit = UnitMS
		case p.Unit == UnitRate:
			p.Unit = UnitCount
		}
		p.Relative = p.Unit != UnitCount
		return p, ""
	case strings.HasPrefix(name, "tool_latency_p"):
		return p, "there is no paired test of quantiles; " + MetricToolLatencyMean + " can be"
	case strings.HasPrefix(name, "tool_time_p"):
		return p, "there is no paired test of quantiles; " + MetricToolTimeMean + " can be"
	case strings.HasPrefix(name, "latency_p"):
		return p, "there is no paired test of quantiles; " + MetricLatencyMean + " can be"
	case strings.HasSuffix(name, "_p50"), strings.HasSuffix(name, "_p90"):
		return p, "there is no paired test of quantiles"
	case name == MetricCostPerPass:
		return p, "a case that never passed has no cost per pass; " + MetricCost + " and " + MetricPass + " can be"
	case strings.HasPrefix(name, "true_success"):
		return p, "it is the judged rate seen through one and the same calibration; judged_pass can be"
	case name == "arg_f1_micro":
		return p, "it is a ratio over all keys of all cases together; arg_f1 can be"
	case strings.HasPrefix(name, MetricPassAt), strings.HasPrefix(name, MetricPassHat):
		return p, "it depends on how many attempts each case has; " + MetricPass + " can be"
	}
	p.LowerIsBetter = Describe(name).LowerIsBetter || slices.Contains(lowerPaired[:], name)
	return p, ""
}

// byTask reports whether the value of a metric at a case is 1 when all known values of the case are
// 1.
func (p *Pairing) byTask() bool { return strings.HasSuffix(p.Metric, byTask) }
