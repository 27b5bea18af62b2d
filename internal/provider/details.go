// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package provider

import (
	"slices"

	"github.com/callvet/callvet/value"
)

// reasoningDetails joins a model's reasoning that OpenRouter streams. The next request must contain
// it unchanged, with signatures, or the provider behind OpenRouter refuses the call after it.
type reasoningDetails []detail

// detail is one element of the list: its members as JSON, in their original order.
type detail struct {
	names []string
	raw   map[string][]byte
	text  map[string]string // of members that come in fragments
}

// growing reports whether the fragments of a member are joined.
func growing(name string) bool { return name == "text" || name == "summary" || name == "data" }

// add adds the elements of one event; true if there were any.
func (r *reasoningDetails) add(list value.Value) bool {
	if list.Kind() != value.Array {
		return false
	}
	for e, ok := list.First(); ok; e, ok = list.Next(e) {
		if e.Kind() == value.Object {
			r.of(e).take(e)
		}
	}
	return list.Len() > 0
}

// of finds the element that a fragment continues: the one of its type, and of its index if it has
// one; else the last.
func (r *reasoningDetails) of(e value.Value) *detail {
	same := func(d *detail, name string) bool { return string(d.raw[name]) == string(at(e, name).Raw()) }
	for i := len(*r) - 1; i >= 0; i-- {
		d := &(*r)[i]
		if same(d, "type") && same(d, "index") {
			return d
		}
		if _, numbered := e.Get("index"); !numbered {
			break
		}
	}
	*r = append(*r, detail{raw: map[string][]byte{}, text: map[string]string{}})
	return &(*r)[len(*r)-1]
}

func (d *detail) take(e value.Value) {
	for m, ok := e.First(); ok; m, ok = e.Next(m) {
		name := m.Key()
		if !slices.Contains(d.names, name) {
			d.names = append(d.names, name)
		} else if m.Kind() == value.Null {
			continue // a fragment without this member
		}
		if growing(name) && m.Kind() == value.String {
			d.text[name] += m.Str()
		}
		d.raw[name] = slices.Clone(m.Raw())
	}
}

// raw is the whole list; nil without any element.
func (r reasoningDetails) raw() []byte {
	if len(r) == 0 {
		return nil
	}
	b := []byte{'['}
	for i, d := range r {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, '{')
		for j, name := range d.names {
			if j > 0 {
				b = append(b, ',')
			}
			b = append(appendText(b, name), ':')
			if text, grows := d.text[name]; grows {
				b = appendText(b, text)
			} else {
				b = append(b, d.raw[name]...)
			}
		}
		b = append(b, '}')
	}
	return append(b, ']')
}
