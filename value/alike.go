// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package value

import (
	"bytes"
	"encoding/binary"
	"math/bits"
	"unicode/utf8"
)

// alike parses texts by the shapes of earlier ones. It writes the tape that
// parser writes, or gives up: then parser reads the text again, and it alone
// tells what is wrong.
type alike struct {
	parser
	shapes *shapes
	places []int32 // nodes by place; 0: none, the root has no place
	// placed turns false when places may be missing.
	placed bool
	// misses counts the objects that were read twice.
	misses int
}

// maxMisses is how many objects of a text are read twice because their members
// are new. It bounds the work on objects that nest in one another.
const maxMisses = 4

// parseAlike reports whether it could parse src.
func (d *Doc) parseAlike(src []byte) bool {
	clear(d.places)
	p := alike{parser: parser{nodes: d.nodes, src: src}, shapes: d.shapes, places: d.places, placed: true}
	i, end := p.space(0), -1
	if i < len(src) && src[i] == '{' {
		end = p.object(i, 0, key{}, d.shapes.root)
	}
	d.nodes = p.nodes
	if end < 0 || p.space(end) != len(src) {
		d.nodes = d.nodes[:0]
		return false
	}
	if d.placed = p.placed; !d.placed {
		clear(d.places)
	}
	return true
}

// value reads the value of a member of shape m, or an element of an array in it.
func (p *alike) value(i, depth int, k key, m *shape, element bool) int {
	s := p.src
	if i >= len(s) {
		return -1
	}
	switch c := s[i]; {
	case c == '"':
		end, escaped := p.text(i)
		return p.scalar(i, end, String, k, escaped, false, 0)
	case c-'0' <= 9 || c == '-':
		end, decimal, whole := p.figure(i)
		return p.scalar(i, end, Number, k, false, decimal, whole)
	case c == '{':
		top := m.under
		if element {
			top = m.items
		}
		if top == nil {
			top = p.shapes.below(m, element)
		}
		return p.object(i, depth, k, top)
	case c == '[':
		return p.array(i, depth, k, m)
	}
	return p.word(i, k)
}

// word reads null, true or false.
func (p *alike) word(i int, k key) int {
	switch p.src[i] {
	case 'n':
		return p.scalar(i, p.literal(i, "null"), Null, k, false, false, 0)
	case 't':
		return p.scalar(i, p.literal(i, "true"), Bool, k, false, false, 0)
	case 'f':
		return p.scalar(i, p.literal(i, "false"), Bool, k, false, false, 0)
	}
	return -1
}

// text is str; code points of two bytes, which most texts outside ASCII are
// sprinkled with, are looked at here.
func (p *alike) text(i int) (end int, escaped bool) {
	const ones, highs = 0x0101010101010101, 0x8080808080808080
	s, from := p.src, i
	for i++; i+8 <= len(s); {
		w := binary.LittleEndian.Uint64(s[i:])
		// Bytes outside ASCII are found by w, so that it does not matter that the
		// differences find some of them too.
		found := ((w ^ ones*'"' - ones) | (w ^ ones*'\\' - ones) | (w - ones*0x20) | w) & highs
		if found == 0 {
			i += 8
			continue
		}
		i += bits.TrailingZeros64(found) >> 3
		switch c := s[i]; {
		case c == '"':
			return i + 1, escaped
		case c == '\\':
			escaped = true
			n := escapeLen(s[i:])
			if n == 0 {
				return -1, false
			}
			i += n
		case c < 0x20:
			return -1, false
		case c-0xC2 < 0x1E && i+1 < len(s) && s[i+1]&0xC0 == 0x80:
			i += 2
		default:
			_, n := utf8.DecodeRune(s[i:])
			if n <= 1 {
				return -1, false
			}
			i += n
		}
	}
	return p.str(from)
}

// skip is space where there mostly is none.
func (p *alike) skip(i int) int {
	if i < len(p.src) && p.src[i] <= ' ' {
		return p.blank(i)
	}
	return i
}

//go:noinline
func (p *alike) blank(i int) int { return p.space(i) }

func (p *alike) array(i, depth int, k key, m *shape) int {
	if depth >= MaxDepth {
		return -1
	}
	self := p.open(i, Array, k)
	i = p.skip(i + 1)
	if i < len(p.src) && p.src[i] == ']' {
		return p.shut(self, i+1, 0)
	}
	for n := int32(1); ; n++ {
		if i = p.value(i, depth+1, key{}, m, true); i < 0 {
			return i
		}
		if i = p.skip(i); i >= len(p.src) {
			return -1
		}
		switch p.src[i] {
		case ',':
			i = p.skip(i + 1)
		case ']':
			return p.shut(self, i+1, n)
		default:
			return -1
		}
	}
}

// object reads an object whose members are known below top.
func (p *alike) object(i, depth int, k key, top *shape) int {
	if depth >= MaxDepth {
		return -1
	}
	from := i
	self := p.open(i, Object, k)
	if i = p.skip(i + 1); i < len(p.src) && p.src[i] == '}' {
		return p.shut(self, i+1, 0)
	}
	at := top
	for n := int32(1); ; n++ {
		name := key{start: int32(i + 1)}
		m, next := at.follow(p.src, i)
		name.end = int32(next - 2)
		if m == nil {
			if m, name, next = p.meet(at, i); m == nil {
				return p.plainly(from, depth, k, self, top)
			}
		}
		at, i = m, p.skip(next)
		end := -1
		if at.place >= 0 {
			p.places[at.place] = int32(len(p.nodes))
			if at.echo >= 0 {
				end = p.echo(i, depth+1, name, p.places[at.echo])
			}
		} else if at.stray {
			p.placed = false
		}
		if end < 0 {
			end = p.value(i, depth+1, name, at, false)
		}
		if end < 0 {
			return end
		}
		if i = p.skip(end); i >= len(p.src) {
			return -1
		}
		switch p.src[i] {
		case ',':
			i = p.skip(i + 1)
		case '}':
			return p.shut(self, i+1, n)
		default:
			return -1
		}
	}
}

// meet reads the name of a member that is new after m, or looks so, and the
// colon; it gives nil when the object cannot be read by shapes.
func (p *alike) meet(m *shape, i int) (*shape, key, int) {
	k, end := p.name(i)
	if end < 0 || k.escaped || k.end-k.start > maxLabel {
		return nil, k, end
	}
	return p.shapes.find(m, string(p.src[k.start-1:k.end+1])+":"), k, end
}

// plainly reads an object again, as if nothing was expected.
func (p *alike) plainly(i, depth int, k key, self int, top *shape) int {
	if p.misses++; p.misses > maxMisses {
		return -1
	}
	p.nodes = p.nodes[:self]
	p.placed = p.placed && !top.watched
	return p.parser.object(i, depth, k)
}

// echo reads a value that says the same as the one at node of, which came before
// in this text and so is known to be valid: an object or array in the same bytes,
// or a string that spells it. -1 when it does not.
func (p *alike) echo(i, depth int, k key, of int32) int {
	if of == 0 || i >= len(p.src) {
		return -1
	}
	n := &p.nodes[of]
	text := p.src[n.start:n.end]
	switch {
	case p.src[i] == '"':
		size := spelled(p.src[i+1:], text)
		if size < 0 {
			return -1
		}
		end := i + size + 2
		return p.scalar(i, end, String, k, size > len(text), false, of)
	case n.kind >= Array && bytes.HasPrefix(p.src[i:], text) && depth+int(n.next-of) < MaxDepth:
		p.repeat(i, k, of)
		return i + len(text)
	}
	return -1
}

// repeat writes the nodes of an earlier value once more, for the same text at i.
func (p *alike) repeat(i int, k key, of int32) {
	self, end := len(p.nodes), p.nodes[of].next
	off, down := int32(i)-p.nodes[of].start, int32(self)-of
	p.nodes = append(p.nodes, p.nodes[of:end]...)
	list := p.nodes[self:]
	for j := range list {
		n := &list[j]
		n.start, n.end, n.next = n.start+off, n.end+off, n.next+down
		if n.keyEnd > 0 { // the elements of arrays have none
			n.keyStart, n.keyEnd = n.keyStart+off, n.keyEnd+off
		}
	}
	list[0].keyStart, list[0].keyEnd, list[0].keyEscaped = k.start, k.end, false
}

// spelled gives how many bytes at the start of s, up to a quote, are text as the
// inside of a JSON string writes it; -1 when they are not, or write it in
// another way than with the escapes \" and \\. Text is valid UTF-8. It compares
// eight bytes at a time up to the next backslash.
func spelled(s, text []byte) int {
	const ones, highs = 0x0101010101010101, 0x8080808080808080
	i, j := 0, 0
	for i+8 <= len(s) && j+8 <= len(text) {
		w := binary.LittleEndian.Uint64(s[i:])
		found := ((w ^ ones*'\\' - ones) | (w ^ ones*'"' - ones) | (w - ones*0x20)) &^ w & highs
		found |= w ^ binary.LittleEndian.Uint64(text[j:])
		if found == 0 {
			i, j = i+8, j+8
			continue
		}
		at := bits.TrailingZeros64(found) >> 3
		i, j = i+at, j+at
		if s[i] != '\\' || i+1 == len(s) || !escapes(s[i+1], text[j]) {
			return -1
		}
		i, j = i+2, j+1
	}
	for ; i < len(s) && j < len(text); i, j = i+1, j+1 {
		switch c := s[i]; {
		case c == '\\':
			if i++; i == len(s) || !escapes(s[i], text[j]) {
				return -1
			}
		case c != text[j] || c == '"' || c < 0x20:
			return -1
		}
	}
	if j < len(text) || i >= len(s) || s[i] != '"' {
		return -1
	}
	return i
}

// escapes reports whether a backslash and c stand for want; only those two that
// JSON in JSON is full of.
func escapes(c, want byte) bool { return c == want && (c == '"' || c == '\\') }

// Spells reports whether v is known to be a string whose text is that of another
// value as it is written, byte by byte. False says nothing.
func (v Value) Spells(text Value) bool {
	return v.Kind() == String && v.d == text.d && v.node().count != 0 && v.node().count == text.i
}
