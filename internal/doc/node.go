// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package doc

import (
	"bytes"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// Kind is the JSON type of a value.
type Kind uint8

// The kinds.
const (
	Null Kind = iota
	Bool
	Number
	String
	List
	Map
)

// maxDepth bounds the nesting of values; real suites have fewer than 30 levels.
const maxDepth = 200

// maxExpanded bounds the values of a document; each takes 200 bytes and more while it is read. It
// counts the values of a JSON text, of one element of its lazy lists, or of a YAML text with its
// aliases expanded.
const maxExpanded = 2_000_000

// Node is one value of a YAML or JSON document with its place in the file, so
// that one decoder reads both.
type Node struct {
	Kind Kind
	// Odd marks a YAML number with a spelling that JSON does not have (0x1F).
	Odd bool
	// Lazy lists of a JSON document keep their text in Raw and are parsed element
	// by element, by File.Elements.
	Lazy  bool
	At    int    // place, to be resolved by File.Position
	Raw   []byte // scalars: the value as JSON
	Names []Entry
	Items []Node // elements of a list, values of a map
	size  int    // YAML: values in here, itself included
}

// Entry is a key of a map.
type Entry struct {
	Name string
	At   int
}

// String names a kind for a person.
func (k Kind) String() string {
	switch k {
	case Bool:
		return "true or false"
	case Number:
		return "a number"
	case String:
		return "text"
	case List:
		return "a list"
	case Map:
		return "a mapping"
	default:
		return "null"
	}
}

// Text returns a scalar's value: a string without quotes, anything else as written.
func (n *Node) Text() string {
	if n.Kind != String {
		return string(n.Raw)
	}
	if inner := n.Raw[1 : len(n.Raw)-1]; bytes.IndexByte(inner, '\\') < 0 {
		return string(inner)
	}
	b, err := jsontext.AppendUnquote(nil, n.Raw)
	if err != nil { // the text was validated, so this cannot be a syntax error
		return string(n.Raw)
	}
	return string(b)
}

// Get returns the value of a key, or nil.
func (n *Node) Get(name string) *Node {
	for i := range n.Names {
		if n.Names[i].Name == name {
			return &n.Items[i]
		}
	}
	return nil
}

// AppendJSON writes the value without white space: keys in the order of the
// file, numbers as written, strings with the fewest escapes.
func (n *Node) AppendJSON(b []byte) []byte {
	switch n.Kind {
	case Null:
		return append(b, "null"...)
	case String:
		return appendString(b, n.Raw)
	case List:
		b = append(b, '[')
		for i := range n.Items {
			if i > 0 {
				b = append(b, ',')
			}
			b = n.Items[i].AppendJSON(b)
		}
		return append(b, ']')
	case Map:
		b = append(b, '{')
		for i := range n.Items {
			if i > 0 {
				b = append(b, ',')
			}
			b = append(Quote(b, n.Names[i].Name), ':')
			b = n.Items[i].AppendJSON(b)
		}
		return append(b, '}')
	default:
		return append(b, n.Raw...)
	}
}

func appendString(b, raw []byte) []byte {
	if bytes.IndexByte(raw, '\\') < 0 {
		return append(b, raw...)
	}
	s, err := jsontext.AppendUnquote(nil, raw)
	if err != nil {
		return append(b, raw...)
	}
	return Quote(b, s)
}

// Quote appends s as a JSON string; bytes that are not UTF-8 become U+FFFD.
func Quote[T string | []byte](b []byte, s T) []byte {
	out, err := jsontext.AppendQuote(b, s)
	if err != nil { // invalid UTF-8: out already contains the replaced form
		return append(b, bytes.ToValidUTF8(out[len(b):], []byte("\uFFFD"))...)
	}
	return out
}

// JSON returns a copy of the value as JSON.
func (n *Node) JSON() []byte { return n.AppendJSON(make([]byte, 0, 64)) }

// Clip shortens a text to n bytes for a message.
func Clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return strings.ToValidUTF8(s[:n], "") + "…"
}

// Shown is a node in a few words: a short text or number itself, else its kind.
func (n *Node) Shown() string {
	switch {
	case n.Kind == String, n.Kind == Number:
		return Clip(string(n.Raw), 40)
	case n.Kind == Null && len(n.Raw) > 0 && n.Raw[0] != 'n': // see File.Elements
		return string(n.Raw)
	}
	return n.Kind.String()
}
