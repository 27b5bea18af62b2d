// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package slicing

import (
	"encoding/binary"
	"math/bits"
	"slices"

	"github.com/callvet/callvet/panel/tally"
)

// maxGroups bounds the groups, each of which has tables of its own.
const maxGroups = 128

// Group is slices that come together, and what stands for all of them.
type Group[T any] struct {
	IDs   []uint32
	Thing *T
}

// Groups finds what stands for slices, given as Parts.Split does. Call NewGroups.
type Groups[T any] struct {
	// What was found last: by bits of slices, and by a set and bits of its places.
	low, high tally.Front[*T]
	by        map[string]*T
	// All are the groups of two slices and more.
	All  []Group[T]
	ids  []uint32 // scratch of Find
	none *T       // stands for nothing where that was found
}

// NewGroups makes Groups that know nothing.
func NewGroups[T any]() Groups[T] {
	return Groups[T]{low: tally.NewFront[*T](11), high: tally.NewFront[*T](12), by: map[string]*T{}, none: new(T)}
}

// Find gives what stands for slices; of those that are new it is made of their sorted numbers.
// It is nil for several slices when there are too many groups already.
func (g *Groups[T]) Find(places *Set, some uint64, make func(ids []uint32) *T) *T {
	known, key := &g.low, some
	if places != nil {
		known, key = &g.high, uint64(places.Number)<<32|some
	}
	thing := known.Get(key)
	if thing == nil {
		thing = g.look(places, some, make)
		known.Put(key, thing)
	}
	if thing == g.none {
		return nil
	}
	return thing
}

// look is Find of slices that were not found of late; none where it gives nil.
func (g *Groups[T]) look(places *Set, some uint64, make func(ids []uint32) *T) *T {
	g.ids = g.ids[:0]
	for m := some; m != 0; m &= m - 1 {
		g.ids = append(g.ids, At(places, bits.TrailingZeros64(m)))
	}
	slices.Sort(g.ids)
	if thing := g.find(g.ids, make); thing != nil {
		return thing
	}
	return g.none
}

func (g *Groups[T]) find(ids []uint32, make func(ids []uint32) *T) *T {
	if len(ids) == 1 {
		return make(ids)
	}
	var room [4 * MaxIDs]byte
	key := room[:0]
	for _, id := range ids {
		key = binary.LittleEndian.AppendUint32(key, id)
	}
	thing := g.by[string(key)]
	if thing == nil && len(g.All) < maxGroups {
		ids = slices.Clone(ids)
		thing = make(ids)
		g.by[string(key)] = thing
		g.All = append(g.All, Group[T]{ids, thing})
	}
	return thing
}
