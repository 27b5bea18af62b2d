// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package tally

// Front remembers what was found last for keys: one place a key, which the next key
// of that place takes. The zero value remembers nothing.
type Front[T comparable] struct {
	slots []found[T]
	shift uint8
}

type found[T comparable] struct {
	key   uint64
	thing T
}

// NewFront makes a Front with 2^bits places, which are made with the first Put.
func NewFront[T comparable](bits uint8) Front[T] { return Front[T]{shift: 64 - bits} }

func (f *Front[T]) place(key uint64) uint64 { return key * 0x9E3779B97F4A7C15 >> (f.shift & 63) }

// Get gives what was put for a key; the zero value when that is not known any more.
func (f *Front[T]) Get(key uint64) (thing T) {
	if i := f.place(key); i < uint64(len(f.slots)) {
		if at := &f.slots[i]; at.key == key {
			thing = at.thing
		}
	}
	return thing
}

// Put remembers a thing, which is not the zero value.
func (f *Front[T]) Put(key uint64, thing T) {
	if f.slots == nil {
		f.slots = make([]found[T], 1<<(64-f.shift))
	}
	f.slots[f.place(key)] = found[T]{key, thing}
}

// Counts are how often what has a number came, by the number.
type Counts []uint32

// Add counts one, where there is a place for it.
func (c Counts) Add(number uint32) (counted bool) {
	if int(number) < len(c) {
		c[number]++
		return true
	}
	return false
}

func (c *Counts) grow(number uint32) {
	size := 8
	for size <= int(number) {
		size *= 2
	}
	grown := make([]uint32, size)
	copy(grown, *c)
	*c = grown
}

// Drain gives all numbers that came with their counts, and forgets them.
func (c Counts) Drain(to func(number uint32, times uint64)) {
	for i, n := range c {
		if n > 0 {
			to(uint32(i), uint64(n))
			c[i] = 0
		}
	}
}
