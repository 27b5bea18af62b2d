// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package value

import (
	"bytes"
	"errors"
	"fmt"
)

// MaxDepth is how deeply arrays and objects may nest.
const MaxDepth = 512

// MaxValues is the default for Doc.Max: how many values one text may have, nested ones included.
// Their tape takes 0.5 GB.
const MaxValues = 1 << 24

// Texts of very many small values take fourteen times their size. In a text with more than
// manyValues, which take 0.1 GB, a value must have valueBytes on average, as in real files.
const (
	manyValues = 1 << 22
	valueBytes = 16
)

// A tape begins with room for one value per usualBytes of text, but for at most manyNodes.
const (
	usualBytes = 12
	manyNodes  = 128
)

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
	// count is the number of members or elements; for a small plain integer its value plus one;
	// else 0.
	count int32
	form
}

// nodeSize is how many bytes of memory a node takes.
const nodeSize = 28

// form is the kind of a value with its flags.
type form uint32

// The flags of a form. roundabout is a string with backslashes, or a number with a value that is
// not in count.
const (
	anyKind    form = 7
	roundabout form = 8
	fraction   form = 16 // a number with a fraction or an exponent
	keyEscaped form = 32 // the name of the member has backslashes
	// listed is where the position of a member's name in Doc.Names begins, plus one; 0: it is not known.
	listed = 8
)

func (f form) kind() Kind { return Kind(f & anyKind) }

func (f form) is(some form) bool { return f&some != 0 }

// Doc is a parser and the tape of the last value it parsed. The zero Doc is ready to use; a
// Doc is not safe for concurrent use while parsing.
type Doc struct {
	// Max is how many values one text may hold; 0 means MaxValues, and fewer for a text that
	// is made of very small ones.
	Max int
	// Names are the usual names of members, where many similar texts are parsed: Member.Place finds them
	// without a search. Names in the order of the text before are read faster. Nil: none. It is set before
	// the first text.
	Names *Names
	words *words // nil: none yet
	src   []byte
	nodes []node
}

// SyntaxError is where and why a text is not a JSON value.
type SyntaxError struct {
	Offset int
	Msg    string
	// Over: the text may be JSON, but has more values or bytes than the limits.
	Over bool
}

// Error returns where and why, or which limit the text exceeds.
func (e *SyntaxError) Error() string {
	if e.Over {
		return e.Msg
	}
	return fmt.Sprintf("byte %d: %s", e.Offset, e.Msg)
}

// Over reports whether an error of this package is about a limit: the text may be JSON, but has
// more values or bytes than the limits.
func Over(err error) bool {
	e := (*SyntaxError)(nil)
	return errors.As(err, &e) && e.Over
}

// Reason is the error of a reader of this package as a sentence about a text.
func Reason(err error) string {
	if Over(err) {
		return err.Error()
	}
	return "not JSON: " + err.Error()
}

// Parse reads src, which must stay unchanged while the Doc's values are used.
// The tape of an earlier Parse is reused. The error is a *SyntaxError.
func (d *Doc) Parse(src []byte) error {
	d.src, d.nodes = src, d.nodes[:0]
	if len(src) > maxText {
		return &SyntaxError{0, "it is longer than 2 GiB", true}
	}
	if d.nodes == nil { // room for a usual text, instead of growing from one node
		d.nodes = make([]node, 0, min(len(src)/usualBytes+1, manyNodes))
	}
	if d.Names != nil && d.words == nil {
		d.words = newWords(d.Names)
	}
	p := parser{nodes: d.nodes, src: src, max: d.max(len(src)), words: d.words}
	if cap(p.nodes) > p.max { // an earlier text may have had more
		p.nodes = p.nodes[:0:p.max]
	}
	end := p.value(p.space(0), 0, key{})
	if end >= 0 {
		if end = p.space(end); end != len(src) {
			end = p.fail(end, "data after the value")
		}
	}
	d.nodes = p.nodes
	if end < 0 {
		d.nodes = p.nodes[:0]
		if p.over {
			return &SyntaxError{0, fmt.Sprintf("it holds more than %d values", p.max), true}
		}
		return &SyntaxError{p.pos, p.msg, false}
	}
	return nil
}

func (d *Doc) max(size int) int {
	if d.Max > 0 {
		return d.Max
	}
	return min(MaxValues, max(manyValues, size/valueBytes))
}

// ParseLine parses the first line of data. It returns the line without its end ("\n", "\r\n" or the
// end of data) and the rest after it, also with an error.
func (d *Doc) ParseLine(data []byte) (line, rest []byte, err error) {
	line = data
	if end := bytes.IndexByte(data, '\n'); end >= 0 {
		line, rest = bytes.TrimSuffix(data[:end], []byte("\r")), data[end+1:]
	}
	return line, rest, d.Parse(line)
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

// Valid reports whether src is one JSON value that Parse accepts. It keeps no tape and usually
// allocates nothing.
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
