// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package tally

import "sync"

// Box holds things in the order in which they come, and text that goes with them. It is
// filled by one, and then handed over as it is to another who needs some of its runs for
// longer: nothing is copied, and what is needed at the same time lies side by side.
type Box[T any] struct {
	Things []T
	Text   []byte
	held   int // as often as it is needed
	// What it was made with: where it was used for no more it has that again.
	things []T
	text   []byte
}

// A new Box has room for so many things and bytes of text; one that has grown beyond so much
// is not used again.
const (
	boxful     = 64
	boxText    = 256
	maxBoxful  = 256 * boxful
	maxBoxText = 64 * boxText
)

// Add adds a thing, which may be any that the Box had before, and gives it.
func (b *Box[T]) Add() *T {
	n := len(b.Things)
	if n == cap(b.Things) {
		b.grow()
	}
	b.Things = b.Things[:n+1]
	return &b.Things[n]
}

func (b *Box[T]) grow() {
	var zero T
	b.Things = append(b.Things, zero)
}

// Roomy tells that who keeps the Box for one of so many runs in it keeps much more memory than
// the run needs: one that shares a Box with a very long one should have a copy.
func (b *Box[T]) Roomy(runs int) bool {
	return cap(b.Things) > boxful*max(2, runs/2) || cap(b.Text) > boxText*max(8, 2*runs)
}

// Hold tells that one more run is needed, until the Box is given up for it.
func (b *Box[T]) Hold() { b.held++ }

// Boxes are empty ones that can be used again. The zero value has none. Next may be called
// by several at once, and beside GiveUp.
type Boxes[T any] struct {
	mu    sync.Mutex
	empty []*Box[T]
}

// GiveUp tells that one that held a Box needs it no more. It is empty after the last one.
func (s *Boxes[T]) GiveUp(b *Box[T]) {
	if b.held--; b.held == 0 && cap(b.Things) <= maxBoxful && cap(b.Text) <= maxBoxText {
		s.add(b)
	}
}

func (s *Boxes[T]) add(b *Box[T]) {
	if len(b.Things) <= cap(b.things) {
		b.Things = b.things
	}
	if len(b.Text) <= cap(b.text) {
		b.Text = b.text
	}
	b.Things, b.Text = b.Things[:0], b.Text[:0]
	s.mu.Lock()
	defer s.mu.Unlock()
	s.empty = append(s.empty, b)
}

// Next gives an empty Box, the one that was in use last: it is in the processor's cache.
func (s *Boxes[T]) Next() *Box[T] {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.empty) == 0 {
		s.grow()
	}
	n := len(s.empty) - 1
	b := s.empty[n]
	s.empty = s.empty[:n]
	return b
}

// grow makes some at once, so that they lie side by side.
func (s *Boxes[T]) grow() {
	const some = 16
	boxes, things, text := make([]Box[T], some), make([]T, some*boxful), make([]byte, some*boxText)
	for i := range boxes {
		b := &boxes[i]
		b.things, b.text = things[i*boxful:i*boxful:(i+1)*boxful], text[i*boxText:i*boxText:(i+1)*boxText]
		b.Things, b.Text = b.things, b.text
		s.empty = append(s.empty, b)
	}
}
