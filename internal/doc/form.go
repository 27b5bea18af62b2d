// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package doc

import (
	"encoding/json"
	"math"
	"reflect"
	"strconv"
	"strings"
	"time"

	"github.com/callvet/callvet/value"
)

// Type is the form that values of a Go type have in JSON. It is immutable and safe
// for concurrent use.
type Type struct {
	root  *form
	nulls bool
}

// Of compiles the form of T. It panics for a T with an invalid form tag, which any test of the
// caller detects.
func Of[T any]() *Type { return of(reflect.TypeFor[T]()) }

func of(t reflect.Type) *Type { return &Type{root: compiler{}.form(t)} }

// WithNulls returns t for texts where null is an absent value everywhere, except in a required
// member.
func (t *Type) WithNulls() *Type { return &Type{root: t.root, nulls: true} }

// form is the form of one type.
type form struct {
	how  how
	kind value.Kind // what JSON must have; Invalid: any value
	// nilable types may be null.
	nilable  bool
	elem     *form   // of elements, of the values of a map, of a pointer's target
	fields   []field // of a struct
	known    []string
	names    *value.Names
	min, max float64
	whole    bool
	words    []string
	full     bool
	scalar   bool // of a text: numbers and booleans are accepted as written
}

// how a value is filled.
type how uint8

const (
	asText how = iota
	asBool
	asInt
	asUint
	asFloat
	asTime
	asRaw
	asAny
	asOwn   // by UnmarshalJSON
	asBytes // base64
	asSlice
	asMap
	asStruct
	asPointer
)

type field struct {
	name     string
	index    []int
	required bool
	*form
}

// maxFields is how many fields a struct may have: as many as reader.members counts.
const maxFields = 64

// compiler has the forms of the types so far: a type may contain itself.
type compiler map[reflect.Type]*form

func (c compiler) form(t reflect.Type) *form {
	if f := c[t]; f != nil {
		return f
	}
	f := &form{min: math.Inf(-1), max: math.Inf(1)}
	c[t] = f
	switch {
	case t == reflect.TypeFor[json.RawMessage]():
		f.how, f.nilable = asRaw, true
		return f
	case t == reflect.TypeFor[[]byte]():
		f.how, f.kind, f.nilable = asBytes, value.String, true
		return f
	case t == reflect.TypeFor[time.Time]():
		f.how, f.kind = asTime, value.String
		return f
	case reflect.PointerTo(t).Implements(reflect.TypeFor[json.Unmarshaler]()) && t.Kind() != reflect.Pointer:
		f.how, f.nilable = asOwn, true
		return f
	}
	switch t.Kind() {
	case reflect.String:
		f.how, f.kind = asText, value.String
	case reflect.Bool:
		f.how, f.kind = asBool, value.Bool
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		top := math.Ldexp(1, min(t.Bits(), 54)-1) // above 2^53 a float64 skips numbers
		f.how, f.kind, f.whole, f.min, f.max = asInt, value.Number, true, -top, top-1
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		f.how, f.kind, f.whole, f.min, f.max = asUint, value.Number, true, 0, math.Ldexp(1, min(t.Bits(), 53))-1
	case reflect.Float32, reflect.Float64:
		f.how, f.kind = asFloat, value.Number
	case reflect.Interface:
		f.how, f.nilable = asAny, true
	case reflect.Pointer:
		f.how, f.nilable, f.elem = asPointer, true, c.form(t.Elem())
	case reflect.Slice:
		f.how, f.kind, f.nilable, f.elem = asSlice, value.Array, true, c.form(t.Elem())
	case reflect.Map:
		f.how, f.kind, f.nilable, f.elem = asMap, value.Object, true, c.form(t.Elem())
	case reflect.Struct:
		f.how, f.kind = asStruct, value.Object
		c.members(f, t, nil)
		if len(f.fields) > maxFields {
			panic("typed: " + t.String() + " has too many fields")
		}
		for i := range f.fields {
			f.known = append(f.known, f.fields[i].name)
		}
		f.names = value.NamesOf(f.known)
	default:
		panic("typed: JSON has no form for " + t.String())
	}
	return f
}

// members appends the fields of a struct, including fields of embedded structs.
func (c compiler) members(f *form, t reflect.Type, above []int) {
	for i := range t.NumField() {
		sf := t.Field(i)
		index := append(append([]int(nil), above...), i)
		name, _, _ := strings.Cut(sf.Tag.Get("json"), ",")
		switch {
		case sf.Anonymous && name == "":
			c.members(f, sf.Type, index)
			continue
		case !sf.IsExported() || name == "-":
			continue
		case name == "":
			name = sf.Name
		}
		f.fields = append(f.fields, fieldOf(name, index, sf.Tag.Get("form"), c.form(sf.Type)))
	}
}

// fieldOf applies a form tag; it belongs to the field, not to the type. For a pointer, a list or
// a map it applies to the elements.
func fieldOf(name string, index []int, tag string, f *form) field {
	out := field{name: name, index: index, form: f}
	if tag == "" {
		return out
	}
	own := *f
	out.form = &own
	target := &own
	if own.elem != nil && own.elem.how != asStruct { // a struct may be incomplete yet
		elem := *own.elem
		own.elem, target = &elem, &elem
	}
	for part := range strings.FieldsSeq(tag) {
		key, arg, _ := strings.Cut(part, "=")
		switch n, err := strconv.ParseFloat(arg, 64); {
		case part == "required":
			out.required = true
		case part == "whole":
			target.whole = true
		case part == "full":
			target.full = true
		case part == "scalar":
			target.scalar = true
		case key == "words":
			target.words = strings.Split(arg, "|")
		case key == "min" && err == nil:
			target.min = n
		case key == "max" && err == nil:
			target.max = n
		default:
			panic("typed: the form of " + name + " has " + strconv.Quote(part) + ", which means nothing")
		}
	}
	return out
}
