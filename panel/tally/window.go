// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package tally

import "math/bits"

// Window knows things by their hash: those that are open, and how long each has been
// silent, and those that were closed of late. It gives them numbers, from 1 and used again, under
// which their owner keeps what else is to be known of them. The zero value has none, and
// takes none: call NewWindow.
type Window struct {
	doors      []door
	places     uint64 // so many of the doors remember, the first ones
	links      []link // by number
	free       []uint32
	old, young uint32 // the longest silent, and the least; 0: none
	open       int
}

// door is a place in two tables, of which a hash is nearly always looked for in both: that of
// what is open, with linear probing, and that of what was closed, where a newer one takes the
// place. It is small, as each look at one is at memory that is far.
type door struct {
	closed uint64 // hash; 0: none
	tag    uint32 // of the hash of what is open
	number uint32 // 0: nothing is
}

type link struct {
	hash       uint64
	prev, next uint32 // by silence
}

// NewWindow makes a Window in which up to 2n things may be open, one or more. It remembers
// up to 4n that were closed, or 1,024.
func NewWindow(n int) Window {
	places := max(4*n, 1024)
	w := Window{doors: make([]door, 1<<bits.Len(uint(places-1))), places: uint64(places), links: make([]link, 1)}
	for i := 0; i < len(w.doors); i += 256 { // in each page: those that are new and read first are slow
		w.doors[i].number = 0
	}
	return w
}

func (w *Window) mask() uint64 { return uint64(len(w.doors) - 1) }

// tagOf is what a door tells of a hash, whose low bits may have chosen the Window. It is looked for
// first at its home, the door of the tag's low bits.
func tagOf(h uint64) uint32 { return uint32(h >> 8) }

// place is the door at which the hash is remembered: its home, where all doors remember.
func (w *Window) place(h uint64) *uint64 {
	i := h >> 8
	if w.places == uint64(len(w.doors)) {
		i &= w.mask()
	} else {
		i %= w.places
	}
	return &w.doors[i].closed
}

// Look reads where a hash is looked for, so that it is near when it is needed.
func (w *Window) Look(h uint64) uint64 { return *w.place(h) }

// Len is how many are open.
func (w *Window) Len() int { return w.open }

// Get is the number of an open thing; 0 when there is none of that hash.
func (w *Window) Get(h uint64) uint32 {
	doors, tag, mask := w.doors, tagOf(h), w.mask()
	for i := uint64(tag) & mask; ; i = (i + 1) & mask {
		d := &doors[i]
		if d.number == 0 || d.tag == tag && w.links[d.number].hash == h {
			return d.number
		}
	}
}

// Number gives a number to a thing, which is not open yet.
func (w *Window) Number(h uint64) uint32 {
	n := uint32(len(w.links))
	if last := len(w.free) - 1; last >= 0 {
		n, w.free = w.free[last], w.free[:last]
	} else {
		w.links = append(w.links, link{})
	}
	w.links[n] = link{hash: h}
	return n
}

// Free takes back the number of a thing that is not open.
func (w *Window) Free(n uint32) { w.free = append(w.free, n) }

// Hash is that of a thing, by its number.
func (w *Window) Hash(n uint32) uint64 { return w.links[n].hash }

// Oldest is the open thing that is silent for the longest; 0 for none.
func (w *Window) Oldest() uint32 { return w.old }

// Next is the open thing that was silent next after another one; 0 for none.
func (w *Window) Next(n uint32) uint32 { return w.links[n].next }

// Open opens a thing that has a number. It has been heard last.
func (w *Window) Open(n uint32) {
	doors, tag := w.doors, tagOf(w.links[n].hash)
	mask := uint64(len(doors) - 1)
	i := uint64(tag) & mask
	for doors[i].number != 0 {
		i = (i + 1) & mask
	}
	doors[i].tag, doors[i].number = tag, n
	w.open++
	w.push(n)
}

// Hear notes that an open thing has been heard.
func (w *Window) Hear(n uint32) {
	if w.young != n {
		w.unlink(n)
		w.push(n)
	}
}

// Close closes an open thing, and remembers that. It keeps its number.
func (w *Window) Close(n uint32) {
	w.unlink(n)
	w.open--
	h, doors := w.links[n].hash, w.doors
	mask := uint64(len(doors) - 1)
	i := uint64(tagOf(h)) & mask
	for doors[i].number != n {
		i = (i + 1) & mask
	}
	// Those after it that it was in the way of move up.
	for j := (i + 1) & mask; doors[j].number != 0; j = (j + 1) & mask {
		if home := uint64(doors[j].tag) & mask; (j-home)&mask >= (j-i)&mask {
			doors[i].tag, doors[i].number = doors[j].tag, doors[j].number
			i = j
		}
	}
	doors[i].number = 0
	w.Note(h)
}

// Empty forgets all that is open, and all numbers.
func (w *Window) Empty() {
	for i := range w.doors {
		w.doors[i].number = 0
	}
	w.links, w.free, w.old, w.young, w.open = w.links[:1], nil, 0, 0, 0
}

// Closed tells whether a thing of that hash is remembered as closed.
func (w *Window) Closed(h uint64) bool { return *w.place(h) == h }

// Note remembers a hash as that of a closed thing; 0 is none.
func (w *Window) Note(h uint64) {
	if h != 0 {
		*w.place(h) = h
	}
}

// Noted gives the hashes that are remembered.
func (w *Window) Noted(yield func(h uint64) bool) {
	for i := range w.doors[:w.places] {
		if h := w.doors[i].closed; h != 0 && !yield(h) {
			return
		}
	}
}

func (w *Window) push(n uint32) {
	l := &w.links[n]
	l.prev, l.next = w.young, 0
	if w.young != 0 {
		w.links[w.young].next = n
	} else {
		w.old = n
	}
	w.young = n
}

func (w *Window) unlink(n uint32) {
	l := &w.links[n]
	if l.prev != 0 {
		w.links[l.prev].next = l.next
	} else {
		w.old = l.next
	}
	if l.next != 0 {
		w.links[l.next].prev = l.prev
	} else {
		w.young = l.prev
	}
}
