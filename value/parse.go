// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package value

import (
	"fmt"
)

// MaxDepth is how deeply arrays and objects may nest.
const MaxDepth = 512

// maxText is the longest text that positions in a tape can address.
const maxText = 1<<31 - 2

// Kind of a JSON value.
type Kind uint8

// The kinds. The zero Value has kind Invalid.
const (
	Invalid Kind = iota
	Null
	Bool
	Number
	String
	Array
	Object
)

// String gives the JSON type's name.
func (k Kind) String() string {
	return [...]string{"invalid", "null", "boolean", "number", "string", "array", "object"}[k]
}

type node struct {
	start, end       int32 // bytes of the value, quotes and brackets included
	keyStart, keyEnd int32 // bytes of the member name inside its quotes; 0,0 outside objects
	next             int32 // tape index after this value's subtree
	// count is the number of members or elements; of a string, the node that it is
	// known to spell; of a number, its value plus one, where that is known. Else 0.
	count      int32
	kind       Kind
	escaped    bool // a string with backslashes
	decimal    bool // a number with a fraction or an exponent
	keyEscaped bool
}

// Doc is a parser and the tape of the last value it parsed. The zero Doc is
// ready to use; a Doc is not safe for concurrent use while parsing.
type Doc struct {
	src   []byte
	nodes []node
	// What Expect sets up; places are nodes of the last text, 0: none.
	shapes *shapes
	places []int32
	placed bool
}

// SyntaxError says where and why a text is not a JSON value.
type SyntaxError struct {
	Offset int
	Msg    string
}

func (e *SyntaxError) Error() string { return fmt.Sprintf("byte %d: %s", e.Offset, e.Msg) }

// Parse reads src, which must stay unchanged while the Doc's values are used.
// The tape of an earlier Parse is reused. The error is a *SyntaxError.
func (d *Doc) Parse(src []byte) error {
	d.src, d.nodes = src, d.nodes[:0]
	if len(src) > maxText {
		return &SyntaxError{0, "longer than 2 GiB"}
	}
	if d.placed = false; d.shapes != nil && d.parseAlike(src) {
		return nil
	}
	clear(d.places)
	p := parser{nodes: d.nodes, src: src}
	end := p.value(p.space(0), 0, key{})
	if end >= 0 {
		if end = p.space(end); end != len(src) {
			end = p.fail(end, "data after the value")
		}
	}
	d.nodes = p.nodes
	if end < 0 {
		d.nodes = p.nodes[:0]
		return &SyntaxError{p.pos, p.msg}
	}
	return nil
}

// Root is the parsed value; the zero Value when nothing was parsed.
func (d *Doc) Root() Value {
	if len(d.nodes) == 0 {
		return Value{}
	}
	return Value{d, 0}
}

// Parse reads src into a Doc of its own.
func Parse(src []byte) (Value, error) {
	d := new(Doc)
	if err := d.Parse(src); err != nil {
		return Value{}, err
	}
	return d.Root(), nil
}

// Valid reports whether src is one JSON value that Parse takes. It keeps no tape
// and mostly needs no memory.
func Valid(src []byte) bool {
	if len(src) > maxText {
		return false
	}
	p := parser{src: src, bare: true}
	end := p.value(p.space(0), 0, key{})
	if end < 0 || p.space(end) != len(src) {
		return false
	}
	return !p.unsure || new(Doc).Parse(src) == nil
}
