// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package tally

// Kinds gives numbers to what tasks are, from 1: tasks are many, and the ways to be
// one are few. Number 0 is that of T's zero value. Call Reset before all else.
type Kinds[T comparable] struct {
	all  []T
	by   map[T]uint32
	keys Front[uint32] // what was found last, by keys of the caller
	rare int           // what came of kinds that are not counted
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
	*k = Kinds[T]{all: []T{zero}, by: map[T]uint32{zero: 0}, keys: NewFront[uint32](12)}
}

// Old tells that it is time to drain all Counts and to Reset.
func (k *Kinds[T]) Old() bool { return k.rare >= maxRare }

// At is the kind of a number.
func (k *Kinds[T]) At(n uint32) *T { return &k.all[n] }

// Known is the number that was kept for a key; 0 when that is forgotten.
func (k *Kinds[T]) Known(key uint64) uint32 { return k.keys.Get(key) }

// Keep is the number of a kind, which it keeps for a key. Where there are as many kinds as
// are counted, a new one is not Kept: its number is good until the next Keep only.
func (k *Kinds[T]) Keep(key uint64, x *T) uint32 {
	n, ok := k.by[*x]
	if !ok {
		n = uint32(len(k.all))
		if n >= loose {
			k.all = append(k.all[:loose], *x)
			return loose
		}
		k.all = append(k.all, *x)
		k.by[*x] = n
	}
	k.keys.Put(key, n)
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
