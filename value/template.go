// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package value

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
)

// Template is a text with placeholders {{NAME}}, taken apart. Nothing is executed: there are no
// conditions, no loops and no functions. The caller defines the meaning of names. Names returns a
// text's names, so that a file with an unknown name is refused when it is read.
type Template struct{ parts []part }

// part is a piece of text, or a name where name is not "".
type part struct{ text, name string }

// ParseTemplate takes a text apart. {{ must be closed by }}, with a name between them. White space around
// the name counts for nothing.
func ParseTemplate(s string) (Template, error) {
	var t Template
	for {
		before, rest, open := strings.Cut(s, "{{")
		if before != "" {
			t.parts = append(t.parts, part{text: before})
		}
		if !open {
			return t, nil
		}
		name, after, closed := strings.Cut(rest, "}}")
		name = strings.TrimSpace(name)
		switch {
		case !closed:
			return t, fmt.Errorf("{{ is not closed by }}")
		case name == "":
			return t, fmt.Errorf("{{}} names nothing")
		case strings.ContainsAny(name, "{}\n"):
			return t, fmt.Errorf("{{ is not closed by }} before %q", name)
		}
		t.parts = append(t.parts, part{name: name})
		s = after
	}
}

// Names are the names of the placeholders, in their order.
func (t Template) Names() []string {
	var out []string
	for _, p := range t.parts {
		if p.name != "" {
			out = append(out, p.name)
		}
	}
	return out
}

// Only is the name where the text is one placeholder and nothing else.
func (t Template) Only() (string, bool) {
	if len(t.parts) == 1 && t.parts[0].name != "" {
		return t.parts[0].name, true
	}
	return "", false
}

// Fill replaces each name by the result of of.
func (t Template) Fill(of func(name string) string) string {
	var b strings.Builder
	for _, p := range t.parts {
		if p.name == "" {
			b.WriteString(p.text)
		} else {
			b.WriteString(of(p.name))
		}
	}
	return b.String()
}

// FillJSON fills the texts of a value; keys stay as they are. A text that is one placeholder
// alone becomes the value that of returns, of any kind. Inside a text, a string is inserted
// unchanged, null as nothing, and any other value as its JSON. An absent value is null.
func FillJSON(raw json.RawMessage, of func(name string) json.RawMessage) (json.RawMessage, error) {
	v, err := Parse(raw)
	if err != nil {
		return nil, err
	}
	return ReplaceTexts(v, func(v Value) (json.RawMessage, error) {
		if !bytes.Contains(v.Raw(), []byte("{")) && !bytes.Contains(v.Raw(), []byte(`\`)) {
			return nil, nil
		}
		t, err := ParseTemplate(v.Str())
		if err != nil {
			return nil, err
		}
		if name, only := t.Only(); only {
			return orNull(of(name)), nil
		}
		return Quote(t.Fill(func(name string) string { return TextOf(of(name)) })), nil
	})
}

// ReplaceTexts copies a value, member by member in their order, and replaces its texts by the
// results of of; nil leaves a text unchanged. Keys stay unchanged.
func ReplaceTexts(v Value, of func(text Value) (json.RawMessage, error)) (json.RawMessage, error) {
	return appendTexts(make([]byte, 0, len(v.Raw())), v, of)
}

func appendTexts(dst []byte, v Value, of func(Value) (json.RawMessage, error)) ([]byte, error) {
	switch v.Kind() {
	case Object, Array:
		ends := "{}"
		if v.Kind() == Array {
			ends = "[]"
		}
		dst = append(dst, ends[0])
		first := true
		for e, ok := v.First(); ok; e, ok = v.Next(e) {
			if !first {
				dst = append(dst, ',')
			}
			first = false
			if v.Kind() == Object {
				dst = append(append(dst, Quote(e.Key())...), ':')
			}
			var err error
			if dst, err = appendTexts(dst, e, of); err != nil {
				return nil, err
			}
		}
		return append(dst, ends[1]), nil
	case String:
		text, err := of(v)
		if err != nil {
			return nil, err
		}
		if text != nil {
			return append(dst, text...), nil
		}
	}
	return append(dst, v.Raw()...), nil
}

func orNull(raw json.RawMessage) json.RawMessage {
	if len(raw) == 0 {
		return json.RawMessage("null")
	}
	return raw
}

// TextOf is a value as a text: a string itself, nothing for null and absence, JSON for any other
// value.
func TextOf(raw json.RawMessage) string {
	var s string
	switch {
	case len(raw) == 0, string(raw) == "null":
		return ""
	case json.Unmarshal(raw, &s) == nil:
		return s
	}
	return string(raw)
}

// Quote is a text as JSON, with no character escaped that need not be.
func Quote(s string) json.RawMessage {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if enc.Encode(s) != nil { // a text always encodes
		return json.RawMessage(`""`)
	}
	return bytes.TrimSpace(b.Bytes())
}

// AtPath is the value at a path of names and positions, user.orders[0].id; absent where there is none.
func AtPath(v Value, path string) Value {
	for path != "" && v.Kind() != Invalid {
		var step string
		if path[0] == '[' {
			step, path, _ = strings.Cut(path[1:], "]")
			path = strings.TrimPrefix(path, ".")
			v = item(v, step)
			continue
		}
		i := strings.IndexAny(path, ".[")
		if i < 0 {
			i = len(path)
		}
		step, path = path[:i], strings.TrimPrefix(path[i:], ".")
		v, _ = v.Get(step)
	}
	return v
}

func item(v Value, at string) Value {
	n, err := strconv.Atoi(at)
	if err != nil || v.Kind() != Array {
		return Value{}
	}
	for e, ok := v.First(); ok; e, ok = v.Next(e) {
		if n == 0 {
			return e
		}
		n--
	}
	return Value{}
}

// CheckPath returns the mistake in a path of AtPath, or nil.
func CheckPath(path string) error {
	for rest := path; rest != ""; {
		if rest[0] == '[' {
			in, after, closed := strings.Cut(rest[1:], "]")
			if _, err := strconv.ParseUint(in, 10, 31); err != nil || !closed || after != "" && after[0] != '.' &&
				after[0] != '[' || after == "." {
				return fmt.Errorf("%q is no path: a position is written [0]", path)
			}
			rest = strings.TrimPrefix(after, ".")
			continue
		}
		i := strings.IndexAny(rest, ".[")
		if i == 0 || i >= 0 && rest[i:] == "." {
			return fmt.Errorf("%q is no path: a name is empty", path)
		}
		if i < 0 {
			return nil
		}
		rest = strings.TrimPrefix(rest[i:], ".")
	}
	if path == "" {
		return fmt.Errorf("the path is empty")
	}
	return nil
}
