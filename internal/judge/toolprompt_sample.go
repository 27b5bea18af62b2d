// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package judge

import (
	"encoding/json"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/callvet/callvet/value"
)

// maxDepth bounds how deep a schema is followed.
const maxDepth = 4

// sample are the required arguments of a call, in the order of the schema.
type sample []argument

type argument struct {
	name, text string // text is JSON
	// kind is the type of the schema, other a value of a different type or outside the enum.
	kind  string
	other string
}

// String is the sample as JSON.
func (a sample) String() string {
	parts := make([]string, len(a))
	for i, x := range a {
		parts[i] = quoted(x.name) + ": " + x.text
	}
	return "{" + strings.Join(parts, ", ") + "}"
}

// given are the arguments in the words of a user.
func (a sample) given() string {
	if len(a) == 0 {
		return ""
	}
	parts := make([]string, len(a))
	for i, x := range a {
		parts[i] = x.name + " is " + x.text
	}
	return " " + strings.Join(parts, ", ") + "."
}

// broken are variants of the sample with one mistake each: first an invalid value, then a missing
// argument, then an unknown one.
func (a sample) broken() (out []string) {
	for i, x := range a {
		if x.other != "" {
			b := slices.Clone(a)
			b[i].text = x.other
			out = append(out, b.String())
			break
		}
	}
	if len(a) > 0 {
		out = append(out, a[:len(a)-1].String())
	}
	return append(out, append(slices.Clone(a), argument{name: "note", text: `"…"`}).String())
}

func quoted(s string) string {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(s) // of a string it never fails
	return strings.TrimSpace(b.String())
}

// sampleObject contains the required properties of the schema's object; without any it contains
// the first property, so that it is not empty.
func sampleObject(schema value.Value, depth int) sample {
	props, ok := schema.Get("properties")
	if !ok || props.Kind() != value.Object {
		return nil
	}
	required := map[string]bool{}
	if list, ok := schema.Get("required"); ok && list.Kind() == value.Array {
		for e, ok := list.First(); ok; e, ok = list.Next(e) {
			required[e.Str()] = true
		}
	}
	var out sample
	for e, ok := props.First(); ok; e, ok = props.Next(e) {
		name := e.Key()
		if required[name] || len(required) == 0 && len(out) == 0 {
			out = append(out, sampled(name, e, depth))
		}
	}
	return out
}

// sampled is a value that a schema probably allows, found without a search.
func sampled(name string, schema value.Value, depth int) argument {
	x := argument{name: name, kind: kindOf(schema)}
	if c, ok := schema.Get("const"); ok {
		x.text = string(c.Raw())
		return x
	}
	if list, ok := schema.Get("enum"); ok && list.Kind() == value.Array {
		if first, ok := list.First(); ok {
			x.text, x.other = string(first.Raw()), `"something else"`
			return x
		}
	}
	if of, ok := choice(schema); ok && x.kind == "" && depth < maxDepth {
		return sampled(name, of, depth+1)
	}
	switch x.kind {
	case "integer", "number":
		x.text, x.other = sampledNumber(schema, x.kind == "integer"), `"many"`
	case "boolean":
		x.text, x.other = "true", `"yes"`
	case "array":
		x.text, x.other = sampledList(name, schema, depth), quoted("<"+name+">")
	case "object":
		x.text, x.other = "{}", quoted("<"+name+">")
		if depth < maxDepth {
			x.text = sampleObject(schema, depth+1).String()
		}
	default:
		x.text, x.other = sampledText(name, schema), "7"
	}
	return x
}

// choice is the first schema of several that a value may keep.
func choice(schema value.Value) (value.Value, bool) {
	for _, key := range []string{"anyOf", "oneOf", "allOf"} {
		if l, ok := schema.Get(key); ok && l.Kind() == value.Array {
			return l.First()
		}
	}
	return value.Value{}, false
}

// kindOf is the type of a schema; of several the first that is not null.
func kindOf(schema value.Value) string {
	t, ok := schema.Get("type")
	if !ok {
		return ""
	}
	if t.Kind() == value.Array {
		for e, ok := t.First(); ok; e, ok = t.Next(e) {
			if e.Str() != "null" {
				return e.Str()
			}
		}
	}
	return t.Str()
}

func sampledNumber(schema value.Value, whole bool) string {
	x := 1.0
	if least, ok := bound(schema, "minimum"); ok {
		x = least
	}
	if above, ok := bound(schema, "exclusiveMinimum"); ok {
		x = math.Floor(above) + 1
	}
	if most, ok := bound(schema, "maximum"); ok {
		x = math.Min(x, most)
	}
	if step, ok := bound(schema, "multipleOf"); ok && step > 0 {
		x = math.Ceil(x/step) * step
	}
	if whole {
		x = math.Ceil(x)
	}
	return strconv.FormatFloat(x, 'f', -1, 64)
}

func bound(schema value.Value, key string) (float64, bool) {
	v, ok := schema.Get(key)
	if !ok || v.Kind() != value.Number {
		return 0, false
	}
	return v.Float()
}

func sampledList(name string, schema value.Value, depth int) string {
	n := 1.0
	if least, ok := bound(schema, "minItems"); ok {
		n = min(max(least, 1), 8)
	}
	items, _ := schema.Get("items")
	one := quoted("<" + name + ">")
	if items.Kind() == value.Object && depth < maxDepth {
		one = sampled(name, items, depth+1).text
	}
	return "[" + strings.Join(slices.Repeat([]string{one}, int(n)), ", ") + "]"
}

// sampledText is a string: a placeholder, or a value of the format.
func sampledText(name string, schema value.Value) string {
	format, _ := schema.Get("format")
	switch format.Str() {
	case "date":
		return `"2026-01-31"`
	case "date-time":
		return `"2026-01-31T09:30:00Z"`
	case "time":
		return `"09:30:00Z"`
	case "email":
		return `"user@example.com"`
	case "uri", "url":
		return `"https://example.com/"`
	case "uuid":
		return `"123e4567-e89b-42d3-a456-426614174000"`
	case "ipv4":
		return `"192.0.2.1"`
	}
	for _, key := range []string{"examples", "default"} {
		if v, ok := schema.Get(key); ok {
			if v.Kind() == value.Array {
				v, ok = v.First()
			}
			if ok && v.Kind() == value.String {
				return quoted(v.Str())
			}
		}
	}
	return quoted("<" + name + ">")
}
