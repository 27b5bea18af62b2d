// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package doc

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/go-json-experiment/json/jsontext"
)

// SyntaxError is the error of a document that is not valid JSON or YAML.
type SyntaxError struct {
	Line, Column int // of a YAML document
	At           int // offset in a JSON document
	Message, Fix string
	Trailing     bool // valid JSON followed by more text
}

func (e *SyntaxError) Error() string { return e.Message }

// ReadJSON reads JSON, or JSON with comments and trailing commas. The lists
// under the root's keys cases and test_cases stay lazy.
func ReadJSON(file string, data []byte) (*File, *SyntaxError) {
	d := &File{Name: file, data: bytes.TrimPrefix(data, []byte("\xef\xbb\xbf")), isJSON: true}
	if bad := validJSON(d.data); bad != nil {
		d.data = BlankComments(d.data)
		if bad := validJSON(d.data); bad != nil {
			return d, bad
		}
	}
	p := jsonParser{data: d.data, names: map[string]string{}}
	d.Root = p.value(0)
	d.Dups = p.dups
	if p.refused != "" {
		return d, &SyntaxError{At: p.place, Message: "the file holds " + p.refused}
	}
	return d, nil
}

func validJSON(data []byte) *SyntaxError {
	dec := jsontext.NewDecoder(bytes.NewBuffer(data), jsontext.AllowDuplicateNames(true))
	if err := dec.SkipValue(); err != nil {
		return jsonSyntax(err, len(data))
	}
	_, err := dec.ReadToken()
	switch {
	case errors.Is(err, io.EOF):
		return nil
	case err == nil:
		return &SyntaxError{At: int(dec.InputOffset()), Message: "text after the end of the JSON value", Trailing: true}
	}
	return jsonSyntax(err, len(data))
}

func jsonSyntax(err error, size int) *SyntaxError {
	var s *jsontext.SyntacticError
	switch {
	case errors.As(err, &s):
		return &SyntaxError{At: int(s.ByteOffset), Message: "not valid JSON: " + s.Err.Error()}
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return &SyntaxError{At: size, Message: "the JSON ends too early"}
	}
	return &SyntaxError{Message: "not valid JSON: " + err.Error()}
}

// BlankComments replaces the comments and trailing commas of JSON with comments by blanks, so
// that offsets do not change.
func BlankComments(data []byte) []byte {
	out := bytes.Clone(data)
	comma := -1
	for i := 0; i < len(out); {
		switch c := out[i]; {
		case c == '"':
			i = stringEnd(out, i)
			comma = -1
		case c == '/' && i+1 < len(out) && (out[i+1] == '/' || out[i+1] == '*'):
			i = blankComment(out, i)
		case c == ',':
			comma = i
			i++
		case (c == '}' || c == ']') && comma >= 0:
			out[comma], comma = ' ', -1
			i++
		default:
			if c > ' ' {
				comma = -1
			}
			i++
		}
	}
	return out
}

func blankComment(b []byte, i int) int {
	end := len(b)
	if b[i+1] == '/' {
		if n := bytes.IndexByte(b[i:], '\n'); n >= 0 {
			end = i + n
		}
	} else if n := bytes.Index(b[i+2:], []byte("*/")); n >= 0 {
		end = i + 2 + n + 2
	} else {
		return end // unchanged: the syntax error is then at the comment
	}
	for ; i < end; i++ {
		if b[i] != '\n' {
			b[i] = ' '
		}
	}
	return end
}

// stringEnd returns the offset after the string that starts at i.
func stringEnd(b []byte, i int) int {
	for i++; i < len(b); {
		n := bytes.IndexByte(b[i:], '"')
		if n < 0 {
			return len(b)
		}
		i += n + 1
		back := i - 2
		for b[back] == '\\' {
			back--
		}
		if (i-2-back)%2 == 0 {
			return i
		}
	}
	return i
}

// jsonParser builds nodes from JSON that is known to be valid.
type jsonParser struct {
	data []byte
	pos  int
	made int // nodes since the last reset
	dups []Duplicate
	// refused describes a part that is not read, at place; "": none.
	refused string
	place   int
	names   map[string]string // keys seen, so that each is allocated once
	nodes   []Node            // slabs that a reset frees
	keys    []Entry
	stack   []Node
	marks   []Entry
}

// reset forgets all nodes made so far; they must not be used any more.
func (p *jsonParser) reset() { p.nodes, p.keys, p.made = p.nodes[:0], p.keys[:0], 0 }

// refuse skips the list or map n.
func (p *jsonParser) refuse(n *Node, what string) {
	if p.refused == "" {
		p.refused, p.place = what, n.At
	}
	p.pos = skip(p.data, n.At)
}

// full skips the rest of n where too many values were read, and forgets the values of n.
func (p *jsonParser) full(n *Node, base int) bool {
	if p.made <= maxExpanded {
		return false
	}
	p.refuse(n, fmt.Sprintf("more than %d values", maxExpanded))
	p.stack = p.stack[:base]
	return true
}

func (p *jsonParser) space() {
	for p.pos < len(p.data) && p.data[p.pos] <= ' ' {
		p.pos++
	}
}

func (p *jsonParser) value(depth int) Node {
	p.space()
	p.made++
	n := Node{At: p.pos}
	switch p.data[p.pos] {
	case '{':
		p.object(&n, depth)
	case '[':
		p.list(&n, depth)
	case '"':
		n.Kind = String
		p.pos = stringEnd(p.data, p.pos)
		n.Raw = p.data[n.At:p.pos]
	default:
		for p.pos < len(p.data) && !delimiter(p.data[p.pos]) {
			p.pos++
		}
		n.Raw = p.data[n.At:p.pos]
		switch n.Raw[0] {
		case 'n':
			n.Kind = Null
		case 't', 'f':
			n.Kind = Bool
		default:
			n.Kind = Number
		}
	}
	return n
}

func delimiter(c byte) bool { return c <= ' ' || c == ',' || c == ']' || c == '}' }

func (p *jsonParser) list(n *Node, depth int) {
	n.Kind = List
	if depth >= maxDepth {
		p.refuse(n, "values nested more than 200 deep")
		return
	}
	p.pos++
	base := len(p.stack)
	for p.space(); p.data[p.pos] != ']'; p.space() {
		if p.data[p.pos] == ',' {
			p.pos++
			continue
		}
		v := p.value(depth + 1)
		p.stack = append(p.stack, v)
		if p.full(n, base) {
			return
		}
	}
	p.pos++
	n.Items = p.take(base)
}

func (p *jsonParser) object(n *Node, depth int) {
	n.Kind = Map
	if depth >= maxDepth {
		p.refuse(n, "values nested more than 200 deep")
		return
	}
	p.pos++
	base, mark := len(p.stack), len(p.marks)
	for p.space(); p.data[p.pos] != '}'; p.space() {
		if p.data[p.pos] == ',' {
			p.pos++
			continue
		}
		at := p.pos
		p.pos = stringEnd(p.data, at)
		name := p.name(p.data[at:p.pos])
		p.space()
		p.pos++ // the colon
		v := p.member(name, depth)
		p.stack = append(p.stack, v)
		p.marks = append(p.marks, Entry{name, at})
		if p.full(n, base) {
			p.marks = p.marks[:mark]
			return
		}
	}
	p.pos++
	n.Items = p.take(base)
	n.Names = p.takeKeys(mark)
	p.dups = duplicates(p.dups, n.Names)
}

// member reads a map's value; the case lists of the root stay lazy.
func (p *jsonParser) member(name string, depth int) Node {
	if depth == 0 && (name == "cases" || name == "test_cases") {
		if p.space(); p.data[p.pos] == '[' {
			at := p.pos
			n := Node{Kind: List, Lazy: true, At: at}
			p.pos = skip(p.data, at)
			n.Raw = p.data[at:p.pos]
			return n
		}
	}
	return p.value(depth + 1)
}

func (p *jsonParser) name(raw []byte) string {
	inner := raw[1 : len(raw)-1]
	if s, ok := p.names[string(inner)]; ok {
		return s
	}
	n := Node{Kind: String, Raw: raw}
	s := n.Text()
	if len(p.names) < 4096 {
		p.names[string(inner)] = s
	}
	return s
}

func (p *jsonParser) take(base int) []Node {
	from := len(p.nodes)
	p.nodes = append(p.nodes, p.stack[base:]...)
	p.stack = p.stack[:base]
	return p.nodes[from:len(p.nodes):len(p.nodes)]
}

func (p *jsonParser) takeKeys(base int) []Entry {
	from := len(p.keys)
	p.keys = append(p.keys, p.marks[base:]...)
	p.marks = p.marks[:base]
	return p.keys[from:len(p.keys):len(p.keys)]
}

// duplicates appends the repeated keys in names.
func duplicates(out []Duplicate, names []Entry) []Duplicate {
	if len(names) > 16 {
		seen := make(map[string]int, len(names))
		for _, e := range names {
			if at, ok := seen[e.Name]; ok {
				out = append(out, Duplicate{e.Name, e.At, at})
				continue
			}
			seen[e.Name] = e.At
		}
		return out
	}
	for i := range names {
		for j := range names[:i] {
			if names[i].Name == names[j].Name {
				out = append(out, Duplicate{names[i].Name, names[i].At, names[j].At})
				break
			}
		}
	}
	return out
}

// skip returns the offset after the list or map that starts at i.
func skip(b []byte, i int) int {
	for depth := 0; i < len(b); {
		switch b[i] {
		case '"':
			i = stringEnd(b, i)
			continue
		case '[', '{':
			depth++
		case ']', '}':
			if depth--; depth == 0 {
				return i + 1
			}
		}
		i++
	}
	return i
}

// Elements calls f for every element of a list. Nodes of a lazy list are valid during the call
// only. An element that is not read is a null, and Shown reports it.
func (d *File) Elements(n *Node, f func(i int, v *Node)) {
	if !n.Lazy {
		for i := range n.Items {
			f(i, &n.Items[i])
		}
		return
	}
	p := jsonParser{data: d.data[:n.At+len(n.Raw)], pos: n.At + 1, names: map[string]string{}}
	i := 0
	for p.space(); p.data[p.pos] != ']'; p.space() {
		if p.data[p.pos] == ',' {
			p.pos++
			continue
		}
		p.reset()
		v := p.value(2)
		d.Dups = append(d.Dups, p.dups...)
		p.dups = p.dups[:0]
		if p.refused != "" {
			v = Node{Kind: Null, At: p.place, Raw: []byte(p.refused)}
			p.refused = ""
		}
		f(i, &v)
		i++
	}
}
