// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package tally

// Slab holds things by small numbers, that stay where they are. The zero value has none.
type Slab[T any] struct{ chunks []*[chunk]T }

// chunk is how many things of a Slab lie side by side.
const chunk = 64

// At is the thing of a number, for which there was Room.
func (s *Slab[T]) At(n uint32) *T { return &s.chunks[n/chunk][n%chunk] }

// Room makes room for a number, and gives its thing.
func (s *Slab[T]) Room(n uint32) *T {
	for int(n/chunk) >= len(s.chunks) {
		s.chunks = append(s.chunks, new([chunk]T))
	}
	return s.At(n)
}
