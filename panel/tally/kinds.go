// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package tally

import "maps"

// Kinds gives numbers to what tasks are, from 1: tasks are many, and the ways to be
// one are few. Number 0 is that of T's zero value. Call Reset before all else.
type Kinds[T comparable] struct {
	all    []T
	by     map[T]uint32
	byPair map[uint64]uint32
	// What was found last, by keys of the caller and by pairs.
	keys, pairs Front[uint32]
	rare        int // what came of kinds that are not counted
}

// maxKinds is how many kinds are known at once, and maxCounted how many are counted: the
// first ones, which are the frequent ones. When maxRare others came all are to start anew.
const (
	maxKinds   = 1 << 13
	maxCounted = maxKinds / 4
	maxRare    = 1 << 16
)

// loose is the number of what Join made last when there are as many kinds as are counted:
// to keep what hardly comes again would cost more than it saves.
const loose = maxCounted

// Reset forgets all kinds. No Counts may have any.
func (k *Kinds[T]) Reset() {
	var zero T
	*k = Kinds[T]{all: []T{zero}, by: map[T]uint32{zero: 0}, byPair: map[uint64]uint32{}}
	k.forget()
}

// forget forgets what was found last.
func (k *Kinds[T]) forget() { k.keys, k.pairs = NewFront[uint32](12), NewFront[uint32](12) }

// Trim forgets kinds that are not counted when there are many; the numbers of these must
// not be in use. old tells that it is time to drain all Counts and to Reset.
func (k *Kinds[T]) Trim() (old bool) {
	if len(k.all) > maxKinds {
		beyond := func(n uint32) bool { return n >= maxCounted }
		k.all = k.all[:maxCounted]
		maps.DeleteFunc(k.by, func(_ T, n uint32) bool { return beyond(n) })
		maps.DeleteFunc(k.byPair, func(key uint64, n uint32) bool { return beyond(n) || beyond(uint32(key>>32)) || beyond(uint32(key)) })
		k.forget()
	}
	return k.rare >= maxRare
}

// At is the kind of a number.
func (k *Kinds[T]) At(n uint32) *T { return &k.all[n] }

// Number is that of a kind.
func (k *Kinds[T]) Number(x *T) uint32 {
	n, ok := k.by[*x]
	if !ok {
		k.full()
		n = uint32(len(k.all))
		k.all = append(k.all, *x)
		k.by[*x] = n
	}
	return n
}

// full tells that there are as many kinds as are counted; then there is place for loose.
func (k *Kinds[T]) full() bool {
	if len(k.all) == loose {
		k.all = append(k.all, k.all[0])
	}
	return len(k.all) > loose
}

// Known is the number that was kept for a key; 0 when that is forgotten.
func (k *Kinds[T]) Known(key uint64) uint32 { return k.keys.Get(key) }

// Keep is the number of a kind, which it keeps for a key.
func (k *Kinds[T]) Keep(key uint64, x *T) uint32 {
	n := k.Number(x)
	k.keys.Put(key, n)
	return n
}

// Both is the number that Join gave for two of them; 0 when that is forgotten.
func (k *Kinds[T]) Both(a, b uint32) uint32 { return k.pairs.Get(uint64(a)<<32 | uint64(b)) }

// Join is the number of two kinds together, neither of them 0; add makes of the first what
// it is with the second. The number may be good until the next Join only, which may be with it.
func (k *Kinds[T]) Join(a, b uint32, add func(a, b *T)) uint32 {
	key := uint64(a)<<32 | uint64(b)
	n, ok := k.byPair[key]
	if !ok && k.full() {
		if a != loose {
			k.all[loose] = k.all[a]
		}
		add(&k.all[loose], &k.all[b])
		return loose
	}
	if !ok {
		x := k.all[a]
		add(&x, &k.all[b])
		n = k.Number(&x)
		k.byPair[key] = n
	}
	k.pairs.Put(key, n)
	return n
}

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
