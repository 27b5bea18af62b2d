// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package tally

// Shelf keeps runs of things in the order in which they come, side by side in boxes: those
// that are given up in about that order lie in few boxes, each of which is used again when it
// has none. The zero value is empty.
type Shelf[T any] struct {
	box   *Box[T] // the one being filled
	empty []*Box[T]
}

// Box holds some of the runs of a Shelf.
type Box[T any] struct {
	things []T
	runs   int // that are not given up
}

// boxful is how many things a Box holds.
const boxful = 512

// MaxRun is how many things a run may have.
const MaxRun = boxful / 8

// Put keeps a copy of a run of one thing to MaxRun, until its Box is told that it is given
// up. There is no room behind it: what is appended to it makes another copy.
func (s *Shelf[T]) Put(run []T) ([]T, *Box[T]) {
	b := s.box
	if b == nil || len(run) > cap(b.things)-len(b.things) {
		if b != nil && b.runs == 0 {
			s.empty = append(s.empty, b)
		}
		b = s.next()
	}
	from := len(b.things)
	to := from + len(run)
	b.things = b.things[:to]
	b.runs++
	kept := b.things[from:to:to]
	copy(kept, run)
	return kept, b
}

// next takes an empty Box.
func (s *Shelf[T]) next() *Box[T] {
	if n := len(s.empty); n > 0 {
		s.box, s.empty = s.empty[n-1], s.empty[:n-1]
		s.box.things = s.box.things[:0]
	} else {
		s.box = &Box[T]{things: make([]T, 0, boxful)}
	}
	return s.box
}

// GiveUp gives up a run of a Box.
func (s *Shelf[T]) GiveUp(b *Box[T]) {
	if b.runs--; b.runs == 0 && b != s.box {
		s.empty = append(s.empty, b)
	}
}
