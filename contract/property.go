// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package contract

import (
	"bytes"
	"encoding/json"
	"sort"
	"strconv"
	"strings"

	"github.com/callvet/callvet/value"
	"github.com/santhosh-tekuri/jsonschema/v6"
)

// Property is what a schema demands of one argument.
type Property struct {
	Name string
	// Types are the allowed JSON type names, sorted as the library has them; nil
	// means any.
	Types []string
	// Default is the declared default; nil when there is none.
	Default json.RawMessage
	// Required: the parent object requires the property.
	Required bool
	// Constrained: enum, const, pattern or format restrict the value.
	Constrained bool
	// Enum are the allowed values, nil without enum.
	Enum        []json.RawMessage
	Description string
}

// Properties are the names of the declared top-level arguments in the schema's
// order (those reached through $ref and allOf follow, sorted).
func (s *Schema) Properties() []string { return s.order }

// Required are the names of the required top-level arguments.
func (s *Schema) Required() []string { return s.need }

// Property is the declared top-level argument of that name, or nil.
func (s *Schema) Property(name string) *Property { return s.props[name] }

// HasProperty reports whether the schema declares a top-level argument of that name.
func (s *Schema) HasProperty(name string) bool { return s.props[name] != nil }

// Default is the declared default of a top-level argument.
func (s *Schema) Default(name string) (json.RawMessage, bool) {
	p := s.props[name]
	if p == nil || p.Default == nil {
		return nil, false
	}
	return p.Default, true
}

// IsConstrained reports whether enum, const, pattern or format restrict the argument.
func (s *Schema) IsConstrained(name string) bool {
	p := s.props[name]
	return p != nil && p.Constrained
}

// Type is the argument's JSON type name: "" when it has none, the names joined
// by "|" when it has several.
func (s *Schema) Type(name string) string {
	p := s.props[name]
	if p == nil {
		return ""
	}
	return strings.Join(p.Types, "|")
}

// Lookup finds a nested argument by dotted path or JSON Pointer: "address.city",
// "lines[0].sku", "/lines/0/sku". Nil when the schema does not declare it.
func (s *Schema) Lookup(path string) *Property {
	at, err := s.library()
	if err != nil {
		return nil
	}
	var p *Property
	for _, tok := range pathTokens(path) {
		parent := at
		if at = child(at, tok, map[*jsonschema.Schema]bool{}); at == nil {
			return nil
		}
		p = describe(tok, at)
		for _, r := range requiredOf(parent) {
			p.Required = p.Required || r == tok
		}
	}
	return p
}

// Stray gives the first part of a path that the schema does not declare, and the names that it
// declares there. It is "" where the whole path is declared, and where the schema declares no
// names at the place or allows others by a pattern.
func (s *Schema) Stray(path string) (part string, declares []string) {
	at, err := s.library()
	if err != nil {
		return "", nil
	}
	for _, tok := range pathTokens(path) {
		next := child(at, tok, map[*jsonschema.Schema]bool{})
		if next == nil {
			open := false
			var names []string
			declared(at, map[*jsonschema.Schema]bool{},
				func(name string, _ *jsonschema.Schema) { names = append(names, name) })
			for _, sub := range append(sameInstance(at), at) {
				open = open || len(sub.PatternProperties) > 0
			}
			if open || len(names) == 0 {
				return "", nil
			}
			return tok, names
		}
		at = next
	}
	return "", nil
}

func pathTokens(path string) []string {
	if strings.HasPrefix(path, "/") {
		toks := strings.Split(path[1:], "/")
		for i := range toks {
			toks[i] = Unescape(toks[i])
		}
		return toks
	}
	return strings.FieldsFunc(path, func(r rune) bool { return r == '.' || r == '[' || r == ']' })
}

// maxHops bounds how far $ref and combinators are followed for facts.
const maxHops = 16

// child is the subschema of one member or element, through $ref and combinators that were
// not seen before.
func child(s *jsonschema.Schema, tok string, seen map[*jsonschema.Schema]bool) *jsonschema.Schema {
	if s == nil || seen[s] {
		return nil
	}
	seen[s] = true
	if c := s.Properties[tok]; c != nil {
		return c
	}
	if _, err := strconv.Atoi(tok); err == nil {
		if c := element(s, tok); c != nil {
			return c
		}
	}
	for _, sub := range sameInstance(s) {
		if c := child(sub, tok, seen); c != nil {
			return c
		}
	}
	if c, ok := s.AdditionalProperties.(*jsonschema.Schema); ok {
		return c
	}
	return nil
}

func element(s *jsonschema.Schema, tok string) *jsonschema.Schema {
	i, err := strconv.Atoi(tok)
	if err != nil || i < 0 {
		return nil
	}
	return elementAt(s, i)
}

// elementAt is the subschema of the i-th element; nil when the schema has none.
func elementAt(s *jsonschema.Schema, i int) *jsonschema.Schema {
	if i < len(s.PrefixItems) {
		return s.PrefixItems[i]
	}
	if s.Items2020 != nil {
		return s.Items2020
	}
	switch items := s.Items.(type) {
	case *jsonschema.Schema:
		return items
	case []*jsonschema.Schema:
		if i < len(items) {
			return items[i]
		}
	}
	more, _ := s.AdditionalItems.(*jsonschema.Schema)
	return more
}

// sameInstance are the subschemas that describe the same value.
func sameInstance(s *jsonschema.Schema) []*jsonschema.Schema {
	var out []*jsonschema.Schema
	if s.Ref != nil {
		out = append(out, s.Ref)
	}
	out = append(append(append(out, s.AllOf...), s.AnyOf...), s.OneOf...)
	for _, c := range []*jsonschema.Schema{s.If, s.Then, s.Else} {
		if c != nil {
			out = append(out, c)
		}
	}
	return out
}

// rootProperties lists what the root declares, in the order of its text.
func rootProperties(doc value.Value, lib *jsonschema.Schema) ([]string, map[string]*Property) {
	props := map[string]*Property{}
	var order []string
	add := func(name string, s *jsonschema.Schema) {
		if props[name] == nil && s != nil {
			props[name] = describe(name, s)
			order = append(order, name)
		}
	}
	ps, _ := doc.Get("properties")
	for e, ok := ps.First(); ok; e, ok = ps.Next(e) {
		add(e.Key(), lib.Properties[e.Key()])
	}
	declared(lib, map[*jsonschema.Schema]bool{}, add)
	return order, props
}

func declared(s *jsonschema.Schema, seen map[*jsonschema.Schema]bool, add func(string, *jsonschema.Schema)) {
	if seen[s] {
		return
	}
	seen[s] = true
	names := make([]string, 0, len(s.Properties))
	for name := range s.Properties {
		names = append(names, name)
	}
	sort.Strings(names)
	for _, name := range names {
		add(name, s.Properties[name])
	}
	for _, sub := range sameInstance(s) {
		declared(sub, seen, add)
	}
}

// requiredOf gives the names every valid object must have: the schema's own,
// those of $ref and of allOf.
func requiredOf(s *jsonschema.Schema) []string {
	var out []string
	seen, met := map[string]bool{}, map[*jsonschema.Schema]bool{}
	var walk func(s *jsonschema.Schema)
	walk = func(s *jsonschema.Schema) {
		if s == nil || met[s] {
			return
		}
		met[s] = true
		for _, r := range s.Required {
			if !seen[r] {
				seen[r] = true
				out = append(out, r)
			}
		}
		walk(s.Ref)
		for _, sub := range s.AllOf {
			walk(sub)
		}
	}
	walk(s)
	return out
}

func describe(name string, s *jsonschema.Schema) *Property {
	p := &Property{Name: name}
	for hops := 0; s != nil && hops <= maxHops; hops++ {
		p.absorb(s)
		if s.Ref == nil {
			break
		}
		s = s.Ref
	}
	return p
}

// absorb takes from s what is not yet known.
func (p *Property) absorb(s *jsonschema.Schema) {
	if p.Types == nil {
		p.Types = typesOf(s, map[*jsonschema.Schema]typeMask{}).names()
	}
	if p.Default == nil && s.Default != nil {
		p.Default = rawJSON(*s.Default)
	}
	if p.Description == "" {
		p.Description = s.Description
	}
	if p.Enum == nil && s.Enum != nil {
		for _, v := range s.Enum.Values {
			p.Enum = append(p.Enum, rawJSON(v))
		}
	}
	if s.Enum != nil || s.Const != nil || s.Pattern != nil || s.Format != nil {
		p.Constrained = true
	}
}

// typesOf are the types that a schema allows, also where its alternatives declare them;
// maskAny when one of them allows any.
func typesOf(s *jsonschema.Schema, met map[*jsonschema.Schema]typeMask) typeMask {
	if s == nil {
		return maskAny
	}
	if s.Types != nil && !s.Types.IsEmpty() {
		return maskOf(s.Types)
	}
	m, ok := met[s]
	if !ok {
		met[s] = maskAny // where it meets itself again
		m = partTypes(s, met)
		met[s] = m
	}
	return m
}

// partTypes are the types that the parts of a schema without types allow.
func partTypes(s *jsonschema.Schema, met map[*jsonschema.Schema]typeMask) typeMask {
	for _, all := range append([]*jsonschema.Schema{s.Ref}, s.AllOf...) {
		if m := typesOf(all, met); m != maskAny {
			return m
		}
	}
	for _, choices := range [][]*jsonschema.Schema{s.AnyOf, s.OneOf} {
		m := maskAny
		for _, one := range choices {
			of := typesOf(one, met)
			if m |= of; of == maskAny {
				m = maskAny
				break
			}
		}
		if m != maskAny {
			return m
		}
	}
	return maskAny
}

// rawJSON writes a decoded schema value back; it came from JSON, so it can.
func rawJSON(v any) json.RawMessage {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return json.RawMessage("null")
	}
	return bytes.TrimSpace(b.Bytes())
}
