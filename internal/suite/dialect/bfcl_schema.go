// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package dialect

import (
	"encoding/json"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/value"
)

// tools reads a row's functions. Parameters become JSON Schema, and the declared types are kept
// with them.
func tools(v value.Value, language string) []callvet.Tool {
	fs, ok := v.Get("functions")
	if !ok {
		fs, _ = v.Get("function")
	}
	if fs.Kind() == value.Object { // one function, not in a list
		return []callvet.Tool{tool(fs, language)}
	}
	out := make([]callvet.Tool, 0, fs.Len())
	for f, ok := fs.First(); ok; f, ok = fs.Next(f) {
		out = append(out, tool(f, language))
	}
	return out
}

func tool(f value.Value, language string) callvet.Tool {
	t := callvet.Tool{Name: text(f, "name"), Description: text(f, "description")}
	if ps, ok := f.Get("parameters"); ok {
		t.Declared = json.RawMessage(ps.Raw())
		w := schemaWriter{language: language}
		w.schema(ps, true)
		t.Parameters = w.out
	}
	return t
}

// schemaWriter writes a declared type as JSON Schema, members in their order.
type schemaWriter struct {
	language string
	out      []byte
}

func (w *schemaWriter) raw(s string) { w.out = append(w.out, s...) }

func (w *schemaWriter) text(s string) {
	b, err := json.Marshal(s)
	if err != nil { // a string always marshals
		b = []byte(`""`)
	}
	w.out = append(w.out, b...)
}

// schema writes one declaration. Arguments of Java and JavaScript are texts in the language's own
// notation; the description contains that.
func (w *schemaWriter) schema(v value.Value, root bool) {
	if v.Kind() != value.Object {
		w.raw(`{}`)
		return
	}
	w.raw(`{`)
	sep := ""
	literal := w.language != "" && !root
	for m, ok := v.First(); ok; m, ok = v.Next(m) {
		key := m.Key()
		if !carried(key, literal) {
			continue
		}
		before := len(w.out)
		w.raw(sep)
		w.text(key)
		w.raw(`:`)
		if !w.member(key, m, v, literal) {
			w.out = w.out[:before]
			continue
		}
		sep = ","
	}
	w.raw(`}`)
}

// carried reports whether JSON Schema has the same keyword. A literal's own constraints are about
// the value, not about its text.
func carried(key string, literal bool) bool {
	switch key {
	case "type", "description":
		return true
	case "properties", "items", "required", "enum", "default", "minimum", "maximum", "minItems", "maxItems", "format",
		"pattern", "additionalProperties":
		return !literal
	}
	return false
}

// member writes a keyword's value; false when there is nothing to write.
func (w *schemaWriter) member(key string, m, of value.Value, literal bool) bool {
	switch key {
	case "type":
		return w.typ(m.Str(), literal)
	case "description":
		d := m.Str()
		if literal {
			d += literalNote(w.language, of)
		}
		w.text(d)
	case "properties":
		w.properties(m)
	case "items", "additionalProperties":
		if m.Kind() == value.Bool {
			w.raw(string(m.Raw()))
			return true
		}
		w.schema(m, false)
	case "required":
		w.names(m)
	default:
		w.raw(string(m.Raw()))
	}
	return true
}

func (w *schemaWriter) typ(name string, literal bool) bool {
	if literal {
		name = "string"
	}
	switch name {
	case "dict":
		name = "object"
	case "float":
		name = "number"
	case "tuple":
		name = "array"
	case "object", "number", "array", "string", "integer", "boolean", "null":
	default: // any, and unknown types
		return false
	}
	w.text(name)
	return true
}

// literalNote describes in what notation the text is expected.
func literalNote(language string, of value.Value) string {
	name := "Java"
	if language == "javascript" {
		name = "JavaScript"
	}
	note := " (a " + name + " value of type " + text(of, "type") + ", written as source text"
	items, _ := of.Get("items")
	if inner := text(items, "type"); inner != "" {
		note += "; elements of type " + inner
	}
	return note + ")"
}

func (w *schemaWriter) properties(m value.Value) {
	w.raw(`{`)
	sep := ""
	for p, ok := m.First(); ok; p, ok = m.Next(p) {
		w.raw(sep)
		w.text(p.Key())
		w.raw(`:`)
		w.schema(p, false)
		sep = ","
	}
	w.raw(`}`)
}

// names writes required names, each once.
func (w *schemaWriter) names(m value.Value) {
	w.raw(`[`)
	seen := map[string]bool{}
	for x, ok := m.First(); ok; x, ok = m.Next(x) {
		if name := x.Str(); x.Kind() == value.String && !seen[name] {
			if len(seen) > 0 {
				w.raw(`,`)
			}
			seen[name] = true
			w.text(name)
		}
	}
	w.raw(`]`)
}
