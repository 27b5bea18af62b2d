// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package value

import (
	"encoding/binary"
	"unsafe"
)

// Member is a member of an object on a walk over all of them. It tells what Value
// tells, and knows its place in the tape already:
//
//	for m := v.Members(); m.Ok(); m = m.Next() {}
type Member struct {
	d    *Doc
	n    *node
	i    int32
	left int32 // how many there are from here on
}

// Member is v as what it is in its object or array; v must not be the zero Value.
func (v Value) Member() Member { return Member{v.d, v.node(), v.i, 1} }

// Members begins a walk over the members of an object; there are none in other kinds.
func (v Value) Members() Member {
	if v.d == nil {
		return Member{}
	}
	n := v.node()
	if n.kind() != Object || n.count == 0 {
		return Member{}
	}
	return Member{v.d, v.d.node(v.i + 1), v.i + 1, n.count}
}

// Ok tells that the walk is not over.
func (m Member) Ok() bool { return m.left > 0 }

// Next is the one after m.
func (m Member) Next() Member {
	if m.left--; m.left > 0 {
		m.i = m.n.next
		m.n = m.d.node(m.i)
	}
	return m
}

// Value is the member's value.
func (m Member) Value() Value { return Value{m.d, m.i} }

// Kind is that of the value.
func (m Member) Kind() Kind { return m.n.kind() }

// Size is how many bytes the value takes as written.
func (m Member) Size() int { return int(m.n.end - m.n.start) }

// Whole is the value of a number that is written without sign, fraction and
// exponent, and is not large; ok is false for others and other kinds.
func (m Member) Whole() (n int64, ok bool) {
	return int64(m.n.count) - 1, m.n.count > 0 && m.n.kind() == Number
}

// Named is the position in list of the name under which m stands in its object, and -1
// where it is not there or has escapes: Decoded looks at such.
func (m Member) Named(list *Names) int {
	return list.find(m.d, m.n.keyStart, m.n.keyEnd, m.n.form&keyEscaped)
}

// Says is the position in list of what a string says, and -1 where it is not there or
// has escapes, with which Bytes is asked. Other kinds must not be asked.
func (m Member) Says(list *Names) int {
	return list.find(m.d, m.n.start+1, m.n.end-1, m.n.form&roundabout)
}

// Decoded is the position in list of a name that has escapes; -1 when it is not there,
// and for other names.
func (m Member) Decoded(list *Names) int {
	if !m.n.is(keyEscaped) {
		return -1
	}
	return list.Find(string(m.Value().KeyBytes()))
}

// NamedAs reports whether m and o stand in their objects under one name.
func (m Member) NamedAs(o Member) bool {
	a, b := m.n, o.n
	if (a.form | b.form).is(keyEscaped) {
		return keyText(m.d.src, a) == keyText(o.d.src, b)
	}
	size := a.keyEnd - a.keyStart
	return size == b.keyEnd-b.keyStart && sameBytes(m.d.src, o.d.src, a.keyStart, b.keyStart, int(size))
}

// Namesake is the member of v that has the name of m, on the walk over v; it is not Ok
// where there is none.
func (v Value) Namesake(m Member) Member {
	o := v.Members()
	for o.Ok() && !o.NamedAs(m) {
		o = o.Next()
	}
	return o
}

// Alike reports whether the values of m and o are written in the same bytes.
func (m Member) Alike(o Member) bool {
	a, b := m.n, o.n
	size := a.end - a.start
	return size == b.end-b.start && sameBytes(m.d.src, o.d.src, a.start, b.start, int(size))
}

// sameBytes reports whether size bytes from i and from j are the same.
func sameBytes(a, b []byte, i, j int32, size int) bool {
	x, y := unsafe.Add(unsafe.Pointer(unsafe.SliceData(a)), i), unsafe.Add(unsafe.Pointer(unsafe.SliceData(b)), j)
	if size < 8 {
		first, _ := ends(x, size, int(i)+8 <= len(a))
		other, _ := ends(y, size, int(j)+8 <= len(b))
		return first == other
	}
	for k := 0; k < size-8; k += 8 {
		if eight(unsafe.Add(x, k)) != eight(unsafe.Add(y, k)) {
			return false
		}
	}
	return eight(unsafe.Add(x, size-8)) == eight(unsafe.Add(y, size-8))
}

// Names are texts, each once, among which one is found in a few comparisons of eight
// bytes. They are immutable; the zero Names has none. Many are in use at once: each is
// small, so that they stay in the processor's cache.
type Names struct {
	heads [32]int32 // by hash, 1 + the place in list; 0: none
	list  []name8
	texts []string
}

// name8 is a text with its first eight bytes and, where it has as many, its last
// eight: up to sixteen bytes they are all of it.
type name8 struct {
	first, last uint64
	size, next  int32 // next is another one of that hash, as in heads
}

// NamesOf makes Names of texts.
func NamesOf(texts []string) *Names {
	s := &Names{list: make([]name8, len(texts)), texts: texts}
	for i, text := range texts {
		n := &s.list[i]
		n.size = int32(len(text))
		n.first, n.last = ends(unsafe.Pointer(unsafe.StringData(text)), len(text), false)
		head := &s.heads[place(n.first, n.last)]
		n.next, *head = *head, int32(i+1)
	}
	return s
}

// Find is the position of text; -1 when it is not there.
func (s *Names) Find(text string) int {
	d := Doc{src: []byte(text)}
	return s.find(&d, 0, int32(len(text)), 0)
}

// place is a hash; of the texts that are not alike few share one.
func place(first, last uint64) uint64 {
	const odd = 0x9E3779B97F4A7C15
	return (first ^ last>>7) * odd >> 59
}

// find is the position of what is written from from to to in the text of d; -1 when it
// is none of them, and with escapes. That it calls nothing and checks no position,
// which the tape has right, makes it twice as fast.
func (s *Names) find(d *Doc, from, to int32, escapes form) int {
	if escapes != 0 {
		return -1
	}
	text, size := unsafe.Add(unsafe.Pointer(unsafe.SliceData(d.src)), from), int(to-from)
	first, last := ends(text, size, int(from)+8 <= len(d.src))
	for i := s.heads[place(first, last)]; i != 0; {
		n := &s.list[i-1]
		if n.first == first && n.last == last && int(n.size) == size && (size <= 16 || middle(text, s.texts[i-1])) {
			return int(i - 1)
		}
		i = n.next
	}
	return -1
}

// ends gives the first eight bytes of a text, zeros after them where there are not as
// many, and the last eight where there are. There being room for eight bytes in any
// case, they are read at once.
func ends(text unsafe.Pointer, size int, room bool) (first, last uint64) {
	switch {
	case size >= 8:
		return eight(text), eight(unsafe.Add(text, size-8))
	case room:
		return eight(text) & (1<<(8*uint(size)&63) - 1), 0
	}
	return few(text, size), 0
}

// few is all of a text of less than eight bytes.
func few(text unsafe.Pointer, size int) (all uint64) {
	for i := range size {
		all |= uint64(*(*byte)(unsafe.Add(text, i))) << (8 * i)
	}
	return all
}

// middle reports whether two texts of one size, which have their first and last eight
// bytes in common, are the same.
func middle(text unsafe.Pointer, s string) bool {
	for i := 8; i < len(s)-8; i += 8 {
		if eight(unsafe.Add(text, i)) != eight(unsafe.Add(unsafe.Pointer(unsafe.StringData(s)), i)) {
			return false
		}
	}
	return true
}

func eight(at unsafe.Pointer) uint64 { return binary.LittleEndian.Uint64((*[8]byte)(at)[:]) }
