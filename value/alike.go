// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package value

import (
	"bytes"
	"math/bits"
	"unicode/utf8"
)

// alike parses texts by the shapes of earlier ones. It writes the tape that
// parser writes, or gives up: then parser reads the text again, and it alone
// tells what is wrong. It does not read past the end of a line.
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

func (n name) key() key { return key{start: n.start, end: n.end} }

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
	var p alike // a literal would be built elsewhere and copied
	p.nodes, p.src, p.text = d.nodes[:0], data, text
	p.shapes, p.places = d.shapes, d.places
	i, end := p.space(0), -1
	if i < len(data) && data[i] == '{' {
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
// It writes the node of a scalar itself: a call for it is a tenth of the time.
func (p *alike) value(i int, k name, m *shape) int {
	var end int
	f, count := form(String), int32(0)
	switch c := p.text.at(i); {
	case c == '"':
		found := special(p.text.eight(i + 1))
		if end = i + 1; found == 0 {
			end += 8
			found = special(p.text.eight(end))
		}
		if end += bits.TrailingZeros64(found) >> 3; p.text.at(end) == '"' {
			end++
		} else {
			end, f = p.rest(end)
		}
	case i >= len(p.src):
		return -1
	case c-'0' <= 9:
		end, f, count = p.figure(i)
	case c == '{' || c == '[' || c <= ' ':
		return p.inner(i, k, m)
	default:
		end, f = p.word(i)
	}
	if end < 0 {
		return end
	}
	p.misfit |= m.bars >> (f & 15)
	n := p.node()
	n.start, n.end, n.next, n.count = int32(i), int32(end), int32(len(p.nodes)), count
	n.keyStart, n.keyEnd, n.form = k.start, k.end, f
	return end
}

// further reads a value that is no string, and mostly no short whole number.
func (p *alike) further(i int, k name, m *shape) int {
	if i < len(p.src) && p.src[i]|0x20 == '{' { // or a square one
		return p.inner(i, k, m)
	}
	return p.value(i, k, m)
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

// word reads null, true, false or a number below zero.
func (p *alike) word(i int) (end int, f form) {
	switch p.src[i] {
	case 'n':
		return p.literal(i, "null"), form(Null)
	case 't':
		return p.literal(i, "true"), form(Bool)
	case 'f':
		return p.literal(i, "false"), form(Bool)
	case '-':
		end, f, _ = p.parser.figure(i)
		return end, f
	}
	return -1, 0
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

// figure reads a number that starts with a digit, mostly without looking at its
// digits one by one.
func (p *alike) figure(i int) (end int, f form, whole int32) {
	text, n := p.text, int32(0)
	c := text.at(i) - '0'
	for end = i; c <= 9; {
		n = n*10 + int32(c)
		end++
		c = text.at(end) - '0'
		if end > i+9 {
			return p.parser.figure(i)
		}
	}
	if text.at(i) == '0' && end > i+1 || c|0x20 == 'e'-'0'|0x20 {
		return p.parser.figure(i)
	}
	if c != 256-'0'+'.' {
		return end, form(Number), n + 1
	}
	from := end + 1
	for end = from; text.at(end)-'0' <= 9; end++ {
		if end > from+9 {
			return p.parser.figure(i)
		}
	}
	if end == from || text.at(end)|0x20 == 'e' {
		return p.parser.figure(i)
	}
	return end, form(Number) | roundabout | fraction, 0
}

// quoted reads a string that is an element, or whatever has no name, of shape m.
func (p *alike) quoted(i int, m *shape) int {
	found, end, f := special(p.text.eight(i+1)), i+1, form(String)
	if found == 0 {
		end += 8
		found = special(p.text.eight(end))
	}
	if end += bits.TrailingZeros64(found) >> 3; p.text.at(end) == '"' {
		end++
	} else if end, f = p.rest(end); end < 0 {
		return end
	}
	p.misfit |= m.bars >> (f & 15)
	n := p.node()
	n.start, n.end, n.next, n.count = int32(i), int32(end), int32(len(p.nodes)), 0
	n.keyStart, n.keyEnd, n.form = 0, 0, f
	return end
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
		if p.text.at(i) == '"' {
			i = p.quoted(i, m)
		} else {
			i = p.value(i, name{}, m)
		}
		if i < 0 {
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
	self, from, at := p.begin(i, Object, k), i, top
	for n := int32(0); i < len(p.src); n++ {
		var called name
		if at, called, i = p.other(at, i); at == nil {
			if i >= 0 {
				return p.end(self, i, n)
			}
			return p.plainly(from, k, self, top)
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

// free is object where no place is below top: nothing has to be noted of members. A label
// has the comma before it, so that most members are told by one comparison. It looks for
// the end of a plain string itself, as value, quoted, texts and hurry do: a function for
// that is more than Go inlines, and calls of it cost a fortieth of all reading.
func (p *alike) free(i int, k name, top *shape) int {
	if p.depth++; p.depth > MaxDepth {
		return -1
	}
	self, from, at, text := p.begin(i, Object, k), i, top, p.text
	for count := int32(0); ; count++ {
		if i >= len(p.src) {
			return -1
		}
		var called name
		if b := at.first; b.stands(text, i) && (b.last <= 8 || b.goesOn(text, i)) {
			called = name{start: int32(i) + b.name, end: int32(i) + b.till}
			at, i = b.to, i+b.size
		} else if text.at(i) == '}' {
			return p.end(self, i+1, count)
		} else if at, called, i = p.other(at, i); at == nil {
			if i >= 0 {
				return p.end(self, i, count)
			}
			return p.plainly(from, k, self, top)
		}
		var end int
		f, whole := form(String), 0
		if c := text.at(i); c == '"' {
			found := special(text.eight(i + 1))
			if end = i + 1; found == 0 {
				end += 8
				found = special(text.eight(end))
			}
			if end += bits.TrailingZeros64(found) >> 3; text.at(end) == '"' {
				end++
			} else if end, f = p.rest(end); end < 0 {
				return end
			}
		} else {
			x := text.eight(i) ^ ones*'0'
			size := digits(x)
			if end = i + size; uint(size-1) > 6 || size > 1 && x&0xff == 0 || text.at(end) == '.' || text.at(end)|0x20 == 'e' {
				if i = p.further(i, called, at); i < 0 {
					return i
				}
				continue
			}
			f, whole = form(Number), 1+number(x, size)
		}
		n := p.node()
		n.start, n.end, n.next, n.count = int32(i), int32(end), int32(len(p.nodes)), int32(whole)
		n.keyStart, n.keyEnd, n.form = called.start, called.end, f
		i = end
	}
}

// other gives a member that is not the first that came after m, and where its
// value is; or what meet gives.
func (p *alike) other(m *shape, i int) (to *shape, k name, end int) {
	if b := m.follow(p.text, i); b != nil {
		return b.to, name{start: int32(i) + b.name, end: int32(i) + b.till}, i + b.size
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

// plainly reads an object again, as if nothing was expected.
func (p *alike) plainly(i int, k name, self int, top *shape) int {
	if p.misses++; p.misses > maxMisses {
		return -1
	}
	p.nodes = p.nodes[:self]
	p.strange = p.strange || top.watched
	all := p.src
	if n := bytes.IndexByte(all[i:], '\n'); n >= 0 {
		p.src = all[:i+n]
	}
	p.depth--
	end := p.parser.object(i, p.depth, k.key())
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
