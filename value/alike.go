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
// It writes the node of a scalar itself: a call for it is a tenth of the time.
func (p *alike) value(i, depth int, k key, m *shape, element bool) int {
	s := p.src
	if uint(i) >= uint(len(s)) {
		return -1
	}
	end, kind, escaped, decimal, count := -1, String, false, false, int32(0)
	switch c := s[i]; {
	case c == '"':
		end, escaped = p.text(i)
	case c-'0' <= 9 || c == '-':
		kind = Number
		end, decimal, count = p.figure(i)
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
	case c <= ' ':
		if next := p.space(i); next > i {
			return p.value(next, depth, k, m, element)
		}
	default:
		end, kind = p.word(i)
	}
	if end < 0 {
		return end
	}
	n := p.node()
	n.start, n.end, n.next, n.count = int32(i), int32(end), int32(len(p.nodes)), count
	n.keyStart, n.keyEnd = k.start, k.end
	n.kind, n.escaped, n.decimal, n.keyEscaped = kind, escaped, decimal, false
	return end
}

// word reads null, true or false.
func (p *alike) word(i int) (end int, kind Kind) {
	switch p.src[i] {
	case 'n':
		return p.literal(i, "null"), Null
	case 't':
		return p.literal(i, "true"), Bool
	case 'f':
		return p.literal(i, "false"), Bool
	}
	return -1, Invalid
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

// separator takes a comma, or the bracket that ends what it stands in, after space
// that there mostly is none of; done tells which. -1 when there is neither.
func (p *alike) separator(i int, bracket byte) (end int, done bool) {
	if i = p.space(i); i < len(p.src) {
		switch p.src[i] {
		case ',':
			return i + 1, false
		case bracket:
			return i + 1, true
		}
	}
	return -1, false
}

func (p *alike) array(i, depth int, k key, m *shape) int {
	if depth >= MaxDepth {
		return -1
	}
	self := p.open(i, Array, k)
	if i = p.space(i + 1); i < len(p.src) && p.src[i] == ']' {
		return p.shut(self, i+1, 0)
	}
	for n := int32(1); ; n++ {
		if i = p.value(i, depth+1, key{}, m, true); i < 0 {
			return i
		}
		if i < len(p.src) && p.src[i] == ',' {
			i++
			continue
		}
		var done bool
		if i, done = p.separator(i, ']'); i < 0 || done {
			return p.close(self, i, n)
		}
	}
}

// close is shut, or gives up.
func (p *alike) close(self, end int, n int32) int {
	if end < 0 {
		return end
	}
	return p.shut(self, end, n)
}

// object reads an object whose members are known below top. Space is only looked
// for where what should be there is not.
func (p *alike) object(i, depth int, k key, top *shape) int {
	if depth >= MaxDepth {
		return -1
	}
	from := i
	self := p.open(i, Object, k)
	if i = p.space(i + 1); i < len(p.src) && p.src[i] == '}' {
		return p.shut(self, i+1, 0)
	}
	at := top
	for n := int32(1); ; n++ {
		var m *shape
		var next int
		if len(at.next) > 0 && at.next[0].stands(p.src, i) {
			m, next = at.next[0].to, i+len(at.next[0].label)
		} else {
			m, next = at.follow(p.src, i)
		}
		name := key{start: int32(i + 1), end: int32(next - 2)}
		if m == nil {
			if m, name, next = p.meet(at, p.space(i)); m == nil {
				return p.plainly(from, depth, k, self, top)
			}
		}
		at, i = m, next
		end := -1
		if at.place >= 0 {
			p.places[at.place] = int32(len(p.nodes))
			if at.echo >= 0 {
				i = p.space(i)
				end = p.echo(i, depth+1, name, p.places[at.echo])
			}
		} else if at.stray {
			p.placed = false
		}
		if end < 0 {
			if end = p.value(i, depth+1, name, at, false); end < 0 {
				return end
			}
		}
		if i = end + 1; end < len(p.src) && p.src[end] == ',' {
			continue
		}
		var done bool
		if i, done = p.separator(end, '}'); i < 0 || done {
			return p.close(self, i, n)
		}
	}
}

// meet reads the name of a member that is new after m, or looks so, and the
// colon; it gives nil when the object cannot be read by shapes.
func (p *alike) meet(m *shape, i int) (*shape, key, int) {
	if next, end := m.follow(p.src, i); next != nil { // there was space before it
		return next, key{start: int32(i + 1), end: int32(end - 2)}, end
	}
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
