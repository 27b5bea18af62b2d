// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package gates

import (
	"fmt"
	"slices"
	"strings"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/panel"
)

// vocabulary is every metric that callvet measures in runs or in trace files. Scores of a scorer
// and assertions are added from the panels. Source: Evaluating Tool Calling, sections 3, 4 and 8.
var vocabulary = [...]string{
	"schema_valid_by_call", "tool_selection_by_call", "arg_em_by_call", "arg_em_keys_by_call", "arg_precision_by_call",
	"arg_recall_by_call", "arg_f1_by_call", "repaired_rate_by_call",
	"schema_valid", "unknown_tool_rate", "tool_selection", "over_call_rate", "arg_em", "arg_em_keys", "arg_precision",
	"arg_recall", "arg_f1", "arg_f1_micro",
	"execution_success", "rate_limited_rate", "timeout_rate", "rejected_rate", "result_consistency", "postconditions",
	"safe_calls", "repaired_rate",
	"tool_latency_p50", "tool_latency_p90", "tool_queue_p50", "tool_queue_p90", "accept_p50", "accept_p90",
	"schema_valid_by_task", "execution_success_by_task", "arg_em_by_task", "tool_selection_by_task",
	"safe_calls_by_task", panel.MetricOverCallByTask,
	panel.MetricPass, "judged_pass", "true_success", panel.MetricError, panel.MetricMiss, "unneeded_calls_per_attempt",
	"calls_per_attempt",
	panel.MetricCost, panel.MetricCostPerPass, panel.MetricTokens, panel.MetricLatencyP50, panel.MetricLatencyP90,
	"tool_time_p50", "tool_time_p90",
	"tokens_p50", "tokens_p90", "cost_p50", "cost_p90", "safety_incidents", "blocked_incidents",
	panel.MetricUnparseable, panel.MetricNative, panel.MetricAbstention,
	panel.MetricFirstP50, panel.MetricInBudget, panel.MetricInP50, "overall", "tool_precision", "tool_recall",
	"tool_f1", "order", "arg_accuracy", "hallucination_free", "grounded_args",
	panel.MetricLatencyMean, panel.MetricToolTimeMean, panel.MetricToolLatencyMean, "required_present", "type_correct",
	"format", "assertions", "completion", "efficiency", "redundancy", "detour", "prerequisites", "data_flow",
}

// dimensions are the usual slice keys of suites and trace files. A gate may name them even where
// the data has none; it is inconclusive then. Source: Evaluating Tool Calling, section 8.
var dimensions = [...]string{
	"language", "intent", callvet.SliceExpectedTool, callvet.SliceCalledTool, "tool_family", "api_version", "stateful",
	"tier", "tag", "category", "difficulty", "domain",
}

// Metrics lists the metrics that gates may name without any data.
func Metrics() []string { return slices.Clone(vocabulary[:]) }

// names are the metrics, keys and targets that a gate may refer to.
type names struct{ metrics, keys, targets []string }

func namesOf(in *Input) names {
	n := names{keys: slices.Clone(in.Keys)}
	add := func(list *[]string, s string) {
		if s != "" && !slices.Contains(*list, s) {
			*list = append(*list, s)
		}
	}
	for i := range in.Panels.Targets {
		t := &in.Panels.Targets[i]
		add(&n.targets, t.Name)
		tables := append([]panel.Slice{t.Overall}, t.Slices...)
		for j := range tables {
			add(&n.keys, tables[j].Key)
			for k := range tables[j].Metrics {
				add(&n.metrics, tables[j].Metrics[k].Name)
			}
		}
	}
	for _, m := range vocabulary {
		add(&n.metrics, m)
	}
	for _, d := range dimensions {
		add(&n.keys, d)
	}
	return n
}

// key reports whether there is a key to slice by; a cross needs both.
func (n *names) key(key string) bool {
	for part := range strings.SplitSeq(key, "*") {
		if !slices.Contains(n.keys, part) {
			return slices.Contains(n.keys, key)
		}
	}
	return true
}

// check finds errors in the gates themselves, given the existing names.
func check(in *Input, gs []Gate) []callvet.Problem {
	var out []callvet.Problem
	known := namesOf(in)
	for i := range gs {
		g := &gs[i]
		bad := func(code, fix, format string, args ...any) {
			out = append(out,
				callvet.Problem{Position: g.Position, Code: code, Message: fmt.Sprintf(format, args...), Fix: fix})
		}
		part, _ := panel.JudgedPart(g.Metric)
		judge := g.Kind == Regression && strings.HasPrefix(g.Metric, "judged_pass:") || part != "" &&
			!strings.HasSuffix(g.Metric, ":")
		if !slices.Contains(known.metrics, g.Metric) && !trialMetric(g.Metric) && !judge && g.Kind != Ratchet {
			bad("unknown-metric", near(g.Metric, known.metrics), "there is no metric %q", g.Metric)
		}
		if g.Key != "" && g.Kind == Ratchet {
			bad("conflicting-keys", "leave slice out", "newly_failing is about all cases")
		}
		if g.Key == KeyCase {
			checkCase(g, bad)
		} else if g.Key != "" && !known.key(g.Key) {
			bad("unknown-slice", near(g.Key, known.keys), "nothing here has %q to slice by", g.Key)
		}
		if g.Target != "" && !slices.Contains(known.targets, g.Target) {
			bad("unknown-target", near(g.Target, known.targets), "there is no target %q", g.Target)
		}
		checkBound(in, g, bad)
	}
	return out
}

// Check finds errors in gates before anything is measured: targets, slice keys and metrics that
// do not exist, and bounds that no rate can have. The scores of scorers and judges are not known
// then.
func Check(gs []Gate, targets, keys []string) []callvet.Problem {
	in := Input{Panels: &panel.Panels{}, Keys: keys}
	var rates panel.Slice
	for _, m := range vocabulary {
		if p, why := panel.PairingOf(m); why == "" && p.Unit == panel.UnitRate {
			rates.Metrics = append(rates.Metrics, panel.Metric{Name: m, Unit: p.Unit})
		}
	}
	for _, name := range targets {
		in.Panels.Targets = append(in.Panels.Targets, panel.TargetPanel{Name: name, Overall: rates})
	}
	return check(&in, slices.DeleteFunc(slices.Clone(gs), func(g Gate) bool {
		return strings.HasPrefix(g.Metric, callvet.ScorerPrefix) || strings.HasPrefix(g.Metric, "judge_")
	}))
}

// trialMetric reports whether a name is pass@k or pass^k with a number for k.
func trialMetric(name string) bool {
	k, at := strings.CutPrefix(name, panel.MetricPassAt)
	if !at {
		if k, at = strings.CutPrefix(name, panel.MetricPassHat); !at {
			return false
		}
	}
	return k != "" && strings.Trim(k, "0123456789") == ""
}

func checkBound(in *Input, g *Gate, bad func(code, fix, format string, args ...any)) {
	if g.Kind == Regression {
		if _, why := panel.PairingOf(g.Metric); why != "" {
			bad("no-comparison", "against a baseline: "+strings.Join(panel.Comparable(), ", ")+", and scores of a run",
				"%s cannot be compared with a baseline: %s", g.Metric, why)
		}
	} else if p, _ := panel.PairingOf(g.Metric); p.Unit == panel.UnitMS {
		bad("no-bound", "baseline: {margin: 5%}, or give "+strings.TrimSuffix(g.Metric, "mean")+"p50 or _p90 a bound",
			"%s is known only against a baseline", g.Metric)
	}
	if g.Kind == Zero || g.Kind == Regression || g.Kind == Ratchet {
		return
	}
	unit, ok := unitOf(in.Panels, g.Metric)
	switch {
	case !ok:
		return
	case g.Unit != "" && g.Unit != unit:
		bad("wrong-unit", "", "%s is measured as %s, the bound is given as %s", g.Metric, unitName(unit), unitName(g.Unit))
	case unit == panel.UnitRate && (g.Bound < 0 || g.Bound > 100):
		bad("bound-range", "", "%s is a share from 0 to 1, the bound is %s", g.Metric, short(g.Bound))
	case unit == panel.UnitRate && g.Bound > 1:
		fix := fmt.Sprintf("did you mean %s%%?", short(g.Bound))
		bad("bound-range", fix, "%s is a share from 0 to 1, the bound is %s", g.Metric, short(g.Bound))
	}
}

// unitOf is the unit of a metric in the panels.
func unitOf(p *panel.Panels, name string) (panel.Unit, bool) {
	for i := range p.Targets {
		t := &p.Targets[i]
		if m := t.Overall.Metric(name); m != nil {
			return m.Unit, true
		}
		for j := range t.Slices {
			if m := t.Slices[j].Metric(name); m != nil {
				return m.Unit, true
			}
		}
	}
	return "", false
}

func near(name string, known []string) string {
	if s := callvet.Nearest(name, known); s != "" {
		return fmt.Sprintf("did you mean %s?", s)
	}
	list := slices.Sorted(slices.Values(known))
	if len(list) == 0 {
		return "there is none here"
	}
	if len(list) > 12 {
		list = append(list[:12], "…")
	}
	return "known: " + strings.Join(list, ", ")
}
