// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package offline

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/value"
)

// results joins the tool turns since the last user turn into one JSON list, the
// newest first; nil when there are none.
func results(turns []callvet.Turn) json.RawMessage {
	out := []byte{'['}
	for i := len(turns) - 1; i >= 0 && turns[i].Role != callvet.RoleUser; i-- {
		if turns[i].Role != callvet.RoleTool {
			continue
		}
		raw := []byte(turns[i].Content)
		if _, err := value.Parse(raw); err != nil {
			raw, _ = json.Marshal(turns[i].Content)
		}
		if len(out) > 1 {
			out = append(out, ',')
		}
		out = append(out, raw...)
	}
	if len(out) == 1 {
		return nil
	}
	return append(out, ']')
}

// result fills an identifier from an earlier result: a member with the slot's name, or the id of
// an object after which the slot is named (flight_id: flights[].id).
func (x *filler) result(p *param) json.RawMessage {
	if x.from == nil || p.kind == "object" || p.kind == "array" || p.kind == "boolean" {
		return nil
	}
	root, err := value.Parse(x.from)
	if err != nil {
		return nil
	}
	if v := findKey(root, strings.Join(p.nameWords, ""), p.kind, 8); v.Kind() != value.Invalid {
		return json.RawMessage(v.Raw())
	}
	n := len(p.nameWords)
	if n == 0 || p.nameWords[n-1] != "id" {
		return nil
	}
	if v := x.idOf(root, stem(en, p.nameWords[0]), n == 1, 8); v.Kind() != value.Invalid {
		return json.RawMessage(v.Raw())
	}
	return nil
}

// findKey finds a scalar member by its folded name, breadth of each object first.
func findKey(v value.Value, name, kind string, depth int) value.Value {
	if depth == 0 || v.Kind() != value.Object && v.Kind() != value.Array {
		return value.Value{}
	}
	for e, ok := v.First(); ok; e, ok = v.Next(e) {
		if v.Kind() == value.Object && name != "id" && strings.Join(words(e.Key()), "") == name && scalarOf(e, kind) {
			return e
		}
	}
	for e, ok := v.First(); ok; e, ok = v.Next(e) {
		if f := findKey(e, name, kind, depth-1); f.Kind() != value.Invalid {
			return f
		}
	}
	return value.Value{}
}

func scalarOf(v value.Value, kind string) bool {
	switch kind {
	case "integer", "number":
		return v.Kind() == value.Number
	case "string":
		return v.Kind() == value.String
	}
	return v.Kind() == value.String || v.Kind() == value.Number
}

// idOf finds the id of an object, or of the best object of a list, under a member with its name;
// anyName accepts the first id under any name.
func (x *filler) idOf(v value.Value, thing string, anyName bool, depth int) value.Value {
	if depth == 0 || v.Kind() != value.Object && v.Kind() != value.Array {
		return value.Value{}
	}
	for e, ok := v.First(); ok; e, ok = v.Next(e) {
		named := anyName
		if v.Kind() == value.Object {
			for _, w := range words(e.Key()) {
				named = named || stem(en, w) == thing
			}
		}
		if named {
			if id, ok := x.best(e).Get("id"); ok {
				return id
			}
		}
		if f := x.idOf(e, thing, anyName, depth-1); f.Kind() != value.Invalid {
			return f
		}
	}
	return value.Value{}
}

// best is the element of a list that the text requests: the cheapest, the fastest, the named one,
// else the first.
func (x *filler) best(v value.Value) value.Value {
	if v.Kind() != value.Array {
		return v
	}
	measure := ""
	switch {
	case strings.Contains(x.f.folded, " cheapest ") || strings.Contains(x.f.folded, " lowest ") ||
		strings.Contains(x.f.folded, " mas barato ") || strings.Contains(x.f.folded, " mais barato "):
		measure = "price cost total fare amount"
	case strings.Contains(x.f.folded, " fastest ") || strings.Contains(x.f.folded, " shortest "):
		measure = "duration time minutes"
	case strings.Contains(x.f.folded, " direct ") || strings.Contains(x.f.folded, " nonstop "):
		measure = "stops"
	}
	first, _ := v.First()
	best, least := first, math.Inf(1)
	for e, ok := v.First(); ok; e, ok = v.Next(e) {
		if name, ok := e.Get("name"); ok && strings.Contains(x.f.folded, " "+strings.Join(words(name.Str()), " ")+" ") {
			return e
		}
		for k := range strings.FieldsSeq(measure) {
			if m, ok := e.Get(k); ok {
				if f, ok := m.Float(); ok && f < least {
					best, least = e, f
				}
			}
		}
	}
	return best
}

// quote answers with the scalar values of the newest results.
func quote(raw json.RawMessage) string {
	root, err := value.Parse(raw)
	if err != nil {
		return "Done."
	}
	var parts []string
	scalars(root, "", &parts, 8)
	if len(parts) == 0 {
		return "Done."
	}
	return strings.Join(parts, "; ") + "."
}

// maxQuoted bounds how many values an answer quotes.
const maxQuoted = 24

func scalars(v value.Value, key string, out *[]string, depth int) {
	if depth == 0 || len(*out) >= maxQuoted {
		return
	}
	switch v.Kind() {
	case value.Object, value.Array:
		for e, ok := v.First(); ok; e, ok = v.Next(e) {
			k := key
			if v.Kind() == value.Object {
				k = strings.Join(words(e.Key()), " ")
			}
			scalars(e, k, out, depth-1)
		}
	case value.Null, value.Invalid:
	default:
		s := string(v.Raw())
		if v.Kind() == value.String {
			s = v.Str()
		}
		if key != "" {
			s = fmt.Sprintf("%s: %s", key, s)
		}
		*out = append(*out, s)
	}
}
