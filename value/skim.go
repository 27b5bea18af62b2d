// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package value

import (
	"cmp"
	"math/bits"
	"slices"
	"strings"
	"unsafe"
)

// skim is what a Doc remembers of how texts go from one place to the next. Where
// nothing but the values differs from an earlier text, what stands between them is
// compared, brackets, names and all, and no tape is written but for the values
// that may be anything.
//
// Every way was taken by a text that was parsed. At which depth a place is, and
// in which objects, is told by its path; so ways of different texts may follow one
// another, as long as no place comes twice.
type skim struct {
	start way    // to the beginning of a text
	from  []stop // by place
	slots []slot // by place
	of    []*shape
	ways  int // that may yet be added
	vain  int // texts that may yet be looked at without finding a new way
	// Where most texts are not taken none is tried for a while.
	tried, failed, idle, pause int
}

// stop is the end of the value at a place, or the beginning of a text: ways lead on
// from there.
type stop struct{ ways []*way }

// way is what stood between the values at two places, with the quotes of strings, and
// with nulls where strings may be. What most ways are told by is in one line of the
// processor's cache.
type way struct {
	next *way // the one that was taken after it
	// The first and the last eight bytes, and eight of those between them if there are.
	head, tail, mid uint64
	// sets is the place that it leads to, and above these bits all places that it
	// shows are there.
	sets       uint64
	last, size int16
	midst      int16
	slot       slot // that of a way which is not quickly compared is slotSlow
	place      uint8
	branch     *branch
	real       slot
	stop       *stop  // after the value
	of         *shape // of the value
	echo       int    // place of what the value often repeats; -1: none
	depth      int    // objects that are open around the value
}

// slot tells how the value at a place is read.
type slot uint8

const (
	slotPlain slot = iota
	slotWhole
	slotBool
	slotAny
	slotText
	slotTexts
	slotSlow
	slotEnd // of the text
	slotNone
)

// Bounds of what is remembered. A way is compared from a position in the text, and
// after it a value is begun with: see beyond.
const (
	maxWays     = 1024
	maxWaysFrom = 32
	maxWay      = maxLabel
	maxVain     = 1000
	maxPlaces   = 32
	maxFailed   = 64 // texts not taken, before it is told whether they are most
	maxPause    = 4096
)

// span is where a plain string is, or in start the value of a short whole number or
// boolean.
type span struct{ start, end int32 }

const isNull = -1 // in end

// newSkim gives nil where there are too many places, or some that null does not fit: it
// is read at all of them.
func newSkim(e *Expected) *skim {
	if len(e.Fits) != len(e.Places) || len(e.Places) > maxPlaces || slices.ContainsFunc(e.Fits, func(f Fit) bool { return f&FitNull == 0 }) {
		return nil
	}
	s := &skim{ways: maxWays, vain: maxVain, pause: maxFailed, from: make([]stop, len(e.Places)), slots: make([]slot, len(e.Places)), of: make([]*shape, len(e.Places))}
	for i, f := range e.Fits {
		s.slots[i] = slotAny
		switch f &^ FitNull {
		case FitPlain:
			s.slots[i] = slotPlain
		case FitText:
			s.slots[i] = slotText
		case FitTexts:
			s.slots[i] = slotTexts
		case FitWhole:
			s.slots[i] = slotWhole
		case FitBool:
			s.slots[i] = slotBool
		}
		if e.above(i) {
			s.slots[i] = slotNone
		}
		s.of[i] = &shape{first: nowhere, place: int32(i), echo: -1, bars: ^f}
	}
	s.start.stop = &stop{}
	s.start.next = nowhereTo
	return s
}

// nowhereTo stands nowhere, as its head is not its tail.
var nowhereTo = &way{tail: 1, branch: nowhere, slot: slotSlow}

// stands reports whether the way, which has eight to 24 bytes, stands at i.
func (w *way) stands(t padded, i int) bool {
	return (t.eight(i)^w.head)|(t.eight(i+int(w.midst))^w.mid)|(t.eight(i+int(w.last))^w.tail) == 0
}

// take gives the way after w that stands at i; nil when none does.
func (w *way) take(t padded, i int) *way {
	for _, n := range w.stop.ways {
		if n.slot != slotSlow && n.stands(t, i) || n.slot == slotSlow && n.branch.stands(t, i) && n.branch.goesOn(t, i) {
			w.next = n
			return n
		}
	}
	return nil
}

// Skim reads the places of the line that data starts with, and gives the line and
// what comes after it as ParseLine does. It takes no line that ParseLine refuses,
// or that has anything unexpected in it; when it does not take one, the line has to be
// parsed. Of a line that was taken, At, PlainAt, WholeAt and BoolAt tell what there is;
// there is no Root, a value has no Key, and objects above places are not told, nor are nulls
// where only a string or a list of strings may be besides.
func (d *Doc) Skim(data []byte) (line, rest []byte, ok bool) {
	there := min(len(data), cap(data)-beyond, maxText)
	if d.skim == nil || there <= 0 || data[there-1] != '\n' {
		return nil, nil, false
	}
	if d.skim.idle > 0 {
		d.skim.idle--
		return nil, nil, false
	}
	d.skim.tried++
	if line, rest = cut(data, d.skimTo(data[:there])); line == nil {
		d.skim.fail()
		return nil, nil, false
	}
	d.src, d.placed, d.fits = line, true, true
	return line, rest, true
}

// fail notes that a text was not taken. One that is makes up for about one that is not.
func (s *skim) fail() {
	if s.failed++; s.failed < maxFailed {
		return
	}
	if s.pause = min(2*s.pause, maxPause); s.tried >= 2*maxFailed {
		s.pause = maxFailed
	} else {
		s.idle = s.pause
	}
	s.tried, s.failed = 0, 0
}

// skimTo gives the position after the object that data starts with, or -1. The line
// end that data ends with is the end of all that it may read: none is in a way, and none
// in a value. All nulls that are told are the first node.
func (d *Doc) skimTo(data []byte) int {
	var p alike
	p.nodes, p.src, p.text = append(d.nodes[:0], node{form: form(Null)}), data, padded{unsafe.Pointer(unsafe.SliceData(data))}
	p.shapes, p.places = d.shapes, d.places
	end, text, at := -1, p.text, &d.skim.start
	var seen uint64
	for i := 0; i >= 0; {
		w := at.next
		if w.slot <= slotBool {
			if i, at, seen, w = p.hurry(d.spans, i, at, seen); w == nil {
				w = at.take(text, i)
			}
		} else if w.slot == slotSlow || !w.stands(text, i) {
			w = at.take(text, i)
		}
		if w == nil || seen&w.sets != 0 {
			break
		}
		seen |= w.sets
		from := i + int(w.size)
		switch to := &d.spans[w.place%maxPlaces]; w.real {
		case slotAny:
			if text.eight(from)<<32 == nullWord<<32 {
				i, p.places[w.place] = from+4, 0
				n := &p.nodes[0]
				n.start, n.end = int32(from), int32(i)
			} else {
				i = p.member(from, w, seen)
			}
		case slotText:
			i = p.textual(from, w, seen)
		case slotTexts:
			i = p.texts(from, w)
		case slotEnd:
			i, end = -1, from
		case slotPlain:
			i = p.plain(from)
			*to = span{int32(from), int32(i)}
		default:
			if i = p.small(from, w, to); to.end == isNull {
				seen &^= 1 << w.place
			}
		}
		at = w
	}
	if d.nodes, d.have, d.skimmed = p.nodes, seen&(1<<maxPlaces-1), true; end > len(data) || p.misfit&1 != 0 {
		return -1
	}
	return end
}

// hurry goes on where the usual ways lead to plain strings, short whole numbers and
// booleans: without a call, what it needs stays in registers. It gives the
// way that leads on, if that is known.
func (p *alike) hurry(spans *[maxPlaces]span, i int, at *way, seen uint64) (int, *way, uint64, *way) {
	text := p.text
	for {
		w := at.next
		if !w.stands(text, i) || w.slot == slotSlow {
			return i, at, seen, nil
		}
		from := i + int(w.size)
		end := from
		switch w.slot {
		case slotPlain:
			found := special(text.eight(from))
			if found == 0 {
				end += 8
				found = special(text.eight(end))
			}
			if end += bits.TrailingZeros64(found) >> 3; text.at(end) != '"' {
				return i, at, seen, w
			}
		case slotWhole:
			x := text.eight(from) ^ ones*'0'
			n := digits(x)
			if uint(n-1) > 6 || n > 1 && x&0xff == 0 {
				return i, at, seen, w
			}
			from, end = number(x, n), from+n
		case slotBool:
			if text.eight(from)<<32 != trueWord<<32 {
				return i, at, seen, w
			}
			from, end = 1, from+4
		default:
			return i, at, seen, w
		}
		if seen&w.sets != 0 {
			return i, at, seen, w
		}
		spans[w.place%maxPlaces] = span{int32(from), int32(end)}
		i, at, seen = end, w, seen|w.sets
	}
}

// texts reads an array whose inside begins at i. Of one of plain strings it writes
// no nodes but its own.
func (p *alike) texts(i int, w *way) int {
	text, end, count := p.text, i, int32(0)
	for ; text.at(end) == '"'; end += 2 {
		count++
		found := special(text.eight(end + 1))
		if end++; found == 0 {
			end += 8
			found = special(text.eight(end))
		}
		if end += bits.TrailingZeros64(found) >> 3; text.at(end) != '"' || text.at(end+1) != ',' {
			break
		}
	}
	p.places[w.place] = int32(len(p.nodes))
	if text.eight(end)<<48 != textsEnd<<48 {
		p.depth = w.depth
		return p.value(i-1, name{}, w.of)
	}
	n := p.node()
	n.start, n.end, n.next, n.count = int32(i-1), int32(end+2), int32(len(p.nodes)), -count
	n.keyStart, n.keyEnd, n.form = 0, 0, form(Array)
	return end + 2
}

// expand writes the nodes of the elements that texts left out, after all others.
func (d *Doc) expand(i int32) {
	p := parser{nodes: d.nodes, src: d.src}
	at := int32(len(p.nodes))
	p.value(int(p.nodes[i].start), 1, key{})
	d.nodes = p.nodes
	n := &d.nodes[i]
	n.keyStart, n.keyEnd, n.next = at, at, int32(len(d.nodes))
}

// small reads true, false, null or a whole number.
func (p *alike) small(i int, w *way, to *span) int {
	if i = p.space(i); i >= len(p.src) {
		return -1
	}
	to.end = 0
	switch c, x := p.src[i], p.text.eight(i); {
	case x<<32 == nullWord<<32:
		to.end = isNull
		return i + 4
	case w.real == slotBool && x<<32 == trueWord<<32:
		to.start = 1
		return i + 4
	case w.real == slotBool && x<<24 == falseWord<<24:
		to.start = 0
		return i + 5
	case w.real == slotWhole && c-'0' <= 9:
		end, f, count := p.figure(i)
		if to.start = count - 1; f == form(Number) {
			return end
		}
	}
	return -1
}

const (
	textsEnd  = '"' | ']'<<8
	nullWord  = 'n' | 'u'<<8 | 'l'<<16 | 'l'<<24
	trueWord  = 't' | 'r'<<8 | 'u'<<16 | 'e'<<24
	falseWord = 'f' | 'a'<<8 | 'l'<<16 | 's'<<24 | 'e'<<32
)

// plain reads on in a plain string up to its quote.
func (p *alike) plain(i int) int {
	end, f := p.rest(i)
	if end < 0 || f.is(roundabout) {
		return -1
	}
	return end - 1
}

// textual reads a string whose inside begins at i.
func (p *alike) textual(i int, w *way, seen uint64) int {
	p.places[w.place] = int32(len(p.nodes))
	if w.echo >= 0 && seen>>w.echo&1 != 0 {
		if end := p.spelling(i-1, name{}, p.places[w.echo]); end > 0 {
			return end
		}
	}
	return p.quoted(i-1, w.of)
}

// member reads a value that may be anything that fits its place. One that is the
// same as another is that.
func (p *alike) member(i int, w *way, seen uint64) int {
	p.places[w.place] = int32(len(p.nodes))
	p.depth = w.depth
	if w.echo < 0 || seen>>w.echo&1 == 0 {
		if p.text.at(i) == '{' && w.of.under != nil {
			p.misfit |= w.of.bars >> Object
			return p.free(i, name{}, w.of.under)
		}
		return p.value(i, name{}, w.of)
	}
	of := p.places[w.echo]
	n := &p.nodes[of]
	size := int(n.end - n.start)
	if n.kind() < Array || i+size > len(p.src) || p.depth+int(n.next-of) >= MaxDepth || !p.text.same(i, int(n.start), size) {
		return p.value(i, name{}, w.of)
	}
	p.places[w.place] = of
	p.misfit |= w.of.bars >> (n.form & 15)
	return i + size
}

// learn remembers the ways of the text that was parsed last.
func (d *Doc) learn() {
	s := d.skim
	if s == nil || s.ways == 0 || s.vain == 0 || !d.fits {
		return
	}
	before := s.ways
	d.remember(s)
	if s.ways == before {
		s.vain--
	}
}

// remember adds the ways of that text up to one that there is no room for.
func (d *Doc) remember(s *skim) {
	at, w, from := &s.start, way{}, 0
	for _, place := range d.inOrder() {
		n := &d.nodes[d.places[place]]
		w.sets |= 1 << (place + maxPlaces)
		slot, quote := s.slots[place], 0
		if slot == slotPlain || slot == slotText || slot == slotTexts {
			quote = 1
		}
		if slot == slotNone || quote == 1 && n.kind() == Null {
			continue
		}
		w.real, w.place, w.sets, w.of, w.stop = slot, uint8(place), w.sets|1<<place, s.of[place], &s.from[place]
		if w.echo = int(d.shapes.echoes[place]); w.echo >= 0 && s.slots[w.echo] < slotAny {
			w.echo = -1 // of which there is no node
		}
		w.depth = 1 + strings.Count(d.shapes.paths[place], ".")
		if at = s.add(at, string(d.src[from:int(n.start)+quote]), w); at == nil {
			return
		}
		if slot != slotPlain {
			quote = 0
		}
		w, from = way{}, int(n.end)-quote
	}
	w.real, w.stop = slotEnd, &stop{}
	s.add(at, string(d.src[from:d.nodes[0].end]), w)
}

// inOrder gives the places that the last parsed text has, in its order.
func (d *Doc) inOrder() []int {
	var all []int
	for i := range d.shapes.paths {
		if d.places[i] > 0 {
			all = append(all, i)
		}
	}
	slices.SortFunc(all, func(a, b int) int { return cmp.Compare(d.places[a], d.places[b]) })
	return all
}

// add remembers a way after another, and gives it; nil when there is no room.
func (s *skim) add(at *way, label string, w way) *way {
	for _, old := range at.stop.ways {
		if old.branch.label == label && old.place == w.place && old.real == w.real {
			return old
		}
	}
	if len(label) > maxWay || len(at.stop.ways) == maxWaysFrom || s.ways == 0 {
		return nil
	}
	s.ways--
	w.branch = newBranch(label, key{}, nil)
	w.head, w.tail, w.last, w.size, w.slot = w.branch.head, w.branch.tail, int16(w.branch.last), int16(len(label)), w.real
	switch n := len(label); {
	case n < 8 || n > 24:
		w.slot = slotSlow
	case n > 16:
		w.mid, w.midst = w.branch.middle[0], 8
	default:
		w.mid, w.midst = w.tail, w.last
	}
	w.next = nowhereTo
	at.stop.ways = append(at.stop.ways, &w)
	at.next = &w
	return &w
}

// PlainAt is the text of the string at the i-th place, which FitPlain describes, of a
// line that Skim took; nil where there is none.
func (d *Doc) PlainAt(i int) []byte {
	if d.have>>i&1 == 0 {
		return nil
	}
	s := &d.spans[i%maxPlaces]
	return d.src[s.start:s.end:s.end]
}

// WholeAt is the number at the i-th place, which FitWhole describes, of a line that
// Skim took; none where there is none.
func (d *Doc) WholeAt(i int, none int) int {
	if d.have>>i&1 == 0 {
		return none
	}
	return int(d.spans[i%maxPlaces].start)
}

// BoolAt is the truth at the i-th place, which FitBool describes, of a line that Skim
// took: 1 or 0, and -1 where there is none.
func (d *Doc) BoolAt(i int) int {
	if d.have>>i&1 == 0 {
		return -1
	}
	return int(d.spans[i%maxPlaces].start)
}
