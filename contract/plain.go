// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package contract

import (
	"math/big"
	"strconv"
	"strings"

	"github.com/callvet/callvet/value"
)

// plainNode compiles a schema that uses only common keywords, and uses them correctly, straight
// from its text. That is ten times faster than the library, which compiles the schema only when a
// violation has to be explained. Nil leaves the schema to the library; in doubt the result is nil.
func plainNode(v value.Value) *node {
	switch v.Kind() {
	case value.Bool:
		return &node{never: !v.Bool()}
	case value.Object:
	default:
		return nil
	}
	p := plain{
		n: &node{}, o: objectRules{min: -1, max: -1}, a: arrayRules{min: -1, max: -1, minC: -1, maxC: -1},
		s: stringRules{min: -1, max: -1},
	}
	for m, ok := v.First(); ok; m, ok = v.Next(m) {
		if !p.keyword(m.Key(), m) {
			return nil
		}
	}
	return p.done()
}

// plain is a schema under construction.
type plain struct {
	n        *node
	o        objectRules
	a        arrayRules
	s        stringRules
	num      numberRules
	required []string
	constant bool
}

func (p *plain) keyword(key string, v value.Value) bool {
	switch key {
	case "type":
		return p.types(v)
	case "properties":
		return p.properties(v)
	case "required":
		var ok bool
		p.required, ok = uniqueStrings(v)
		return ok
	case "additionalProperties":
		if v.Kind() == value.Bool {
			p.o.closed = !v.Bool()
			return true
		}
		p.o.additional = plainNode(v)
		return p.o.additional != nil
	case "items":
		p.a.rest = plainNode(v)
		return p.a.rest != nil
	case "enum", "const":
		return p.constants(key, v)
	case "pattern":
		return p.pattern(v)
	case "format":
		return p.format(v)
	case "uniqueItems":
		p.a.unique = v.Bool()
		return v.Kind() == value.Bool
	case "not":
		p.n.not = plainNode(v)
		return p.n.not != nil
	case "allOf", "anyOf", "oneOf":
		return p.combine(key, v)
	}
	if known, ok := p.limit(key, v); known {
		return ok
	}
	return annotation(key, v)
}

func (p *plain) types(v value.Value) bool {
	if v.Kind() == value.String {
		p.n.types = typeBit(v.Str())
		return p.n.types != 0
	}
	list, ok := uniqueStrings(v)
	for _, name := range list {
		bit := typeBit(name)
		ok = ok && bit != 0
		p.n.types |= bit
	}
	return ok && len(list) > 0
}

func typeBit(name string) typeMask {
	switch name {
	case "null":
		return maskNull
	case "boolean":
		return maskBool
	case "number":
		return maskNumber
	case "integer":
		return maskInteger
	case "string":
		return maskString
	case "array":
		return maskArray
	case "object":
		return maskObject
	}
	return 0
}

func (p *plain) properties(v value.Value) bool {
	for m, ok := v.First(); ok; m, ok = v.Next(m) {
		n := plainNode(m)
		if n == nil {
			return false
		}
		p.o.props = append(p.o.props, prop{name: m.Key(), n: n, declared: true})
	}
	return v.Kind() == value.Object
}

func uniqueStrings(v value.Value) ([]string, bool) {
	out := make([]string, 0, v.Len())
	for x, ok := v.First(); ok; x, ok = v.Next(x) {
		if x.Kind() != value.String {
			return nil, false
		}
		out = append(out, x.Str())
	}
	return out, v.Kind() == value.Array && unique(v)
}

// constants reads enum and const; both in one schema are left to the library.
func (p *plain) constants(key string, v value.Value) bool {
	if p.constant {
		return false
	}
	p.constant, p.n.hasEnum = true, true
	p.n.enum = []value.Value{v}
	if key == "enum" {
		if v.Kind() != value.Array {
			return false
		}
		p.n.enum = p.n.enum[:0]
		for x, ok := v.First(); ok; x, ok = v.Next(x) {
			p.n.enum = append(p.n.enum, x)
		}
	}
	for _, x := range p.n.enum {
		if !tame(x) {
			return false
		}
		if x.Kind() == value.String {
			p.n.strings = append(p.n.strings, x.Str())
		}
	}
	if len(p.n.strings) != len(p.n.enum) {
		p.n.strings = nil
	}
	return true
}

// tame reports that no number in v needs arbitrary memory.
func tame(v value.Value) bool {
	if v.Kind() == value.Number {
		return !wildExponent(v.Raw())
	}
	for x, ok := v.First(); ok; x, ok = v.Next(x) {
		if !tame(x) {
			return false
		}
	}
	return true
}

func (p *plain) pattern(v value.Value) bool {
	if v.Kind() != value.String {
		return false
	}
	re, err := compileECMA(v.Str())
	if err != nil {
		return false
	}
	p.s.re, _ = re.(*pattern)
	return p.s.re != nil
}

func (p *plain) combine(key string, v value.Value) bool {
	if v.Kind() != value.Array || v.Len() == 0 {
		return false
	}
	var list []*node
	for x, ok := v.First(); ok; x, ok = v.Next(x) {
		n := plainNode(x)
		if n == nil {
			return false
		}
		list = append(list, n)
	}
	switch key {
	case "allOf":
		p.n.allOf = list
	case "anyOf":
		p.n.anyOf = list
	default:
		p.n.oneOf = list
	}
	return true
}

// limit reads a bound; known is false when key is none.
func (p *plain) limit(key string, v value.Value) (known, ok bool) {
	switch key {
	case "minLength":
		return true, count(v, &p.s.min)
	case "maxLength":
		return true, count(v, &p.s.max)
	case "minItems":
		return true, count(v, &p.a.min)
	case "maxItems":
		return true, count(v, &p.a.max)
	case "minProperties":
		return true, count(v, &p.o.min)
	case "maxProperties":
		return true, count(v, &p.o.max)
	case "minimum":
		return true, literal(v, &p.num.min)
	case "maximum":
		return true, literal(v, &p.num.max)
	case "exclusiveMinimum":
		return true, literal(v, &p.num.above)
	case "exclusiveMaximum":
		return true, literal(v, &p.num.below)
	case "multipleOf":
		return true, literal(v, &p.num.multiple) && p.num.multiple.rat.Sign() > 0
	}
	return false, false
}

func count(v value.Value, to *int) bool {
	n, err := strconv.Atoi(string(v.Raw()))
	*to = n
	return v.Kind() == value.Number && err == nil && n >= 0
}

func literal(v value.Value, to **bound) bool {
	if v.Kind() != value.Number || wildExponent(v.Raw()) {
		return false
	}
	r, ok := new(big.Rat).SetString(string(v.Raw()))
	if ok {
		*to = newBound(r)
	}
	return ok
}

// format takes the library's check of a known format; others assert nothing.
func (p *plain) format(v value.Value) bool {
	p.n.format = knownFormats()[v.Str()]
	return v.Kind() == value.String
}

// annotation reports keywords that do not constrain: the well-formed ones of
// the standard, and names that no draft knows.
func annotation(key string, v value.Value) bool {
	switch key {
	case "title", "description", "$comment":
		return v.Kind() == value.String
	case "default":
		return tame(v)
	case "examples":
		return v.Kind() == value.Array && tame(v)
	case "deprecated", "readOnly", "writeOnly":
		return v.Kind() == value.Bool
	case "$schema":
		switch strings.TrimSuffix(v.Str(), "#") {
		case "https://json-schema.org/draft/2020-12/schema", "http://json-schema.org/draft-07/schema":
			return true
		}
		return false
	case "optional", "nullable", "example", "strict", "propertyOrdering":
		return tame(v)
	}
	return strings.HasPrefix(key, "x-") && tame(v)
}

func (p *plain) done() *node {
	p.o.require(p.required)
	if !p.o.empty() {
		p.o.finish()
		p.n.obj = &p.o
	}
	if !p.a.empty() {
		p.n.arr = &p.a
	}
	if p.s.min >= 0 || p.s.max >= 0 || p.s.re != nil {
		p.n.str = &p.s
	}
	if p.num != (numberRules{}) {
		p.n.num = &p.num
	}
	p.n.seal()
	return p.n
}

// plainRoot compiles a whole document and its rules for properties; nil leaves it to the library.
func plainRoot(v value.Value) *Schema {
	for _, key := range []string{"allOf", "anyOf", "oneOf"} {
		if _, has := v.Get(key); has { // they may declare properties too
			return nil
		}
	}
	n := plainNode(v)
	if n == nil {
		return nil
	}
	s := &Schema{fast: n, props: map[string]*Property{}}
	ps, _ := v.Get("properties")
	i := 0
	for m, ok := ps.First(); ok; m, ok = ps.Next(m) { // in the order of n's properties
		s.order = append(s.order, m.Key())
		s.props[m.Key()] = plainProperty(m, n.obj.props[i].n.format != nil)
		i++
	}
	req, _ := v.Get("required")
	for x, ok := req.First(); ok; x, ok = req.Next(x) {
		s.need = append(s.need, x.Str())
	}
	return s
}

func plainProperty(v value.Value, asserted bool) *Property {
	p := &Property{Name: v.Key()}
	p.Types = plainTypes(v, 0).names()
	if d, ok := v.Get("default"); ok {
		p.Default = d.Raw()
	}
	d, _ := v.Get("description")
	p.Description = d.Str()
	enum, has := v.Get("enum")
	for x, ok := enum.First(); ok; x, ok = enum.Next(x) {
		p.Enum = append(p.Enum, x.Raw())
	}
	_, constant := v.Get("const")
	_, pattern := v.Get("pattern")
	p.Constrained = has || constant || pattern || asserted
	return p
}

// plainTypes is typesOf of a schema that is not compiled by the library.
func plainTypes(v value.Value, hops int) typeMask {
	if hops > maxHops {
		return maskAny
	}
	if t, ok := v.Get("type"); ok {
		m := typeBit(t.Str())
		for x, more := t.First(); more; x, more = t.Next(x) {
			m |= typeBit(x.Str())
		}
		return m
	}
	all, _ := v.Get("allOf")
	for x, ok := all.First(); ok; x, ok = all.Next(x) {
		if m := plainTypes(x, hops+1); m != maskAny {
			return m
		}
	}
	for _, key := range []string{"anyOf", "oneOf"} {
		m := maskAny
		choices, _ := v.Get(key)
		for x, ok := choices.First(); ok; x, ok = choices.Next(x) {
			of := plainTypes(x, hops+1)
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

// names are the types of a mask; nil for any.
func (m typeMask) names() []string {
	var out []string
	for _, name := range []string{"null", "boolean", "number", "integer", "string", "array", "object"} {
		if m&typeBit(name) != 0 {
			out = append(out, name)
		}
	}
	return out
}
