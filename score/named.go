// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package score

import (
	"fmt"
	"maps"
	"slices"

	"github.com/callvet/callvet"
)

// nameTools finds which names are names of one tool, and puts the names that count into the
// case. It is the only place that does so: all that follows compares names that count.
func (k *Compiled) nameTools(s *Scorer, ps *problems) {
	if k.foreign {
		if k.scoring.ToolNames != nil {
			ps.add("conflict", "scoring.tool_names", "a profile compares names by its own rules", "leave tool_names or the profile out")
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
		key := "tools" // which meet the setting of the suite
		if own {
			key = "scoring.tool_names"
		}
		clashes(k.naming, key, ps)
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
	k.src, k.renamed = &c, n.changed
}

// clashes adds a problem for each pair of offered tools that a setting makes one.
func clashes(n *callvet.Naming, key string, ps *problems) {
	for _, x := range n.Clashes() {
		ps.add("one-tool-name", key, fmt.Sprintf("the tools %q and %q would be one tool, %q", x.One, x.Other, x.As),
			"remove a prefix or an alias, or one of the tools")
	}
}

// caseNaming puts the names that count into copies of what a case has.
type caseNaming struct {
	*callvet.Naming
	changed bool
}

func (n *caseNaming) names(list []string) []string {
	out := n.Names(list)
	n.changed = n.changed || len(out) > 0 && &out[0] != &list[0]
	return out
}

func (n *caseNaming) lists(m map[string][]string) map[string][]string {
	m = maps.Clone(m)
	for k, list := range m {
		m[k] = n.names(list)
	}
	return m
}

func (n *caseNaming) name(s *string) {
	was := *s
	*s = n.Of(was)
	n.changed = n.changed || *s != was
}

func (n *caseNaming) calls(list []callvet.ExpectedCall) []callvet.ExpectedCall {
	list = slices.Clone(list)
	for i := range list {
		list[i].Tools = n.names(list[i].Tools)
	}
	return list
}

func (n *caseNaming) counts(list []callvet.CallCount) []callvet.CallCount {
	list = slices.Clone(list)
	for i := range list {
		list[i].Call.Tools = n.names(list[i].Call.Tools)
	}
	return list
}

func (n *caseNaming) plans(list []callvet.Plan) []callvet.Plan {
	list = slices.Clone(list)
	for i := range list {
		list[i].Calls, list[i].Counts = n.calls(list[i].Calls), n.counts(list[i].Counts)
	}
	return list
}

func (n *caseNaming) expect(e *callvet.Expect) {
	e.Plans, e.AllOf, e.Not, e.Counts = n.plans(e.Plans), n.plans(e.AllOf), n.plans(e.Not), n.counts(e.Counts)
	e.ToolsCalled, e.ToolsNotCalled = n.names(e.ToolsCalled), n.names(e.ToolsNotCalled)
	e.ToolsAcceptable = slices.Clone(e.ToolsAcceptable)
	for i := range e.ToolsAcceptable {
		e.ToolsAcceptable[i] = n.names(e.ToolsAcceptable[i])
	}
	e.ToolParams = slices.Clone(e.ToolParams)
	for i := range e.ToolParams {
		n.name(&e.ToolParams[i].Tool)
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
			n.name(&a.Plant[i].Tool)
		}
		s.Attack = &a
	}
	c.Safety = &s
}

// countsAs is the name that a call counts as; empty where it was called by that name. Letter
// case is part of it: what was offered is the spelling that counts.
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
