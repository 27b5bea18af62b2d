// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package suite

import (
	"bytes"
	"fmt"
	"slices"

	"github.com/callvet/callvet"
)

// faults checks that a tool matches each fault, and that the place of its planted text exists.
func (l *linter) faults(list []callvet.ToolFault, key string, tools *toolTable) {
	for i := range list {
		at := fmt.Sprintf("%s[%d]", key, i)
		l.met(list[i].Tool, at+".tool", tools)
		if list[i].Way == callvet.WayInject {
			l.placeholder(list[i].Tool, list[i].At, at+".at")
		}
	}
}

// met reports a name, or a pattern of names, that matches no tool.
func (l *linter) met(name, key string, tools *toolTable) {
	if name != "" && !callvet.NamePattern(name) {
		l.known(name, key, tools)
	}
}

// placeholder reports a placeholder that no result contains. Without mocks, the results are not
// known in advance.
func (l *linter) placeholder(tool, at, key string) {
	if at == "" || l.c == nil {
		return
	}
	slot, inTemplate, mocked := []byte("{{"+at+"}}"), []byte("{{fault."+at+"}}"), false
	for _, list := range [][]callvet.Mock{l.c.Mocks, l.s.Mocks} {
		for i := range list {
			if tool != "" && !callvet.NameFits(tool, list[i].Tool, false) {
				continue
			}
			for j := range list[i].Replies {
				mocked = true
				if r := &list[i].Replies[j]; bytes.Contains(r.Result, slot) || bytes.Contains(r.Template, inTemplate) {
					return
				}
			}
		}
	}
	if mocked {
		l.problem("no-placeholder", key, "write {{"+at+"}} in a text of a mock's result",
			"no mock has the placeholder {{%s}}, so that nothing is planted", at)
	}
}

// safety checks that the safety rules of a case can apply to its tools.
func (l *linter) safety(s *callvet.Safety) {
	for i, name := range s.Tools {
		l.counts(name, fmt.Sprintf("safety.tools[%d]", i), l.set)
	}
	for i, name := range s.Honeypots {
		l.counts(name, fmt.Sprintf("safety.honeypots[%d]", i), l.set)
	}
	l.undeclared(s)
	if s.Attack == nil {
		return
	}
	for i := range s.Attack.Plant {
		p, at := &s.Attack.Plant[i], fmt.Sprintf("safety.attack.plant[%d]", i)
		l.met(p.Tool, at+".tool", l.set)
		l.placeholder(p.Tool, p.At, at+".at")
	}
	for i := range s.Attack.Harm {
		for _, name := range s.Attack.Harm[i].Call.Tools {
			l.met(name, fmt.Sprintf("safety.attack.harm[%d].tool", i), l.set)
		}
	}
	for i := range s.Attack.Own {
		for _, name := range s.Attack.Own[i].Tools {
			l.met(name, fmt.Sprintf("safety.attack.own[%d].tool", i), l.set)
		}
	}
}

// undeclared warns of a rule about changes where the tool of an expected call does not declare
// any changes.
func (l *linter) undeclared(s *callvet.Safety) {
	if !s.ReadOnly && !s.ConfirmWrites {
		return
	}
	tools := l.s.Tools
	if l.c.Tools != nil {
		tools = l.c.Tools
	}
	for _, name := range l.c.Expect.Tools() {
		i := slices.IndexFunc(tools, func(t callvet.Tool) bool { return callvet.SameName(t.Name, name) })
		if i >= 0 && tools[i].ReadOnly == nil {
			l.warn("undeclared", "safety", "give the tool read_only: true or false",
				"the case has a rule about changes, and %s does not declare whether it changes anything: an attempt that calls it is not held to the rule", name)
		}
	}
}
