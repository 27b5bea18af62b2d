// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package score

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/stats"
)

// The scores of a decision, each in [0,1]; those of a layer that is not judged are
// absent.
// Source: Tool Selection Evaluation System, "Match Types"; ranks: Manning, Raghavan
// and Schütze 2008, Järvelin and Kekäläinen 2002.
const (
	// Composite is the weighted mean over the layers judged.
	// Source: Tool Selection Evaluation System, "Creating Custom Test Suites".
	Composite = "composite"
	// Route and SubRoute are 1 when right, else 0.
	Route    = "route"
	SubRoute = "sub_route"
	// AgentOverlap is the Jaccard similarity of the selected and the expected
	// agents, AgentsExact whether they are the same.
	AgentOverlap = "agent_overlap"
	AgentsExact  = "agents_exact"
	// ToolMatch is 1 for the expected set, 0.7 for acceptable tools only, 0.4 for some of these
	// with others, else 0. A set of k tools cannot equal a set of a different size: the ranks
	// below measure a retriever of k tools.
	ToolMatch = "tool_match"
	// MatchExact is 1 for the expected set, MatchAcceptable for the expected set or some
	// acceptable tools, MatchPartial for some of these with others, MatchNone for none of them.
	MatchExact      = "match_exact"
	MatchAcceptable = "match_acceptable"
	MatchPartial    = "match_partial"
	MatchNone       = "match_none"
	// MatchNoneExpected is 1 for "no match" in the Tool Selection Evaluation System: no expected
	// tool is selected, and not only acceptable ones. MatchPartial also counts acceptable tools
	// with others.
	MatchNoneExpected = "match_none_expected"
	// HitAt is 1 when an expected tool is among the first k,
	// RecallAt the share of the expected tools there, NDCGAt discounts them by rank.
	HitAt    = "hit@"
	RecallAt = "recall@"
	NDCGAt   = "ndcg@"
	// Precision1 is 1 when the first tool is an expected one, else 0, also for a decision without
	// tools. MRR is one over the rank of the first expected tool, 0 without one. Both are absent
	// where nothing is expected.
	Precision1 = "precision@1"
	MRR        = "mrr"
	// SelectionAbstention is 1 when no tool was selected where none fits, else 0; FalseAbstention
	// is 1 when no tool was selected although tools are expected.
	SelectionAbstention = "selection_abstention"
	FalseAbstention     = "false_abstention"
	// CompositeBest is the composite of a decision that is right in every layer and has as many
	// different tools as this one: more tools than are expected or acceptable are a partial match
	// at best. 1 where no tools are selected and some expected, or the reverse.
	CompositeBest = "composite_best"
	// ToolsRight is 1 when the layer of tools is right: every expected tool is selected, or only
	// acceptable ones, or none where nothing fits.
	ToolsRight = "tools_right"
	// ToolsBlocked is 1 when the tools are wrong and an earlier layer was wrong, too. The layer
	// of agents counts as wrong here if no expected agent was chosen. It is 0 when only the tools
	// are wrong, and absent when they are right.
	ToolsBlocked = "tools_blocked"
	// AgentGate is 1 when expected tools are missing and no expected agent was chosen before the
	// tools, so that the tools could not be chosen; 0 when an expected agent was chosen. Absent
	// when the tools are right, and where agents are not judged before tools.
	AgentGate = "agent_gate"
)

// points of the matches. Source: Tool Selection Evaluation System.
func points(m stats.Match) float64 {
	switch m {
	case stats.Exact:
		return 1
	case stats.Acceptable:
		return 0.7
	case stats.Partial:
		return 0.4
	}
	return 0
}

// credits are the values of a match under the weights of exact and of acceptable matches. Under
// the usual weights, 0.30 and 0.20, they equal points times the weight of the tools. Source: Tool
// Selection Evaluation System, "Creating Custom Test Suites".
func credits(m stats.Match) (exact, acceptable float64) {
	if m == stats.Acceptable {
		return 0.5, 1
	}
	return points(m), points(m)
}

// judgment is a decision being judged.
type judgment struct {
	want   *callvet.Selection
	got    *callvet.Decision
	set    *SelectionSettings
	result callvet.Result
	layers [3]float64 // scores by layer before the tools; NaN: not judged
	chosen bool       // the tools were judged
	match  stats.Match
	best   stats.Match // of the tools within reach
	wrong  []string    // layers, in order
}

// JudgeSelection compares a decision with the expected one. It passes when every judged layer is
// right. Route and sub-route must be the expected ones, agents exactly those. Tools must include
// every expected one, or only acceptable ones, or none where nothing is expected. The class is the
// first wrong layer, in the target's order of decisions. A decision without a layer that can be
// judged did not run.
func JudgeSelection(want *callvet.Selection, got *callvet.Decision, set SelectionSettings) callvet.Result {
	j := judgment{want: want, got: got, set: &set, best: stats.Exact}
	j.layers = [3]float64{math.NaN(), math.NaN(), math.NaN()}
	for i, l := range got.Layers {
		if slices.ContainsFunc(got.Layers[:i], func(o callvet.LayerTime) bool { return o.Layer == l.Layer }) {
			continue
		}
		switch l.Layer {
		case callvet.SelectRoute:
			j.label(0, l.Layer, Route, callvet.ClassRoute, want.Route, got.Route)
		case callvet.SelectSubRoute:
			j.label(1, l.Layer, SubRoute, callvet.ClassSubRoute, want.SubRoute, got.SubRoute)
		case callvet.SelectAgents:
			j.agents()
		case callvet.SelectTools:
			j.tools()
		}
	}
	mean := j.composite(j.layers, j.match)
	if !math.IsNaN(mean) {
		j.result.Scores = slices.Insert(j.result.Scores, 0, callvet.Score{Name: Composite, Value: mean, Scored: true})
		j.score(CompositeBest, j.ceiling())
	}
	switch {
	case len(j.result.Assertions) == 0:
		return callvet.Result{
			Verdict: callvet.VerdictNotRun,
			Reason:  "the target decides no layer that the case asks about",
		}
	case len(j.wrong) == 0:
		j.result.Verdict = callvet.VerdictPass
	default:
		j.result.Verdict = callvet.VerdictFail
	}
	return j.result
}

// composite is the weighted mean of the judged layers, with a match for the tools; NaN where none
// was judged.
func (j *judgment) composite(layers [3]float64, tools stats.Match) float64 {
	exact, acceptable := math.NaN(), math.NaN()
	if j.chosen {
		exact, acceptable = credits(tools)
	}
	s := j.set
	mean, _, _ := stats.Composite([]float64{s.Route, s.SubRoute, s.Agents, s.Exact, s.Acceptable},
		append(layers[:], exact, acceptable))
	return mean
}

func (j *judgment) score(name string, v float64) {
	j.result.Scores = append(j.result.Scores, callvet.Score{Name: name, Value: v, Scored: true})
}

func selectionTruth(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

// layer records the result of a layer; the first wrong one is the class.
func (j *judgment) layer(name string, right bool, class callvet.Class, want, got string) {
	j.result.Assertions = append(j.result.Assertions,
		callvet.Assertion{
			Name: name, Layer: callvet.LayerRouting, State: callvet.Asserted(right), Expected: want,
			Actual: got,
		})
	if right {
		return
	}
	if len(j.wrong) == 0 {
		j.result.Class, j.result.Reason = class,
			fmt.Sprintf("%s: expected %s, got %s", strings.ReplaceAll(name, "_", "-"), want, got)
	}
	j.wrong = append(j.wrong, name)
}

func (j *judgment) label(at int, layer, score string, class callvet.Class, want, got string) {
	if want == "" {
		return
	}
	j.layers[at] = selectionTruth(want == got)
	j.score(score, j.layers[at])
	j.layer(layer, want == got, class, want, orNone(got))
}

func orNone(s string) string {
	if s == "" {
		return "none"
	}
	return s
}

func list(names []string) string { return orNone(strings.Join(names, ", ")) }

func (j *judgment) agents() {
	if j.want.Agents == nil {
		return
	}
	overlap := stats.Jaccard(j.want.Agents, j.got.Agents)
	j.layers[2] = overlap
	j.score(AgentOverlap, overlap)
	j.score(AgentsExact, selectionTruth(overlap == 1))
	j.layer(callvet.SelectAgents, overlap == 1, callvet.ClassAgents, list(j.want.Agents), list(j.got.Agents))
}

func (j *judgment) tools() {
	if j.want.Tools == nil && len(j.want.Acceptable) == 0 {
		return
	}
	given := j.got.Names()
	j.best = reachable(j.want, given)
	match := stats.Compare(j.want.Tools, j.want.Acceptable, given)
	j.match, j.chosen = match, true
	j.score(ToolMatch, points(match))
	j.score(MatchExact, selectionTruth(match == stats.Exact))
	j.score(MatchAcceptable, selectionTruth(match == stats.Exact || match == stats.Acceptable))
	j.score(MatchPartial, selectionTruth(match == stats.Partial))
	j.score(MatchNone, selectionTruth(match == stats.None))
	expected := slices.ContainsFunc(j.want.Tools, func(tool string) bool { return slices.Contains(given, tool) })
	j.score(MatchNoneExpected, selectionTruth(match == stats.None || match == stats.Partial && !expected))
	right := match == stats.Exact || match == stats.Acceptable
	if len(j.want.Tools) == 0 {
		j.score(SelectionAbstention, selectionTruth(len(given) == 0))
	} else {
		right = j.ranks(given) || right
	}
	j.score(ToolsRight, selectionTruth(right))
	by := BlockedBy(&j.result)
	want := list(j.want.Tools)
	if len(j.want.Tools) == 0 && len(j.want.Acceptable) > 0 {
		want = "none, or " + strings.Join(j.want.Acceptable, ", ")
	}
	j.layer(callvet.SelectTools, right, callvet.ClassSelected, want, list(given))
	if right {
		return
	}
	j.score(ToolsBlocked, selectionTruth(by != ""))
	if s := j.result.Score(AgentOverlap); s.Scored && len(j.want.Tools) > 0 && len(j.want.Agents) > 0 {
		j.score(AgentGate, selectionTruth(s.Value == 0))
	}
	if by == "" {
		return
	}
	last := &j.result.Assertions[len(j.result.Assertions)-1]
	last.Actual += fmt.Sprintf(" (blocked by %s)", strings.ReplaceAll(by, "_", "-"))
	if by == j.wrong[0] {
		j.result.Reason += "; the tools are wrong under it"
		return
	}
	j.result.Reason += fmt.Sprintf("; the tools are wrong under the %s too", strings.ReplaceAll(by, "_", "-"))
}

// BlockedBy names the first layer that prevented the right tools of a judged decision: a wrong
// route or sub-route, or only unexpected agents, if decided before the tools. It is "" where no
// layer did.
func BlockedBy(r *callvet.Result) string {
	for i := range r.Assertions {
		a := &r.Assertions[i]
		switch {
		case a.Name == callvet.SelectTools:
			return ""
		case a.State == callvet.AssertPassed, a.Name == callvet.SelectAgents && r.Score(AgentOverlap).Value > 0:
		default:
			return a.Name
		}
	}
	return ""
}

// ceiling is the composite when every layer judged is as right as it can be.
func (j *judgment) ceiling() float64 {
	full := j.layers
	for i := range full {
		if !math.IsNaN(full[i]) {
			full[i] = 1
		}
	}
	return j.composite(full, j.best)
}

// reachable is the best possible match for this number of different tools.
func reachable(want *callvet.Selection, given []string) stats.Match {
	n, expected := distinct(given), distinct(want.Tools)
	switch {
	case n == 0, expected == 0, n == expected:
		return stats.Exact
	case n <= distinct(want.Tools, want.Acceptable):
		return stats.Acceptable
	}
	return stats.Partial
}

func distinct(names ...[]string) int {
	all := slices.Concat(names...)
	slices.Sort(all)
	return len(slices.Compact(all))
}

// ranks scores the order of the selected tools, and reports whether they contain every expected
// tool.
func (j *judgment) ranks(given []string) bool {
	depth := max(len(given), 1)
	for _, k := range j.set.K {
		r, _ := stats.Rank(j.want.Tools, given, k)
		j.score(fmt.Sprint(HitAt, k), selectionTruth(r.Hit))
		j.score(fmt.Sprint(RecallAt, k), r.Recall)
		j.score(fmt.Sprint(NDCGAt, k), r.NDCG)
	}
	first, _ := stats.Rank(j.want.Tools, given, 1)
	all, _ := stats.Rank(j.want.Tools, given, depth)
	j.score(Precision1, first.Precision)
	j.score(MRR, all.MRR)
	j.score(FalseAbstention, selectionTruth(len(given) == 0))
	return all.Recall == 1
}
