// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package contract

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/callvet/callvet/value"
)

// valid decides one value. It answers the same as the library on every schema, and false
// where the budget is spent.
func (n *node) valid(v value.Value, m *meter) bool {
	k := v.Kind()
	switch n.left[k&7] {
	case leftNothing:
		return true
	case leftRefused:
		return false
	case leftMembers:
		return n.obj.valid(v, m)
	case leftLength:
		if n.str.sure.holds(int64(len(v.Raw()))) {
			return true
		}
	case leftWord:
		if v.Member().TextIn(n.words) >= 0 {
			return true
		}
	case leftFigure:
		return m.spend(figureSteps(v)) && n.num.valid(v.Raw())
	case leftWhole:
		if !v.Decimal() {
			return n.num == nil || m.spend(figureSteps(v)) && n.num.valid(v.Raw())
		}
	}
	return n.validAll(k, v, m)
}

// validAll asks everything that a node may say.
func (n *node) validAll(k value.Kind, v value.Value, m *meter) bool {
	switch {
	case !m.spend(1):
		return false
	case n.never:
		return false
	case n.slow != nil:
		return libraryValid(n.slow, v, m)
	}
	if !n.typed(k, v) {
		return false
	}
	if n.hasEnum && (!m.spend(len(n.enum)+textSteps(v)) || !n.inEnum(k, v)) {
		return false
	}
	if n.format != nil && k == value.String && (!m.spend(textSteps(v)) || !n.format.valid(v.Bytes())) {
		return false
	}
	if n.ref != nil && !n.ref.valid(v, m) {
		return false
	}
	return n.refOnly || n.validKind(k, v, m) && (!n.combined || n.validCombined(v, m))
}

// typed reports whether a value has a type that the node allows.
func (n *node) typed(k value.Kind, v value.Value) bool {
	return n.types == maskAny || n.types>>k&1 != 0 || k == value.Number && n.types&maskInteger != 0 && v.IsInteger()
}

func (n *node) validKind(k value.Kind, v value.Value, m *meter) bool {
	switch k {
	case value.Object:
		return n.obj == nil || n.obj.valid(v, m)
	case value.Array:
		return n.arr == nil || n.arr.valid(v, m)
	case value.String:
		return n.str == nil || m.spend(n.str.steps(v)) && n.str.valid(v.Bytes())
	case value.Number:
		return n.num == nil || m.spend(figureSteps(v)) && n.num.valid(v.Raw())
	}
	return true
}

func (n *node) inEnum(k value.Kind, v value.Value) bool {
	if n.strings != nil {
		if k != value.String {
			return false
		}
		got := v.Bytes()
		for _, s := range n.strings {
			if string(got) == s {
				return true
			}
		}
		return false
	}
	for _, e := range n.enum {
		if value.Equal(e, v) {
			return true
		}
	}
	return false
}

func (n *node) validCombined(v value.Value, m *meter) bool {
	if n.not != nil && n.not.valid(v, m) {
		return false
	}
	for _, sub := range n.allOf {
		if !sub.valid(v, m) {
			return false
		}
	}
	if len(n.anyOf) > 0 && accepting(n.anyOf, v, 1, m) == 0 {
		return false
	}
	if len(n.oneOf) > 0 && accepting(n.oneOf, v, 2, m) != 1 {
		return false
	}
	if n.cond == nil {
		return true
	}
	branch := n.other
	if n.cond.valid(v, m) {
		branch = n.then
	}
	return branch == nil || branch.valid(v, m)
}

// accepting returns how many of the schemas accept v, stopping at enough.
func accepting(list []*node, v value.Value, enough int, m *meter) int {
	k := 0
	for _, sub := range list {
		if sub.valid(v, m) {
			if k++; k == enough {
				break
			}
		}
	}
	return k
}

func (o *objectRules) valid(v value.Value, m *meter) bool {
	if o.plain {
		return o.validPlain(v, m)
	}
	return o.validMembers(v, m) && o.validRest(v, m)
}

// validPlain decides an object where there is nothing but props, required and closed.
func (o *objectRules) validPlain(v value.Value, budget *meter) bool {
	if !budget.spend(v.Len()) {
		return false
	}
	var seen uint64
	for m := v.Members(); m.Ok(); m = m.Next() {
		i := m.Named(o.listed)
		if i < 0 {
			if i = m.Decoded(o.listed); i < 0 {
				if o.closed {
					return false
				}
				continue
			}
		}
		q := &o.quick[i]
		seen |= q.bit
		switch q.left[m.Kind()&7] {
		case leftNothing:
			continue
		case leftLength:
			if q.length.holds(int64(m.Size())) {
				continue
			}
		case leftWord:
			if m.TextIn(q.words) >= 0 {
				continue
			}
		case leftFigure, leftWhole:
			if n, known := m.Whole(); known && q.figures.holds(n) {
				continue
			}
		}
		if q.n == nil || !q.n.valid(m.Value(), budget) {
			return false
		}
	}
	return seen&o.required == o.required
}

// broken are the names of the members that break plain rules, sorted; those that are missing included.
func (o *objectRules) broken(v value.Value, budget *meter) (names []string) {
	var seen uint64
	for m := v.Members(); m.Ok(); m = m.Next() {
		i, kept := max(m.Named(o.listed), m.Decoded(o.listed)), !o.closed
		if i >= 0 {
			p := &o.props[i]
			seen |= p.bit
			kept = p.n == nil && (p.declared || kept) || p.n != nil && p.n.valid(m.Value(), budget)
		}
		if !kept {
			names = append(names, m.Value().Key())
		}
	}
	for i := range o.props {
		if o.props[i].bit&^seen != 0 {
			names = append(names, o.props[i].name)
		}
	}
	slices.Sort(names)
	return names
}

// validMembers decides an object but for what validRest does.
func (o *objectRules) validMembers(v value.Value, budget *meter) bool {
	if o.min >= 0 && v.Len() < o.min || o.max >= 0 && v.Len() > o.max {
		return false
	}
	if !budget.spend(v.Len() * (1 + len(o.patterns))) {
		return false
	}
	var seen uint64
	for m := v.Members(); m.Ok(); m = m.Next() {
		e, evaluated := m.Value(), false
		if i := max(m.Named(o.listed), m.Decoded(o.listed)); i >= 0 {
			p := &o.props[i]
			seen |= p.bit
			if evaluated = p.declared; p.n != nil && !p.n.valid(e, budget) {
				return false
			}
		}
		if o.patterns != nil {
			key := e.Key()
			for i := range o.patterns {
				if !budget.spend(o.patterns[i].re.steps(len(key))) {
					return false
				}
				if o.patterns[i].re.MatchString(key) {
					evaluated = true
					if !o.patterns[i].n.valid(e, budget) {
						return false
					}
				}
			}
		}
		if !evaluated && (o.closed || o.additional != nil && !o.additional.valid(e, budget)) {
			return false
		}
	}
	return seen&o.required == o.required
}

func (o *objectRules) validRest(v value.Value, m *meter) bool {
	if len(o.more)+len(o.dependent) > 0 && !m.spend((len(o.more)+o.needs)*v.Len()) {
		return false
	}
	for _, name := range o.more {
		if _, ok := v.Get(name); !ok {
			return false
		}
	}
	if o.names != nil && !o.validNames(v, m) {
		return false
	}
	for i := range o.dependent {
		d := &o.dependent[i]
		if _, ok := v.Get(d.name); !ok {
			continue
		}
		for _, name := range d.need {
			if _, ok := v.Get(name); !ok {
				return false
			}
		}
		if d.n != nil && !d.n.valid(v, m) {
			return false
		}
	}
	return true
}

func (o *objectRules) validNames(v value.Value, m *meter) bool {
	if !m.spend(v.Len()) {
		return false
	}
	for e, ok := v.First(); ok; e, ok = v.Next(e) {
		name, err := value.Parse(rawJSON(e.Key()))
		if err != nil || !o.names.valid(name, m) {
			return false
		}
	}
	return true
}

func (a *arrayRules) valid(v value.Value, m *meter) bool {
	if !m.spend(v.Len()) {
		return false
	}
	if a.min >= 0 && v.Len() < a.min || a.max >= 0 && v.Len() > a.max {
		return false
	}
	if a.closed && v.Len() > len(a.prefix) {
		return false
	}
	i, found := 0, 0
	for e, ok := v.First(); ok; e, ok = v.Next(e) {
		n := a.rest
		if i < len(a.prefix) {
			n = a.prefix[i]
		}
		if n != nil && !n.valid(e, m) {
			return false
		}
		if a.contains != nil && a.contains.valid(e, m) {
			found++
		}
		i++
	}
	if a.contains != nil && !a.contained(found) {
		return false
	}
	return !a.unique || m.spend(uniqueSteps(v)) && unique(v)
}

// contained reports whether so many elements may be what contains asks for.
func (a *arrayRules) contained(found int) bool {
	low := max(a.minC, 0)
	if a.minC < 0 {
		low = 1
	}
	return found >= low && (a.maxC < 0 || found <= a.maxC)
}

func (s *stringRules) valid(b []byte) bool {
	// A code point has one to four bytes, so that lengths mostly need no counting.
	if s.min > (len(b)+utf8.UTFMax-1)/utf8.UTFMax || s.max >= 0 && s.max < len(b) {
		n := utf8.RuneCount(b)
		if s.min >= 0 && n < s.min || s.max >= 0 && n > s.max {
			return false
		}
	}
	return s.re == nil || s.re.match(b)
}

// fewItems is how many elements are compared pair by pair.
const fewItems = 16

func unique(v value.Value) bool {
	if v.Len() > fewItems {
		return uniqueMany(v)
	}
	for a, ok := v.First(); ok; a, ok = v.Next(a) {
		for b, ok := v.Next(a); ok; b, ok = v.Next(b) {
			if value.Equal(a, b) {
				return false
			}
		}
	}
	return true
}

func uniqueMany(v value.Value) bool {
	seen := make(map[string]struct{}, v.Len())
	var buf strings.Builder
	for e, ok := v.First(); ok; e, ok = v.Next(e) {
		buf.Reset()
		canonical(&buf, e)
		if _, dup := seen[buf.String()]; dup {
			return false
		}
		seen[buf.String()] = struct{}{}
	}
	return true
}
