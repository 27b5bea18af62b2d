// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package value

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/bits"
	"unicode/utf8"
)

// ones and highs have the lowest and the highest bit of each byte set.
const ones, highs = 0x0101010101010101, 0x8080808080808080

// parser writes the tape. Its methods take the position to read at and return the position after
// what they read, or -1 when it is not JSON. Positions stay in registers, which makes it fast.
type parser struct {
	nodes []node
	src   []byte
	pos   int // of the error
	msg   string
	// bare parsers write no tape; unsure: names must still be compared.
	bare, unsure bool
	over         bool // there are more values than max
	max          int
	words        *words // nil: none are kept
}

// key is a member's name before its value is parsed.
type key struct {
	start, end int32
	form       form  // flags of the name
	word       uint8 // its number in words; in an array that of the array; 0: none
}

func (p *parser) fail(at int, msg string) int {
	p.pos, p.msg = at, msg
	return -1
}

func (p *parser) space(i int) int {
	for i < len(p.src) && p.src[i] <= ' ' {
		switch p.src[i] {
		case ' ', '\n', '\t', '\r':
			i++
		default:
			return i
		}
	}
	return i
}

func (p *parser) value(i, depth int, k key) int {
	if i >= len(p.src) {
		return p.fail(i, "unexpected end")
	}
	switch c := p.src[i]; c {
	case '"':
		end, esc := p.str(i)
		return p.scalar(i, end, textForm(esc), k, 0)
	case '{':
		return p.object(i, depth, k)
	case '[':
		return p.array(i, depth, k)
	case '-', '0', '1', '2', '3', '4', '5', '6', '7', '8', '9':
		end, f, whole := p.figure(i)
		return p.scalar(i, end, f, k, whole)
	case 't':
		return p.scalar(i, p.literal(i, "true"), form(Bool), k, 0)
	case 'f':
		return p.scalar(i, p.literal(i, "false"), form(Bool), k, 0)
	case 'n':
		return p.scalar(i, p.literal(i, "null"), form(Null), k, 0)
	default:
		return p.fail(i, fmt.Sprintf("unexpected character %q", c))
	}
}

func textForm(escaped bool) form {
	if escaped {
		return form(String) | roundabout
	}
	return form(String)
}

func (p *parser) scalar(start, end int, f form, k key, count int32) int {
	if end < 0 || p.bare {
		return end
	}
	n := p.node()
	n.start, n.end, n.next, n.count = int32(start), int32(end), int32(len(p.nodes)), count
	n.keyStart, n.keyEnd, n.form = k.start, k.end, f|k.form
	return end
}

// node appends one node; the caller must set all its fields. Building it elsewhere and copying it
// would be the largest cost here.
func (p *parser) node() *node {
	n := len(p.nodes)
	if n < cap(p.nodes) {
		p.nodes = p.nodes[:n+1]
	} else if n >= p.max && n > 0 {
		p.over, p.src = true, p.src[:0] // every further read fails, as at the end of the text
		return &p.nodes[n-1]
	} else {
		p.nodes = append(p.nodes, node{})
		if cap(p.nodes) > p.max {
			p.nodes = p.nodes[: n+1 : p.max]
		}
	}
	return &p.nodes[n]
}

// open starts the node of an array or object; shut completes it.
func (p *parser) open(start int, kind Kind, k key) (self int) {
	if p.bare {
		return 0
	}
	self = len(p.nodes)
	n := p.node()
	n.start, n.keyStart, n.keyEnd, n.form = int32(start), k.start, k.end, form(kind)|k.form
	return self
}

func (p *parser) shut(self, end int, count int32) int {
	if p.bare {
		return end
	}
	n := &p.nodes[self]
	n.end, n.next, n.count = int32(end), int32(len(p.nodes)), count
	return end
}

func (p *parser) literal(i int, s string) int {
	if len(p.src)-i < len(s) || string(p.src[i:i+len(s)]) != s {
		return p.fail(i, "not a JSON literal")
	}
	return i + len(s)
}

// number reads a number and returns whether it has a fraction or an exponent.
func (p *parser) number(i int) (end int, broken bool) {
	s := p.src
	if s[i] == '-' {
		i++
	}
	if i < len(s) && s[i] == '0' {
		i++
	} else if i = p.digits(i); i < 0 {
		return i, false
	}
	if i < len(s) && s[i] == '.' {
		broken = true
		if i = p.digits(i + 1); i < 0 {
			return i, true
		}
	}
	if i < len(s) && s[i]|0x20 == 'e' {
		i++
		if i < len(s) && (s[i] == '+' || s[i] == '-') {
			i++
		}
		return p.digits(i), true
	}
	return i, broken
}

// figure is number; for short plain integers it also returns their value plus one.
func (p *parser) figure(i int) (end int, f form, whole int32) {
	s, j, n := p.src, i, 0
	for j < len(s) && s[j]-'0' <= 9 {
		n = n*10 + int(s[j]-'0')
		j++
	}
	if j == i || j-i > 9 || s[i] == '0' && j-i > 1 || j < len(s) && (s[j] == '.' || s[j]|0x20 == 'e') {
		end, broken := p.number(i)
		if broken {
			return end, form(Number) | roundabout | fraction, 0
		}
		return end, form(Number) | roundabout, 0
	}
	return j, form(Number), int32(n + 1)
}

func (p *parser) digits(i int) int {
	from, s := i, p.src
	for i < len(s) && s[i]-'0' <= 9 {
		i++
	}
	if i == from {
		return p.fail(i, "a number lacks digits")
	}
	return i
}

// str reads a string and returns whether it has escapes. It searches eight bytes at a time for a
// byte that is not plain: a quote, a backslash, a control character or part of a code point outside
// ASCII. A borrow can only falsify bytes above the first match, which are not used; a byte outside ASCII
// matches in any case.
func (p *parser) str(i int) (end int, escaped bool) {
	s := p.src
	for i++; i < len(s); {
		if i+8 <= len(s) {
			w := binary.LittleEndian.Uint64(s[i:])
			found := ((w ^ ones*'"' - ones) | (w ^ ones*'\\' - ones) | (w - ones*0x20) | w) & highs
			if found == 0 {
				i += 8
				continue
			}
			i += bits.TrailingZeros64(found) >> 3
		}
		switch c := s[i]; {
		case c == '"':
			return i + 1, escaped
		case c == '\\':
			escaped = true
			if i+1 < len(s) && s[i+1] == '"' { // nearly always
				i += 2
				continue
			}
			n := escapeLen(s[i:])
			if n == 0 {
				return p.fail(i, "invalid escape in a string"), false
			}
			i += n
		case c < 0x20:
			return p.fail(i, "raw control character in a string"), false
		case c < utf8.RuneSelf: // near the end of the text
			i++
		default:
			r, n := utf8.DecodeRune(s[i:])
			if r == utf8.RuneError && n <= 1 {
				return p.fail(i, "invalid UTF-8 in a string"), false
			}
			i += n
		}
	}
	return p.fail(len(s), "a string is not closed"), false
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
			c = c | 0x20 - 'a' + 10
		default:
			return -1
		}
		r = r<<4 | rune(c)
	}
	return r
}

func (p *parser) array(i, depth int, k key) int {
	if depth >= MaxDepth {
		return p.fail(i, "nested too deeply")
	}
	self := p.open(i, Array, k)
	i = p.space(i + 1)
	if i < len(p.src) && p.src[i] == ']' {
		return p.shut(self, i+1, 0)
	}
	for n := int32(1); ; n++ {
		if i = p.value(i, depth+1, key{word: k.word}); i < 0 {
			return i
		}
		if i = p.space(i); i >= len(p.src) {
			return p.fail(i, "an array is not closed")
		}
		switch p.src[i] {
		case ',':
			i = p.space(i + 1)
		case ']':
			return p.shut(self, i+1, n)
		default:
			return p.fail(i, "expected , or ] in an array")
		}
	}
}

func (p *parser) object(i, depth int, k key) int {
	if depth >= MaxDepth {
		return p.fail(i, "nested too deeply")
	}
	self := p.open(i, Object, k)
	i = p.space(i + 1)
	if i < len(p.src) && p.src[i] == '}' {
		return p.shut(self, i+1, 0)
	}
	u := unique{}
	next := p.inside(k.word)
	for n := int32(1); ; n++ {
		var at int
		if k, at = p.member(i, next); at < 0 {
			return at
		}
		u.add(p.src, k)
		next = p.after(k.word)
		if i = p.value(p.space(at), depth+1, k); i < 0 {
			return i
		}
		if i = p.space(i); i >= len(p.src) {
			return p.fail(i, "an object is not closed")
		}
		switch p.src[i] {
		case ',':
			i = p.space(i + 1)
		case '}':
			i = p.shut(self, i+1, n)
			if u.unclear && n > 1 {
				if p.bare {
					p.unsure = true
				} else if dup := p.twice(self, n); dup != nil {
					return p.fail(int(dup.keyStart), fmt.Sprintf("duplicate key %q", keyText(p.src, dup)))
				}
			}
			return i
		default:
			return p.fail(i, "expected , or } in an object")
		}
	}
}

// member reads a member's name and the colon after it. next is the number of the name that came here last,
// which it keeps up to date; nil: none is kept.
func (p *parser) member(i int, next *uint8) (key, int) {
	if next == nil {
		return p.name(i)
	}
	if w := &p.words.list[*next]; len(p.src)-i > 16 && w.size > 0 {
		s := p.src[i : i+17]
		low, high := binary.LittleEndian.Uint64(s)^w.low, binary.LittleEndian.Uint64(s[8:])^w.high
		if low&w.lowMask|high&w.highMask == 0 && s[w.size&31] == ':' {
			return key{int32(i + 1), int32(i) + w.size - 1, w.form, *next}, i + int(w.size) + 1
		}
	}
	k, at := p.name(i)
	if at >= 0 && !k.form.is(keyEscaped) {
		k.word = p.words.number(p.src, k)
		k.form = p.words.list[k.word].form
		*next = k.word
	}
	return k, at
}

// inside is where the first name of an object is kept, by the name of the object; nil: nowhere.
func (p *parser) inside(word uint8) *uint8 {
	if p.words == nil {
		return nil
	}
	return &p.words.list[word].inside
}

// after is where the name after another one is kept; nil: nowhere.
func (p *parser) after(word uint8) *uint8 {
	if p.words == nil {
		return nil
	}
	return &p.words.list[word].next
}

// name reads a member's name and the colon after it.
func (p *parser) name(i int) (key, int) {
	if i >= len(p.src) || p.src[i] != '"' {
		return key{}, p.fail(i, "expected a member name")
	}
	end, esc := p.str(i)
	if end < 0 {
		return key{}, end
	}
	k := key{start: int32(i + 1), end: int32(end - 1)}
	if esc {
		k.form = keyEscaped
	}
	if i = p.space(end); i >= len(p.src) || p.src[i] != ':' {
		return key{}, p.fail(i, "expected : after a member name")
	}
	return k, i + 1
}

// unique shows in one pass that the names of an object differ. Each takes one of 256 places: its number in
// words, or a hash of its length and outer letters. Names are compared only when two share a place or one has
// escapes.
type unique struct {
	places  [4]uint64
	unclear bool
}

func (u *unique) add(src []byte, k key) {
	place := k.word
	if place == 0 {
		place = placeOf(src, k)
	}
	u.unclear = u.unclear || u.places[place>>6]>>(place&63)&1 != 0 || k.form.is(keyEscaped)
	u.places[place>>6] |= 1 << (place & 63)
}

// placeOf is the place of a name without a number.
func placeOf(src []byte, k key) uint8 {
	const odd = 0x9E3779B97F4A7C15
	n := uint64(k.end - k.start)
	h := n
	switch {
	case n >= 8:
		h ^= binary.LittleEndian.Uint64(src[k.start:]) + binary.LittleEndian.Uint64(src[k.end-8:])*odd
	case k.end >= 8:
		h ^= binary.LittleEndian.Uint64(src[k.end-8:]) >> (64 - 8*n)
	default:
		for i, c := range src[k.start:k.end] {
			h ^= uint64(c) << (8 * i)
		}
	}
	return uint8(h * odd >> 56)
}

// twice finds a member with a repeated name: by pairs for few members, by a set for many.
func (p *parser) twice(self int, n int32) *node {
	ns := p.nodes
	end := int32(len(ns))
	if n > 16 {
		seen := make(map[string]struct{}, n)
		for a := int32(self + 1); a < end; a = ns[a].next {
			k := keyText(p.src, &ns[a])
			if _, dup := seen[k]; dup {
				return &ns[a]
			}
			seen[k] = struct{}{}
		}
		return nil
	}
	for a := int32(self + 1); a < end; a = ns[a].next {
		for b := ns[a].next; b < end; b = ns[b].next {
			if p.sameKey(&ns[a], &ns[b]) {
				return &ns[b]
			}
		}
	}
	return nil
}

func (p *parser) sameKey(a, b *node) bool {
	if (a.form | b.form).is(keyEscaped) {
		return keyText(p.src, a) == keyText(p.src, b)
	}
	return bytes.Equal(p.src[a.keyStart:a.keyEnd], p.src[b.keyStart:b.keyEnd])
}
