// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package panel

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/callvet/callvet/score"
)

// The thresholds for recommendations. Source: Tool Selection Evaluation System, "When to Take
// Action".
const (
	minToolExact  = 0.70
	minRoute      = 0.80
	minAgentExact = 0.60
	maxLatencyMS  = 500.0
)

// Unit is what Attempts counts, in a word: "cases" where each was asked once.
func (t *RoutingTarget) Unit() string {
	if t.Attempts <= t.Cases {
		return "cases"
	}
	return "attempts"
}

func patternByLift(a, b RoutingPattern) int {
	return cmp.Or(cmp.Compare(a.P, b.P), cmp.Compare(b.Lift, a.Lift), strings.Compare(a.Tag, b.Tag))
}

// The codes of recommendations.
const (
	codeRoutes  = "routes"
	codeAgents  = "agents"
	codeTools   = "tools"
	codeSetSize = "set-size"
	codeLatency = "latency"
	codeTag     = "tag"
	codeChance  = "tag-by-chance" // a tag that may fail more often by chance
)

// RoutingAdvice maps codes to what to do, with the command of callvet for it.
func RoutingAdvice() map[string]string {
	return map[string]string{
		codeRoutes: "Improve the rules of routes; the confusion of routes shows which words they lack. Learn routes from questions that are " +
			"known to belong to them: `callvet select routes learn EXAMPLES -o routes.json`.",
		codeAgents: "Rework the descriptions and keywords of the agents, or the weights for choosing them: " +
			"`callvet select tune SUITE --tools CATALOGUE`.",
		codeTools: "Review the descriptions, keywords and examples of the tools that lost; the failed cases show to whom and why. Measure " +
			"what other texts change: `callvet tools whatif CATALOGUE --edits edits.yaml --suite SUITE`.",
		codeSetSize: "Judge this retriever by hit@k, recall@k and MRR: an exact match needs as many tools as the case expects. Hold these " +
			"against bounds: `callvet gate last --gates gates.yaml`.",
		codeLatency: "Look at what takes the time: whether vectors are cached (`callvet tools cache`), and how many candidates are reranked.",
		codeTag:     "Look at the cases tagged %q together: they fail more often than others. `callvet score last --slice tag` compares the tags.",
		codeChance: "Cases tagged %q failed more often here. Over all tags that may be chance. `callvet score last --slice tag` compares " +
			"the tags.",
	}
}

// recommendRouting lists what to look at. A rate below its threshold is reported with its interval: it is
// certain only where the whole interval lies below.
func recommendRouting(t *RoutingTarget, tp *TargetPanel) []RoutingRecommendation {
	var out []RoutingRecommendation
	advice := RoutingAdvice()
	under := func(metric string, least float64, code string) {
		m := tp.Overall.Metric(metric)
		if m == nil || !m.Interval.Defined() || m.Interval.Point >= least {
			return
		}
		iv := m.Interval
		out = append(out, RoutingRecommendation{
			Code: code, Text: advice[code], Certain: iv.Upper < least,
			Evidence: fmt.Sprintf("%s is %.1f %% (%.1f to %.1f) of %d, under %.0f %%", m.Title, 100*iv.Point,
				100*iv.Lower, 100*iv.Upper, iv.N, 100*least),
		})
	}
	under(score.Route, minRoute, codeRoutes)
	under(score.AgentsExact, minAgentExact, codeAgents)
	exact := score.MatchExact
	if 2*t.Unequal > t.Attempts { // the rate then depends on how many tools are returned, not on which
		exact = score.Precision1
	}
	under(exact, minToolExact, codeTools)
	if t.Unequal > 0 && len(t.Matches) > 0 {
		out = append(out, RoutingRecommendation{
			Code: codeSetSize, Counted: true, Text: advice[codeSetSize],
			Evidence: fmt.Sprintf("%d of %d %s were given another number of tools than they expect", t.Unequal,
				t.Attempts, t.Unit()),
		})
	}
	if m := tp.Overall.Metric(MetricLatencyP50); m != nil && m.Interval.Point > maxLatencyMS {
		out = append(out, RoutingRecommendation{
			Code: codeLatency, Certain: m.Interval.Lower > maxLatencyMS, Text: advice[codeLatency],
			Evidence: fmt.Sprintf("half of the questions take more than %.0f ms", m.Interval.Point),
		})
	}
	return append(out, adviseOnPatterns(t.Patterns)...)
}

// adviseOnPatterns names the three tags that fail most beyond chance.
func adviseOnPatterns(ps []RoutingPattern) []RoutingRecommendation {
	var out []RoutingRecommendation
	for _, p := range ps {
		if len(out) == 3 || p.Lift <= 1 || p.P >= 0.05 {
			continue
		}
		certain := p.Adjusted < 0.05
		text := RoutingAdvice()[codeTag]
		if !certain {
			text = RoutingAdvice()[codeChance]
		}
		out = append(out, RoutingRecommendation{
			Code: codeTag, Certain: certain, Text: fmt.Sprintf(text, p.Tag),
			Evidence: fmt.Sprintf("%d of %d fail, %d of %d others; p = %.3g, %.3g over all tags", p.Failed, p.Of,
				p.RestFailed, p.Rest, p.P, p.Adjusted),
		})
	}
	return out
}
