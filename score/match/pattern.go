// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package match

import (
	"maps"
	"slices"
	"strings"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/value"
)

// A pattern is a matcher for every argument with a matching name, except for arguments that
// another matcher or an expected argument names.
type pattern struct {
	name     string
	rule     *Rule
	optional bool
}

// patterns separates the matchers with patterns as names from the others.
func (c *compiler) patterns(ms map[string]callvet.Matcher, want value.Value, s schema,
	set *Settings,
) ([]pattern, map[string]callvet.Matcher) {
	var out []pattern
	rest := ms
	for _, name := range slices.Sorted(maps.Keys(ms)) {
		_, literal := want.Get(name)
		if !callvet.NamePattern(name) || strings.ContainsAny(name, ".[") || literal ||
			s.property(name).at.Kind() != value.Invalid {
			continue
		}
		if len(out) == 0 {
			rest = maps.Clone(ms)
		}
		delete(rest, name)
		m := ms[name]
		r, optional := c.node(value.Value{}, &trie{m: &m}, schema{}, set, name)
		out = append(out, pattern{name, r, optional})
	}
	return out, rest
}

// Patterned reports whether there are patterns, so that Keys does not list all asserted
// arguments.
func (a *Args) Patterned() bool { return len(a.patterns) > 0 }

// fitting is the first pattern that applies to an argument; -1 when none does.
func (a *Args) fitting(e value.Value) int {
	if a.root.expects(e) {
		return -1
	}
	return slices.IndexFunc(a.patterns, func(p pattern) bool { return callvet.NameFits(p.name, e.Key(), true) })
}

// countPatterns compares the arguments that patterns apply to, and returns their number.
func (t *Tally) countPatterns(a *Args, actual value.Value) int {
	if a.patterns == nil { // nearly always
		return 0
	}
	n := 0
	met := make([]bool, len(a.patterns))
	for e, more := actual.First(); more && actual.Kind() == value.Object; e, more = actual.Next(e) {
		if i := a.fitting(e); i >= 0 {
			n++
			met[i] = true
			t.count(&member{rule: a.patterns[i].rule}, e)
		}
	}
	for i := range a.patterns {
		if !met[i] {
			t.countAbsent(&member{rule: a.patterns[i].rule, optional: a.patterns[i].optional})
		}
	}
	return n
}

// diffPatterns appends the results of patterns for arguments.
func (a *Args) diffPatterns(out []callvet.ArgDiff, actual value.Value) []callvet.ArgDiff {
	met := make([]bool, len(a.patterns))
	for e, more := actual.First(); more && actual.Kind() == value.Object; e, more = actual.Next(e) {
		if i := a.fitting(e); i >= 0 {
			met[i] = true
			out = a.patterns[i].rule.diff(out, e.Key(), e)
		}
	}
	for i := range a.patterns {
		if p := &a.patterns[i]; !met[i] {
			out = (&member{rule: p.rule, optional: p.optional}).diff(out, p.name, value.Value{})
		}
	}
	return out
}
