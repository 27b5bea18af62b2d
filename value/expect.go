// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package value

import (
	"encoding/binary"
	"slices"
	"strings"
)

// Expected is what is known of texts that look alike, such as the lines of a log.
type Expected struct {
	// Places, up to 32, are members by their path of names, such as "gold.args", that
	// At is asked for. A path goes through objects only.
	Places []string
	// Fits are by place the values that mostly stand there; texts that have others are never
	// skimmed. None: all. Texts are skimmed where
	// there are Fits, and null is in all of them.
	Fits []Fit
	// Echoes tell by place the place of an earlier member whose value a member
	// often repeats, or spells as a string: "gold.args" of "args". Those of places with
	// places below them, or with FitTexts, are not looked for.
	Echoes map[string]string
}

// Fit is a set of values, told by how they are written.
type Fit uint16

// What may fit.
const (
	FitNull   Fit = 1 << Null
	FitBool   Fit = 1 << Bool
	FitWhole  Fit = 1 << Number // written with up to nine digits, and nothing else
	FitPlain  Fit = 1 << String // without backslashes
	FitText       = FitPlain | FitPlain<<roundabout
	FitArray  Fit = 1 << Array
	FitObject Fit = 1 << Object
	// FitTexts are arrays of strings.
	FitTexts = FitArray | 1
	FitAny   = ^Fit(1)
)

// Expect prepares d for texts that look alike: it remembers in which order names
// came, so that a name that comes where it came before is only compared. What
// Parse takes, refuses and gives is the same, and texts that look different cost
// little more. It needs some memory, which is bounded. Values parsed before are
// no longer valid. Bytes between the length and the capacity of a text are looked
// at too, so that they must stay unchanged while it is parsed.
func (d *Doc) Expect(e Expected) {
	s := &shapes{paths: e.Places, fits: e.Fits, echoes: make([]int32, len(e.Places)), left: maxShapes}
	for i, p := range e.Places {
		s.echoes[i] = -1
		for j, of := range e.Places {
			if e.Echoes[p] == of && !e.looksInto(i) {
				s.echoes[i] = int32(j)
				s.pairs = append(s.pairs, pair{i, j})
			}
		}
	}
	s.root = s.fresh()
	s.root.watched = true
	*d = Doc{nodes: d.nodes[:0], shapes: s, places: make([]int32, len(e.Places)+2), skim: newSkim(&e), spans: new([maxPlaces]span)}
}

// looksInto tells that what is below the i-th place has to be looked at, also where
// it is known to be the same as something else.
func (e *Expected) looksInto(i int) bool {
	return i < len(e.Fits) && e.Fits[i]&1 != 0 || e.above(i)
}

// above tells that there are places below the i-th.
func (e *Expected) above(i int) bool {
	return slices.ContainsFunc(e.Places, func(p string) bool { return strings.HasPrefix(p, e.Places[i]+".") })
}

// At is the member at the i-th of the places that were expected; the zero Value
// where there is none, or where Placed is false.
func (d *Doc) At(i int) Value {
	if d.have>>i&1 == 0 {
		return Value{}
	}
	return Value{d, d.places[i]}
}

// TextAt is the decoded text of the string at the i-th place, as Bytes gives it;
// nil where there is none or it is null, and not ok where it is anything else.
func (d *Doc) TextAt(i int) (text []byte, ok bool) {
	v := d.At(i)
	return v.Bytes(), v.Kind() == String || v.Kind() <= Null
}

// NumberAt is the number at the i-th place as Float gives it; none where there is
// none or it is null, and not ok where it is anything else.
func (d *Doc) NumberAt(i int, none float64) (f float64, ok bool) {
	v := d.At(i)
	if v.Kind() <= Null {
		return none, true
	}
	return v.Float()
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
	pairs  []pair // of echoes
	fits   []Fit
	left   int // how many shapes may be added
}

// pair is a place with the one that it is an echo of.
type pair struct{ place, of int }

// Bounds of what is remembered: members in all, ways to go on after one, bytes of
// a name with what is around it. Beyond them, objects are read as if nothing was expected.
const (
	maxShapes = 4096
	maxFollow = 48
	maxLabel  = 72
)

// shape is a member of objects at one place, after certain other members. Shapes
// are a trie: the names on a way from its top differ, and whoever follows it need
// not compare them with one another. A top has no name.
type shape struct {
	first        *branch // of next, or one that stands nowhere
	next         []*branch
	latest       [32]*branch // of next, by the first letters; nowhere: none
	before       *shape
	name         string
	under, items *shape // the top of objects that are its value, and elements of it
	path         string // "": nothing of it is watched
	// place is len(Places) when it is none, and one more of a stray member: of
	// an object with places that is none. An echo of -1 is none.
	place, echo int32
	bars        Fit  // the forms that do not fit here
	watched     bool // of a top: some place is at or below its members
}

// branch is a member as it was written after another: the bracket or comma before
// its name, the name, the colon, and the space around them, in a form that is
// quickly compared: its first and its last eight bytes, which are the same ones of a
// label that has no more, and what is between them.
type branch struct {
	head, tail uint64
	mask       uint64 // which bytes of both it has
	to         *shape
	last       int32    // where the last eight begin
	size       int32    // of the label
	name, till int32    // where the name begins, and ends
	middle     []uint64 // those between them, by eights; the last may be of the tail too
	label      string
}

func newBranch(label string, name key, to *shape) *branch {
	var b [8]byte
	n := copy(b[:], label)
	head := binary.LittleEndian.Uint64(b[:])
	out := &branch{head: head, tail: head, mask: ^uint64(0) >> (64 - 8*n), size: int32(len(label)), name: name.start, till: name.end, label: label, to: to}
	if n == 8 {
		out.last = int32(len(label)) - 8
		for j := 8; j < int(out.last); j += 8 {
			out.middle = append(out.middle, binary.LittleEndian.Uint64([]byte(label[j:])))
		}
		out.tail = binary.LittleEndian.Uint64([]byte(label[out.last:]))
	}
	return out
}

// stands reports whether the label stands at i, as far as its first and last eight
// bytes tell; what is between them goesOn compares, mostly nothing.
func (b *branch) stands(t padded, i int) bool {
	return ((t.eight(i)^b.head)|(t.eight(i+int(b.last))^b.tail))&b.mask == 0
}

func (b *branch) goesOn(t padded, i int) bool {
	for j, want := range b.middle {
		if t.eight(i+8+8*j) != want {
			return false
		}
	}
	return true
}

// likely is the branch of m that mostly stands at i, as the first letters tell.
func (m *shape) likely(t padded, i int) *branch { return m.latest[letters(t.eight(i+2))] }

// letters is a number below 32 for the first three of them.
func letters(w uint64) uint64 {
	const odd = 0x9E3779B97F4A7C15
	return w << 40 * odd >> 59
}

// follow gives the member whose label stands at i; nil when it is none of those
// that came after m so far.
func (m *shape) follow(t padded, i int) *branch {
	for _, b := range m.next {
		if b.stands(t, i) && b.goesOn(t, i) {
			m.latest[letters(t.eight(i+2))] = b
			return b
		}
	}
	return nil
}

// find gives the member of that name, which may be new; nil when it came before
// in the same object, or when no more can be remembered. It remembers how the
// member is written. The places of name are inside label.
func (s *shapes) find(m *shape, label string, name key) *shape {
	text := label[name.start:name.end]
	var c *shape
	for _, b := range m.next {
		if b.label[b.name:b.till] == text {
			if c = b.to; b.label == label {
				return c
			}
		}
	}
	if len(m.next) >= maxFollow || len(label) > maxLabel {
		return c
	}
	if c == nil {
		top := m
		for ; top.before != nil; top = top.before {
			if top.name == text {
				return nil
			}
		}
		if s.left == 0 {
			return nil
		}
		c = s.add(text, top)
		c.name, c.before = text, m
	}
	b := newBranch(label, name, c)
	if len(m.next) == 0 {
		m.first = b
	}
	m.next = append(m.next, b)
	return c
}

// add makes a member of the objects of a top.
func (s *shapes) add(name string, top *shape) *shape {
	s.left--
	c := s.fresh()
	if top.watched && !strings.Contains(name, ".") {
		c.path = name
		if top != s.root {
			c.path = top.path + "." + name
		}
	}
	for i, p := range s.paths {
		if p == c.path {
			c.place, c.echo = int32(i), s.echoes[i]
			if i < len(s.fits) {
				c.bars = ^s.fits[i]
			}
		}
	}
	if top.watched && int(c.place) == len(s.paths) {
		c.place++
	}
	return c
}

// nowhere stands nowhere: the same bytes would have to be 0 and something else.
var nowhere = &branch{tail: ^uint64(0), mask: ^uint64(0)}

func (s *shapes) fresh() *shape {
	m := &shape{first: nowhere, place: int32(len(s.paths)), echo: -1}
	for i := range m.latest {
		m.latest[i] = nowhere
	}
	return m
}

// below makes the top of the objects that are the member's value. No place is in an
// array.
func (s *shapes) below(m *shape) {
	m.under = s.fresh()
	m.under.path = m.path
	for _, p := range s.paths {
		m.under.watched = m.under.watched || m.path != "" && strings.HasPrefix(p, m.path+".")
	}
}

// elements makes the shape of elements of arrays that are the member's value; of
// arrays in these it is the same.
func (s *shapes) elements(m *shape) {
	m.items = s.fresh()
	m.items.items = m.items
	if int(m.place) < len(s.fits) && s.fits[m.place]&1 != 0 {
		m.items.bars = ^FitText
	}
}
