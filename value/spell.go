// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package value

import (
	"encoding/binary"
	"math/bits"
)

// spelling reads a string that spells the value at node of; -1 when it does not.
func (p *alike) spelling(i int, k name, of int32) int {
	n := &p.nodes[of]
	size := int(n.end - n.start)
	end := p.spells(i+1, of)
	if end < 0 {
		inside := spelled(p.src[min(i+1, len(p.src)):], p.src[n.start:n.end])
		if inside < 0 {
			return -1
		}
		end = i + inside + 2
	}
	v := p.node()
	v.start, v.end, v.next, v.count = int32(i), int32(end), int32(len(p.nodes)), of
	v.keyStart, v.keyEnd, v.form = k.start, k.end, textForm(end-i > size+2)
	return end
}

// What stands in a text that spells an object between the parts of it that are
// spelled as they are.
const (
	quoteSpelled  = '\\' | '"'<<8                   // \"
	colonSpelled  = quoteSpelled | ':'<<16          // \":
	colonsSpelled = colonSpelled | quoteSpelled<<24 // \":\"
	bytes2        = 1<<16 - 1
	bytes3        = 1<<24 - 1
	bytes5        = 1<<40 - 1
)

// spells gives the position after the quote that ends a string whose inside begins
// at i when it spells the object at node of, and this is of the kind that most
// arguments are: without space, its values scalars, nothing in it with a
// backslash. -1 says nothing. The positions are known from the nodes, so that one
// part need not wait for the other.
func (p *alike) spells(i int, of int32) int {
	n, t := &p.nodes[of], p.text
	at := int(n.start)
	if n.kind() != Object || n.count != n.next-of-1 || i+2*(int(n.end)-at) >= len(p.src) {
		return -1
	}
	for _, v := range p.nodes[of+1 : n.next] {
		name, till, from, end := int(v.keyStart), int(v.keyEnd), int(v.start), int(v.end)
		if name != at+2 || from != till+2 || v.is(keyEscaped) || t.eight(i)&bytes3 != uint64(t.at(at))|quoteSpelled<<8 {
			return -1
		}
		if i += 3; !t.same(i, name, till-name) {
			return -1
		}
		i += till - name
		at = end
		if v.kind() != String {
			if t.eight(i)&bytes3 != colonSpelled || !t.bare(i+3, from, end-from, v.kind()) {
				return -1
			}
			i += 3 + end - from
			continue
		}
		from, end = from+1, end-1
		if v.is(roundabout) || t.eight(i)&bytes5 != colonsSpelled || !t.same(i+5, from, end-from) {
			return -1
		}
		if i += 5 + end - from; t.eight(i)&bytes2 != quoteSpelled {
			return -1
		}
		i += 2
	}
	if at+1 != int(n.end) || t.eight(i)&bytes2 != '}'|'"'<<8 {
		return -1
	}
	return i + 2
}

// bare is same for n bytes of a value at j that is no string: between the brackets of
// an empty array or object may be a tab or a line end, which no string has.
func (t padded) bare(i, j, n int, k Kind) bool { return (k < Array || n == 2) && t.same(i, j, n) }

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
