// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package trace

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/value"
)

// A record need not be one line: records may span several lines, be the elements of one JSON array,
// and have comments and a comma after the last member. An unfold rewrites such a text for the line
// readers:
//
//	[                                ·
//	  {                              {↵    "task_id": "t",          ↵    "args": {} ↵  }
//	    "task_id": "t", // a task    ·
//	    "args": {},                  ·
//	  },                             ·
//	  {"task_id": "u"}               {"task_id": "u"}
//	]
//
// Line ends within a record become carriage returns (↵), which are white space in JSON, comments
// become spaces, and empty lines (·) follow a record. So each record is on the line where it begins
// in the file, and its bytes keep their positions. Records that share a line of the file get
// separate lines.
//
// The parser of a line finds the errors in a record. An unfold only keeps a broken record from
// damaging the following ones: an opening brace where no value is allowed begins a new record. Its
// memory does not depend on the size of the text.
type unfold struct {
	src  io.Reader
	in   []byte
	out  []byte
	from int // of out, not yet read
	err  error

	line    int64 // of the source, from 1
	written int64 // of the output, from 1
	records int

	state   state
	comment int64  // line on which the comment began
	nest    []byte // open brackets of the record
	deeper  int    // brackets beyond maxNest, which are only counted
	last    byte   // of the record, the last byte that is no space; 0: no record is open
	comma   int    // position in out of a possibly superfluous comma; -1: none
	array   bool   // records are elements of an array
}

type state uint8

const (
	plainText state = iota
	inString
	inEscape
	afterSlash
	inLineComment
	inComment
	afterStar
)

const (
	// maxNest is how many levels of brackets are tracked: one more than a record may have.
	maxNest = value.MaxDepth + 1
	// maxHeld is the largest distance from a comma to its bracket.
	maxHeld = 1 << 20
)

func newUnfold(src io.Reader) *unfold {
	return &unfold{src: src, in: make([]byte, 64<<10), line: 1, written: 1, comma: -1}
}

// Read implements io.Reader.
func (u *unfold) Read(p []byte) (int, error) {
	for u.from == u.ready() {
		if u.err != nil && u.comma < 0 {
			return 0, u.err
		}
		u.fill()
	}
	n := copy(p, u.out[u.from:u.ready()])
	u.from += n
	return n, nil
}

// ready is how much of the output can be read: everything before a comma that may be removed.
func (u *unfold) ready() int {
	if u.comma >= 0 && len(u.out)-u.comma <= maxHeld {
		return u.comma
	}
	return len(u.out)
}

func (u *unfold) fill() {
	u.out = u.out[:copy(u.out, u.out[u.from:])]
	u.comma = max(u.comma-u.from, -1)
	u.from = 0
	if u.err != nil {
		u.comma = -1
		return
	}
	n, err := u.src.Read(u.in)
	for _, c := range u.in[:n] {
		u.take(c)
	}
	if u.err = err; !errors.Is(err, io.EOF) {
		return
	}
	switch u.state {
	case afterSlash:
		u.token('/')
	case inComment, afterStar:
		u.err = fmt.Errorf("the comment that begins in line %d has no end: %w", u.comment, callvet.ErrInvalid)
		return
	default:
	}
	u.lines() // the output has as many as the source
}

// lines adds line ends until the output has the line number of the source. After a record with
// very many lines this takes several records.
func (u *unfold) lines() {
	for to := min(u.line, u.written+maxHeld); u.written < to; u.written++ {
		u.out = append(u.out, '\n')
	}
}

// take reads one byte of the source.
func (u *unfold) take(c byte) {
	if c == '\n' {
		u.line++
	}
	switch u.state {
	case inString, inEscape:
		u.quoted(c)
	case afterSlash:
		u.slash(c)
	case inLineComment:
		if u.space(c); c == '\n' {
			u.state = plainText
		}
	case inComment, afterStar:
		u.space(c)
		switch {
		case c == '*':
			u.state = afterStar
		case c == '/' && u.state == afterStar:
			u.state = plainText
		default:
			u.state = inComment
		}
	default:
		u.plain(c)
	}
}

func (u *unfold) plain(c byte) {
	switch c {
	case ' ', '\t', '\r', '\n':
		u.space(c)
	case '/':
		u.state = afterSlash
	default:
		u.token(c)
	}
}

// slash reads the byte after a slash outside of strings.
func (u *unfold) slash(c byte) {
	u.state, u.comment = plainText, u.line
	switch c {
	case '/':
		u.state = inLineComment
	case '*':
		u.state = inComment
	default:
		u.token('/')
		u.plain(c)
		return
	}
	u.space(' ')
	u.space(' ')
}

// quoted reads a byte of a string. A string without an end ends with its line.
func (u *unfold) quoted(c byte) {
	if c == '\n' {
		u.state = plainText
		u.space(c)
		return
	}
	u.out = append(u.out, c)
	switch {
	case u.state == inEscape:
		u.state = inString
	case c == '\\':
		u.state = inEscape
	case c == '"':
		u.state = plainText
	}
}

// space writes the replacement of white space and comments.
func (u *unfold) space(c byte) {
	switch {
	case u.last == 0:
	case len(u.nest) == 0: // after a number or a word outside of brackets
		u.end()
	case c == '\n':
		u.out = append(u.out, '\r')
	default:
		u.out = append(u.out, ' ')
	}
}

// token reads a byte that is no space, outside of strings and comments.
func (u *unfold) token(c byte) {
	if u.last == 0 && u.between(c) {
		return
	}
	if c == '{' && u.last != 0 && !u.valueFits() { // the record before it has no end
		u.end()
		u.token(c)
		return
	}
	if u.comma >= 0 {
		if c == '}' || c == ']' {
			u.out[u.comma] = ' '
		}
		u.comma = -1
	}
	if c == ',' && len(u.nest) == 0 {
		u.end()
		return
	}
	if c == ',' {
		u.comma = len(u.out)
	}
	u.out = append(u.out, c)
	u.last = c
	switch c {
	case '"':
		u.state = inString
	case '{', '[':
		if len(u.nest) == maxNest {
			u.deeper++
		} else {
			u.nest = append(u.nest, c)
		}
	case '}', ']':
		switch {
		case u.deeper > 0:
			u.deeper--
		case len(u.nest) > 1:
			u.nest = u.nest[:len(u.nest)-1]
		default:
			u.end()
		}
	}
}

// between reads a byte while no record is open; false: the byte begins one.
func (u *unfold) between(c byte) bool {
	switch {
	case c == '[' && !u.array, c == ']' && u.array:
		u.array = c == '['
		return true
	case c == ',' && u.array:
		return true
	}
	if u.records++; u.records > 1 {
		u.out = append(u.out, '\n')
		u.written++
	}
	u.lines()
	return false
}

// valueFits reports whether a value may stand after the last byte of the record.
func (u *unfold) valueFits() bool {
	return u.last == '[' || u.last == ':' || u.last == ',' && u.nest[len(u.nest)-1] == '['
}

func (u *unfold) end() { u.nest, u.deeper, u.last, u.comma = u.nest[:0], 0, 0, -1 }

// folded reports, by the head of a text, whether its records are not one line each; whole: head is
// the whole text. They are folded if the first value is an array, has a comment or a superfluous
// comma, or continues in the next line. A broken first line before a line that begins a record is
// only a bad line.
func folded(head []byte, whole bool) bool {
	head = bytes.TrimLeft(head, " \t\r\n")
	line, rest, _ := bytes.Cut(head, []byte("\n"))
	rest = bytes.TrimLeft(rest, " \t\r\n")
	switch {
	case len(head) == 0:
		return false
	case head[0] == '[', bytes.HasPrefix(head, []byte("//")), bytes.HasPrefix(head, []byte("/*")):
		return true
	case head[0] != '{' || value.Valid(bytes.TrimSpace(line)):
		return false
	}
	u, ended := firstRecord(head)
	switch {
	case ended:
		return u.line > 1 || value.Valid(u.out)
	case u.records == 1 && !whole:
		return u.line > 1
	}
	return len(rest) > 0 && rest[0] != '{' // the record is broken, and continues
}

// firstRecord unfolds the first record of a text; ended: it is complete. If two have begun, the
// first one is broken.
func firstRecord(text []byte) (u *unfold, ended bool) {
	u = &unfold{line: 1, written: 1, comma: -1}
	for _, c := range text {
		if u.take(c); u.records > 0 && u.last == 0 || u.records > 1 {
			return u, u.records == 1
		}
	}
	return u, false
}

// First is the first record of a text as one JSON text; records may span several lines or be in an
// array. Nil if no record is complete.
func First(head []byte) []byte {
	u, ended := firstRecord(bytes.TrimPrefix(head, []byte("\ufeff")))
	if !ended {
		return nil
	}
	return bytes.TrimSpace(u.out)
}
