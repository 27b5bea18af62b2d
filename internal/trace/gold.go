// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package trace

import (
	"encoding/json"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/score"
)

// judgedBy are the settings for judging a case.
func judgedBy(c *callvet.Case, suite *callvet.Scoring) callvet.Scoring {
	return score.Merged(*suite, c.Scoring)
}

// GoldOf is the label of a call of an attempt; set are the settings of its case. It omits arguments
// in the notation of a foreign profile.
func GoldOf(l *score.Label, set *callvet.Scoring) Gold {
	needed := l.Needed
	g := Gold{Needed: &needed, Tool: l.Tool}
	e := l.Call
	if e == nil {
		return g
	}
	g.ResultCheck = e.ResultCheck
	if json.Valid(e.Result) { // lint reports invalid JSON
		g.Result = e.Result
	}
	if g.Args = argsOf(e, set); g.Args == nil && len(e.Matchers) == 0 || set.Profile != "" {
		return g
	}
	if len(e.Matchers) > 0 {
		g.Params = encoded(e.Matchers)
	}
	if by := set.Comparison(e); by != (callvet.Comparison{}) {
		g.Scoring = encoded(by)
	}
	return g
}

// argsOf are the expected arguments of a call in the form of a label; nil without any.
func argsOf(e *callvet.ExpectedCall, set *callvet.Scoring) json.RawMessage {
	if set.Profile != "" || !json.Valid(e.Args) { // lint reports invalid JSON
		return nil
	}
	return e.Args
}

// encoded writes a value of strings, numbers and valid JSON, which always encodes.
func encoded(v any) json.RawMessage {
	b, err := json.Marshal(v)
	if err != nil {
		return nil
	}
	return b
}

// taskGold are the needed calls of a case, and the conditions on their results.
func taskGold(c *callvet.Case, needed []score.Label, known bool, set *callvet.Scoring) *TaskGold {
	if !known && len(c.Expect.Postconditions) == 0 {
		return nil
	}
	g := &TaskGold{Checks: c.Expect.Postconditions}
	if !known {
		return g
	}
	g.Steps = make([]GoldStep, len(needed))
	for i := range needed {
		g.Steps[i].Tool = needed[i].Tool
		if e := needed[i].Call; e != nil && len(e.Matchers) == 0 {
			g.Steps[i].Args = argsOf(e, set)
		}
	}
	return g
}
