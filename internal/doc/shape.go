// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package doc

import (
	"fmt"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// Shapes read and write files with a JSON Schema as their format. The schema is the only list of
// keys:
//
//	JSON Schema ─────┬► Shape ─┬► Reader   file ─► nouns, with all problems
//	json tags ───────┘         └► Builder  nouns ─► file, keys in the order of the schema
//
// A key belongs to the field with its name as json tag. A key without a field is read by code of
// the caller, or it is only checked.

// how a value of a schema is read.
type reading uint8

const (
	readAny       reading = iota // unchanged
	readText                     // text; null is ""
	readLabel                    // text, or a number or boolean as it is written
	readWord                     // one of a few
	readFlag                     // true or false
	readInteger                  // a whole number
	readNumber                   // a number
	readTexts                    // a list of labels
	readOneOrMore                // text, or a list of labels
	readGroups                   // a list of lists of labels
	readArguments                // a mapping, unchanged
	readList                     // a list of elem
	readMap                      // a mapping of any names to elem
	readKeys                     // a mapping with known keys
)

// Shape is a form of a schema, with the places of its values in a Go type.
type Shape struct {
	Name      string   // in $defs; for use by name in code
	Keys      []Key    // of a mapping
	Known     []string // the names of Keys
	Words     []string // the allowed words; nil: any
	Elem      *Shape   // of a list, or of a mapping of any names
	null      bool     // null means an absent value
	reading   reading
	low, high float64
}

// Key is a key of a mapping.
type Key struct {
	Name  string
	Shape *Shape
	Field []int  // the index of its field; nil: it has none
	tag   string // the options of the field's json tag
	// Flat keys are mappings without a field, but with keys that have one.
	Flat bool
	// written: files are written with this key of its field; several keys can be read into one
	// field.
	written bool
}

// Key returns the key with a name, or nil.
func (s *Shape) Key(name string) *Key {
	for i := range s.Keys {
		if s.Keys[i].Name == name {
			return &s.Keys[i]
		}
	}
	return nil
}

// Format is a JSON Schema with the Go types of its keys.
type Format struct {
	Schema []byte
	// Types are the Go types of values, by the name of their form in $defs; "" is the whole.
	Types map[string]reflect.Type
	// Flat are keys of mappings that have no field: the keys in these mappings are fields of the
	// struct above, with the key and _ before their name or without.
	Flat []string
	// Other returns the json tag of a key with a name that differs from its field; "" for others.
	// above is the flat key that it is below.
	Other func(above, key string) string
}

// Shapes compiles the forms of all Types. It panics for a schema that is no JSON, which any test
// detects.
func (f Format) Shapes() map[string]*Shape {
	d, bad := ReadJSON("schema.json", f.Schema)
	if bad != nil {
		panic(bad)
	}
	c := shaper{Format: f, root: &d.Root, done: map[string]*Shape{}}
	out := map[string]*Shape{}
	for name, t := range f.Types {
		in := &d.Root
		if name != "" {
			in = in.Get("$defs").Get(name)
		}
		out[name] = c.shape(name, in, t)
	}
	return out
}

// List is a list of a shape.
func (s *Shape) List() *Shape { return &Shape{reading: readList, Elem: s} }

type shaper struct {
	Format
	root *Node
	done map[string]*Shape
}

// resolve follows references.
func (c *shaper) resolve(name string, in *Node) (string, *Node) {
	for in.Get("$ref") != nil {
		at := strings.Split(in.Get("$ref").Text(), "/")[1:]
		name, in = at[len(at)-1], c.root
		for _, key := range at {
			in = in.Get(key)
		}
	}
	return name, in
}

// shape compiles a schema for values of t; nil: values are only checked.
func (c *shaper) shape(name string, in *Node, t reflect.Type) *Shape {
	name, in = c.resolve(name, in)
	for t != nil && t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	id := fmt.Sprint(name, " of ", t)
	if s := c.done[id]; s != nil {
		return s
	}
	s := &Shape{Name: name, low: math.Inf(-1), high: math.Inf(1)}
	c.done[id] = s
	c.fill(s, in, t)
	return s
}

func (c *shaper) fill(s *Shape, in *Node, t reflect.Type) {
	types := textsOf(in.Get("type"))
	s.null = slices.Contains(types, "null")
	s.low = bound(s.low, in.Get("minimum"), in.Get("exclusiveMinimum"))
	s.high = bound(s.high, in.Get("maximum"))
	more := in.Get("additionalProperties")
	switch {
	case in.Get("enum") != nil:
		s.reading, s.Words = readWord, textsOf(in.Get("enum"))
	case textsOf(in.Get("const")) != nil:
		s.reading, s.Words = readWord, textsOf(in.Get("const"))
	case in.Get("properties") != nil:
		s.reading = readKeys
		c.keys(s, in.Get("properties"), t, "")
		taken := map[string]bool{}
		s.choose(taken, false)
		s.choose(taken, true)
	case in.Get("anyOf") != nil && types == nil:
		c.choice(s, in.Get("anyOf"), t)
	case more != nil && more.Kind == Map:
		s.reading, s.Elem = readMap, c.shape(s.Name+"{}", more, elemOf(t, reflect.Map))
	case in.Get("items") != nil:
		s.reading, s.Elem = readList, c.shape(s.Name+"[]", in.Get("items"), elemOf(t, reflect.Slice))
		switch s.Elem.reading {
		case readText, readLabel:
			s.reading = readTexts
		case readTexts:
			s.reading = readGroups
		}
	default:
		s.reading = plainReading(types)
	}
}

// choice is a value of several forms: text or texts, or a mapping or list; code reads the other
// forms of these.
func (c *shaper) choice(s *Shape, list *Node, t reflect.Type) {
	s.reading = readOneOrMore
	for i := range list.Items {
		one := c.shape(s.Name+"|"+strconv.Itoa(i), &list.Items[i], t)
		s.null = s.null || one.null
		if one.reading == readKeys || one.reading == readList {
			s.reading, s.Elem, s.Keys, s.Known = one.reading, one.Elem, one.Keys, one.Known
		}
	}
}

func plainReading(types []string) reading {
	has := func(t string) bool { return slices.Contains(types, t) }
	switch {
	case has("array"), has("boolean") && has("object"):
		return readAny
	case has("string") && has("number"):
		return readLabel
	case has("string"):
		return readText
	case has("integer"):
		return readInteger
	case has("number"):
		return readNumber
	case has("boolean"):
		return readFlag
	case has("object"):
		return readArguments
	}
	return readAny
}

// textsOf are the texts of a list, or a text alone; nil: there are none.
func textsOf(n *Node) []string {
	switch {
	case n == nil:
		return nil
	case n.Kind == String && n.Text() != "":
		return []string{n.Text()}
	}
	var out []string
	for i := range n.Items {
		out = append(out, textsOf(&n.Items[i])...)
	}
	return out
}

func bound(otherwise float64, of ...*Node) float64 {
	for _, n := range of {
		if n != nil {
			otherwise, _ = strconv.ParseFloat(string(n.Raw), 64)
		}
	}
	return otherwise
}

func elemOf(t reflect.Type, k reflect.Kind) reflect.Type {
	if t == nil || t.Kind() != k {
		return nil
	}
	return t.Elem()
}

// keys compiles the keys of a mapping for a struct; above is the flat key that they are below.
func (c *shaper) keys(s *Shape, list *Node, t reflect.Type, above string) {
	if t != nil && t.Kind() != reflect.Struct {
		t = nil
	}
	for i := range list.Names {
		k := Key{Name: list.Names[i].Name}
		var own reflect.Type
		if t != nil {
			own = c.bind(&k, t, above)
		}
		if k.Flat = k.Field == nil && t != nil && slices.Contains(c.Flat, k.Name); k.Flat {
			name, in := c.resolve(k.Name, &list.Items[i])
			k.Shape = &Shape{Name: name, reading: readKeys, null: slices.Contains(textsOf(in.Get("type")), "null")}
			c.keys(k.Shape, in.Get("properties"), t, k.Name)
		} else {
			k.Shape = c.shape(s.Name+"."+k.Name, &list.Items[i], own)
		}
		s.Keys, s.Known = append(s.Keys, k), append(s.Known, k.Name)
	}
}

// bind finds the field of a key, and returns its type.
func (c *shaper) bind(k *Key, t reflect.Type, above string) reflect.Type {
	names := []string{above + "_" + k.Name, k.Name}
	if c.Other != nil {
		names = append(names, c.Other(above, k.Name))
	}
	for _, name := range names {
		if sf, ok := fieldNamed(t, name); ok {
			k.Field = sf.Index
			_, k.tag, _ = strings.Cut(sf.Tag.Get("json"), ",")
			return sf.Type
		}
	}
	return nil
}

// fieldNamed is the field of a struct, or of its field call, with a name as json tag.
func fieldNamed(t reflect.Type, name string) (sf reflect.StructField, ok bool) {
	if name == "" {
		return sf, false
	}
	for i := range t.NumField() {
		sf := t.Field(i)
		switch tag, _, _ := strings.Cut(sf.Tag.Get("json"), ","); {
		case tag == name:
			return sf, true
		case tag == "call":
			if inner, ok := fieldNamed(sf.Type, name); ok {
				inner.Index = append(slices.Clone(sf.Index), inner.Index...)
				return inner, true
			}
		}
	}
	return sf, false
}

// choose chooses the key for each written field: the first one; those of flat keys last.
func (s *Shape) choose(taken map[string]bool, flat bool) {
	for i := range s.Keys {
		k := &s.Keys[i]
		if at := fmt.Sprint(k.Field); k.Field != nil && !taken[at] {
			k.written, taken[at] = true, true
		}
		if k.Flat && flat {
			k.Shape.choose(taken, true)
		}
	}
}
