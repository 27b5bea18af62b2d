// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package library

import (
	"fmt"
	"slices"

	jsonx "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/value"
)

// Diff is the difference between two versions of a suite.
type Diff struct {
	// Suite names the changed fields other than cases and tools: name, system_prompt, …
	Suite []string `json:"suite"`
	Tools Changes  `json:"tools"`
	Cases Changes  `json:"cases"`
}

// Changes are by the names of tools or the ids of cases.
type Changes struct {
	Added   []string `json:"added"`
	Removed []string `json:"removed"`
	Changed []Change `json:"changed"`
}

// Change lists the changed fields of one tool or case.
type Change struct {
	Name   string   `json:"name"`
	Fields []string `json:"fields"`
}

// Compare returns the changes from one version to another. Differences of white space and of the
// order of keys are no change.
func Compare(from, to *Document) (*Diff, error) {
	a, b := from, to
	if a.Form != b.Form {
		for _, d := range []**Document{&a, &b} {
			own := **d
			if err := own.Own(); err != nil {
				return nil, err
			}
			*d = &own
		}
	}
	out := &Diff{Suite: []string{}}
	for _, name := range names(a, b) {
		if name != "tools" && !same(a.Get(name), b.Get(name)) {
			out.Suite = append(out.Suite, name)
		}
	}
	was, err := a.tools()
	if err != nil {
		return nil, err
	}
	is, err := b.tools()
	if err != nil {
		return nil, err
	}
	out.Tools = changes(was, is)
	out.Cases = changes(a.named(), b.named())
	return out, nil
}

func names(a, b *Document) (out []string) {
	for _, d := range []*Document{a, b} {
		for _, m := range d.members {
			if !slices.Contains(out, m.name) {
				out = append(out, m.name)
			}
		}
	}
	return out
}

// part is a tool or a case with its name.
type part struct {
	name string
	raw  jsontext.Value
}

func (d *Document) named() []part {
	out := make([]part, len(d.Cases))
	for i, id := range d.IDs() {
		out[i] = part{id, d.Cases[i]}
	}
	return out
}

func (d *Document) tools() ([]part, error) {
	list, err := elements(d.Get("tools"))
	if err != nil {
		return nil, err
	}
	out := make([]part, len(list))
	for i, raw := range list {
		var t struct {
			Name     string `json:"name"`
			Function struct {
				Name string `json:"name"`
			} `json:"function"`
		}
		_ = jsonx.Unmarshal(raw, &t) // one of another form has no name
		out[i] = part{t.Name + t.Function.Name, raw}
	}
	return out, nil
}

// elements returns the elements of a list; none for nil.
func elements(raw jsontext.Value) ([]jsontext.Value, error) {
	var list []jsontext.Value
	if raw == nil {
		return nil, nil
	}
	if err := jsonx.Unmarshal(raw, &list); err != nil {
		return nil, fmt.Errorf("read list: %w: %w", callvet.ErrInvalid, err)
	}
	return list, nil
}

func changes(was, is []part) Changes {
	out := Changes{Added: []string{}, Removed: []string{}, Changed: []Change{}}
	old := map[string]jsontext.Value{}
	for _, p := range was {
		old[p.name] = p.raw
	}
	now := map[string]bool{}
	for _, p := range is {
		now[p.name] = true
		before, there := old[p.name]
		switch {
		case !there:
			out.Added = append(out.Added, p.name)
		case !same(before, p.raw):
			out.Changed = append(out.Changed, Change{p.name, fieldsChanged(before, p.raw)})
		}
	}
	for _, p := range was {
		if !now[p.name] {
			out.Removed = append(out.Removed, p.name)
		}
	}
	return out
}

func fieldsChanged(was, is jsontext.Value) []string {
	var a, b map[string]jsontext.Value
	if jsonx.Unmarshal(was, &a) != nil || jsonx.Unmarshal(is, &b) != nil {
		return []string{}
	}
	out := []string{}
	for _, m := range []map[string]jsontext.Value{a, b} {
		for name := range m {
			if !slices.Contains(out, name) && !same(a[name], b[name]) {
				out = append(out, name)
			}
		}
	}
	slices.Sort(out)
	return out
}

// same compares two JSON texts as values; nil is equal only to nil.
func same(a, b jsontext.Value) bool {
	if a == nil || b == nil {
		return a == nil && b == nil
	}
	x, err := value.Parse(a)
	if err != nil {
		return false
	}
	y, err := value.Parse(b)
	return err == nil && value.Equal(x, y)
}
