// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package panel

import (
	"strings"

	"github.com/callvet/callvet/score"
)

// selectionOrder of scores in tables.
var selectionOrder = [...]string{
	score.Composite, score.CompositeBest, score.Route, score.SubRoute, score.AgentsExact, score.AgentOverlap,
	score.ToolMatch,
	score.ToolsRight, score.MatchExact, score.MatchAcceptable, score.MatchPartial, score.MatchNone,
	score.MatchNoneExpected, score.Precision1, score.MRR,
	score.SelectionAbstention, score.FalseAbstention, score.ToolsBlocked, score.AgentGate,
}

// selectionTitle is the readable name of a score of a decision.
func selectionTitle(name string) (string, bool) {
	switch name {
	case score.CompositeBest:
		return "composite within reach", true
	case score.SubRoute:
		return "sub-route", true
	case score.AgentsExact:
		return "agents", true
	case score.ToolsRight:
		return "tools: all expected given", true
	case score.MatchExact:
		return "tools: exact match", true
	case score.MatchAcceptable:
		return "tools: exact or acceptable", true
	case score.MatchPartial:
		return "tools: partial match", true
	case score.MatchNone:
		return "tools: no match", true
	case score.MatchNoneExpected:
		return "tools: no match with expected ones", true
	case score.MRR:
		return "MRR", true
	case score.SelectionAbstention:
		return "abstention where nothing fits", true
	case score.FalseAbstention:
		return "nothing given where tools fit", true
	case score.ToolsBlocked:
		return "wrong tools blocked by an earlier layer", true
	case score.AgentGate:
		return "missed tools shut out by the agents chosen", true
	}
	if k, ok := strings.CutPrefix(name, score.NDCGAt); ok {
		return "nDCG@" + k, true
	}
	return "", false
}
