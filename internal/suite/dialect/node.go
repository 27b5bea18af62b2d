// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package dialect

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"iter"
	"sort"
	"unicode/utf8"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/doc"
	"github.com/go-json-experiment/json/jsontext"
)

// maxBytes bounds one input file; maxColumnScan bounds how far a column is
// counted in characters (beyond it, bytes are counted: files on one line would
// otherwise cost quadratic time).
const (
	maxBytes      = 512 << 20
	maxColumnScan = 4096
)

// Source is one file as validated JSON text with positions.
type Source struct {
	Path   string
	Text   []byte
	Values []Node // top-level values: one, or many for JSON Lines
	Form   string // "json", "jsonl" or "yaml"
	lines  []int  // offsets of newlines, ascending; nil until asked for
	marks  []mark // YAML only: where each piece of text came from, ascending
}

// mark is the line and the column of the JSON text from off on.
type mark struct{ off, line, col int }

// Node is one JSON value inside a source. The zero node is absent.
type Node struct {
	Raw []byte
	Off int
}

// Member is one key of an object with its value.
type Member struct {
	Name string
	Off  int
	Val  Node
}

// Kind is the value's first byte with numbers folded to '0'; 0 when absent.
func (n Node) Kind() byte {
	if len(n.Raw) == 0 {
		return 0
	}
	switch c := n.Raw[0]; c {
	case '{', '[', '"', 't', 'f', 'n':
		return c
	default:
		return '0'
	}
}

// Null reports the JSON null.
func (n Node) Null() bool { return n.Kind() == 'n' }

// Absent reports that there is no value at all.
func (n Node) Absent() bool { return len(n.Raw) == 0 }

// Given reports a value that is there and not null.
func (n Node) Given() bool { return !n.Absent() && !n.Null() }

// Text decodes a string value; ok is false for anything else.
func (n Node) Text() (s string, ok bool) {
	if n.Kind() != '"' {
		return "", false
	}
	return Unquote(n.Raw), true
}

// Unquote decodes a JSON string of validated text.
func Unquote(raw []byte) string {
	if bytes.IndexByte(raw, '\\') < 0 {
		return string(raw[1 : len(raw)-1])
	}
	b, err := jsontext.AppendUnquote(nil, raw)
	if err != nil { // cannot happen: the text was validated
		return string(raw)
	}
	return string(b)
}

// Open reads data as JSON, JSON with comments, JSON Lines or YAML.
func Open(data []byte, path string) (*Source, error) {
	if len(data) > maxBytes {
		return nil, fmt.Errorf("read suite: %w: the file has %d bytes, the limit is %d", callvet.ErrLimited,
			len(data), maxBytes)
	}
	if i := invalidUTF8(data); i >= 0 {
		return nil, fmt.Errorf("read suite: %w: %s: byte %d is not valid UTF-8", callvet.ErrInvalid, Name(path), i)
	}
	marked := data
	data = blankBOM(data)
	src := &Source{Path: path, Text: data, Form: "json"}
	first := FirstByte(data)
	if first == 0 {
		return nil, fmt.Errorf("read suite: %w: %s is empty", callvet.ErrInvalid, Name(path))
	}
	if first != '{' && first != '[' || yamlPath(path) {
		// Blanks in its place would indent the first line.
		if err := src.readYAML(bytes.TrimPrefix(marked, []byte(bom))); err != nil {
			return nil, err
		}
		return src, nil
	}
	if err := src.validate(); err != nil {
		src.Text = doc.BlankComments(data)
		if err = src.validate(); err != nil {
			return nil, err
		}
	}
	if len(src.Values) > 1 {
		src.Form = "jsonl"
	}
	return src, nil
}

// validate checks the whole text once (syntax, duplicate keys, UTF-8) and finds
// the top-level values; everything after may trust the text.
func (s *Source) validate() error {
	s.Values = s.Values[:0]
	dec := jsontext.NewDecoder(bytes.NewBuffer(s.Text))
	for {
		v, err := dec.ReadValue()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return s.syntax(err)
		}
		off := int(dec.InputOffset()) - len(v)
		s.Values = append(s.Values, Node{Raw: s.Text[off : off+len(v)], Off: off})
	}
}

func (s *Source) syntax(err error) error {
	var serr *jsontext.SyntacticError
	p := callvet.Problem{Position: callvet.Position{File: s.Path}, Code: "syntax", Message: err.Error()}
	if errors.As(err, &serr) {
		p.Position = s.Position(int(serr.ByteOffset))
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
	return &callvet.Hinted{
		Err:  fmt.Errorf("read suite: %w: %w", callvet.ErrInvalid, p),
		Hint: "correct the file at that position",
	}
}

// Position maps an offset of the text to the file the person wrote.
func (s *Source) Position(off int) callvet.Position {
	if s.marks != nil {
		i := sort.Search(len(s.marks), func(i int) bool { return s.marks[i].off > off })
		if i == 0 {
			return callvet.Position{File: s.Path, Line: 1, Column: 1}
		}
		return callvet.Position{File: s.Path, Line: s.marks[i-1].line, Column: s.marks[i-1].col}
	}
	if s.lines == nil {
		s.lines = []int{-1}
		for i, c := range s.Text {
			if c == '\n' {
				s.lines = append(s.lines, i)
			}
		}
	}
	off = min(off, len(s.Text))
	i := sort.SearchInts(s.lines, off)
	start := s.lines[i-1] + 1
	col := off - start
	if col <= maxColumnScan {
		col = utf8.RuneCount(s.Text[start:off])
	}
	return callvet.Position{File: s.Path, Line: i, Column: col + 1}
}

// Members splits an object; nil for anything else. keys, when not nil, interns names.
func (n Node) Members(keys map[string]string) []Member {
	if n.Kind() != '{' {
		return nil
	}
	var out []Member
	for i := skipSpace(n.Raw, 1); n.Raw[i] != '}'; {
		end := skipString(n.Raw, i)
		m := Member{Off: n.Off + i, Name: intern(keys, n.Raw[i:end])}
		i = skipSpace(n.Raw, skipSpace(n.Raw, end)+1) // past the colon
		end = skipValue(n.Raw, i)
		m.Val = Node{Raw: n.Raw[i:end], Off: n.Off + i}
		out = append(out, m)
		if i = skipSpace(n.Raw, end); n.Raw[i] == ',' {
			i = skipSpace(n.Raw, i+1)
		}
	}
	return out
}

// Elements splits an array; nil for anything else.
func (n Node) Elements() []Node {
	var out []Node
	for e := range n.Each() {
		out = append(out, e)
	}
	return out
}

// Each yields an array's elements; none of anything else.
func (n Node) Each() iter.Seq[Node] {
	return func(yield func(Node) bool) {
		if n.Kind() != '[' {
			return
		}
		for i := skipSpace(n.Raw, 1); n.Raw[i] != ']'; {
			end := skipValue(n.Raw, i)
			if !yield(Node{Raw: n.Raw[i:end], Off: n.Off + i}) {
				return
			}
			if i = skipSpace(n.Raw, end); n.Raw[i] == ',' {
				i = skipSpace(n.Raw, i+1)
			}
		}
	}
}

// Get returns an object's value of that key, or the absent node.
func (n Node) Get(key string) Node {
	for _, m := range n.Members(nil) {
		if m.Name == key {
			return m.Val
		}
	}
	return Node{}
}

// Has reports a key that is there, null included.
func (n Node) Has(key string) bool { return !n.Get(key).Absent() }

// At follows keys downwards.
func (n Node) At(keys ...string) Node {
	for _, k := range keys {
		n = n.Get(k)
	}
	return n
}

func intern(keys map[string]string, quoted []byte) string {
	if keys == nil {
		return Unquote(quoted)
	}
	if s, ok := keys[string(quoted)]; ok {
		return s
	}
	s := Unquote(quoted)
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

// FirstOf is an array's first element.
func FirstOf(list Node) Node {
	if list.Kind() != '[' {
		return Node{}
	}
	i := skipSpace(list.Raw, 1)
	if list.Raw[i] == ']' {
		return Node{}
	}
	return Node{Raw: list.Raw[i:skipValue(list.Raw, i)], Off: list.Off + i}
}
