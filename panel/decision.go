// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package panel

import (
	"cmp"
	"slices"
	"strings"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/score/selection"
)

// decided adds a decision of a target that selects tools: it makes no calls, so only
// its scores count, with what it took for what.
func (a *Accumulator) decided(t *targetSums, c *callvet.Case, d *callvet.Decision, r *callvet.Result) {
	a.scores(r)
	want, ok := selection.Of(&c.Expect)
	if !ok {
		return
	}
	if want.Route != "" && d.Decides(callvet.SelectRoute) {
		t.routes[[2]string{want.Route, cmp.Or(d.Route, None)}]++
	}
	if want.Tools != nil && d.Decides(callvet.SelectTools) {
		t.confusion[[2]string{rightTool(&want, d), firstTool(d)}]++
	}
}

// rightTool is the expected tool that the first one given is compared with: itself
// where it is right, else the first expected.
func rightTool(want *callvet.Selection, d *callvet.Decision) string {
	if len(want.Tools) == 0 {
		return None
	}
	if len(d.Tools) > 0 && slices.Contains(want.Tools, d.Tools[0].Tool) {
		return d.Tools[0].Tool
	}
	return want.Tools[0]
}

func firstTool(d *callvet.Decision) string {
	if len(d.Tools) == 0 {
		return None
	}
	return d.Tools[0].Tool
}

func (a *Accumulator) scores(r *callvet.Result) {
	for i := range r.Scores {
		s := &r.Scores[i]
		if s.Scored && s.Value >= 0 && s.Value <= 1 && s.Name != scoreAbstention { // a NaN is neither
			a.pairs = append(a.pairs, sample{a.metric(MetricName(s.Name)), s.Value, 1, s.Value == 0 || s.Value == 1})
		}
	}
}

// selectionOrder of scores in tables.
var selectionOrder = [...]string{
	selection.Composite, selection.CompositeBest, selection.Route, selection.SubRoute, selection.AgentsExact, selection.AgentOverlap, selection.ToolMatch,
	selection.ToolsRight, selection.MatchExact, selection.MatchAcceptable, selection.MatchPartial, selection.MatchNone, selection.Precision1, selection.MRR,
	selection.Abstention, selection.FalseAbstention, selection.ToolsBlocked, selection.AgentGate,
}

// selectionTitle is the readable name of a score of a decision.
func selectionTitle(name string) (string, bool) {
	switch name {
	case selection.CompositeBest:
		return "composite within reach", true
	case selection.SubRoute:
		return "sub-route", true
	case selection.AgentsExact:
		return "agents", true
	case selection.ToolsRight:
		return "tools: all expected given", true
	case selection.MatchExact:
		return "tools: exact match", true
	case selection.MatchAcceptable:
		return "tools: exact or acceptable", true
	case selection.MatchPartial:
		return "tools: partial match", true
	case selection.MatchNone:
		return "tools: no match", true
	case selection.MRR:
		return "MRR", true
	case selection.Abstention:
		return "abstention where nothing fits", true
	case selection.FalseAbstention:
		return "nothing given where tools fit", true
	case selection.ToolsBlocked:
		return "wrong tools blocked by an earlier layer", true
	case selection.AgentGate:
		return "missed tools shut out by the agents chosen", true
	}
	if k, ok := strings.CutPrefix(name, selection.NDCGAt); ok {
		return "nDCG@" + k, true
	}
	return "", false
}
