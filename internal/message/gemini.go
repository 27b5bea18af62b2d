// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package message

import (
	"bytes"
	"slices"
	"strconv"
	"strings"

	"github.com/callvet/callvet/value"
)

func isGemini(v value.Value) bool {
	return kindOf(v, "candidates") == value.Array || has(v, "promptFeedback") || kindOf(v, "parts") == value.Array ||
		kindOf(first(v, "content"), "parts") == value.Array
}

// gemini reads the first candidate of generateContent, or the parts alone.
func (d *decoder) gemini(v value.Value) {
	if list, ok := v.Get("candidates"); ok {
		d.ends(v) // a blocked prompt
		if v, ok = list.First(); !ok && d.resp.FinishReason == "" {
			d.refuse("a list of candidates without one")
			return
		}
	}
	d.ends(v)
	if c, ok := v.Get("content"); ok {
		v = c
	}
	d.parts(first(v, "parts"))
	d.fromText()
}

// Gemini can stream the arguments of a call value by value. The first part of the call has its
// name, later parts have values with their JSON paths, and the last part has no willContinue:
//
//	{"functionCall": {"name": "ring", "willContinue": true}}
//	{"functionCall": {"partialArgs": [{"jsonPath": "$.who", "stringValue": "An", "willContinue": true}], "willContinue": true}}
//	{"functionCall": {"partialArgs": [{"jsonPath": "$.who", "stringValue": "n"}], "willContinue": true}}
//	{"functionCall": {}}

// Grows reports whether a part of Gemini's content is a piece of a call.
func Grows(part value.Value) bool {
	call := callOf(part)
	return first(call, "partialArgs", "partial_args").Kind() == value.Array || goesOnIn(call)
}

// Grown returns a list of parts of Gemini's content with each call in one part, or list itself
// where no call came in pieces. If a call has no end, or pieces that do not fit, its arguments
// are an unreadable text.
func Grown(list value.Value) value.Value {
	if !hasPieces(list) {
		return list
	}
	var out [][]byte
	var open *growing
	for p, ok := list.First(); ok; p, ok = list.Next(p) {
		call := callOf(p)
		if open != nil && call.Kind() == value.Object && !open.takes(call) {
			out, open = append(out, open.part()), nil
		}
		if call.Kind() != value.Object || open == nil && !Grows(p) {
			out = append(out, p.Raw())
			continue
		}
		if open == nil {
			open = &growing{first: p, call: call}
		}
		if open.add(call); !open.more {
			out, open = append(out, open.part()), nil
		}
	}
	if open != nil {
		out = append(out, open.part())
	}
	return listOf(out, list)
}

// listOf is the list of some values, or another list where they are none.
func listOf(values [][]byte, other value.Value) value.Value {
	joined, err := value.Parse(appendList(nil, values))
	if err != nil {
		return other
	}
	return joined
}

func appendList(out []byte, values [][]byte) []byte {
	return append(append(append(out, '['), bytes.Join(values, []byte{','})...), ']')
}

// GrownMessages returns a list of Gemini's messages with each call in one message, or list itself
// where no call continues in the next message. A client that adds a message for each chunk of a
// stream stores such lists.
func GrownMessages(list value.Value) value.Value {
	if list.Kind() != value.Array || !goesOnInMessages(list) {
		return list
	}
	var out [][]byte
	for m, ok := list.First(); ok; {
		if !hasPieces(first(m, "parts")) {
			out = append(out, m.Raw())
			m, ok = list.Next(m)
			continue
		}
		role := first(m, "role").Str()
		var all [][]byte
		for parts := first(m, "parts"); ok && first(m, "role").Str() == role && parts.Len() > 0; {
			for p, is := parts.First(); is; p, is = parts.Next(p) {
				all = append(all, p.Raw())
			}
			m, ok = list.Next(m)
			parts = first(m, "parts")
		}
		message := append(appendString([]byte(`{"role":`), role), `,"parts":`...)
		out = append(out, append(appendList(message, all), '}'))
	}
	return listOf(out, list)
}

func goesOnInMessages(list value.Value) bool {
	for m, ok := list.First(); ok; m, ok = list.Next(m) {
		if hasPieces(first(m, "parts")) {
			return true
		}
	}
	return false
}

func hasPieces(list value.Value) bool {
	if list.Kind() != value.Array {
		return false
	}
	for p, ok := list.First(); ok; p, ok = list.Next(p) {
		if Grows(p) {
			return true
		}
	}
	return false
}

func callOf(part value.Value) value.Value { return first(part, "functionCall", "function_call") }

func goesOnIn(v value.Value) bool { return first(v, "willContinue", "will_continue").Bool() }

// growing is a call that came in pieces.
type growing struct {
	first, call value.Value // its first part, and the call in it
	args        branch
	more        bool // it continues
	broken      bool // a piece does not fit
}

// takes reports whether a part is a piece of this call.
func (g *growing) takes(call value.Value) bool {
	same := func(key string) bool {
		v, was := first(call, key), first(g.call, key)
		return v.Str() == "" || v.Str() == was.Str()
	}
	return same("name") && same("id")
}

func (g *growing) add(call value.Value) {
	g.more = goesOnIn(call)
	args := first(call, "args")
	for e, ok := args.First(); ok && args.Kind() == value.Object; e, ok = args.Next(e) {
		g.args.kid(e.Key()).leaf = e.Raw()
	}
	list := first(call, "partialArgs", "partial_args")
	for e, ok := list.First(); ok; e, ok = list.Next(e) {
		g.broken = !g.put(e) || g.broken
	}
}

// put sets the value of a piece, or adds to the text that is at its path.
func (g *growing) put(piece value.Value) bool {
	at := g.args.at(first(piece, "jsonPath", "json_path").Str())
	if at == nil || len(at.keys) > 0 {
		return false
	}
	if text := first(piece, "stringValue", "string_value"); text.Kind() == value.String {
		at.text, at.isText = append(at.text, text.Str()...), true
		return at.leaf == nil
	}
	v := first(piece, "numberValue", "number_value", "boolValue", "bool_value")
	_, null := piece.Get("nullValue")
	_, snake := piece.Get("null_value")
	switch {
	case v.Kind() == value.Number || v.Kind() == value.Bool:
		at.leaf = v.Raw()
	case null || snake:
		at.leaf = []byte("null")
	default: // a piece without a value begins a text
		at.isText = true
	}
	return at.leaf == nil || !at.isText
}

// part is the call in one part, with the other members of its first part.
func (g *growing) part() []byte {
	args := g.args.appendJSON(nil)
	if g.more { // its end is missing
		args = args[:len(args)-1]
	}
	if g.broken {
		args = append([]byte("pieces that do not fit: "), args...)
	}
	if g.more || g.broken {
		args = appendString(nil, string(args))
	}
	b := []byte(`{"functionCall":{`)
	for _, k := range []string{"id", "name"} {
		if v := first(g.call, k); v.Kind() != value.Invalid {
			b = append(append(append(appendString(b, k), ':'), v.Raw()...), ',')
		}
	}
	b = append(append(append(b, `"args":`...), args...), '}')
	for e, ok := g.first.First(); ok; e, ok = g.first.Next(e) {
		if e.Key() != "functionCall" && e.Key() != "function_call" {
			b = append(append(appendString(append(b, ','), e.Key()), ':'), e.Raw()...)
		}
	}
	return append(b, '}')
}

// branch is a value under construction: an object or a list with its keys in order, a text, or a
// complete value.
type branch struct {
	keys   []string
	kids   []*branch
	list   bool
	leaf   []byte
	text   []byte
	isText bool
}

// kid is the branch under a key.
func (b *branch) kid(key string) *branch {
	if i := slices.Index(b.keys, key); i >= 0 {
		return b.kids[i]
	}
	k := &branch{}
	b.keys, b.kids = append(b.keys, key), append(b.kids, k)
	return k
}

// at is the branch at a JSON path such as $.who.names[0] or $['who']; nil for an impossible path.
func (b *branch) at(path string) *branch {
	rest, ok := strings.CutPrefix(path, "$")
	if !ok || rest == "" {
		return nil
	}
	for rest != "" {
		var key string
		var place bool
		if key, place, rest, ok = step(rest); !ok || b.leaf != nil || b.isText || len(b.keys) > 0 && b.list != place {
			return nil
		}
		if n := len(b.keys); place && slices.Index(b.keys, key) < 0 && key != strconv.Itoa(n) {
			return nil // a list has no gaps
		}
		b.list = place
		b = b.kid(key)
	}
	return b
}

// step takes the first step of a path: a name, or a place in a list.
func step(path string) (key string, place bool, rest string, ok bool) {
	if name, is := strings.CutPrefix(path, "."); is {
		n := strings.IndexAny(name, ".[")
		if n < 0 {
			n = len(name)
		}
		return name[:n], false, name[n:], n > 0
	}
	in, is := strings.CutPrefix(path, "[")
	if !is || in == "" {
		return "", false, "", false
	}
	if q := in[:1]; q == "'" || q == `"` {
		key, rest, ok = strings.Cut(in[1:], q+"]")
		return key, false, rest, ok
	}
	key, rest, ok = strings.Cut(in, "]")
	n, err := strconv.Atoi(key)
	return strconv.Itoa(n), true, rest, ok && err == nil && n >= 0
}

func (b *branch) appendJSON(out []byte) []byte {
	switch {
	case b.leaf != nil:
		return append(out, b.leaf...)
	case b.isText:
		return appendString(out, string(b.text))
	}
	open, end := byte('{'), byte('}')
	if b.list {
		open, end = '[', ']'
	}
	out = append(out, open)
	for i, k := range b.kids {
		if i > 0 {
			out = append(out, ',')
		}
		if !b.list {
			out = append(appendString(out, b.keys[i]), ':')
		}
		out = k.appendJSON(out)
	}
	return append(out, end)
}
