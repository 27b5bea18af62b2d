// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package revise

import (
	"bytes"
	"fmt"
	"slices"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/retrieve"
	"github.com/callvet/callvet/retrieve/catalogue"
	"github.com/callvet/callvet/value"
)

// Rewrite gives the text of a catalog's file with the edits in it; every other byte
// stays as it was. file names it in messages. Errors are those of catalogue.Load and
// Apply.
func Rewrite(file string, data []byte, edits []Edit) ([]byte, error) {
	c, _, err := catalogue.Load(file, data)
	if err != nil {
		return nil, err
	}
	want, err := Apply(c, edits)
	if err != nil {
		return nil, err
	}
	root, err := value.Parse(data)
	if err != nil {
		return nil, fmt.Errorf("read catalogue %s: %w: %w", file, callvet.ErrInvalid, err)
	}
	list := root
	if root.Kind() == value.Object {
		list, _ = root.Get("tools")
	}
	byTool := map[string]*Edit{}
	for i := range edits {
		byTool[edits[i].Tool] = &edits[i]
	}
	var all splices
	i := 0
	for t, ok := list.First(); ok; t, ok = list.Next(t) {
		if e := byTool[c.Entries[i].Tool.Name]; e != nil {
			if all, err = all.tool(data, t, e); err != nil {
				return nil, e.problem("", "the edit of %s: %v", clip(e.Tool), err)
			}
		}
		i++
	}
	out := all.apply(data)
	return out, confirm(file, out, want)
}

// confirm reads what was written: a file that says something else than was measured
// must not come about.
func confirm(file string, out []byte, want *retrieve.Catalogue) error {
	got, _, err := catalogue.Load(file, out)
	if err != nil {
		return fmt.Errorf("read the edited catalogue again: %w", err)
	}
	for i := range want.Entries {
		w, g := want.Entries[i], got.Entries[i]
		w.ID = ""
		if w.EmbeddingText() != g.EmbeddingText() || w.Tool.Name != g.Tool.Name || w.Tool.Description != g.Tool.Description || w.Title != g.Title ||
			!slices.Equal(w.Keywords, g.Keywords) || !slices.Equal(w.Examples, g.Examples) || !sameJSON(w.Tool.Parameters, g.Tool.Parameters) {
			return fmt.Errorf("write catalogue: %w: tool %s would not become what was measured", callvet.ErrConflict, clip(g.Tool.Name))
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

// tool adds what an edit changes in the object of its tool.
func (s splices) tool(data []byte, t value.Value, e *Edit) (splices, error) {
	id, title := "name", "title"
	for _, key := range []string{"tool_id", "id"} {
		if v, ok := t.Get(key); ok && v.Kind() == value.String {
			id = key
		}
	}
	if _, ok := t.Get("title"); !ok && id != "name" {
		title = "name"
	}
	set := func(key string, text []byte) (err error) {
		s, err = s.member(data, t, key, text)
		return err
	}
	var err error
	keep := func(e error) {
		if err == nil {
			err = e
		}
	}
	for _, m := range []struct {
		key  string
		text *string
	}{{id, e.Name}, {title, e.Title}, {"description", e.Description}} {
		if m.text != nil {
			keep(set(m.key, quote(*m.text)))
		}
	}
	if e.Keywords != nil {
		keep(set("keywords", listOf(e.Keywords)))
	}
	if e.Examples != nil {
		keep(set(either(t, "examples", "example_queries"), listOf(e.Examples)))
	}
	if schema, ok := t.Get(either(t, "inputSchema", "parameters")); ok && len(e.Parameters) > 0 {
		text := bytes.Clone(schema.Raw())
		for _, p := range e.Parameters {
			next, derr := describe(text, p)
			if derr != nil {
				return s, derr
			}
			text = next
		}
		s = append(s, splice{schema.Offset(), schema.Offset() + len(schema.Raw()), text})
	}
	return s, err
}

// either is the key that an object has, else the usual one.
func either(v value.Value, other, usual string) string {
	if m, ok := v.Get(other); ok && m.Kind() != value.Null {
		return other
	}
	return usual
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
