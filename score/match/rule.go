// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package match

import (
	"fmt"
	"regexp"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/value"
)

type op uint8

const (
	opEqual op = iota // null, booleans, kinds without own rule
	opNumber
	opText
	opBytes
	opFoldCase
	opContains
	opFuzzyText
	opFuzzyNumber
	opNumeric
	opDate
	opRegex
	opSemantic
	opAnyOf
	opPresent
	opAbsent
	opType
	opObject
	opArray
	opAsText
)

// Rule compares one value.
type Rule struct {
	// The most used fields come first, on one cache line.
	op       op
	loose    bool // more members or elements than expected are fine
	shuffled bool // elements in any order
	kinds    kindSet
	want     value.Value
	// text is the expected string in the form for comparison.
	text     []byte
	rules    []*Rule // alternatives of any_of, elements of an array
	members  []member
	defaults []member // schema defaults of members that were not expected
	name     string   // shown as the rule of a diff
	each     *Rule    // for every element
	re       *regexp.Regexp
	moment   *moment
	set      *Settings
}

type member struct {
	key  string
	rule *Rule
	// optional members may be absent; omitted ones equal their schema default.
	optional, omittable bool
	value               value.Value // of defaults
}

// soft reports whether the rule accepts other values than the expected one, so that a match is
// worth showing.
func (r *Rule) soft() bool {
	switch r.op {
	case opFuzzyText, opFuzzyNumber, opSemantic, opContains, opNumeric, opDate:
		return true
	}
	return false
}

type compiler struct {
	ps []Problem
}

func (c *compiler) problem(code, key, msg, fix string) {
	c.ps = append(c.ps, Problem{code, key, msg, fix})
}

// One compiles a rule for a single value found at key.
func One(key string, m callvet.Matcher, set Settings) (*Rule, []Problem) {
	var c compiler
	r, _ := c.node(value.Value{}, &trie{m: &m}, schema{}, &set, key)
	return r, c.ps
}

// node compiles the expectation of one value: want is the expected value (or absent), t the
// matchers for it.
func (c *compiler) node(want value.Value, t *trie, s schema, set *Settings, key string) (r *Rule, optional bool) {
	var m *callvet.Matcher
	if t != nil && t.m != nil {
		m = t.m
		if len(m.Value) > 0 {
			v, err := value.Parse(m.Value)
			if err != nil {
				c.problem("bad-value", key, "the matcher's value is not JSON: "+err.Error(), "")
			}
			want = v
		}
		own := *set
		set = &own
		c.ps = append(c.ps, set.overlay(*m, key)...)
		optional = m.Optional
		if r := c.special(m, want, s, set, key); r != nil {
			return r, optional
		}
	}
	if m != nil && want.Kind() == value.Invalid && t.plain() && set.Leaf != ModePresent {
		c.problem("no-value", key, fmt.Sprintf("matcher %q has no value to compare with", m.Mode),
			"give value, or an expected argument")
		return &Rule{op: opPresent, name: ModePresent}, optional
	}
	return c.value(want, t, s, set, key, m != nil), optional
}

// plain reports that no matcher applies inside the value.
func (t *trie) plain() bool { return t == nil || len(t.keys) == 0 && len(t.at) == 0 && t.each == nil }

// special compiles the matchers that do not compare with a single value.
func (c *compiler) special(m *callvet.Matcher, want value.Value, s schema, set *Settings, key string) *Rule {
	switch m.Mode {
	case ModePresent:
		return &Rule{op: opPresent, name: ModePresent}
	case ModeAbsent:
		return &Rule{op: opAbsent, name: ModeAbsent}
	case ModeType:
		return c.typeRule(want, key)
	case ModeAnyOf:
		if want.Kind() != value.Array || want.Len() == 0 {
			c.problem("bad-value", key, "any_of needs a list of at least one acceptable value", "value: [a, b]")
			return &Rule{op: opAnyOf, name: ModeAnyOf, want: want}
		}
		return c.anyOf(want, s, set, key)
	}
	return nil
}

func (c *compiler) anyOf(list value.Value, s schema, set *Settings, key string) *Rule {
	r := &Rule{op: opAnyOf, name: ModeAnyOf, want: list}
	if set.Leaf == ModeAnyOf {
		each := *set
		each.Leaf = ModeExact
		set = &each
	}
	for e, ok := list.First(); ok; e, ok = list.Next(e) {
		r.rules = append(r.rules, c.value(e, nil, s, set, key, true))
	}
	return r
}

// value compiles the comparison with want. own: a matcher chose the mode for this parameter, so
// that a value that the mode cannot use is a problem.
func (c *compiler) value(want value.Value, t *trie, s schema, set *Settings, key string, own bool) *Rule {
	if set.Leaf == ModePresent && t.plain() {
		return &Rule{op: opPresent, name: ModePresent, want: want}
	}
	if set.Leaf == ModeText && t.plain() {
		return &Rule{op: opAsText, name: ModeText, want: want, set: set}
	}
	switch k := want.Kind(); {
	case set.Leaf == ModeAnyOf && k == value.Array && want.Len() > 0:
		return c.anyOf(want, s, set, key)
	case k == value.Object, k == value.Invalid && t != nil && len(t.keys) > 0:
		return c.object(want, t, s, set, key)
	case k == value.Array, k == value.Invalid && !t.plain():
		return c.array(want, t, s, set, key)
	}
	return c.scalar(want, s, set, key, own)
}

func (c *compiler) object(want value.Value, t *trie, s schema, set *Settings, key string) *Rule {
	r := &Rule{
		op: opObject, name: set.structName(), want: want, set: set,
		loose: set.Subset || set.Partial || want.Kind() == value.Invalid,
	}
	r.members = make([]member, 0, want.Len())
	for e, ok := want.First(); ok; e, ok = want.Next(e) {
		name := e.Key()
		r.members = append(r.members, c.member(name, e, t.key(name), s, set, key))
	}
	for _, name := range t.names() {
		if _, ok := want.Get(name); !ok {
			r.members = append(r.members, c.member(name, value.Value{}, t.key(name), s, set, key))
		}
	}
	r.defaults = schemaDefaults(s, r.members)
	return r
}

func (c *compiler) member(name string, want value.Value, t *trie, s schema, set *Settings, key string) member {
	path := name
	if key != "" {
		path = key + "." + name
	}
	s = s.property(name)
	r, optional := c.node(want, t, s, set, path)
	m := member{key: name, rule: r, optional: optional}
	if d, ok := s.defaultValue(); ok && r.op != opAbsent && r.op != opPresent {
		m.omittable, _ = r.Match(d)
		m.value = d
	}
	return m
}

// schemaDefaults collects the defaults of unexpected properties: writing them out is not an extra
// argument.
func schemaDefaults(s schema, have []member) []member {
	props, _ := s.at.Get("properties")
	if props.Kind() != value.Object {
		return nil
	}
	var out []member
next:
	for p, ok := props.First(); ok; p, ok = props.Next(p) {
		name := p.Key()
		for i := range have {
			if have[i].key == name {
				continue next
			}
		}
		if d, ok := (schema{s.root, p}).resolved().defaultValue(); ok {
			out = append(out, member{key: name, value: d})
		}
	}
	return out
}

func (c *compiler) array(want value.Value, t *trie, s schema, set *Settings, key string) *Rule {
	r := &Rule{
		op: opArray, name: set.structName(), want: want, set: set, loose: set.Subset,
		shuffled: set.Unordered || set.Subset,
	}
	if want.Kind() == value.Invalid {
		r.loose = true
		if t.each != nil {
			r.each, _ = c.node(want, t.each, s.item(0), set, key+"[]")
		}
		for i := range t.maxIndex() + 1 {
			var e *Rule
			if at := t.at[i]; at != nil {
				e, _ = c.node(want, at, s.item(i), set, fmt.Sprintf("%s[%d]", key, i))
			} else {
				e = &Rule{op: opPresent, name: ModePresent}
			}
			r.rules = append(r.rules, e)
		}
		r.shuffled = false
		return r
	}
	i := 0
	for e, ok := want.First(); ok; e, ok = want.Next(e) {
		er, _ := c.node(e, t.elem(i), s.item(i), set, fmt.Sprintf("%s[%d]", key, i))
		r.rules = append(r.rules, er)
		i++
	}
	return r
}

func (set *Settings) structName() string {
	switch {
	case set.Subset:
		return ModeSubset
	case set.Partial:
		return ModePartial
	case set.Unordered:
		return ModeUnordered
	}
	return set.Leaf
}
