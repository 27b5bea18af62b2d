// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package value

import "encoding/binary"

// Recent keeps what some texts were found to be, in front of a map: most lines of a file have the same few
// texts, and a look-up here is shorter. A text takes the place of an earlier one with the
// same hash. The zero Recent is empty.
type Recent[T any] struct {
	places [recentPlaces]recent[T]
}

const (
	recentPlaces = 256
	// recentSize is the longest text that is kept.
	recentSize = 39
)

type recent[T any] struct {
	text [recentSize]byte
	size uint8 // plus one; 0: the place is free
	of   T
}

// Get returns the value that was put for a text; false without one.
func (r *Recent[T]) Get(text []byte) (of T, ok bool) {
	x := &r.places[outer(text)]
	if int(x.size) != len(text)+1 || string(x.text[:len(text)]) != string(text) {
		return of, false
	}
	return x.of, true
}

// Put keeps what a text was found to be.
func (r *Recent[T]) Put(text []byte, of T) {
	if len(text) > recentSize {
		return
	}
	x := &r.places[outer(text)]
	x.size, x.of = uint8(len(text))+1, of
	copy(x.text[:], text)
}

// outer is a hash of the length of a text and of up to eight bytes at each end.
func outer(text []byte) uint8 {
	const odd = 0x9E3779B97F4A7C15
	n := len(text)
	h := uint64(n)
	if n >= 8 {
		h ^= binary.LittleEndian.Uint64(text) + binary.LittleEndian.Uint64(text[n-8:])*odd
	} else {
		for i, c := range text {
			h ^= uint64(c) << (8 * i)
		}
	}
	return uint8(h * odd >> 56)
}
