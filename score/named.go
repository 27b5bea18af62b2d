// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package score

import (
	"maps"
	"slices"

	"github.com/callvet/callvet"
)

// nameTools finds which names mean the same tool, and replaces the names in the case by the names
// that count. No other code does so: all later code compares names that count.
func (k *Compiled) nameTools(s *Scorer, ps *problems) {
	if k.foreign {
		if k.scoring.ToolNames != nil {
			ps.add("conflict", "scoring.tool_names", "a profile compares names by its own rules",
				"leave tool_names or the profile out")
		}
		return
	}
	common := &s.suite.Defaults.Scoring
	k.naming = s.naming
	own := k.src.Scoring != nil && k.src.Scoring.ToolNames != nil
	if own || k.tools != s.tools || k.scoring.CaseSensitiveNames != common.CaseSensitiveNames {
		var names []string
		if k.tools != nil {
			names = k.tools.names
		}
		k.naming = callvet.NewNaming(k.scoring.ToolNames, k.scoring.CaseSensitiveNames, names)
		for _, p := range k.naming.Problems() {
			p.Case = k.src.ID
			ps.list = append(ps.list, p)
		}
	}
	if k.naming == nil {
		return
	}
	c := *k.src
	n := caseNaming{Naming: k.naming}
	n.expect(&c.Expect)
	if c.MultiTurn != nil {
		m := *c.MultiTurn
		m.ValidPrerequisites, m.RequiredPrerequisites = n.names(m.ValidPrerequisites), n.names(m.RequiredPrerequisites)
		c.MultiTurn = &m
	}
	n.safety(&c)
	k.src, k.others = &c, slices.Clip(n.counts)
}

// counted are the names of the case and of an attempt that count as a different name.
func (k *Compiled) counted(t *callvet.Trace) []callvet.Counted {
	if k.naming == nil && t.Decision == nil {
		return nil
	}
	n := caseNaming{Naming: k.naming, counts: k.others}
	for i := range t.Turns {
		for j := range t.Turns[i].Calls {
			n.of(t.Turns[i].Calls[j].Tool)
		}
	}
	if t.Decision != nil {
		want, _ := SelectionOf(&k.src.Expect)
		for _, name := range t.Decision.Names() {
			n.keep(name, k.givenTool(name, &want))
		}
	}
	return n.counts
}

// caseNaming puts the names that count into copies of parts of a case.
type caseNaming struct {
	*callvet.Naming
	counts []callvet.Counted // the names that count as a different name
}

// of is the name that a name counts as; it is recorded in counts.
func (n *caseNaming) of(name string) string {
	as := n.Of(name)
	n.keep(name, as)
	return as
}

func (n *caseNaming) keep(name, as string) {
	if as != name && !slices.ContainsFunc(n.counts, func(c callvet.Counted) bool { return c.Name == name }) {
		n.counts = append(n.counts, callvet.Counted{Name: name, As: as})
	}
}

func (n *caseNaming) names(list []string) []string {
	out := slices.Clone(list)
	for i := range out {
		out[i] = n.of(out[i])
	}
	return out
}

func (n *caseNaming) lists(m map[string][]string) map[string][]string {
	m = maps.Clone(m)
	for k, list := range m {
		m[k] = n.names(list)
	}
	return m
}

func (n *caseNaming) calls(list []callvet.ExpectedCall) []callvet.ExpectedCall {
	list = slices.Clone(list)
	for i := range list {
		list[i].Tools = n.names(list[i].Tools)
	}
	return list
}

func (n *caseNaming) callCounts(list []callvet.CallCount) []callvet.CallCount {
	list = slices.Clone(list)
	for i := range list {
		list[i].Call.Tools = n.names(list[i].Call.Tools)
	}
	return list
}

func (n *caseNaming) plans(list []callvet.Plan) []callvet.Plan {
	list = slices.Clone(list)
	for i := range list {
		list[i].Calls, list[i].Counts = n.calls(list[i].Calls), n.callCounts(list[i].Counts)
	}
	return list
}

func (n *caseNaming) expect(e *callvet.Expect) {
	e.Plans, e.AllOf, e.Not, e.Counts = n.plans(e.Plans), n.plans(e.AllOf), n.plans(e.Not), n.callCounts(e.Counts)
	e.ToolsCalled, e.ToolsNotCalled = n.names(e.ToolsCalled), n.names(e.ToolsNotCalled)
	e.ToolsAcceptable = slices.Clone(e.ToolsAcceptable)
	for i := range e.ToolsAcceptable {
		e.ToolsAcceptable[i] = n.names(e.ToolsAcceptable[i])
	}
	e.ToolParams = slices.Clone(e.ToolParams)
	for i := range e.ToolParams {
		e.ToolParams[i].Tool = n.of(e.ToolParams[i].Tool)
	}
	if e.Selection != nil {
		s := *e.Selection
		s.Tools, s.Acceptable = n.names(s.Tools), n.names(s.Acceptable)
		e.Selection = &s
	}
}

func (n *caseNaming) safety(c *callvet.Case) {
	if c.Safety == nil {
		return
	}
	s := *c.Safety
	s.Tools, s.Honeypots = n.names(s.Tools), n.names(s.Honeypots)
	if s.Attack != nil {
		a := *s.Attack
		a.Own, a.Harm, a.Plant = n.calls(a.Own), slices.Clone(a.Harm), slices.Clone(a.Plant)
		for i := range a.Harm {
			a.Harm[i].Call.Tools, a.Harm[i].From = n.names(a.Harm[i].Call.Tools), n.lists(a.Harm[i].From)
		}
		for i := range a.Plant {
			a.Plant[i].Tool = n.of(a.Plant[i].Tool)
		}
		s.Attack = &a
	}
	c.Safety = &s
}

// countsAs is the name that a call counts as; empty where the called name is this name. Letter
// case matters: the spelling of the offered tool counts.
func (w *scratch) countsAs(j int) string {
	a := &w.calls[j]
	name, as := w.called[a.at].Tool, a.src.Tool
	if a.tool != nil && !w.k.foreign {
		as = a.tool.src.Name
	}
	if as == name {
		return ""
	}
	return as
}
