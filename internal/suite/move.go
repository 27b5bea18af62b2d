// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package suite

import (
	"cmp"
	"reflect"
	"slices"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/score"
)

// Moved adapts a case of one suite for another suite, so that its question and expectations stay
// the same. The case receives the tools, scoring, mocks and faults of its suite where the other
// suite differs. differ names the differing settings that a case cannot have itself.
func Moved(c *callvet.Case, from, to *callvet.Suite) (out callvet.Case, differ []string) {
	out = *c
	out.Foreign, out.Position = nil, callvet.Position{}
	if from.SystemPrompt != to.SystemPrompt {
		differ = append(differ, "system_prompt")
	}
	out.Tools, out.ToolNames = movedTools(c, from, to)
	if !reflect.DeepEqual(from.Defaults.Scoring, to.Defaults.Scoring) {
		own := score.Merged(from.Defaults.Scoring, c.Scoring)
		out.Scoring = &own
	}
	if from.Defaults.ToolChoice != to.Defaults.ToolChoice {
		out.ToolChoice = cmp.Or(c.ToolChoice, from.Defaults.ToolChoice, "auto")
	}
	if from.Defaults.MaxRounds != to.Defaults.MaxRounds && c.MultiTurn != nil {
		multi := *c.MultiTurn
		multi.MaxRounds = cmp.Or(multi.MaxRounds, from.Defaults.MaxRounds)
		out.MultiTurn = &multi
	}
	if !reflect.DeepEqual(from.Mocks, to.Mocks) {
		out.Mocks = slices.Clone(c.Mocks)
		for _, m := range from.Mocks {
			if !slices.ContainsFunc(c.Mocks, func(own callvet.Mock) bool { return own.Tool == m.Tool }) {
				out.Mocks = append(out.Mocks, m)
			}
		}
	}
	if c.Faults == nil && !reflect.DeepEqual(from.Faults, to.Faults) {
		out.Faults = append([]callvet.ToolFault{}, from.Faults...)
	}
	return out, differ
}

// movedTools are the tools of a case in another suite: names where that suite has the same tools,
// otherwise definitions in the case.
func movedTools(c *callvet.Case, from, to *callvet.Suite) (own []callvet.Tool, names []string) {
	if c.Tools != nil {
		return c.Tools, c.ToolNames
	}
	offered := from.Tools
	if c.ToolNames != nil {
		offered = slices.DeleteFunc(slices.Clone(from.Tools),
			func(t callvet.Tool) bool { return !slices.Contains(c.ToolNames, t.Name) })
	}
	for i := range offered {
		same := func(t callvet.Tool) bool { return reflect.DeepEqual(t, offered[i]) }
		if !slices.ContainsFunc(to.Tools, same) {
			return offered, nil
		}
		names = append(names, offered[i].Name)
	}
	if c.ToolNames == nil && len(offered) == len(to.Tools) {
		return nil, nil
	}
	return nil, append([]string{}, names...)
}
