// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package value

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"unsafe"
)

// MaxDepth is how deeply arrays and objects may nest.
const MaxDepth = 512

// MaxValues is how many values one text may hold, nested ones included, where a Doc
// does not say otherwise: the tape of them takes 0.5 GB.
const MaxValues = 1 << 24

// Texts of very many small values take fourteen times their size. Of more than manyValues,
// which take 0.1 GB, each must have valueBytes on average, as those of real files do.
const (
	manyValues = 1 << 22
	valueBytes = 16
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
	// count is the number of members or elements; below zero that of elements which are yet to
	// be read, see unread, or are elsewhere, after the node at keyStart if that is set; of a
	// string, the node that it is known to spell; of a number, its value plus one, where that
	// is known. Else 0.
	count int32
	form
}

// form is what is known of a value beside its place, in one word: that is written
// at once.
type form uint32

// A form is a kind and of these what applies: roundabout is a string with
// backslashes, or a number whose value count does not tell.
const (
	anyKind    form = 7
	roundabout form = 8
	fraction   form = 16 // a number with a fraction or an exponent
	keyEscaped form = 32 // the name of the member has backslashes
	repeated   form = 64 // an array or object that is an echo, see Value.Same
	// unread is an array whose elements have room for their nodes, which Value.first writes.
	unread form = 128
)

func (f form) kind() Kind { return Kind(f & anyKind) }

func (f form) is(some form) bool { return f&some != 0 }

// Doc is a parser and the tape of the last value it parsed. The zero Doc is ready to use; a
// Doc is not safe for concurrent use while parsing, and its values neither after Expect.
type Doc struct {
	// Max is how many values one text may hold; 0 means MaxValues, and fewer for a text that
	// is made of very small ones.
	Max   int
	src   []byte
	nodes []node
	// What Expect sets up; places are nodes of the last text, 0: none.
	shapes *shapes
	places []int32
	// placed is what Placed tells of it; fits, that all places have what fits there.
	placed, fits bool
	room         []byte // for a text that has no room after it
	// What Skim read: by place, where have has a bit for it.
	skim    *skim
	skimmed bool
	have    uint64
	spans   *[maxPlaces]span
}

// SyntaxError says where and why a text is not a JSON value.
type SyntaxError struct {
	Offset int
	Msg    string
	// Over tells that it may be JSON, of more values or bytes than are read.
	Over bool
}

// Error says where and why, or which limit the text goes beyond.
func (e *SyntaxError) Error() string {
	if e.Over {
		return e.Msg
	}
	return fmt.Sprintf("byte %d: %s", e.Offset, e.Msg)
}

// Over reports whether an error of a reader of this package is about a limit: the text
// may be JSON, of more values or bytes than are read.
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
		d.placed, d.fits, d.have, d.skimmed = false, false, 0, false
		return &SyntaxError{0, "it is longer than 2 GiB", true}
	}
	if d.shapes != nil && !d.dense(len(src)) {
		if end := d.parseAlike(src, d.pad(src)); end >= 0 && (end == len(src) || len(bytes.Trim(src[end:], " \t\n\r")) == 0) {
			return nil
		}
	}
	return d.parse(src)
}

// parse is Parse where nothing is expected.
func (d *Doc) parse(src []byte) error {
	d.src, d.nodes, d.placed, d.fits, d.skimmed = src, d.nodes[:0], false, false, false
	d.have = 0
	p := parser{nodes: d.nodes, src: src, max: d.max(len(src))}
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

// dense reports whether so many bytes may hold more values than there may be: each takes
// two at least. Such a text is read by the parser that counts them.
func (d *Doc) dense(size int) bool { return size/2 > d.max(size) }

func (d *Doc) max(size int) int {
	if d.Max > 0 {
		return d.Max
	}
	return min(MaxValues, max(manyValues, size/valueBytes))
}

// ParseLine reads the line that data starts with, as Parse does. It gives the line
// without its end, which is "\n", "\r\n" or that of data, and what comes after it,
// also with an error.
func (d *Doc) ParseLine(data []byte) (line, rest []byte, err error) {
	there := min(len(data), cap(data)-beyond, maxText)
	if d.shapes != nil && there > 0 && !d.dense(there) {
		end := d.parseAlike(data[:there], padded{unsafe.Pointer(unsafe.SliceData(data))})
		if line, rest = cut(data, end); line != nil {
			d.src = line
			d.learn()
			return line, rest, nil
		}
	}
	end := bytes.IndexByte(data, '\n')
	switch {
	case end < 0:
		line, rest = data, nil
	case end > 0 && data[end-1] == '\r':
		line, rest = data[:end-1], data[end+1:]
	default:
		line, rest = data[:end], data[end+1:]
	}
	if len(line) < there {
		return line, rest, d.parse(line)
	}
	return line, rest, d.Parse(line)
}

// cut gives the line that ends at end; nil when none does.
func cut(data []byte, end int) (line, rest []byte) {
	switch {
	case end < 0:
		return nil, nil
	case end == len(data):
		return data, nil
	case data[end] == '\n':
		return data[:end], data[end+1:]
	case data[end] == '\r' && end+1 < len(data) && data[end+1] == '\n':
		return data[:end], data[end+2:]
	}
	return nil, nil
}

// pad gives src, or a copy of it, with room after it.
func (d *Doc) pad(src []byte) padded {
	if cap(src)-len(src) < beyond {
		d.room = append(d.room[:0], src...)
		d.room = slices.Grow(d.room, beyond)
		src = d.room
	}
	return padded{unsafe.Pointer(unsafe.SliceData(src))}
}

// Root is the parsed value; the zero Value when nothing was parsed.
func (d *Doc) Root() Value {
	if len(d.nodes) == 0 || d.skimmed {
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
