// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package contract

import (
	"math/big"
	"sort"

	"github.com/callvet/callvet/value"
	"github.com/santhosh-tekuri/jsonschema/v6"
)

func limit(p *int) int {
	if p == nil {
		return -1
	}
	return *p
}

func (b *builder) object(s *jsonschema.Schema) *objectRules {
	o := &objectRules{min: limit(s.MinProperties), max: limit(s.MaxProperties)}
	names := make([]string, 0, len(s.Properties))
	for name := range s.Properties {
		names = append(names, name)
	}
	sort.Strings(names)
	for _, name := range names {
		o.props = append(o.props, prop{name: name, n: b.node(s.Properties[name]), declared: true})
	}
	o.require(s.Required)
	for re, sub := range s.PatternProperties {
		o.patterns = append(o.patterns, patternProp{re.(*pattern), b.node(sub)})
	}
	switch a := s.AdditionalProperties.(type) {
	case bool:
		o.closed = !a
	case *jsonschema.Schema:
		o.additional = b.node(a)
	}
	b.objectExtras(o, s)
	if o.empty() {
		return nil
	}
	o.finish()
	return o
}

// finish gets ready for looking at members.
func (o *objectRules) finish() {
	for i := range o.dependent {
		o.needs += 1 + len(o.dependent[i].need)
	}
	o.plain = len(o.more)+len(o.patterns)+len(o.dependent) == 0 && o.additional == nil && o.names == nil &&
		o.min < 0 && o.max < 0
	names := make([]string, len(o.props))
	o.quick = make([]quick, len(o.props))
	for i := range o.props {
		p := &o.props[i]
		names[i], o.quick[i] = p.name, quickOf(p, o.closed)
	}
	o.listed = value.NamesOf(names)
}

func (a *arrayRules) empty() bool {
	return a.min < 0 && a.max < 0 && !a.unique && a.contains == nil && a.prefix == nil && a.rest == nil && !a.closed
}

func (o *objectRules) empty() bool {
	return len(o.props) == 0 && len(o.more) == 0 && len(o.patterns) == 0 && !o.closed && o.additional == nil &&
		o.names == nil && o.min < 0 && o.max < 0 && len(o.dependent) == 0
}

// require gives each required name a bit; names without a property get one.
func (o *objectRules) require(names []string) {
	at := make(map[string]int, len(o.props))
	for i := range o.props {
		at[o.props[i].name] = i
	}
	bits := 0
	for _, name := range names {
		if bits == 64 {
			o.more = append(o.more, name)
			continue
		}
		i, ok := at[name]
		if !ok {
			i = len(o.props)
			at[name] = i
			o.props = append(o.props, prop{name: name})
		}
		if o.props[i].bit == 0 {
			o.props[i].bit = 1 << bits
			o.required |= 1 << bits
			bits++
		}
	}
}

func (b *builder) objectExtras(o *objectRules, s *jsonschema.Schema) {
	for name, dep := range s.Dependencies {
		switch d := dep.(type) {
		case []string:
			o.dependent = append(o.dependent, dependency{name: name, need: d})
		case *jsonschema.Schema:
			o.dependent = append(o.dependent, dependency{name: name, n: b.node(d)})
		}
	}
	if s.DraftVersion > 4 {
		o.names = b.node(s.PropertyNames)
	}
	if s.DraftVersion <= 6 {
		return
	}
	for name, sub := range s.DependentSchemas {
		o.dependent = append(o.dependent, dependency{name: name, n: b.node(sub)})
	}
	for name, need := range s.DependentRequired {
		o.dependent = append(o.dependent, dependency{name: name, need: need})
	}
}

func (b *builder) array(s *jsonschema.Schema) *arrayRules {
	a := &arrayRules{
		min: limit(s.MinItems), max: limit(s.MaxItems), unique: s.UniqueItems,
		contains: b.node(s.Contains), minC: limit(s.MinContains), maxC: limit(s.MaxContains),
	}
	if s.DraftVersion >= 2020 {
		a.prefix, a.rest = b.nodes(s.PrefixItems), b.node(s.Items2020)
	} else {
		switch items := s.Items.(type) {
		case *jsonschema.Schema:
			a.rest = b.node(items)
		case []*jsonschema.Schema:
			a.prefix = b.nodes(items)
		}
		if a.rest == nil {
			switch more := s.AdditionalItems.(type) {
			case bool:
				a.closed = !more
			case *jsonschema.Schema:
				a.rest = b.node(more)
			}
		}
	}
	if a.empty() {
		return nil
	}
	return a
}

func stringsOf(s *jsonschema.Schema) *stringRules {
	if s.MinLength == nil && s.MaxLength == nil && s.Pattern == nil {
		return nil
	}
	r := &stringRules{min: limit(s.MinLength), max: limit(s.MaxLength)}
	if s.Pattern != nil {
		r.re = s.Pattern.(*pattern)
	}
	return r
}

func numbersOf(s *jsonschema.Schema) *numberRules {
	if s.Minimum == nil && s.Maximum == nil && s.ExclusiveMinimum == nil && s.ExclusiveMaximum == nil &&
		s.MultipleOf == nil {
		return nil
	}
	return &numberRules{
		min: newBound(s.Minimum), max: newBound(s.Maximum), above: newBound(s.ExclusiveMinimum),
		below: newBound(s.ExclusiveMaximum), multiple: newBound(s.MultipleOf),
	}
}

func newBound(r *big.Rat) *bound {
	if r == nil {
		return nil
	}
	b := &bound{lit: []byte(rat(r)), rat: r}
	b.small, b.ok = smallDecimal(b.lit)
	return b
}

// dynamic reports whether s reaches a reference that depends on the caller.
func dynamic(s *jsonschema.Schema, seen map[*jsonschema.Schema]bool) bool {
	if s == nil || seen[s] {
		return false
	}
	seen[s] = true
	if s.DynamicRef != nil || s.RecursiveRef != nil {
		return true
	}
	for _, sub := range append(inPlace(s), deeper(s)...) {
		if dynamic(sub, seen) {
			return true
		}
	}
	return false
}

// inPlace are the subschemas applied to the same value.
func inPlace(s *jsonschema.Schema) []*jsonschema.Schema {
	out := append(sameInstance(s), s.Not)
	for _, d := range s.Dependencies {
		if sub, ok := d.(*jsonschema.Schema); ok {
			out = append(out, sub)
		}
	}
	for _, sub := range s.DependentSchemas {
		out = append(out, sub)
	}
	return out
}

// deeper are the subschemas applied to members, names and elements.
func deeper(s *jsonschema.Schema) []*jsonschema.Schema {
	out := append([]*jsonschema.Schema{
		s.PropertyNames, s.UnevaluatedProperties, s.UnevaluatedItems, s.Contains,
		s.Items2020, s.ContentSchema,
	}, s.PrefixItems...)
	for _, sub := range s.Properties {
		out = append(out, sub)
	}
	for _, sub := range s.PatternProperties {
		out = append(out, sub)
	}
	for _, x := range []any{s.AdditionalProperties, s.Items, s.AdditionalItems} {
		switch x := x.(type) {
		case *jsonschema.Schema:
			out = append(out, x)
		case []*jsonschema.Schema:
			out = append(out, x...)
		}
	}
	return out
}

// circular reports whether some reachable schema is applied again to the value
// it is being applied to, which would never end.
func circular(s *jsonschema.Schema) bool {
	const open, closed = 1, 2
	state := map[*jsonschema.Schema]int{}
	var loops func(s *jsonschema.Schema) bool
	loops = func(s *jsonschema.Schema) bool {
		if s == nil || state[s] == closed {
			return false
		}
		if state[s] == open {
			return true
		}
		state[s] = open
		for _, sub := range inPlace(s) {
			if loops(sub) {
				return true
			}
		}
		state[s] = closed
		return false
	}
	seen := map[*jsonschema.Schema]bool{}
	var each func(s *jsonschema.Schema) bool
	each = func(s *jsonschema.Schema) bool {
		if s == nil || seen[s] {
			return false
		}
		seen[s] = true
		if loops(s) {
			return true
		}
		for _, sub := range append(inPlace(s), deeper(s)...) {
			if each(sub) {
				return true
			}
		}
		return false
	}
	return each(s)
}
