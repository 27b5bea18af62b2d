// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package message

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/value"
)

// fields collects arguments that are written as text, one by one.
type fields struct {
	schema value.Value // of the offered tool's properties; of Kind Invalid where there is none
	out    []byte
	seen   map[string]bool
	twice  bool
}

// fieldsOf begins the arguments of a tool.
func (r *reader) fieldsOf(tool string) *fields {
	f := &fields{out: []byte{'{'}, seen: map[string]bool{}}
	if t := r.tools.Find(tool); t != nil {
		f.schema = properties(t)
	}
	return f
}

func properties(t *callvet.Tool) value.Value {
	schema, err := value.Parse(t.Parameters)
	if err != nil {
		return value.Value{}
	}
	props, _ := schema.Get("properties")
	return props
}

// only is the name of the argument of a tool with exactly one, else "".
func only(t *callvet.Tool) string {
	if t == nil {
		return ""
	}
	props := properties(t)
	if e, ok := props.First(); ok && props.Len() == 1 {
		return e.Key()
	}
	return ""
}

// needs reports whether a tool has required arguments.
func needs(t *callvet.Tool) bool {
	schema, err := value.Parse(t.Parameters)
	if err != nil {
		return false
	}
	req, _ := schema.Get("required")
	return req.Len() > 0
}

// add appends an argument with a value that is a text. The type is that of the tool's schema.
// Where the schema has none, an object, a list, a number or a boolean in JSON is one, and
// anything else is a text.
func (f *fields) add(key, text string) { f.raw(key, f.typed(key, text)) }

// text appends an argument that is always a text.
func (f *fields) text(key, text string) { f.raw(key, appendString(nil, text)) }

// json appends an argument that is JSON where it can be read as such.
func (f *fields) json(key, text string) {
	if t := strings.TrimSpace(text); value.Valid([]byte(t)) {
		f.raw(key, []byte(t))
		return
	}
	f.text(key, text)
}

func (f *fields) raw(key string, val []byte) {
	if f.seen[key] {
		f.twice = true
	}
	f.seen[key] = true
	if len(f.out) > 1 {
		f.out = append(f.out, ',')
	}
	f.out = append(append(appendString(f.out, key), ':'), val...)
}

// args are the arguments; nil where one occurs twice.
func (f *fields) args() json.RawMessage {
	if f.twice {
		return nil
	}
	return append(f.out, '}')
}

func (f *fields) typed(key, text string) []byte {
	prop, _ := f.schema.Get(key)
	types := typesOf(prop, nil, 0)
	plain := strings.TrimSpace(text)
	var v value.Value
	if len(plain) > 0 && plain[0] != '"' {
		v, _ = value.Parse([]byte(plain))
	}
	if len(types) == 0 {
		switch v.Kind() {
		case value.Object, value.Array, value.Number, value.Bool:
			return []byte(plain)
		}
		return appendString(nil, text)
	}
	if slices.Contains(types, "null") && (v.Kind() == value.Null || plain == "None") {
		return []byte("null")
	}
	if slices.Contains(types, "string") {
		return appendString(nil, text)
	}
	if slices.Contains(types, "boolean") && (strings.EqualFold(plain, "true") || strings.EqualFold(plain, "false")) {
		return []byte(strings.ToLower(plain)) // as Python spells it, too
	}
	if v.Kind() != value.Invalid {
		return []byte(plain)
	}
	return appendString(nil, text)
}

// typesOf are the types that a schema names, those of its alternatives included.
func typesOf(schema value.Value, types []string, depth int) []string {
	if depth > 3 {
		return types
	}
	t, _ := schema.Get("type")
	if t.Kind() == value.String {
		types = append(types, t.Str())
	}
	for e, ok := t.First(); ok && t.Kind() == value.Array; e, ok = t.Next(e) {
		types = append(types, e.Str())
	}
	for _, k := range [...]string{"anyOf", "oneOf"} {
		alt, _ := schema.Get(k)
		for e, ok := alt.First(); ok && alt.Kind() == value.Array; e, ok = alt.Next(e) {
			types = typesOf(e, types, depth+1)
		}
	}
	return types
}
