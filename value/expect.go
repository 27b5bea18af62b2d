// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package value

import (
	"encoding/binary"
	"strings"
)

// Expected is what is known of texts that look alike, such as the lines of a log.
type Expected struct {
	// Places are members by their path of names, such as "gold.args", that At is
	// asked for. A path goes through objects only.
	Places []string
	// Echoes tell by place the place of an earlier member whose value a member
	// often repeats, or spells as a string: "gold.args" of "args".
	Echoes map[string]string
}

// Expect prepares d for texts that look alike: it remembers in which order names
// came, so that a name that comes where it came before is only compared. What
// Parse takes, refuses and gives is the same, and texts that look different cost
// little more. It needs some memory, which is bounded. Values parsed before are
// no longer valid.
func (d *Doc) Expect(e Expected) {
	s := &shapes{paths: e.Places, echoes: make([]int32, len(e.Places)), left: maxShapes}
	for i, p := range e.Places {
		s.echoes[i] = -1
		for j, of := range e.Places {
			if e.Echoes[p] == of {
				s.echoes[i] = int32(j)
			}
		}
	}
	s.root = &shape{watched: true, echo: -1, place: -1}
	*d = Doc{nodes: d.nodes[:0], shapes: s, places: make([]int32, len(e.Places))}
}

// At is the member at the i-th of the places that were expected; the zero Value
// where there is none, or where Placed is false.
func (d *Doc) At(i int) Value {
	if n := d.places[i]; n > 0 {
		return Value{d, n}
	}
	return Value{}
}

// TextAt is the decoded text of the string at the i-th place, as Bytes gives it;
// nil where there is none or it is null, and not ok where it is anything else.
func (d *Doc) TextAt(i int) (text []byte, ok bool) {
	at := d.places[i]
	if at == 0 {
		return nil, true
	}
	n := &d.nodes[at]
	if n.kind == String && !n.escaped {
		return d.src[n.start+1 : n.end-1], true
	}
	return Value{d, at}.Bytes(), n.kind == String || n.kind == Null
}

// NumberAt is the number at the i-th place as Float gives it; none where there is
// none or it is null, and not ok where it is anything else.
func (d *Doc) NumberAt(i int, none float64) (f float64, ok bool) {
	at := d.places[i]
	if at == 0 {
		return none, true
	}
	switch n := &d.nodes[at]; {
	case n.kind == Null:
		return none, true
	case n.kind == Number && n.count > 0:
		return float64(n.count - 1), true
	}
	return Value{d, at}.Float()
}

// Placed reports that the last parsed text is an object all of whose members are
// at expected places, that this is so too of each object at a place that has
// places below it, and that At knows all of these. False says nothing: the
// text may be new of its kind.
func (d *Doc) Placed() bool { return d.placed }

// shapes is what a Doc remembers of the texts it parsed.
type shapes struct {
	root   *shape
	paths  []string
	echoes []int32
	left   int // how many shapes may be added
}

// Bounds of what is remembered: members in all, members that followed one, bytes
// of a name. Beyond them, objects are read as if nothing was expected.
const (
	maxShapes = 4096
	maxFollow = 48
	maxLabel  = 64
)

// shape is a member of objects at one place, after certain other members. Shapes
// are a trie: the names on a way from its top differ, and whoever follows it need
// not compare them with one another. A top has no label.
type shape struct {
	next   []branch
	before *shape
	label  string // name with its quotes, and the colon
	// under and items are tops for the objects that are the member's value or, in
	// arrays, parts of it.
	under, items *shape
	path         string // "": nothing of it is watched
	place, echo  int32  // -1: none
	// watched tells of a top that some place is at or below its members, stray
	// of a member of the outermost object that has no place.
	watched, stray bool
}

// branch is a label in a form that is quickly compared, with its member: its
// first and its last eight bytes, which are the same of a label that has no more.
type branch struct {
	head, tail uint64
	mask       uint64 // which bytes of both it has
	last       int    // where the last eight begin
	label      string
	to         *shape
}

func newBranch(label string, to *shape) branch {
	var b [8]byte
	n := copy(b[:], label)
	head := binary.LittleEndian.Uint64(b[:])
	out := branch{head: head, tail: head, mask: ^uint64(0) >> (64 - 8*n), label: label, to: to}
	if n == 8 {
		out.last = len(label) - 8
		out.tail = binary.LittleEndian.Uint64([]byte(label[out.last:]))
	}
	return out
}

// stands reports whether the label stands at i. Near the end of src it may say
// no where it does.
func (b *branch) stands(src []byte, i int) bool {
	j := i + b.last
	if j+8 > len(src) {
		return false
	}
	head, tail := binary.LittleEndian.Uint64(src[i:i+8]), binary.LittleEndian.Uint64(src[j:j+8])
	return (head&b.mask^b.head)|(tail&b.mask^b.tail) == 0 && (b.last <= 8 || string(src[i+8:j]) == b.label[8:b.last])
}

// follow gives the member whose label stands at i and the position after it; nil
// when it is none of those that came after m so far.
func (m *shape) follow(src []byte, i int) (*shape, int) {
	for k := range m.next {
		if b := &m.next[k]; b.stands(src, i) {
			return b.to, i + len(b.label)
		}
	}
	return nil, i
}

// find gives the member of that label, which may be new; nil when it came before
// in the same object, or when no more can be remembered.
func (s *shapes) find(m *shape, label string) *shape {
	for _, b := range m.next {
		if b.label == label {
			return b.to
		}
	}
	if s.left == 0 || len(m.next) >= maxFollow {
		return nil
	}
	top := m
	for ; top.before != nil; top = top.before {
		if top.label == label {
			return nil
		}
	}
	c := s.add(label[1:len(label)-2], top)
	c.label, c.before = label, m
	m.next = append(m.next, newBranch(label, c))
	return c
}

// add makes a member of the objects of a top.
func (s *shapes) add(name string, top *shape) *shape {
	s.left--
	c := &shape{place: -1, echo: -1}
	if top.watched && !strings.Contains(name, ".") {
		c.path = name
		if top != s.root {
			c.path = top.path + "." + name
		}
	}
	for i, p := range s.paths {
		if p == c.path {
			c.place, c.echo = int32(i), s.echoes[i]
		}
	}
	c.stray = top.watched && c.place < 0
	return c
}

// below makes the top of the objects that are the member's value or, in an array
// that is, elements of it. No place is in an array.
func (s *shapes) below(m *shape, element bool) *shape {
	top := &shape{place: -1, echo: -1}
	if element {
		m.items = top
		return top
	}
	m.under, top.path = top, m.path
	for _, p := range s.paths {
		top.watched = top.watched || m.path != "" && strings.HasPrefix(p, m.path+".")
	}
	return top
}
