// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package tally

// Recent remembers hashes that were noted of late, each in the place that it gives: a
// newer one of the same place takes it. Every hash but 0 can be noted.
type Recent struct{ places []uint64 }

// NewRecent makes a Recent with so many places, one or more.
func NewRecent(places int) Recent { return Recent{make([]uint64, places)} }

// At is what is remembered where the hash has its place; 0: nothing.
func (r *Recent) At(h uint64) uint64 { return r.places[h>>8%uint64(len(r.places))] }

// Note remembers a hash; 0 is none.
func (r *Recent) Note(h uint64) {
	if h != 0 {
		r.places[h>>8%uint64(len(r.places))] = h
	}
}

// All are the places with what they hold, 0 where nothing was noted.
func (r *Recent) All() []uint64 { return r.places }
