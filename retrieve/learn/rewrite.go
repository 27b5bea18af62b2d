// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package learn

import (
	"bytes"
	"fmt"
	"slices"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/retrieve"
	"github.com/callvet/callvet/value"
)

// RewriteFile returns the text of a catalog's file with the edits applied; every other byte is
// unchanged. file names it in messages. Errors are the errors of retrieve.LoadCatalogue and
// ApplyEdits.
func RewriteFile(file string, data []byte, edits []Edit) ([]byte, error) {
	c, _, err := retrieve.LoadCatalogue(file, data)
	if err != nil {
		return nil, err
	}
	want, err := ApplyEdits(c, edits)
	if err != nil {
		return nil, err
	}
	root, err := value.Parse(data)
	if err != nil {
		return nil, fmt.Errorf("read catalogue %s: %w: %w", file, callvet.ErrInvalid, err)
	}
	listed := tools(root)
	if len(listed) != len(c.Entries) {
		return nil, fmt.Errorf("write catalogue %s: %w: its form cannot be edited", file, callvet.ErrInvalid)
	}
	byTool := map[string]*Edit{}
	for i := range edits {
		byTool[edits[i].Tool] = &edits[i]
	}
	var all splices
	for i, t := range listed {
		if e := byTool[c.Entries[i].Tool.Name]; e != nil {
			if all, err = all.tool(data, t, e); err != nil {
				return nil, e.problem("", "the edit of %s: %v", clip(e.Tool), err)
			}
		}
	}
	out := all.apply(data)
	return out, confirm(file, out, want)
}

// confirm reads the new text: its content must equal the measured catalog.
func confirm(file string, out []byte, want *retrieve.Catalogue) error {
	got, _, err := retrieve.LoadCatalogue(file, out)
	if err != nil {
		return fmt.Errorf("read the edited catalogue again: %w", err)
	}
	for i := range want.Entries {
		w, g := want.Entries[i], got.Entries[i]
		w.ID = ""
		if w.EmbeddingText() != g.EmbeddingText() || w.Tool.Name != g.Tool.Name ||
			w.Tool.Description != g.Tool.Description || w.Title != g.Title ||
			!slices.Equal(w.Keywords, g.Keywords) || !slices.Equal(w.Examples, g.Examples) ||
			!sameJSON(w.Tool.Parameters, g.Tool.Parameters) {
			return fmt.Errorf("write catalogue: %w: tool %s would not become what was measured", callvet.ErrConflict,
				clip(g.Tool.Name))
		}
	}
	return nil
}

func sameJSON(a, b []byte) bool {
	x, err := value.Parse(a)
	y, err2 := value.Parse(b)
	return bytes.Equal(a, b) || err == nil && err2 == nil && value.Equal(x, y)
}

// splice is a replacement of data[from:to].
type splice struct {
	from, to int
	text     []byte
}

type splices []splice

// tools are the objects of the tools in any form that package catalogue reads, in its
// order.
func tools(root value.Value) []value.Value {
	if inner, ok := root.Get("result"); ok && inner.Kind() == value.Object {
		if _, ok := inner.Get("tools"); ok { // of JSON-RPC
			root = inner
		}
	}
	if root.Kind() == value.Array {
		return within(root)
	}
	var out []value.Value
	lists := false
	for m, ok := root.First(); ok; m, ok = root.Next(m) {
		if m.KeyIs("tools") || m.KeyIs("functions") {
			lists = true
			out = append(out, within(m)...)
		}
	}
	if !lists { // one tool alone
		return []value.Value{root}
	}
	return out
}

func within(v value.Value) (out []value.Value) {
	for m, ok := v.First(); ok; m, ok = v.Next(m) {
		out = append(out, m)
	}
	return out
}

// entry is the object of a tool, and the inner object of OpenAI's form.
type entry struct{ outer, inner value.Value }

// place finds the first of the keys that the tool has, and its object; without any, it returns the
// first key and the object in.
func (t *entry) place(in value.Value, keys ...string) (value.Value, string) {
	for _, key := range keys {
		for _, object := range []value.Value{t.outer, t.inner} {
			if m, ok := object.Get(key); ok && m.Kind() != value.Null {
				return object, key
			}
		}
	}
	return in, keys[0]
}

// has reports whether a tool has one of the keys.
func (t *entry) has(keys ...string) bool {
	in, _ := t.place(value.Value{}, keys...)
	return in.Kind() == value.Object
}

// tool adds the changes of an edit to the object of its tool.
func (s splices) tool(data []byte, v value.Value, e *Edit) (splices, error) {
	t := entry{outer: v, inner: v}
	if f, ok := v.Get("function"); ok && f.Kind() == value.Object {
		t.inner = f
	}
	var err error
	set := func(text []byte, in value.Value, keys ...string) {
		object, key := t.place(in, keys...)
		next, serr := s.member(data, object, key, text)
		if s = next; err == nil {
			err = serr
		}
	}
	ids, title := []string{"name", "tool_name"}, []string{"title"}
	if t.has("tool_id", "id") {
		if !t.has("title") { // the name is used instead
			title = ids
		}
		ids = []string{"tool_id", "id"}
	}
	if e.Name != nil {
		set(quote(*e.Name), t.inner, ids...)
	}
	if e.Title != nil {
		set(quote(*e.Title), t.outer, title...)
	}
	if e.Description != nil {
		set(quote(*e.Description), t.inner, "description")
	}
	if e.Keywords != nil {
		set(listOf(e.Keywords), t.outer, "keywords")
	}
	if e.Examples != nil {
		set(listOf(e.Examples), t.outer, "example_queries", "examples")
	}
	if object, key := t.place(value.Value{}, "parameters", "inputSchema", "input_schema", "args",
		"schema"); len(e.Parameters) > 0 && err == nil {
		schema, _ := object.Get(key)
		text := bytes.Clone(schema.Raw())
		for _, p := range e.Parameters {
			if text, err = describe(text, p); err != nil {
				return s, err
			}
		}
		s = append(s, splice{schema.Offset(), schema.Offset() + len(schema.Raw()), text})
	}
	return s, err
}

// listOf is a JSON list on one line.
func listOf(list []string) []byte {
	b := []byte{'['}
	for i, s := range list {
		if i > 0 {
			b = append(b, ", "...)
		}
		b = append(b, quote(s)...)
	}
	return append(b, ']')
}

// member sets a member of an object, the last of its name, or adds it at the end in
// the layout of the others.
func (s splices) member(data []byte, object value.Value, key string, text []byte) (splices, error) {
	var last, found value.Value
	for m, ok := object.First(); ok; m, ok = object.Next(m) {
		last = m
		if m.KeyIs(key) {
			found = m
		}
	}
	switch {
	case object.Kind() != value.Object:
		return s, fmt.Errorf("%s stands in no object", key)
	case found.Kind() != value.Invalid:
		return append(s, splice{found.Offset(), found.Offset() + len(found.Raw()), text}), nil
	case last.Kind() == value.Invalid:
		at := object.Offset() + 1
		return append(s, splice{at, at, slices.Concat(quote(key), []byte(": "), text)}), nil
	}
	space := data[object.Offset()+1:]
	space = space[:len(space)-len(bytes.TrimLeft(space, " \t\r\n"))]
	if !bytes.Contains(space, []byte{'\n'}) {
		space = []byte{' '}
	}
	at := last.Offset() + len(last.Raw())
	return append(s, splice{at, at, slices.Concat([]byte{','}, space, quote(key), []byte(": "), text)}), nil
}

// apply makes the replacements.
func (s splices) apply(data []byte) []byte {
	slices.SortStableFunc(s, func(a, b splice) int { return a.from - b.from })
	var out []byte
	at := 0
	for _, p := range s {
		out = append(append(out, data[at:p.from]...), p.text...)
		at = p.to
	}
	return append(out, data[at:]...)
}
