// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package match

import (
	"strconv"
	"strings"

	"github.com/callvet/callvet/contract"
	"github.com/callvet/callvet/value"
)

// schema is a place in a tool's JSON Schema. Only the keywords that change comparisons are read:
// enum, const, pattern, format and default.
type schema struct {
	root, at value.Value
}

func rootSchema(v value.Value) schema { return schema{v, v}.resolved() }

// resolved follows local references, a few levels deep.
func (s schema) resolved() schema {
	for range 8 {
		ref, ok := s.at.Get("$ref")
		if !ok {
			break
		}
		at, ok := pointer(s.root, ref.Str())
		if !ok {
			return schema{root: s.root}
		}
		s.at = at
	}
	return s
}

func pointer(v value.Value, ref string) (value.Value, bool) {
	p, ok := strings.CutPrefix(ref, "#")
	if !ok {
		return value.Value{}, false
	}
	for _, seg := range strings.Split(p, "/")[1:] {
		seg = contract.Unescape(seg)
		if v.Kind() == value.Array {
			i, err := strconv.Atoi(seg)
			if v, ok = element(v, i); err != nil || !ok {
				return v, false
			}
		} else if v, ok = v.Get(seg); !ok {
			return v, false
		}
	}
	return v, true
}

func element(v value.Value, i int) (value.Value, bool) {
	if v.Kind() != value.Array || i < 0 || i >= v.Len() {
		return value.Value{}, false
	}
	e, _ := v.First()
	for range i {
		e, _ = v.Next(e)
	}
	return e, true
}

func (s schema) property(name string) schema {
	props, _ := s.at.Get("properties")
	p, _ := props.Get(name)
	return schema{s.root, p}.resolved()
}

func (s schema) item(i int) schema {
	for _, key := range [...]string{"prefixItems", "items"} {
		if tuple, ok := s.at.Get(key); ok && tuple.Kind() == value.Array {
			if e, ok := element(tuple, i); ok {
				return schema{s.root, e}.resolved()
			}
		}
	}
	items, _ := s.at.Get("items")
	if items.Kind() != value.Object {
		items, _ = s.at.Get("additionalItems")
	}
	return schema{s.root, items}.resolved()
}

// literal reports whether the spelling of a string matters: the schema has a pattern or format, or
// an enum with values that differ only in spelling.
func (s schema) literal() bool { return s.literalWithin(4) }

func (s schema) literalWithin(depth int) bool {
	if s.at.Kind() != value.Object || depth == 0 {
		return false
	}
	for _, k := range [...]string{"pattern", "format"} {
		if _, ok := s.at.Get(k); ok {
			return true
		}
	}
	if enum, ok := s.at.Get("enum"); ok && spellingMatters(enum) {
		return true
	}
	for _, k := range [...]string{"anyOf", "oneOf", "allOf"} {
		list, _ := s.at.Get(k)
		for e, ok := list.First(); ok && list.Kind() == value.Array; e, ok = list.Next(e) {
			if (schema{s.root, e}).resolved().literalWithin(depth - 1) {
				return true
			}
		}
	}
	return false
}

// spellingMatters reports whether two texts of an enum are equal after folding.
func spellingMatters(enum value.Value) bool {
	if enum.Kind() != value.Array {
		return false
	}
	seen := map[string]string{}
	for e, ok := enum.First(); ok; e, ok = enum.Next(e) {
		if e.Kind() != value.String {
			continue
		}
		folded := string(Fold(nil, e.Bytes()))
		if other, ok := seen[folded]; ok && other != e.Str() {
			return true
		}
		seen[folded] = e.Str()
	}
	return false
}

func (s schema) defaultValue() (value.Value, bool) { return s.at.Get("default") }
