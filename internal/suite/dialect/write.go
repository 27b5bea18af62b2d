// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package dialect

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"

	"github.com/callvet/callvet"
	"github.com/go-json-experiment/json/jsontext"
)

// Record is an object being written, keys in order.
type Record []Pair

// Pair is a key with the JSON text of its value.
type Pair struct {
	Key string
	Val []byte
}

// Raw adds a key with JSON text; nil adds nothing.
func (o *Record) Raw(key string, v []byte) {
	if v != nil {
		*o = append(*o, Pair{key, v})
	}
}

// Str adds a string; "" adds nothing.
func (o *Record) Str(key, s string) {
	if s != "" {
		o.Raw(key, Quote(s))
	}
}

// Strs adds a list of strings; nil adds nothing.
func (o *Record) Strs(key string, s []string) {
	if s != nil {
		o.Raw(key, QuoteAll(s))
	}
}

// Groups adds a list of lists of strings; nil adds nothing.
func (o *Record) Groups(key string, g [][]string) {
	if g == nil {
		return
	}
	items := make([][]byte, len(g))
	for i := range g {
		items[i] = QuoteAll(g[i])
	}
	o.Raw(key, Array(items))
}

// Integer adds a whole number; nil adds nothing.
func (o *Record) Integer(key string, v *int) {
	if v != nil {
		o.Raw(key, strconv.AppendInt(nil, int64(*v), 10))
	}
}

// Number adds a number; nil, NaN and infinities add nothing.
func (o *Record) Number(key string, v *float64) {
	if v == nil {
		return
	}
	if b, err := json.Marshal(*v); err == nil { // only NaN and infinities fail; they have no JSON form
		o.Raw(key, b)
	}
}

// Truth adds true; false adds nothing.
func (o *Record) Truth(key string, v bool) {
	if v {
		o.Raw(key, []byte("true"))
	}
}

// Bytes is the object as compact JSON.
func (o Record) Bytes() []byte {
	out := []byte{'{'}
	for i, p := range o {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(append(append(out, Quote(p.Key)...), ':'), p.Val...)
	}
	return append(out, '}')
}

// Quote writes a JSON string.
func Quote(s string) []byte {
	b, err := jsontext.AppendQuote(nil, s)
	if err != nil { // invalid UTF-8 in a noun: AppendQuote has put U+FFFD for it
		return b
	}
	return b
}

// QuoteAll writes a JSON list of strings.
func QuoteAll(s []string) []byte {
	items := make([][]byte, len(s))
	for i := range s {
		items[i] = Quote(s[i])
	}
	return Array(items)
}

// Array writes a JSON list of JSON values.
func Array(items [][]byte) []byte {
	return append(append([]byte{'['}, bytes.Join(items, []byte{','})...), ']')
}

// Trusted wraps raw JSON of a noun for reading; ok is false when it is not one
// valid JSON value.
func Trusted(raw []byte) (Node, bool) {
	raw = bytes.TrimSpace(raw)
	if len(raw) == 0 || !jsontext.Value(raw).IsValid() {
		return Node{}, false
	}
	return Node{Raw: raw}, true
}

// overlay applies the differences between base and now to orig. base is the writer's output for
// the imported orig, now its output for the present one. Both come from the same writer, so equal
// bytes mean no change.
func overlay(orig, base, now []byte) []byte {
	if bytes.Equal(base, now) {
		return orig
	}
	o, b, n := Node{Raw: orig}, Node{Raw: base}, Node{Raw: now}
	switch {
	case o.Kind() == '{' && b.Kind() == '{' && n.Kind() == '{':
		return overlayObject(o, b, n)
	case o.Kind() == '[' && b.Kind() == '[' && n.Kind() == '[':
		oe, be, ne := o.Elements(), b.Elements(), n.Elements()
		if len(oe) != len(be) || len(be) != len(ne) {
			return now
		}
		items := make([][]byte, len(oe))
		for i := range oe {
			items[i] = overlay(oe[i].Raw, be[i].Raw, ne[i].Raw)
		}
		return Array(items)
	}
	return now
}

func overlayObject(o, b, n Node) []byte {
	var out Record
	base, now := b.Members(nil), n.Members(nil)
	find := func(ms []Member, key string) []byte {
		for _, m := range ms {
			if m.Name == key {
				return m.Val.Raw
			}
		}
		return nil
	}
	var seen []string
	for _, m := range o.Members(nil) {
		seen = append(seen, m.Name)
		was, is := find(base, m.Name), find(now, m.Name)
		switch {
		case bytes.Equal(was, is):
			out.Raw(m.Name, m.Val.Raw)
		case is == nil: // dropped
		case was == nil:
			out.Raw(m.Name, is)
		default:
			out.Raw(m.Name, overlay(m.Val.Raw, was, is))
		}
	}
	for _, m := range now {
		if !slices.Contains(seen, m.Name) && !bytes.Equal(find(base, m.Name), m.Val.Raw) {
			out.Raw(m.Name, m.Val.Raw)
		}
	}
	return out.Bytes()
}

// Pretty indents a document for people and ends it with a newline.
func Pretty(raw []byte) ([]byte, error) {
	v := jsontext.Value(slices.Clone(raw))
	if err := v.Indent(jsontext.WithIndent("  ")); err != nil {
		return nil, fmt.Errorf("write suite: %w: %w", callvet.ErrInvalid, err)
	}
	return append(v, '\n'), nil
}

// Compact writes a value on one line.
func Compact(raw []byte) []byte {
	v := jsontext.Value(slices.Clone(raw))
	if err := v.Compact(); err != nil {
		return raw
	}
	return v
}

// SortedKeys gives the keys of m in order.
func SortedKeys[V any](m map[string]V) []string {
	return slices.Sorted(maps.Keys(m))
}
