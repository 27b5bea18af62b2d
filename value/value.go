// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package value

import (
	"bytes"
	"strconv"
	"unicode/utf8"
)

// Value is a handle to one value of a Doc's tape; it is valid until the Doc parses again. The zero
// Value has kind Invalid and means "absent".
type Value struct {
	d *Doc
	i int32
}

func (v Value) node() *node { return &v.d.nodes[v.i] }

// Kind of the value; Invalid for the zero Value.
func (v Value) Kind() Kind {
	if v.d == nil {
		return Invalid
	}
	return v.node().kind()
}

// Raw is the value's text as written, without surrounding space. Nil for the zero Value.
func (v Value) Raw() []byte {
	if v.d == nil {
		return nil
	}
	n := v.node()
	return v.d.src[n.start:n.end:n.end]
}

// Offset is where Raw begins in the text that was parsed; 0 for the zero Value.
func (v Value) Offset() int {
	if v.d == nil {
		return 0
	}
	return int(v.node().start)
}

// Len is the number of members or elements; 0 for scalars.
func (v Value) Len() int {
	if v.d == nil {
		return 0
	}
	n := v.node()
	if n.kind() < Array {
		return 0
	}
	return int(n.count)
}

// Values counts v and the values in it; 0 for the zero Value.
func (v Value) Values() int {
	if v.d == nil {
		return 0
	}
	return int(v.node().next - v.i)
}

// Footprint is about how many bytes of memory v takes: its text, and its nodes on the tape.
func (v Value) Footprint() int64 {
	if v.d == nil {
		return 0
	}
	n := v.node()
	return int64(n.end-n.start) + int64(n.next-v.i)*nodeSize
}

// Bool is the value of a boolean; false for other kinds.
func (v Value) Bool() bool {
	return v.Kind() == Bool && v.d.src[v.node().start] == 't'
}

// Str is the decoded text of a string; "" for other kinds.
func (v Value) Str() string {
	if v.Kind() != String {
		return ""
	}
	n := v.node()
	s := v.d.src[n.start+1 : n.end-1]
	if !n.is(roundabout) {
		return string(s)
	}
	return string(Unescape(nil, s))
}

// Bytes is the decoded text of a string: a view into the source when nothing in
// it is escaped, else a copy. Nil for other kinds.
func (v Value) Bytes() []byte {
	if v.Kind() != String {
		return nil
	}
	n := v.node()
	s := v.d.src[n.start+1 : n.end-1]
	if !n.is(roundabout) {
		return s
	}
	return Unescape(make([]byte, 0, len(s)), s)
}

// Key is the value's name in its object; "" elsewhere.
func (v Value) Key() string {
	if v.d == nil {
		return ""
	}
	return keyText(v.d.src, v.node())
}

// KeyBytes is Key as bytes: a view into the source when nothing in it is escaped. Nil for the zero
// Value.
func (v Value) KeyBytes() []byte {
	if v.d == nil {
		return nil
	}
	n := v.node()
	s := v.d.src[n.keyStart:n.keyEnd:n.keyEnd]
	if n.is(keyEscaped) {
		return Unescape(nil, s)
	}
	return s
}

// KeyIs reports whether name is the value's name in its object.
func (v Value) KeyIs(name string) bool {
	n := v.node()
	if n.is(keyEscaped) {
		return keyText(v.d.src, n) == name
	}
	return string(v.d.src[n.keyStart:n.keyEnd]) == name
}

func keyText(src []byte, n *node) string {
	s := src[n.keyStart:n.keyEnd]
	if !n.is(keyEscaped) {
		return string(s)
	}
	return string(Unescape(nil, s))
}

// First is the first member or element; ok is false when there is none. With
// Next it walks without allocation:
//
//	for e, ok := v.First(); ok; e, ok = v.Next(e) {}
func (v Value) First() (Value, bool) {
	if v.Len() == 0 {
		return Value{}, false
	}
	return Value{v.d, v.i + 1}, true
}

// Next is the sibling after e inside v.
func (v Value) Next(e Value) (Value, bool) {
	n := e.node().next
	if n >= v.node().next {
		return Value{}, false
	}
	return Value{v.d, n}, true
}

// Get is the member of that name; the zero Value and false when v is not an
// object or has none.
func (v Value) Get(name string) (Value, bool) {
	if v.Kind() != Object {
		return Value{}, false
	}
	for e, ok := v.First(); ok; e, ok = v.Next(e) {
		if e.KeyIs(name) {
			return e, true
		}
	}
	return Value{}, false
}

// Float is the number's nearest float64; ok is false for other kinds and when
// it overflows.
func (v Value) Float() (f float64, ok bool) {
	if v.Kind() != Number {
		return 0, false
	}
	if n := v.node().count; n > 0 {
		return float64(n - 1), true
	}
	raw := v.Raw()
	if len(raw) <= 15 && !v.Decimal() && raw[0] != '-' { // exact in a float64
		n := 0
		for _, c := range raw {
			n = n*10 + int(c-'0')
		}
		return float64(n), true
	}
	f, err := strconv.ParseFloat(string(raw), 64)
	return f, err == nil
}

// Decimal reports whether a number is written with a fraction or an exponent.
func (v Value) Decimal() bool { return v.d != nil && v.node().is(fraction) }

// IsInteger reports whether a number is mathematically an integer (5, 5.0, 5e2).
func (v Value) IsInteger() bool {
	if v.Kind() != Number {
		return false
	}
	if !v.node().is(fraction) {
		return true
	}
	d := decompose(v.Raw())
	return len(d.digits) == 0 || d.exp >= 0
}

// Unescape appends the decoded form of a JSON string's inside to dst. s must
// come from a parsed value.
func Unescape(dst, s []byte) []byte {
	for i := 0; i < len(s); {
		if s[i] != '\\' {
			j := bytes.IndexByte(s[i:], '\\')
			if j < 0 {
				return append(dst, s[i:]...)
			}
			dst = append(dst, s[i:i+j]...)
			i += j
			continue
		}
		switch c := s[i+1]; c {
		case 'u':
			r := hex4(s[i+2:])
			i += 6
			if r >= 0xD800 && r < 0xDC00 {
				r = (r-0xD800)<<10 | (hex4(s[i+2:]) - 0xDC00) + 0x10000
				i += 6
			}
			dst = utf8.AppendRune(dst, r)
			continue
		case 'b':
			dst = append(dst, '\b')
		case 'f':
			dst = append(dst, '\f')
		case 'n':
			dst = append(dst, '\n')
		case 'r':
			dst = append(dst, '\r')
		case 't':
			dst = append(dst, '\t')
		default:
			dst = append(dst, c)
		}
		i += 2
	}
	return dst
}
