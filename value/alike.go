// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package value

import (
	"bytes"
	"math/bits"
	"unicode/utf8"
	"unsafe"
)

// alike parses texts by the shapes of earlier ones. It writes the tape that
// parser writes, but for what is unread, or gives up: then parser reads the text again,
// and it alone tells what is wrong. It does not read past the end of a line.
type alike struct {
	parser
	text   padded
	shapes *shapes
	places []int32 // nodes by place; 0: none, the root has no place
	// misfit has its last bit set once a value does not fit its place.
	misfit Fit
	// misses counts the objects that were read twice; strange tells that places may
	// be missing for it.
	misses  int
	strange bool
	depth   int // how many objects and arrays are open
}

// name is where the name of a member stands, which has no backslashes.
type name struct{ start, end int32 }

// begin is open, and end is shut; no array or object remains open that is read to
// its end.
func (p *alike) begin(start int, kind Kind, k name) (self int) {
	self = len(p.nodes)
	n := p.node()
	n.start, n.keyStart, n.keyEnd, n.form = int32(start), k.start, k.end, form(kind)
	return self
}

func (p *alike) end(self, end int, count int32) int {
	p.depth--
	n := &p.nodes[self]
	n.end, n.next, n.count = int32(end), int32(len(p.nodes)), count
	return end
}

// maxMisses is how many objects of a text are read twice because their members
// are new. It bounds the work on objects that nest in one another.
const maxMisses = 4

// parseAlike reads the object that data starts with and gives the position after
// it, or -1. The text of data ends before end.
func (d *Doc) parseAlike(data []byte, text padded) int {
	clear(d.places)
	d.skimmed = false
	var p alike                                                      // a literal would be built elsewhere and copied
	p.nodes, p.src, p.text, p.max = d.nodes[:0], data, text, maxText // see Doc.dense
	p.shapes, p.places = d.shapes, d.places
	i, end := p.space(0), -1
	if i < len(data) && data[i] == '{' && len(data) <= maxText-beyond { // a label may go beyond the end
		end = p.object(i, name{}, d.shapes.root)
	}
	d.nodes = p.nodes
	if end > len(data) {
		return -1
	}
	if d.placed = !p.strange && p.places[len(p.places)-1] == 0; !d.placed {
		clear(d.places)
	}
	d.have = 0
	for i, n := range p.places[:min(len(p.places)-2, maxPlaces)] {
		d.have |= uint64(-int64(n)) >> 63 << i
	}
	d.fits = d.placed && p.misfit&1 == 0
	return end
}

func (p *alike) space(i int) int {
	for i < len(p.src) && (p.src[i] == ' ' || p.src[i] == '\t') {
		i++
	}
	return i
}

// value reads the value of a member of shape m, or of an element of one.
func (p *alike) value(i int, k name, m *shape) (end int) {
	self, called := len(p.nodes), key{start: k.start, end: k.end}
	switch c := p.text.at(i); {
	case i >= len(p.src):
		return -1
	case c == '{' || c == '[' || c <= ' ':
		return p.inner(i, k, m)
	case c == '"':
		till, f := p.rest(i + 1)
		end = p.scalar(i, till, f, called, 0)
	default:
		end = p.parser.value(i, p.depth, called)
	}
	if end >= 0 {
		p.misfit |= m.bars >> (p.nodes[self].form & 15)
	}
	return end
}

// inner reads what is not a scalar, or not there yet.
func (p *alike) inner(i int, k name, m *shape) int {
	switch p.src[i] {
	case '[':
		p.misfit |= m.bars >> Array
		if m.items == nil {
			p.shapes.elements(m)
		}
		return p.array(i, k, m.items)
	case '{':
		p.misfit |= m.bars >> Object
		if m.under == nil {
			p.shapes.below(m)
		}
		if !m.under.watched {
			return p.free(i, k, m.under)
		}
		return p.object(i, k, m.under)
	}
	if next := p.space(i); next > i {
		return p.value(next, k, m)
	}
	return -1
}

// rest reads on in a string that is plain up to i; code points of two bytes,
// which most texts outside ASCII are sprinkled with, are looked at here.
func (p *alike) rest(i int) (end int, f form) {
	s := p.src
	f = form(String)
	for i+8 <= len(s) {
		found := special(p.text.eight(i))
		if found == 0 {
			i += 8
			continue
		}
		i += bits.TrailingZeros64(found) >> 3
		switch c := p.text.at(i); {
		case c == '"':
			return i + 1, f
		case c == '\\':
			f |= roundabout
			n := escapeLen(s[i:])
			if n == 0 {
				return -1, 0
			}
			i += n
		case c < 0x20:
			return -1, 0
		case c-0xC2 < 0x1E && p.text.at(i+1)&0xC0 == 0x80:
			i += 2
		default:
			_, n := utf8.DecodeRune(s[i:])
			if n <= 1 {
				return -1, 0
			}
			i += n
		}
	}
	end, escaped := p.str(i - 1) // takes what is at i-1 for the quote
	return end, f | textForm(escaped)
}

// quoted reads a string that has no name, of shape m. What it needs stays in registers, as
// nothing is called but in the end.
func (p *alike) quoted(i int, m *shape) int {
	found, end, next := special(p.text.eight(i+1)), i+1, len(p.nodes)
	if found == 0 {
		end += 8
		found = special(p.text.eight(end))
	}
	if end += bits.TrailingZeros64(found) >> 3; p.text.at(end) != '"' || next == cap(p.nodes) {
		return p.value(i, name{}, m)
	}
	p.misfit |= m.bars >> String
	n := p.room(next)
	p.nodes = p.nodes[:next+1]
	n.start, n.end, n.next, n.count = int32(i), int32(end+1), int32(next+1), 0
	n.keyStart, n.keyEnd, n.form = 0, 0, form(String)
	return end + 1
}

// array reads an array whose elements are of shape m.
func (p *alike) array(i int, k name, m *shape) int {
	if p.depth++; p.depth > MaxDepth {
		return -1
	}
	self := p.begin(i, Array, k)
	if i = p.space(i + 1); i < len(p.src) && p.src[i] == ']' {
		return p.end(self, i+1, 0)
	}
	for n := int32(1); ; n++ {
		if i = p.value(i, name{}, m); i < 0 {
			return i
		}
		if i < len(p.src) && p.src[i] <= ' ' {
			i = p.space(i)
		}
		if i >= len(p.src) {
			return -1
		}
		switch p.src[i] {
		case ',':
			i++
		case ']':
			return p.end(self, i+1, n)
		default:
			return -1
		}
	}
}

// object reads an object whose members are known below top, and notes those that are at
// places.
func (p *alike) object(i int, k name, top *shape) int {
	if p.depth++; p.depth > MaxDepth {
		return -1
	}
	self, at := p.begin(i, Object, k), top
	for n := int32(0); i < len(p.src); n++ {
		var called name
		if at, called, i = p.other(at, i); at == nil {
			if i >= 0 {
				return p.end(self, i, n)
			}
			p.strange = true
			return p.plainly(self)
		}
		node := len(p.nodes)
		p.places[at.place] = int32(node)
		if at.echo >= 0 {
			if end := p.echo(i, called, p.places[at.echo]); end >= 0 {
				p.misfit |= at.bars >> (p.nodes[node].form & 15)
				i = end
				continue
			}
		}
		if i = p.value(i, called, at); i < 0 {
			return i
		}
	}
	return -1
}

// free is object where no place is below top: nothing has to be noted of members.
func (p *alike) free(i int, k name, top *shape) int {
	if p.depth++; p.depth >= MaxDepth { // an array may be in it
		return -1
	}
	self, at, count := p.begin(i, Object, k), top, int32(0)
	for {
		var called name
		if at, called, i, count = p.members(at, i, count); called.end == 0 {
			if i >= len(p.src) {
				return -1
			}
			if p.text.at(i) == '}' {
				return p.end(self, i+1, count)
			}
			if at, called, i = p.other(at, i); at == nil {
				if i >= 0 {
					return p.end(self, i, count)
				}
				return p.plainly(self)
			}
		}
		if i = p.value(i, called, at); i < 0 {
			return i
		}
		count++
	}
}

// members reads on in a free object after a member, or after none, while there are members as
// most are: with a label that is known there, which has the comma or bracket before the
// name, and a string, a short whole number or an array of strings. It gives where it came to,
// which is at a value if the name is told, else where a label may be. It calls nothing, so
// that what it needs stays in registers. Of elements it writes no nodes, but leaves room for
// them.
func (p *alike) members(at *shape, i int, count int32) (*shape, name, int, int32) {
	text, next := p.text, len(p.nodes)
	for ; !p.full(i, next+1) && text.at(i) != '}'; count++ {
		b := at.first // mostly there is no other, and its size is known before the text is looked at
		if !b.stands(text, i) {
			b = at.likely(text, i)
		}
		if !b.stands(text, i) || b.last > 8 && !b.goesOn(text, i) {
			break
		}
		n := p.room(next)
		n.keyStart, n.keyEnd = int32(i)+b.name, int32(i)+b.till
		at, i = b.to, i+int(b.size)
		n.start = int32(i)
		f, whole, c := form(String), 0, text.at(i)
		if c-'0' <= 9 {
			x := text.eight(i) ^ ones*'0'
			size := digits(x)
			if i += size; !short(x, size, text.at(i)) {
				return p.unusual(n, at, next, count)
			}
			f, whole = form(Number), 1+number(x, size)
		} else {
			if c == '[' {
				f, i = form(Array), i+1
			}
			for {
				if text.at(i) != '"' {
					return p.unusual(n, at, next, count)
				}
				for i++; ; {
					step, found := 8, special(text.eight(i))
					if found != 0 {
						i += bits.TrailingZeros64(found) >> 3
						letter := text.at(i)
						if letter == '"' {
							break
						}
						f |= escapes(letter)
						step = text.letter(i)
					}
					if i += step; uint(i) >= uint(len(p.src)) { // beyond what an int has, maybe
						return p.unusual(n, at, next, count)
					}
				}
				if i++; f&1 == 0 { // no array
					break
				}
				whole--
				if i++; text.at(i-1) == ']' {
					f, next = form(Array)|unread, next-whole
					break
				}
				if text.at(i-1) != ',' || p.full(i, next-whole+1) {
					return p.unusual(n, at, next, count)
				}
			}
		}
		next++
		n.end, n.next, n.count, n.form = int32(i), int32(next), int32(whole), f
	}
	p.nodes = p.nodes[:next]
	return at, name{}, i, count
}

// unusual gives what members gives at a value that it does not read.
func (p *alike) unusual(n *node, at *shape, next int, count int32) (*shape, name, int, int32) {
	p.nodes = p.nodes[:next]
	return at, name{start: n.keyStart, end: n.keyEnd}, int(n.start), count
}

// full tells that the text ends before i, or the room for nodes before next.
func (p *alike) full(i, next int) bool { return i >= len(p.src) || next >= cap(p.nodes) }

// room is the place of a node that is not there yet, below the tape's capacity.
func (p *alike) room(i int) *node {
	return (*node)(unsafe.Add(unsafe.Pointer(unsafe.SliceData(p.nodes)), uintptr(i)*unsafe.Sizeof(node{})))
}

// letter is how many bytes the letter at i takes that is outside ASCII or an escape; more
// than any text has where that takes a closer look.
func (t padded) letter(i int) int {
	w := t.eight(i)
	switch c := byte(w); {
	case c-0xC2 < 0x1E && w&0xC000 == 0x8000, w&0xFFFF == '\\'|'"'<<8, w&0xFFFF == '\\'|'n'<<8, w&0xFFFF == '\\'|'\\'<<8:
		return 2
	case c-0xE1 < 15 && c != 0xED && w&0xC0C000 == 0x808000: // neither one that could be shorter nor half a pair
		return 3
	}
	return maxText
}

// escapes is what a string with c in it is: a backslash, which has no highest bit, or a letter outside ASCII.
func escapes(c byte) form { return roundabout &^ form(c>>4) }

// short reports whether a number is whole and has up to seven digits, size of them in x, and
// what comes after them.
func short(x uint64, size int, after byte) bool {
	return uint(size-1) < 7 && (size == 1 || x&0xff != 0) && after != '.' && after|0x20 != 'e'
}

// other gives a member that is not the first that came after m, and where its
// value is; or what meet gives.
func (p *alike) other(m *shape, i int) (to *shape, k name, end int) {
	if b := m.follow(p.text, i); b != nil {
		return b.to, name{start: int32(i) + b.name, end: int32(i) + b.till}, i + int(b.size)
	}
	return p.meet(m, i)
}

// meet reads a member that is new after m, or is written in a new way, up to its
// value. At the end of the object it gives no member but the position after it, and
// -1 when the object cannot be read by shapes.
func (p *alike) meet(m *shape, i int) (to *shape, k name, end int) {
	from, first := i, m.before == nil
	if i = p.space(i); i >= len(p.src) {
		return nil, k, -1
	}
	switch c := p.src[i]; {
	case c == '}' && !first:
		return nil, k, i + 1
	case c != ',' && !first:
		return nil, k, -1
	}
	if i = p.space(i + 1); first && i < len(p.src) && p.src[i] == '}' {
		return nil, k, i + 1
	}
	called, end := p.name(i)
	if end < 0 || called.escaped || bytes.IndexByte(p.src[i:end], '\n') >= 0 {
		return nil, k, -1
	}
	end = p.space(end)
	in := key{start: called.start - int32(from), end: called.end - int32(from)}
	if to = p.shapes.find(m, string(p.src[from:end]), in); to == nil {
		return nil, k, -1
	}
	return to, name{called.start, called.end}, end
}

// plainly reads the object at node self again, as if nothing was expected.
func (p *alike) plainly(self int) int {
	if p.misses++; p.misses > maxMisses {
		return -1
	}
	n := p.nodes[self]
	p.nodes = p.nodes[:self]
	all := p.src
	if end := bytes.IndexByte(all[n.start:], '\n'); end >= 0 {
		p.src = all[:int(n.start)+end]
	}
	p.depth--
	end := p.parser.object(int(n.start), p.depth, key{start: n.keyStart, end: n.keyEnd})
	p.src = all
	return end
}

// echo reads a value that says the same as the one at node of, which came before
// in this text and so is known to be valid: an object or array in the same bytes,
// or a string that spells it. -1 when it does not.
func (p *alike) echo(i int, k name, of int32) int {
	if i = p.space(i); of == 0 || i >= len(p.src) {
		return -1
	}
	n := &p.nodes[of]
	text := p.src[n.start:n.end]
	switch {
	case p.src[i] == '"':
		return p.spelling(i, k, of)
	case n.kind() >= Array && bytes.HasPrefix(p.src[i:], text) && p.depth+int(n.next-of) < MaxDepth:
		p.repeat(i, k, of)
		return i + len(text)
	}
	return -1
}

// repeat writes the nodes of an earlier value once more, for the same text at i.
func (p *alike) repeat(i int, k name, of int32) {
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
	list[0].keyStart, list[0].keyEnd, list[0].form = k.start, k.end, list[0].form&^keyEscaped|repeated
}

// Same reports whether v is known to be written in the same bytes as o: it is the
// member that often repeats o, and does. False says nothing.
func (v Value) Same(o Value) bool {
	if v.d == nil || v.d != o.d {
		return false
	}
	if v.i == o.i || !v.node().is(repeated) {
		return v.i == o.i
	}
	for _, e := range v.d.shapes.pairs {
		if v.d.places[e.place] == v.i && v.d.places[e.of] == o.i {
			return true
		}
	}
	return false
}
