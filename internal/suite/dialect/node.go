// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package dialect

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"sort"
	"unicode/utf8"

	"github.com/callvet/callvet"
	"github.com/go-json-experiment/json/jsontext"
)

// maxBytes bounds one input file; maxColumnScan bounds how far a column is
// counted in characters (beyond it, bytes are counted: files on one line would
// otherwise cost quadratic time).
const (
	maxBytes      = 512 << 20
	maxColumnScan = 4096
)

// source is one file as validated JSON text with positions.
type source struct {
	path   string
	text   []byte
	values []node // top-level values: one, or many for JSON Lines
	form   string // "json", "jsonl" or "yaml"
	lines  []int  // offsets of newlines, ascending; nil until asked for
	marks  []mark // YAML only: where each piece of text came from, ascending
}

// mark says that the JSON text from off on came from line and column.
type mark struct{ off, line, col int }

// node is one JSON value inside a source. The zero node is absent.
type node struct {
	raw []byte
	off int
}

// member is one key of an object with its value.
type member struct {
	name string
	off  int
	val  node
}

// kind is the value's first byte with numbers folded to '0'; 0 when absent.
func (n node) kind() byte {
	if len(n.raw) == 0 {
		return 0
	}
	switch c := n.raw[0]; c {
	case '{', '[', '"', 't', 'f', 'n':
		return c
	default:
		return '0'
	}
}

func (n node) null() bool   { return n.kind() == 'n' }
func (n node) absent() bool { return len(n.raw) == 0 }

// given reports a value that is there and not null.
func (n node) given() bool { return !n.absent() && !n.null() }

// text decodes a string value; ok is false for anything else.
func (n node) text() (s string, ok bool) {
	if n.kind() != '"' {
		return "", false
	}
	return unquote(n.raw), true
}

func unquote(raw []byte) string {
	if bytes.IndexByte(raw, '\\') < 0 {
		return string(raw[1 : len(raw)-1])
	}
	b, err := jsontext.AppendUnquote(nil, raw)
	if err != nil { // cannot happen: the text was validated
		return string(raw)
	}
	return string(b)
}

// open reads data as JSON, JSON with comments, JSON Lines or YAML.
func open(data []byte, path string) (*source, error) {
	if len(data) > maxBytes {
		return nil, fmt.Errorf("read suite: %w: the file has %d bytes, the limit is %d", callvet.ErrLimited, len(data), maxBytes)
	}
	if i := invalidUTF8(data); i >= 0 {
		return nil, fmt.Errorf("read suite: %w: %s: byte %d is not valid UTF-8", callvet.ErrInvalid, name(path), i)
	}
	data = blankBOM(data)
	src := &source{path: path, text: data, form: "json"}
	first := firstByte(data)
	if first == 0 {
		return nil, fmt.Errorf("read suite: %w: %s is empty", callvet.ErrInvalid, name(path))
	}
	if first != '{' && first != '[' || yamlPath(path) {
		if err := src.readYAML(data); err != nil {
			return nil, err
		}
		return src, nil
	}
	if err := src.validate(); err != nil {
		src.text = blankComments(data)
		if err = src.validate(); err != nil {
			return nil, err
		}
	}
	if len(src.values) > 1 {
		src.form = "jsonl"
	}
	return src, nil
}

// validate checks the whole text once (syntax, duplicate keys, UTF-8) and finds
// the top-level values; everything after may trust the text.
func (s *source) validate() error {
	s.values = s.values[:0]
	dec := jsontext.NewDecoder(bytes.NewBuffer(s.text))
	for {
		v, err := dec.ReadValue()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return s.syntax(err)
		}
		off := int(dec.InputOffset()) - len(v)
		s.values = append(s.values, node{raw: s.text[off : off+len(v)], off: off})
	}
}

func (s *source) syntax(err error) error {
	var serr *jsontext.SyntacticError
	p := callvet.Problem{Position: callvet.Position{File: s.path}, Code: "syntax", Message: err.Error()}
	if errors.As(err, &serr) {
		p.Position = s.position(int(serr.ByteOffset))
		p.Message = "not valid JSON: " + serr.Err.Error()
		if errors.Is(serr.Err, jsontext.ErrDuplicateName) {
			p.Code = "duplicate-key"
			p.Key = serr.JSONPointer.LastToken()
			p.Message = fmt.Sprintf("key %q is given twice", p.Key)
		}
		if errors.Is(serr.Err, io.ErrUnexpectedEOF) {
			p.Message = "not valid JSON: the file ends in the middle of a value"
		}
	}
	return &callvet.Hinted{Err: fmt.Errorf("read suite: %w: %w", callvet.ErrInvalid, p), Hint: "correct the file at that position"}
}

// position maps an offset of the text to the file the person wrote.
func (s *source) position(off int) callvet.Position {
	if s.marks != nil {
		i := sort.Search(len(s.marks), func(i int) bool { return s.marks[i].off > off })
		if i == 0 {
			return callvet.Position{File: s.path, Line: 1, Column: 1}
		}
		return callvet.Position{File: s.path, Line: s.marks[i-1].line, Column: s.marks[i-1].col}
	}
	if s.lines == nil {
		s.lines = []int{-1}
		for i, c := range s.text {
			if c == '\n' {
				s.lines = append(s.lines, i)
			}
		}
	}
	off = min(off, len(s.text))
	i := sort.SearchInts(s.lines, off)
	start := s.lines[i-1] + 1
	col := off - start
	if col <= maxColumnScan {
		col = utf8.RuneCount(s.text[start:off])
	}
	return callvet.Position{File: s.path, Line: i, Column: col + 1}
}

// members splits an object; nil for anything else. keys, when not nil, interns names.
func (n node) members(keys map[string]string) []member {
	if n.kind() != '{' {
		return nil
	}
	var out []member
	for i := skipSpace(n.raw, 1); n.raw[i] != '}'; {
		end := skipString(n.raw, i)
		m := member{off: n.off + i, name: intern(keys, n.raw[i:end])}
		i = skipSpace(n.raw, skipSpace(n.raw, end)+1) // past the colon
		end = skipValue(n.raw, i)
		m.val = node{raw: n.raw[i:end], off: n.off + i}
		out = append(out, m)
		if i = skipSpace(n.raw, end); n.raw[i] == ',' {
			i = skipSpace(n.raw, i+1)
		}
	}
	return out
}

// elements splits an array; nil for anything else.
func (n node) elements() []node {
	if n.kind() != '[' {
		return nil
	}
	var out []node
	for i := skipSpace(n.raw, 1); n.raw[i] != ']'; {
		end := skipValue(n.raw, i)
		out = append(out, node{raw: n.raw[i:end], off: n.off + i})
		if i = skipSpace(n.raw, end); n.raw[i] == ',' {
			i = skipSpace(n.raw, i+1)
		}
	}
	return out
}

// get returns an object's value of that key, or the absent node.
func (n node) get(key string) node {
	for _, m := range n.members(nil) {
		if m.name == key {
			return m.val
		}
	}
	return node{}
}

func (n node) has(key string) bool { return !n.get(key).absent() }

// at follows keys downwards.
func (n node) at(keys ...string) node {
	for _, k := range keys {
		n = n.get(k)
	}
	return n
}

func intern(keys map[string]string, quoted []byte) string {
	if keys == nil {
		return unquote(quoted)
	}
	if s, ok := keys[string(quoted)]; ok {
		return s
	}
	s := unquote(quoted)
	keys[string(quoted)] = s
	return s
}

// The skip functions walk text that validate has accepted.

func skipSpace(b []byte, i int) int {
	for b[i] == ' ' || b[i] == '\n' || b[i] == '\t' || b[i] == '\r' {
		i++
	}
	return i
}

func skipString(b []byte, i int) int {
	for i++; b[i] != '"'; i++ {
		if b[i] == '\\' {
			i++
		}
	}
	return i + 1
}

func skipValue(b []byte, i int) int {
	switch b[i] {
	case '"':
		return skipString(b, i)
	case '{', '[':
		for depth := 0; ; {
			switch b[i] {
			case '"':
				i = skipString(b, i)
				continue
			case '{', '[':
				depth++
			case '}', ']':
				depth--
			}
			i++
			if depth == 0 {
				return i
			}
		}
	}
	for ; i < len(b); i++ {
		switch b[i] {
		case ',', ']', '}', ' ', '\n', '\t', '\r':
			return i
		}
	}
	return i
}
