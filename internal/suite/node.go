// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package suite

import (
	"bytes"

	"github.com/go-json-experiment/json/jsontext"
)

type kind uint8

const (
	kindNull kind = iota
	kindBool
	kindNumber
	kindString
	kindList
	kindMap
)

// maxDepth bounds the nesting of values; real suites stay under 30.
const maxDepth = 200

// maxExpanded bounds the values that one YAML document stands for once its
// aliases are followed.
const maxExpanded = 4_000_000

// node is one value of a YAML or JSON document with its place in the file, so
// that one decoder reads both.
type node struct {
	kind kind
	// odd marks a YAML number that is not written as JSON would (0x1F).
	odd bool
	// lazy lists of a JSON document keep their text in raw and are parsed
	// element by element.
	lazy  bool
	at    int    // place, to be resolved by the document
	raw   []byte // scalars: the value as JSON
	names []entry
	items []node // elements of a list, values of a map
	size  int    // YAML: values in here, itself included; lazy: elements at most
}

// entry is a key of a map.
type entry struct {
	name string
	at   int
}

// String names a kind for a person.
func (k kind) String() string {
	switch k {
	case kindBool:
		return "true or false"
	case kindNumber:
		return "a number"
	case kindString:
		return "text"
	case kindList:
		return "a list"
	case kindMap:
		return "a mapping"
	default:
		return "null"
	}
}

// text gives a scalar's value: a string without quotes, anything else as written.
func (n *node) text() string {
	if n.kind != kindString {
		return string(n.raw)
	}
	if inner := n.raw[1 : len(n.raw)-1]; bytes.IndexByte(inner, '\\') < 0 {
		return string(inner)
	}
	b, err := jsontext.AppendUnquote(nil, n.raw)
	if err != nil { // the document was validated, so this cannot be a syntax error
		return string(n.raw)
	}
	return string(b)
}

// get returns the value of a key, or nil.
func (n *node) get(name string) *node {
	for i := range n.names {
		if n.names[i].name == name {
			return &n.items[i]
		}
	}
	return nil
}

// appendJSON writes the value without white space: keys in the order of the
// file, numbers as written, strings with the fewest escapes.
func (n *node) appendJSON(b []byte) []byte {
	switch n.kind {
	case kindNull:
		return append(b, "null"...)
	case kindString:
		return appendString(b, n.raw)
	case kindList:
		b = append(b, '[')
		for i := range n.items {
			if i > 0 {
				b = append(b, ',')
			}
			b = n.items[i].appendJSON(b)
		}
		return append(b, ']')
	case kindMap:
		b = append(b, '{')
		for i := range n.items {
			if i > 0 {
				b = append(b, ',')
			}
			b = append(quote(b, n.names[i].name), ':')
			b = n.items[i].appendJSON(b)
		}
		return append(b, '}')
	default:
		return append(b, n.raw...)
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
	return quote(b, s)
}

// quote appends s as a JSON string; bytes that are not UTF-8 become U+FFFD.
func quote[T string | []byte](b []byte, s T) []byte {
	out, err := jsontext.AppendQuote(b, s)
	if err != nil { // invalid UTF-8: out holds the replaced form already
		return append(b, bytes.ToValidUTF8(out[len(b):], []byte("\uFFFD"))...)
	}
	return out
}

// json returns the value's own copy as JSON.
func (n *node) json() []byte { return n.appendJSON(make([]byte, 0, 64)) }

// count is how many elements a list has, at most.
func (n *node) count() int {
	if n.lazy {
		return n.size
	}
	return len(n.items)
}
