// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package value

import (
	"bytes"
	"fmt"
	"unicode/utf8"
)

// MaxDepth is how deeply arrays and objects may nest.
const MaxDepth = 512

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
	count            int32 // members or elements
	kind             Kind
	escaped          bool // a string with backslashes
	keyEscaped       bool
}

// Doc is a parser and the tape of the last value it parsed. The zero Doc is
// ready to use; a Doc is not safe for concurrent use while parsing.
type Doc struct {
	src   []byte
	nodes []node
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
	if len(src) > 1<<31-2 {
		return &SyntaxError{0, "longer than 2 GiB"}
	}
	p := parser{d: d, src: src}
	p.space()
	if !p.value(0) {
		d.nodes = d.nodes[:0]
		return &SyntaxError{p.pos, p.msg}
	}
	p.space()
	if p.pos != len(src) {
		d.nodes = d.nodes[:0]
		return &SyntaxError{p.pos, "data after the value"}
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

type parser struct {
	d   *Doc
	src []byte
	pos int
	msg string
}

func (p *parser) fail(msg string) bool {
	p.msg = msg
	return false
}

func (p *parser) space() {
	for p.pos < len(p.src) {
		switch p.src[p.pos] {
		case ' ', '\n', '\t', '\r':
			p.pos++
		default:
			return
		}
	}
}

func (p *parser) value(depth int) bool {
	if p.pos >= len(p.src) {
		return p.fail("unexpected end")
	}
	i := len(p.d.nodes)
	p.d.nodes = append(p.d.nodes, node{start: int32(p.pos)})
	var k Kind
	ok, esc := false, false
	switch c := p.src[p.pos]; {
	case c == '"':
		k = String
		ok, esc = p.str()
	case c == '{':
		k, ok = Object, p.object(i, depth)
	case c == '[':
		k, ok = Array, p.array(i, depth)
	case c == '-' || c >= '0' && c <= '9':
		k, ok = Number, p.number()
	case c == 't':
		k, ok = Bool, p.literal("true")
	case c == 'f':
		k, ok = Bool, p.literal("false")
	case c == 'n':
		k, ok = Null, p.literal("null")
	default:
		return p.fail(fmt.Sprintf("unexpected character %q", c))
	}
	if !ok {
		return false
	}
	n := &p.d.nodes[i]
	n.kind, n.escaped, n.end, n.next = k, esc, int32(p.pos), int32(len(p.d.nodes))
	return true
}

func (p *parser) literal(s string) bool {
	if len(p.src)-p.pos < len(s) || string(p.src[p.pos:p.pos+len(s)]) != s {
		return p.fail("not a JSON literal")
	}
	p.pos += len(s)
	return true
}

func (p *parser) digits() bool {
	from := p.pos
	for p.pos < len(p.src) && p.src[p.pos] >= '0' && p.src[p.pos] <= '9' {
		p.pos++
	}
	if p.pos == from {
		return p.fail("a number lacks digits")
	}
	return true
}

func (p *parser) number() bool {
	if p.src[p.pos] == '-' {
		p.pos++
	}
	if p.pos < len(p.src) && p.src[p.pos] == '0' {
		p.pos++
	} else if !p.digits() {
		return false
	}
	if p.pos < len(p.src) && p.src[p.pos] == '.' {
		p.pos++
		if !p.digits() {
			return false
		}
	}
	if p.pos < len(p.src) && p.src[p.pos]|0x20 == 'e' {
		p.pos++
		if p.pos < len(p.src) && (p.src[p.pos] == '+' || p.src[p.pos] == '-') {
			p.pos++
		}
		return p.digits()
	}
	return true
}

// str reads a string and tells whether it holds escapes.
func (p *parser) str() (ok, escaped bool) {
	s := p.src
	for i := p.pos + 1; i < len(s); {
		switch c := s[i]; {
		case c == '"':
			p.pos = i + 1
			return true, escaped
		case c == '\\':
			escaped = true
			n := escapeLen(s[i:])
			if n == 0 {
				p.pos = i
				return p.fail("invalid escape in a string"), false
			}
			i += n
		case c < 0x20:
			p.pos = i
			return p.fail("raw control character in a string"), false
		case c < utf8.RuneSelf:
			i++
		default:
			r, n := utf8.DecodeRune(s[i:])
			if r == utf8.RuneError && n <= 1 {
				p.pos = i
				return p.fail("invalid UTF-8 in a string"), false
			}
			i += n
		}
	}
	p.pos = len(s)
	return p.fail("a string is not closed"), false
}

// escapeLen is the length of the escape s starts with, or 0 if it is none. A
// surrogate must come with its other half.
func escapeLen(s []byte) int {
	if len(s) < 2 {
		return 0
	}
	switch s[1] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		return 2
	case 'u':
		r := hex4(s[2:])
		switch {
		case r < 0, r >= 0xDC00 && r < 0xE000:
			return 0
		case r < 0xD800 || r >= 0xE000:
			return 6
		}
		if len(s) < 12 || s[6] != '\\' || s[7] != 'u' {
			return 0
		}
		if lo := hex4(s[8:]); lo < 0xDC00 || lo >= 0xE000 {
			return 0
		}
		return 12
	}
	return 0
}

func hex4(s []byte) rune {
	if len(s) < 4 {
		return -1
	}
	var r rune
	for _, c := range s[:4] {
		switch {
		case c >= '0' && c <= '9':
			c -= '0'
		case c|0x20 >= 'a' && c|0x20 <= 'f':
			c = c|0x20 - 'a' + 10
		default:
			return -1
		}
		r = r<<4 | rune(c)
	}
	return r
}

func (p *parser) array(self, depth int) bool {
	if depth >= MaxDepth {
		return p.fail("nested too deeply")
	}
	p.pos++
	p.space()
	if p.pos < len(p.src) && p.src[p.pos] == ']' {
		p.pos++
		return true
	}
	for n := int32(1); ; n++ {
		p.space()
		if !p.value(depth + 1) {
			return false
		}
		p.space()
		if p.pos >= len(p.src) {
			return p.fail("an array is not closed")
		}
		switch p.src[p.pos] {
		case ',':
			p.pos++
		case ']':
			p.pos++
			p.d.nodes[self].count = n
			return true
		default:
			return p.fail("expected , or ] in an array")
		}
	}
}

func (p *parser) object(self, depth int) bool {
	if depth >= MaxDepth {
		return p.fail("nested too deeply")
	}
	p.pos++
	p.space()
	if p.pos < len(p.src) && p.src[p.pos] == '}' {
		p.pos++
		return true
	}
	for n := int32(1); ; n++ {
		if !p.member(depth) {
			return false
		}
		p.space()
		if p.pos >= len(p.src) {
			return p.fail("an object is not closed")
		}
		switch p.src[p.pos] {
		case ',':
			p.pos++
		case '}':
			p.pos++
			p.d.nodes[self].count = n
			return p.unique(self, n)
		default:
			return p.fail("expected , or } in an object")
		}
	}
}

func (p *parser) member(depth int) bool {
	p.space()
	if p.pos >= len(p.src) || p.src[p.pos] != '"' {
		return p.fail("expected a member name")
	}
	from := p.pos
	ok, esc := p.str()
	if !ok {
		return false
	}
	ks, ke := from+1, p.pos-1
	p.space()
	if p.pos >= len(p.src) || p.src[p.pos] != ':' {
		return p.fail("expected : after a member name")
	}
	p.pos++
	p.space()
	i := len(p.d.nodes)
	if !p.value(depth + 1) {
		return false
	}
	nd := &p.d.nodes[i]
	nd.keyStart, nd.keyEnd, nd.keyEscaped = int32(ks), int32(ke), esc
	return true
}

// unique checks the member names of a finished object: by pairs while they are
// few, by a set when they are many.
func (p *parser) unique(self int, n int32) bool {
	if n == 1 {
		return true
	}
	if n > 16 {
		return p.uniqueSet(self)
	}
	ns := p.d.nodes
	end := int32(len(ns))
	for a := int32(self + 1); a < end; a = ns[a].next {
		for b := ns[a].next; b < end; b = ns[b].next {
			if p.sameKey(&ns[a], &ns[b]) {
				return p.duplicate(&ns[b])
			}
		}
	}
	return true
}

func (p *parser) uniqueSet(self int) bool {
	ns := p.d.nodes
	seen := make(map[string]struct{}, ns[self].count)
	for a := int32(self + 1); a < int32(len(ns)); a = ns[a].next {
		k := p.d.keyOf(&ns[a])
		if _, dup := seen[k]; dup {
			return p.duplicate(&ns[a])
		}
		seen[k] = struct{}{}
	}
	return true
}

func (p *parser) duplicate(n *node) bool {
	p.pos = int(n.keyStart)
	return p.fail(fmt.Sprintf("duplicate key %q", p.d.keyOf(n)))
}

func (p *parser) sameKey(a, b *node) bool {
	if a.keyEscaped || b.keyEscaped {
		return p.d.keyOf(a) == p.d.keyOf(b)
	}
	return bytes.Equal(p.src[a.keyStart:a.keyEnd], p.src[b.keyStart:b.keyEnd])
}
