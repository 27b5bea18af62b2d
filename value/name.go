// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package value

import "bytes"

// Member is a member of an object during a walk over all of them. It has the methods of Value
// without looking up its place in the tape:
//
//	for m := v.Members(); m.Ok(); m = m.Next() {}
type Member struct {
	d    *Doc
	n    *node
	i    int32
	left int32 // how many there are from here on
}

// Member is v as a Member of its object or array; v must not be the zero Value.
func (v Value) Member() Member { return Member{v.d, v.node(), v.i, 1} }

// Members begins a walk over the members of an object; other kinds have none.
func (v Value) Members() Member {
	if v.d == nil {
		return Member{}
	}
	n := v.node()
	if n.kind() != Object || n.count == 0 {
		return Member{}
	}
	return Member{v.d, &v.d.nodes[v.i+1], v.i + 1, n.count}
}

// Ok reports whether m is a member; false: the walk is over.
func (m Member) Ok() bool { return m.left > 0 }

// Next is the one after m.
func (m Member) Next() Member {
	if m.left--; m.left > 0 {
		m.i = m.n.next
		m.n = &m.d.nodes[m.i]
	}
	return m
}

// Value is the member's value.
func (m Member) Value() Value { return Value{m.d, m.i} }

// Kind is the kind of the value.
func (m Member) Kind() Kind { return m.n.kind() }

// Size is how many bytes the value takes as written.
func (m Member) Size() int { return int(m.n.end - m.n.start) }

// Whole is the value of a number that is written without sign, fraction and
// exponent, and is not large; ok is false for others and other kinds.
func (m Member) Whole() (n int64, ok bool) {
	return int64(m.n.count) - 1, m.n.count > 0 && m.n.kind() == Number
}

// Named is the position of m's name in list; -1 where it is not in list or has escapes, see
// Decoded.
func (m Member) Named(list *Names) int {
	if m.n.is(keyEscaped) {
		return -1
	}
	return list.find(m.d.src[m.n.keyStart:m.n.keyEnd])
}

// Place is the position of m's name, also one with escapes, in Doc.Names; -1 where it is not in it.
func (m Member) Place() int {
	if known := m.n.form >> listed; known > 0 {
		return int(known) - 1
	}
	return m.search()
}

// search is Place for a name that the parser did not look up.
func (m Member) search() int {
	if m.d.Names == nil {
		return -1
	}
	return max(m.Named(m.d.Names), m.Decoded(m.d.Names))
}

// TextIn is the position of a string's text in list; -1 where it is not in list or has escapes, see
// Bytes. The value must be a string.
func (m Member) TextIn(list *Names) int {
	if m.n.is(roundabout) {
		return -1
	}
	return list.find(m.d.src[m.n.start+1 : m.n.end-1])
}

// Decoded is the position in list of a name with escapes; -1 where it is not in list, and for names
// without escapes.
func (m Member) Decoded(list *Names) int {
	if !m.n.is(keyEscaped) {
		return -1
	}
	return list.Find(string(m.Value().KeyBytes()))
}

// NamedAs reports whether m and o have the same name.
func (m Member) NamedAs(o Member) bool {
	a, b := m.n, o.n
	if (a.form | b.form).is(keyEscaped) {
		return keyText(m.d.src, a) == keyText(o.d.src, b)
	}
	return bytes.Equal(m.d.src[a.keyStart:a.keyEnd], o.d.src[b.keyStart:b.keyEnd])
}

// Namesake is the member of v with the name of m, during a walk over v; it is not Ok where there is
// none.
func (v Value) Namesake(m Member) Member {
	o := v.Members()
	for o.Ok() && !o.NamedAs(m) {
		o = o.Next()
	}
	return o
}

// Alike reports whether the values of m and o have the same bytes.
func (m Member) Alike(o Member) bool {
	a, b := m.n, o.n
	return bytes.Equal(m.d.src[a.start:a.end], o.d.src[b.start:b.end])
}

// fewNames is up to how many names are compared one by one, which is faster than a map.
const fewNames = 8

// Names is an immutable list of different texts for look-ups; the zero Names is empty.
type Names struct {
	texts []string
	by    map[string]int // positions in texts; nil for up to fewNames
}

// NamesOf makes Names of texts.
func NamesOf(texts []string) *Names {
	s := &Names{texts: texts}
	if len(texts) > fewNames {
		s.by = make(map[string]int, len(texts))
		for i, text := range texts {
			s.by[text] = i
		}
	}
	return s
}

// Find is the position of text; -1 when it is not there.
func (s *Names) Find(text string) int { return s.find([]byte(text)) }

func (s *Names) find(text []byte) int {
	if s.by != nil {
		if i, ok := s.by[string(text)]; ok {
			return i
		}
		return -1
	}
	for i, own := range s.texts {
		if own == string(text) {
			return i
		}
	}
	return -1
}
