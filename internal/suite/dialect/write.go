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

// record is an object being written, keys in order.
type record []pair

type pair struct {
	key string
	val []byte
}

func (o *record) raw(key string, v []byte) {
	if v != nil {
		*o = append(*o, pair{key, v})
	}
}

func (o *record) str(key, s string) {
	if s != "" {
		o.raw(key, quote(s))
	}
}

func (o *record) strs(key string, s []string) {
	if s != nil {
		o.raw(key, quoteAll(s))
	}
}

func (o *record) groups(key string, g [][]string) {
	if g == nil {
		return
	}
	items := make([][]byte, len(g))
	for i := range g {
		items[i] = quoteAll(g[i])
	}
	o.raw(key, array(items))
}

func (o *record) integer(key string, v *int) {
	if v != nil {
		o.raw(key, strconv.AppendInt(nil, int64(*v), 10))
	}
}

func (o *record) number(key string, v *float64) {
	if v == nil {
		return
	}
	if b, err := json.Marshal(*v); err == nil { // only NaN and infinities fail; they have no JSON form
		o.raw(key, b)
	}
}

func (o *record) truth(key string, v bool) {
	if v {
		o.raw(key, []byte("true"))
	}
}

func (o record) bytes() []byte {
	out := []byte{'{'}
	for i, p := range o {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(append(append(out, quote(p.key)...), ':'), p.val...)
	}
	return append(out, '}')
}

func quote(s string) []byte {
	b, err := jsontext.AppendQuote(nil, s)
	if err != nil { // invalid UTF-8 in a noun: AppendQuote has put U+FFFD for it
		return b
	}
	return b
}

func quoteAll(s []string) []byte {
	items := make([][]byte, len(s))
	for i := range s {
		items[i] = quote(s[i])
	}
	return array(items)
}

func array(items [][]byte) []byte {
	return append(append([]byte{'['}, bytes.Join(items, []byte{','})...), ']')
}

// trusted wraps raw JSON of a noun for reading; ok is false when it is not one
// valid JSON value.
func trusted(raw []byte) (node, bool) {
	raw = bytes.TrimSpace(raw)
	if len(raw) == 0 || !jsontext.Value(raw).IsValid() {
		return node{}, false
	}
	return node{raw: raw}, true
}

// overlay gives orig with what differs between base and now laid over it. base
// is what the writer makes of orig as it was imported, now what it makes of it
// today; both come from the same writer, so equal bytes mean no change.
func overlay(orig, base, now []byte) []byte {
	if bytes.Equal(base, now) {
		return orig
	}
	o, b, n := node{raw: orig}, node{raw: base}, node{raw: now}
	switch {
	case o.kind() == '{' && b.kind() == '{' && n.kind() == '{':
		return overlayObject(o, b, n)
	case o.kind() == '[' && b.kind() == '[' && n.kind() == '[':
		oe, be, ne := o.elements(), b.elements(), n.elements()
		if len(oe) != len(be) || len(be) != len(ne) {
			return now
		}
		items := make([][]byte, len(oe))
		for i := range oe {
			items[i] = overlay(oe[i].raw, be[i].raw, ne[i].raw)
		}
		return array(items)
	}
	return now
}

func overlayObject(o, b, n node) []byte {
	var out record
	base, now := b.members(nil), n.members(nil)
	find := func(ms []member, key string) []byte {
		for _, m := range ms {
			if m.name == key {
				return m.val.raw
			}
		}
		return nil
	}
	var seen []string
	for _, m := range o.members(nil) {
		seen = append(seen, m.name)
		was, is := find(base, m.name), find(now, m.name)
		switch {
		case bytes.Equal(was, is):
			out.raw(m.name, m.val.raw)
		case is == nil: // dropped
		case was == nil:
			out.raw(m.name, is)
		default:
			out.raw(m.name, overlay(m.val.raw, was, is))
		}
	}
	for _, m := range now {
		if !slices.Contains(seen, m.name) && !bytes.Equal(find(base, m.name), m.val.raw) {
			out.raw(m.name, m.val.raw)
		}
	}
	return out.bytes()
}

// pretty indents a document for people and ends it with a newline.
func pretty(raw []byte) ([]byte, error) {
	v := jsontext.Value(slices.Clone(raw))
	if err := v.Indent(jsontext.WithIndent("  ")); err != nil {
		return nil, fmt.Errorf("write suite: %w: %w", callvet.ErrInvalid, err)
	}
	return append(v, '\n'), nil
}

// compact writes a value on one line.
func compact(raw []byte) []byte {
	v := jsontext.Value(slices.Clone(raw))
	if err := v.Compact(); err != nil {
		return raw
	}
	return v
}

func sortedKeys[V any](m map[string]V) []string {
	return slices.Sorted(maps.Keys(m))
}
