// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package value

import (
	"cmp"
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
	reading
	start step   // to the beginning of a text
	from  []stop // by place
	slots []slot // by place
	of    []*shape
	spans *[maxPlaces]span
	ways  int     // that may yet be added
	steps int     // that may yet be remembered
	loose [2]step // in turn those that there was no room for
	vain  int     // texts that may yet be looked at without finding a new way
	// Where most texts are not taken none is tried for a while.
	tried, failed, idle, pause int
}

// reading is what reads the values of a text. It is kept from one text to the next:
// to make it anew takes as long as to read a few short values.
type reading struct {
	alike
	nulls uint64 // places where null was read instead of a whole number or boolean
}

// stop is the end of the value at a place, or the beginning of a text: ways lead on
// from there.
type stop struct{ ways []*way }

// way is what stood between the values at two places, with the quotes of strings, and
// with nulls where strings may be.
type way struct {
	branch *branch
	// sets is the place that it leads to, and above these bits all places that it
	// shows are there.
	sets  uint64
	place int
	slot  slot
	stop  *stop  // after the value
	of    *shape // of the value
	echo  int    // place of what the value often repeats; -1: none
	depth int    // objects that are open around the value
	steps []*step
}

// step is a way after certain places: which ones came is known of each step, so that
// it is looked at once, and not in each text, that none comes twice. What it
// is told by is together, as a processor's cache has it.
type step struct {
	next *step // the one that was taken after it
	// The first and the last eight bytes, and eight of those between them if it is wide.
	// Of the end of a text, which has fewer, mid has up to four bytes and their mask.
	head, tail, mid uint64
	// read reads the value where along does not.
	read func(p *reading, w *step, i int) int
	// Where the value is noted: by what it is, or by its node.
	span  *span
	node  *int32
	of    *shape // of what is in the object that the value mostly is
	size  int16
	depth int16
	wide  bool
	slot  slot
	echo  *int32 // to the node of what the value often repeats, where that came before
	way   *way
	seen  uint64 // sets of the ways up to this one
}

// slot tells how the value at a place is read.
type slot uint8

const (
	slotPlain slot = iota
	slotWhole
	slotAny // of a step: an object, or anything
	slotBool
	slotText // of a step: what along does not read
	slotTexts
	slotEnd // of the text
	slotNone
)

// bare tells that what is read there has no node.
func (s slot) bare() bool { return s == slotPlain || s == slotWhole || s == slotBool }

// Bounds of what is remembered. A way is compared from a position in the text, and
// after it a value is begun with: see beyond.
const (
	maxWays     = 1024
	maxWaysFrom = 32
	maxSteps    = 4 * maxWays
	maxStepsOf  = 64
	maxWay      = maxLabel
	maxVain     = 1000
	maxPlaces   = 32
	maxFailed   = 64 // texts not taken, before it is told whether they are most
	maxPause    = 4096
)

// span is where a plain string is, or in start the value of a short whole number or
// boolean.
type span struct{ start, end int32 }

// newSkim gives nil where there are too many places, or some that null does not fit: it
// is read at all of them.
func newSkim(e *Expected) *skim {
	if len(e.Fits) != len(e.Places) || len(e.Places) > maxPlaces || slices.ContainsFunc(e.Fits, func(f Fit) bool { return f&FitNull == 0 }) {
		return nil
	}
	s := &skim{ways: maxWays, steps: maxSteps, vain: maxVain, pause: maxFailed, from: make([]stop, len(e.Places)), slots: make([]slot, len(e.Places)), of: make([]*shape, len(e.Places))}
	none := &shapes{paths: e.Places}
	known := map[Fit]slot{FitPlain: slotPlain, FitText: slotText, FitTexts: slotTexts, FitWhole: slotWhole, FitBool: slotBool}
	for i, f := range e.Fits {
		s.slots[i] = slotAny
		if slot, ok := known[f&^FitNull]; ok {
			s.slots[i] = slot
		}
		if e.above(i) {
			s.slots[i] = slotNone
		}
		s.of[i] = none.fresh()
		s.of[i].place, s.of[i].bars, s.of[i].under = int32(i), ^f, none.fresh()
	}
	s.start.way, s.start.next = &way{stop: &stop{}}, nowhereTo
	return s
}

// nowhereTo stands nowhere, as its head is not its tail.
var nowhereTo = &step{tail: 1, size: 8, way: &way{branch: nowhere}}

// take goes one step from at that is not told by eights, or is not the usual one; to nil
// and -1 where there is none or its value does not fit.
func (s *skim) take(at *step, i int) (*step, int) {
	n := at.next
	if b := n.way.branch; !b.stands(s.text, i) || !b.goesOn(s.text, i) {
		if n = s.other(at, i); n == nil {
			return nil, -1
		}
	}
	return n, n.read(&s.reading, n, i+len(n.way.branch.label))
}

// other gives the step after at whose way stands at i.
func (s *skim) other(at *step, i int) *step {
	for _, w := range at.way.stop.ways {
		if b := w.branch; b.stands(s.text, i) && b.goesOn(s.text, i) {
			return s.after(at, w)
		}
	}
	return nil
}

// after gives the step that w is after at; nil where a place would come twice. One that there is
// no room for is made anew each time, and nothing leads to it.
func (s *skim) after(at *step, w *way) *step {
	if at.seen&w.sets != 0 {
		return nil
	}
	seen := at.seen | w.sets
	for _, n := range w.steps {
		if n.seen == seen {
			at.next = n
			return n
		}
	}
	n := &s.loose[0]
	if n == at {
		n = &s.loose[1]
	}
	if s.steps > 0 && len(w.steps) < maxStepsOf {
		s.steps--
		n = new(step)
		at.next, w.steps = n, append(w.steps, n)
	}
	*n = step{next: nowhereTo, head: 1, size: 8, mid: 1, slot: w.slot, way: w, of: w.of.under, depth: int16(w.depth), seen: seen}
	switch b := w.branch; {
	case w.slot == slotEnd && b.size <= 4:
		n.mid = b.head | b.mask<<32
	case w.slot != slotEnd && b.size >= 8 && b.size <= 24:
		n.head, n.tail, n.size = b.head, b.tail, int16(b.size)
		if n.wide = b.size > 16; n.wide {
			n.mid = b.middle[0]
		}
	}
	n.span, n.node = &s.spans[w.place%maxPlaces], &s.places[w.place]
	n.read = [...]func(*reading, *step, int) int{
		slotPlain: (*reading).plain, slotWhole: (*reading).small, slotAny: (*reading).any, slotBool: (*reading).small,
		slotText: (*reading).quote, slotTexts: (*reading).texts, slotEnd: (*reading).end,
	}[w.slot]
	if w.echo >= 0 && at.seen>>w.echo&1 != 0 {
		n.echo = &s.places[w.echo]
		if n.read = (*reading).again; w.slot == slotText {
			n.read = (*reading).spell
		}
	}
	if w.slot == slotAny && (n.echo != nil || w.of.bars>>Object&1 != 0) {
		n.slot = slotText
	}
	return n
}

// Skim reads the places of the line that data starts with, and gives the line and
// what comes after it as ParseLine does. It takes no line that ParseLine refuses,
// or that has anything unexpected in it; when it does not take one, the line has to be
// parsed. Of a line that was taken, At, PlainAt, WholeAt and BoolAt tell what there is;
// there is no Root, a value has no Key, and objects above places are not told, nor are nulls
// where only a string or a list of strings may be besides.
func (d *Doc) Skim(data []byte) (line, rest []byte, ok bool) {
	there, s := min(len(data), cap(data)-beyond), d.skim
	if s == nil || uint(there-1) >= maxText || data[there-1] != '\n' || d.dense(there) {
		return nil, nil, false
	}
	if s.idle > 0 {
		s.idle--
		return nil, nil, false
	}
	s.tried++
	if !d.skimmed {
		d.nodes, d.skimmed = append(d.nodes[:0], node{form: form(Null)}), true
	}
	s.nodes, s.src, s.text = d.nodes[:1], data[:there], padded{unsafe.Pointer(unsafe.SliceData(data))}
	s.misfit, s.misses, s.strange, s.nulls, s.max = 0, 0, false, 0, maxText
	last, end := s.along(s.text)
	d.nodes = s.nodes
	if end < there && s.misfit&1 == 0 {
		line, rest = cut(data, end)
	}
	if line == nil {
		d.have = 0
		s.fail()
		return nil, nil, false
	}
	d.src, d.placed, d.fits = line, true, true
	d.have = last.seen & (1<<maxPlaces - 1) &^ s.nulls
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

// along goes from step to step to the end of a text, and gives the last one and where
// that is, or -1. The line end that the source ends with is the end of all that it may
// read: none is in a way, and none in a value. Plain strings, short whole numbers and
// what else is short it reads itself: without a call, what it needs stays in registers.
func (s *skim) along(text padded) (at *step, i int) {
	for at = &s.start; ; {
		w := at.next
		from := i + int(w.size)
		differs := (text.eight(i) ^ w.head) | (text.eight(from-8) ^ w.tail)
		if w.wide {
			differs |= text.eight(i+8) ^ w.mid
		}
		if differs != 0 {
			if w.slot == slotEnd && text.four(i)&uint32(w.mid>>32) == uint32(w.mid) {
				return w, i + len(w.way.branch.label)
			}
			if at, i = s.take(at, i); i < 0 || at.slot == slotEnd {
				return at, i
			}
			continue
		}
		at = w
		switch w.slot {
		case slotPlain:
			if end := text.plain(from); text.at(end) == '"' {
				*w.span = span{int32(from), int32(end)}
				i = end
				continue
			}
		case slotWhole:
			if n, size := text.short(from); size > 0 {
				w.span.start = int32(n)
				i = from + size
				continue
			}
		case slotAny:
			if text.four(from) == nullWord {
				i = s.null(w, from)
				continue
			}
			if text.at(from) == '{' {
				*w.node, s.depth = int32(len(s.nodes)), int(w.depth)
				if i = s.free(from, name{}, w.of); i < 0 {
					return nil, -1
				}
				continue
			}
		case slotBool:
			if text.four(from) == trueWord {
				w.span.start = 1
				i = from + 4
				continue
			}
		}
		if i = w.read(&s.reading, w, from); i < 0 {
			return nil, -1
		}
	}
}

// null notes the null at i. All that are told are the first node.
func (p *reading) null(w *step, i int) int {
	*w.node = 0
	n := &p.nodes[0]
	n.start, n.end = int32(i), int32(i+4)
	return i + 4
}

// texts reads an array whose inside begins at i. Of one of plain strings it writes
// no nodes but its own.
func (p *reading) texts(w *step, i int) int {
	text, end, count := p.text, i, int32(0)
	for ; text.at(end) == '"'; end += 2 {
		count++
		end++
		if end = text.plain(end); text.at(end) != '"' || text.at(end+1) != ',' {
			break
		}
	}
	*w.node = int32(len(p.nodes))
	if text.eight(end)<<48 != textsEnd<<48 {
		p.depth = int(w.depth)
		return p.value(i-1, name{}, w.way.of)
	}
	n := p.node()
	n.start, n.end, n.next, n.count = int32(i-1), int32(end+2), int32(len(p.nodes)), -count
	n.keyStart, n.keyEnd, n.form = 0, 0, form(Array)
	return end + 2
}

// expand writes the nodes of the elements that texts left out, after all others.
func (d *Doc) expand(i int32) {
	p := parser{nodes: d.nodes, src: d.src, max: maxText} // they were counted when the text was skimmed
	at := int32(len(p.nodes))
	p.value(int(p.nodes[i].start), 1, key{})
	d.nodes = p.nodes
	n := &d.nodes[i]
	n.keyStart, n.keyEnd, n.next = at, at, int32(len(d.nodes))
}

// small reads true, false, null or a whole number.
func (p *reading) small(w *step, i int) int {
	at := len(p.nodes)
	if i = p.value(i, name{}, w.way.of); i < 0 {
		return i
	}
	switch n := &p.nodes[at]; {
	case n.kind() == Null:
		p.nulls |= 1 << w.way.place
	case n.kind() == Number:
		w.span.start = n.count - 1
	case p.src[n.start] == 't':
		w.span.start = 1
	default:
		w.span.start = 0
	}
	p.nodes = p.nodes[:at]
	return i
}

const (
	textsEnd = '"' | ']'<<8
	nullWord = 'n' | 'u'<<8 | 'l'<<16 | 'l'<<24
	trueWord = 't' | 'r'<<8 | 'u'<<16 | 'e'<<24
)

// end reads nothing.
func (p *reading) end(_ *step, i int) int { return i }

// plain reads a string without backslashes whose inside begins at i.
func (p *reading) plain(w *step, i int) int {
	end, f := p.rest(i)
	if end < 0 || f.is(roundabout) {
		return -1
	}
	*w.span = span{int32(i), int32(end - 1)}
	return end - 1
}

// quote reads a string whose inside begins at i.
func (p *reading) quote(w *step, i int) int {
	*w.node = int32(len(p.nodes))
	return p.quoted(i-1, w.way.of)
}

// spell is quote for a string that often spells an earlier value.
func (p *reading) spell(w *step, i int) int {
	*w.node = int32(len(p.nodes))
	if end := p.spelling(i-1, name{}, *w.echo); end > 0 {
		return end
	}
	return p.quoted(i-1, w.way.of)
}

// any reads a value that may be anything that fits its place.
func (p *reading) any(w *step, i int) int {
	if p.text.four(i) == nullWord {
		return p.null(w, i)
	}
	*w.node = int32(len(p.nodes))
	p.depth = int(w.depth)
	return p.value(i, name{}, w.way.of)
}

// again is any for a value that often repeats an earlier one: what is the same as
// another is that.
func (p *reading) again(w *step, i int) int {
	of := *w.echo
	n := &p.nodes[of]
	size := int(n.end - n.start)
	if n.kind() < Array || i+size > len(p.src) || int(w.depth)+int(n.next-of) >= MaxDepth || !p.text.repeats(i, int(n.start), size) {
		return p.any(w, i)
	}
	*w.node = of
	p.misfit |= w.way.of.bars >> (n.form & 15)
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
	s.shapes, s.places, s.spans = d.shapes, d.places, d.spans
	at, w, from := s.start.way.stop, way{}, 0
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
		w.slot, w.place, w.sets, w.of, w.stop = slot, place, w.sets|1<<place, s.of[place], &s.from[place]
		if w.echo = int(d.shapes.echoes[place]); w.echo >= 0 && (s.slots[w.echo].bare() || slot.bare()) {
			w.echo = -1
		}
		w.depth = 1 + strings.Count(d.shapes.paths[place], ".")
		if !s.add(at, string(d.src[from:int(n.start)+quote]), w) {
			return
		}
		if slot != slotPlain {
			quote = 0
		}
		at, w, from = w.stop, way{}, int(n.end)-quote
	}
	w.slot, w.echo, w.of = slotEnd, -1, &shape{}
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

// add remembers a way after a stop, and tells whether it is known now; there may be no
// room.
func (s *skim) add(at *stop, label string, w way) bool {
	for _, old := range at.ways {
		if old.branch.label == label && old.place == w.place && old.slot == w.slot {
			return true
		}
	}
	if len(label) > maxWay || len(at.ways) == maxWaysFrom || s.ways == 0 {
		return false
	}
	s.ways--
	w.branch = newBranch(label, key{}, nil)
	at.ways = append(at.ways, &w)
	return true
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
