// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package callvet

import (
	"fmt"
	"slices"
	"strings"
)

// ToolNames defines which names mean the same tool. Without it names are compared whole.
type ToolNames struct {
	// StripPrefixes are removed from the start of names: "mcp__github__", "functions.".
	StripPrefixes []string `json:"strip_prefixes,omitempty"`
	// Aliases maps a name to the name that it counts as.
	Aliases map[string]string `json:"aliases,omitempty"`
	// At is the place of the setting in a file.
	At Position `json:"-"`
}

// canonical is the name without prefixes and aliases. A name that is an alias as a whole is
// resolved as this alias, even if it has a prefix.
func (t *ToolNames) canonical(name string, exact bool) string {
	to, ok := t.alias(name, exact)
	if ok {
		return t.strip(to, exact)
	}
	name = t.strip(name, exact)
	if to, ok = t.alias(name, exact); ok {
		return t.strip(to, exact)
	}
	return name
}

func (t *ToolNames) alias(name string, exact bool) (to string, ok bool) {
	if to, ok = t.Aliases[name]; ok || exact {
		return to, ok
	}
	for from, to := range t.Aliases {
		if strings.EqualFold(from, name) {
			return to, true
		}
	}
	return "", false
}

// strip removes the longest prefix repeatedly. The result is never empty.
func (t *ToolNames) strip(name string, exact bool) string {
	for {
		n := 0
		for _, p := range t.StripPrefixes {
			if len(p) > n && len(name) > len(p) &&
				(name[:len(p)] == p || !exact && strings.EqualFold(name[:len(p)], p)) {
				n = len(p)
			}
		}
		if n == 0 {
			return name
		}
		name = name[n:]
	}
}

// Naming resolves names of tools to those of the tools that are offered. A nil Naming leaves
// every name as it is. It is safe for concurrent use.
type Naming struct {
	set   *ToolNames
	exact bool
	// offered maps keys to the names of offered tools.
	offered  map[string]string
	problems []Problem
}

// NewNaming makes the Naming for offered tools. It is nil without a setting.
func NewNaming(set *ToolNames, exact bool, tools []string) *Naming {
	if set == nil {
		return nil
	}
	n := &Naming{set: set, exact: exact, offered: map[string]string{}}
	for _, name := range tools {
		key := n.key(n.bare(name))
		if other, taken := n.offered[key]; !taken {
			n.offered[key] = name
		} else if n.key(other) != n.key(name) {
			n.problems = append(n.problems, Problem{
				Position: set.At, Code: "one-tool-name", Key: "scoring.tool_names",
				Message: fmt.Sprintf("the tools %q and %q would be one tool, %q", other, name, n.bare(name)),
				Fix:     "remove a prefix or an alias, or one of the tools",
			})
		}
	}
	return n
}

// Problems are pairs of offered tools that the setting makes equal.
func (n *Naming) Problems() []Problem {
	if n == nil {
		return nil
	}
	return n.problems
}

func (n *Naming) key(name string) string {
	if n.exact {
		return name
	}
	return strings.ToLower(Unspaced(name))
}

// bare is the key that all names of a tool share.
func (n *Naming) bare(name string) string {
	if s := Unspaced(name); s != "" && !n.exact {
		name = s
	}
	return n.set.canonical(name, n.exact)
}

// Of is the name that a name counts as: the name of the offered tool where one matches, else the
// name without white space, prefixes and aliases. A pattern is unchanged: it is compared with the
// resolved names.
func (n *Naming) Of(name string) string {
	if n == nil || name == "" || name == NoTools || NamePattern(name) {
		return name
	}
	bare := n.bare(name)
	if o, ok := n.offered[n.key(bare)]; ok {
		return o
	}
	return bare
}

// Calls are the calls with the names that they count as; the list itself where no name changes.
func (n *Naming) Calls(calls []Call) []Call {
	shared := true
	for i := range calls {
		name := n.Of(calls[i].Tool)
		if name == calls[i].Tool {
			continue
		}
		if shared {
			calls, shared = slices.Clone(calls), false
		}
		calls[i].Tool = name
	}
	return calls
}

// Turns are the turns with the names that their calls and results count as; the list itself where
// no name changes.
func (n *Naming) Turns(turns []Turn) []Turn {
	shared := true
	for i := range turns {
		t := &turns[i]
		name, calls := n.Of(t.Tool), n.Calls(t.Calls)
		if name == t.Tool && (len(calls) == 0 || &calls[0] == &t.Calls[0]) {
			continue
		}
		if shared {
			turns, shared = slices.Clone(turns), false
		}
		turns[i].Tool, turns[i].Calls = name, calls
	}
	return turns
}

// Trace is the attempt with the names that its calls count as; the attempt itself where no name
// changes. The given attempt keeps the names that were called.
func (n *Naming) Trace(t *Trace) *Trace {
	turns := n.Turns(t.Turns)
	if len(turns) == 0 || &turns[0] == &t.Turns[0] {
		return t
	}
	own := *t
	own.Turns = turns
	return &own
}

// CountedAs is the note on a call that counts as another name.
func CountedAs(called, as string) string {
	if n := Misnamed(called, as); n != "" {
		return n
	}
	return "called " + ToolName(called) + ": counted as " + as
}
