// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package panel

import (
	"strings"

	"github.com/callvet/callvet/score/selection"
)

// selectionOrder of scores in tables.
var selectionOrder = [...]string{
	selection.Composite, selection.CompositeBest, selection.Route, selection.SubRoute, selection.AgentsExact, selection.AgentOverlap, selection.ToolMatch,
	selection.ToolsRight, selection.MatchExact, selection.MatchAcceptable, selection.MatchPartial, selection.MatchNone, selection.MatchNoneExpected, selection.Precision1, selection.MRR,
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
	case selection.MatchNoneExpected:
		return "tools: no match with expected ones", true
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
