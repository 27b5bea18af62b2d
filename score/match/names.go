// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package match

import (
	"slices"
	"strconv"
	"strings"

	"github.com/callvet/callvet"
)

// Names are the tools an attempt called, in order, repeats included.
type Names struct {
	Names []string
	// Unreadable is true where the attempt meant a call and none could be read, so that it neither
	// called nor abstained.
	Unreadable bool
	// Exact distinguishes names that differ only in letter case.
	Exact bool
}

// Assert appends the results of the assertions on called names: tools_called, tools_acceptable,
// tools_not_called, min_tool_calls, max_tool_calls.
func (n *Names) Assert(dst []callvet.Assertion, e *callvet.Expect) []callvet.Assertion {
	made := list(n.Names)
	if n.Unreadable {
		made = "(unreadable call)"
	}
	record := func(name string, passed bool, expected, actual string) {
		dst = append(dst, callvet.Assertion{
			Name: name, Layer: callvet.LayerRouting, State: callvet.Asserted(passed),
			Expected: expected, Actual: actual,
		})
	}
	if e.ToolsCalled != nil {
		record("tools_called", !n.Unreadable && n.are(e.ToolsCalled), list(e.ToolsCalled), made)
	}
	if e.ToolsAcceptable != nil {
		sets := make([]string, len(e.ToolsAcceptable))
		for i, s := range e.ToolsAcceptable {
			sets[i] = "{" + strings.Join(s, ", ") + "}"
		}
		record("tools_acceptable", !n.Unreadable && slices.ContainsFunc(e.ToolsAcceptable, n.acceptable),
			strings.Join(sets, " or "), made)
	}
	for _, name := range e.ToolsNotCalled {
		record("tools_not_called", !n.has(name), "not "+name, made)
	}
	count := len(n.Names)
	if e.MinToolCalls != nil {
		record("min_tool_calls", count >= *e.MinToolCalls, strconv.Itoa(*e.MinToolCalls), strconv.Itoa(count))
	}
	if e.MaxToolCalls != nil {
		record("max_tool_calls", count <= *e.MaxToolCalls, strconv.Itoa(*e.MaxToolCalls), strconv.Itoa(count))
	}
	return dst
}

func list(names []string) string {
	if len(names) == 0 {
		return "(none)"
	}
	out := make([]string, len(names))
	for i, name := range names {
		out[i] = callvet.ToolName(name)
	}
	return strings.Join(out, ", ")
}

func (n *Names) same(a, b string) bool { return a == b || !n.Exact && callvet.SameName(a, b) }

func (n *Names) has(name string) bool {
	return slices.ContainsFunc(n.Names, func(called string) bool { return n.same(name, called) })
}

// are compares multisets.
func (n *Names) are(want []string) bool {
	if len(want) != len(n.Names) {
		return false
	}
	used := make([]bool, len(n.Names))
next:
	for _, w := range want {
		for j, called := range n.Names {
			if !used[j] && n.same(w, called) {
				used[j] = true
				continue next
			}
		}
		return false
	}
	return true
}

// acceptable compares sets: every name is called and no other name; repeats do not count. A set
// with callvet.NoTools also accepts an attempt without calls.
func (n *Names) acceptable(set []string) bool {
	if len(n.Names) == 0 {
		return len(set) == 0 || slices.Contains(set, callvet.NoTools)
	}
	return n.All(set) && n.Only(set)
}

// All reports whether each tool of a set was called; false for an empty set.
func (n *Names) All(set []string) bool {
	wanted := 0
	for _, name := range set {
		if name == callvet.NoTools {
			continue
		}
		wanted++
		if !n.has(name) {
			return false
		}
	}
	return wanted > 0
}

// Only reports whether only tools of a set were called.
func (n *Names) Only(set []string) bool {
	return !slices.ContainsFunc(n.Names, func(called string) bool {
		return !slices.ContainsFunc(set, func(name string) bool { return n.same(name, called) })
	})
}
