// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package score

import (
	"slices"

	"github.com/callvet/callvet"
)

// SelectionOf is what a case expects of a decision: its own selection, or else the tools of the
// calls that it expects. With several plans or sets the first is the right one and the others are
// acceptable. ok is false where the case expects nothing about tools.
func SelectionOf(e *callvet.Expect) (s callvet.Selection, ok bool) {
	if e.Selection != nil {
		s = *e.Selection
		return s, s.Route != "" || s.SubRoute != "" || s.Agents != nil || s.Tools != nil || len(s.Acceptable) > 0
	}
	sets := e.ToolsAcceptable
	switch {
	case len(e.Plans) > 0:
		for i := range e.Plans {
			set, others := planned(&e.Plans[i])
			sets = append(slices.Clip(sets), set)
			s.Acceptable = append(s.Acceptable, others...)
		}
	case e.ToolsCalled != nil:
		sets = [][]string{e.ToolsCalled}
	}
	if len(sets) == 0 {
		return s, false
	}
	s.Tools = real(sets[0])
	for _, set := range sets[1:] {
		s.Acceptable = append(s.Acceptable, real(set)...)
	}
	return s, true
}

// planned returns the first name of each call of a plan, and the other names.
func planned(p *callvet.Plan) (names, others []string) {
	for i := range p.Calls {
		if t := p.Calls[i].Tools; len(t) > 0 {
			names, others = append(names, t[0]), append(others, t[1:]...)
		}
	}
	return names, others
}

// real removes NoTools and repetitions.
func real(names []string) []string {
	out := []string{}
	for _, n := range names {
		if n != callvet.NoTools && !slices.Contains(out, n) {
			out = append(out, n)
		}
	}
	return out
}
