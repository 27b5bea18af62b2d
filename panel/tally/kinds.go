// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package tally

// Kinds gives numbers to what tasks are, by keys that tell kinds apart, from 1: tasks are
// many, and the ways to be one are few. Number 0 is that of T's zero value. Call Reset
// before all else.
type Kinds[T any] struct {
	all  []T
	by   map[uint64]uint32 // by key
	last Front[uint32]     // what was found last
	rare int               // what came of kinds that are not counted
}

// maxCounted is how many kinds are counted: the first ones, which are the frequent ones.
// When maxRare others came all are to start anew.
const (
	maxCounted = 1 << 11
	maxRare    = 1 << 16
)

// loose is the number of what was given to Keep last when there are as many kinds as are
// counted: to keep what hardly comes again would cost more than it saves.
const loose = maxCounted

// Reset forgets all kinds. No Counts may have any.
func (k *Kinds[T]) Reset() {
	var zero T
	*k = Kinds[T]{all: []T{zero}, by: map[uint64]uint32{}, last: NewFront[uint32](12)}
}

// Old tells that it is time to drain all Counts and to Reset.
func (k *Kinds[T]) Old() bool { return k.rare >= maxRare }

// At is the kind of a number.
func (k *Kinds[T]) At(n uint32) *T { return &k.all[n] }

// Recent is Known of what was found of late; 0 elsewhere.
func (k *Kinds[T]) Recent(key uint64) uint32 { return k.last.Get(key) }

// Known is the number of what was kept for a key; 0 when nothing was.
func (k *Kinds[T]) Known(key uint64) uint32 {
	if n := k.Recent(key); n != 0 {
		return n
	}
	n := k.by[key]
	if n != 0 {
		k.last.Put(key, n)
	}
	return n
}

// Keep gives a number to a kind, of whose key nothing is kept. Where there are as many kinds as
// are counted, it is not Kept: the number is good until the next Keep only.
func (k *Kinds[T]) Keep(key uint64, x *T) uint32 {
	n := uint32(len(k.all))
	if n >= loose {
		k.all = append(k.all[:loose], *x)
		return loose
	}
	k.all = append(k.all, *x)
	k.by[key] = n
	k.last.Put(key, n)
	return n
}

// Kept tells that a number stays that of its kind.
func (k *Kinds[T]) Kept(n uint32) bool { return n < loose }

// Count makes place for a kind that Counts.Add had none for, and counts it; where it does
// not, the caller has to add it itself.
func (k *Kinds[T]) Count(c *Counts, n uint32) (counted bool) {
	if n >= maxCounted {
		k.rare++
		return false
	}
	c.grow(n)
	return c.Add(n)
}
