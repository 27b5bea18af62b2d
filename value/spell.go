// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package value

import (
	"encoding/binary"
	"math/bits"
	"unsafe"
)

// spelling reads a string that spells the value at node of; -1 when it does not.
func (p *alike) spelling(i int, k name, of int32) int {
	end := p.spells(i+1, of)
	next := len(p.nodes)
	if end < 0 || next == cap(p.nodes) {
		return p.otherwise(i, k, of)
	}
	v := p.room(next)
	p.nodes = p.nodes[:next+1]
	v.start, v.end, v.next, v.count = int32(i), int32(end), int32(next+1), of
	v.keyStart, v.keyEnd, v.form = k.start, k.end, form(String)|roundabout
	return end
}

// otherwise is spelling for values that spells does not compare.
func (p *alike) otherwise(i int, k name, of int32) int {
	n := &p.nodes[of]
	size := n.end - n.start
	inside := spelled(p.src[min(i+1, len(p.src)):], p.src[n.start:n.end])
	if inside < 0 {
		return -1
	}
	end := i + inside + 2
	v := p.node()
	v.start, v.end, v.next, v.count = int32(i), int32(end), int32(len(p.nodes)), of
	v.keyStart, v.keyEnd, v.form = k.start, k.end, textForm(int32(inside) > size)
	return end
}

// What stands in a text that spells an object between the parts of it that are
// spelled as they are.
const (
	quoteSpelled  = '\\' | '"'<<8                   // \"
	colonSpelled  = quoteSpelled | ':'<<16          // \":
	colonsSpelled = colonSpelled | quoteSpelled<<24 // \":\"
	openSpelled   = '{' | quoteSpelled<<8           // {\"
	commaSpelled  = ',' | quoteSpelled<<8           // ,\"
	closeSpelled  = '}' | '"'<<8                    // }"
)

// spells gives the position after the quote that ends a string whose inside begins
// at i when it spells the object at node of, and this is of the kind that most
// arguments are: without space, its values scalars, nothing in it with a
// backslash. -1 says nothing. The positions are known from the nodes, so that no
// part has to wait for the other: what is not as it should be is looked at once, in the end.
// Between the brackets of an empty array or object may be a tab or a line end, which no string
// has.
func (p *alike) spells(i int, of int32) int {
	n, t := p.room(int(of)), p.text
	at := int(n.start)
	if n.kind() != Object || n.count != n.next-of-1 || i+2*(int(n.end)-at) >= len(p.src) {
		return -1
	}
	wrong, before, v := uint64(0), uint64(openSpelled), n
	for left := n.count; left > 0; left-- {
		v = (*node)(unsafe.Add(unsafe.Pointer(v), unsafe.Sizeof(node{})))
		name, from := int(v.keyStart), int(v.start)
		size := int(v.keyEnd) - name
		wrong |= uint64(name-at-2) | uint64(from-name-size-2) | (t.eight(i)^before)<<40
		i += 3
		for ; size > 8; i, name, size = i+8, name+8, size-8 {
			wrong |= t.eight(i) ^ t.eight(name)
		}
		wrong |= (t.eight(i) ^ t.eight(name)) << (uint(-8*size) & 63) // not of none
		i += size
		at, before = int(v.end), commaSpelled
		plain := v.form&(anyKind|roundabout|keyEscaped) == form(String)
		if size = at - from; plain {
			wrong |= (t.eight(i) ^ colonsSpelled) << 24
			i, from, size = i+5, from+1, size-2
		} else {
			if v.kind() == String || v.is(keyEscaped) || v.kind() >= Array && size > 2 {
				return -1
			}
			wrong |= (t.eight(i) ^ colonSpelled) << 40
			i += 3
		}
		for ; size > 16; i, from, size = i+8, from+8, size-8 {
			wrong |= t.eight(i) ^ t.eight(from)
		}
		mask := unsafe.Add(unsafe.Pointer(unsafe.StringData(window)), 16-size)
		wrong |= (t.eight(i)^t.eight(from))&eight(mask) | (t.eight(i+8)^t.eight(from+8))&eight(unsafe.Add(mask, 8))
		if i += size; plain {
			wrong |= (t.eight(i) ^ quoteSpelled) << 48
			i += 2
		}
	}
	if wrong != 0 || at+1 != int(n.end) || uint16(t.eight(i)) != closeSpelled {
		return -1
	}
	return i + 2
}

// window has the bits of a number of bytes, in two words that begin where as many of its
// first sixteen are left.
const window = "\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00"

// spelled gives how many bytes at the start of s, up to a quote, are text as the
// inside of a JSON string writes it; -1 when they are not, or write it in
// another way than with the escapes \" and \\. Text is valid UTF-8. It compares
// eight bytes at a time up to the next backslash.
func spelled(s, text []byte) int {
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
		if s[i] != '\\' || i+1 == len(s) || !spells(s[i+1], text[j]) {
			return -1
		}
		i, j = i+2, j+1
	}
	for ; i < len(s) && j < len(text); i, j = i+1, j+1 {
		switch c := s[i]; {
		case c == '\\':
			if i++; i == len(s) || !spells(s[i], text[j]) {
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

// spells reports whether a backslash and c stand for want; only those two that
// JSON in JSON is full of.
func spells(c, want byte) bool { return c == want && (c == '"' || c == '\\') }

// Spells reports whether v is known to be a string whose text is that of another
// value as it is written, byte by byte. False says nothing.
func (v Value) Spells(text Value) bool {
	return v.d != nil && v.d == text.d && text.i != 0 && v.node().spells(text.i)
}

func (n *node) spells(i int32) bool { return n.count == i && n.kind() == String }
