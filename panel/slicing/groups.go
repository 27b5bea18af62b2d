// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package slicing

import (
	"encoding/binary"
	"math/bits"
	"slices"

	"github.com/callvet/callvet/panel/tally"
)

// Bounds on groups, each of which has tables of its own: how many there are, and that slices
// are found together at least once in so many times. What is rare goes to groups of fewer slices:
// that is more to do at a time, but tables that are hardly used are in no cache.
const (
	maxGroups  = 128
	rare       = 1 << 10
	maxCovers  = 1 << 12       // that are remembered
	manyCovers = maxCovers / 4 // so many, and what is found for the first time is not
)

// Group is slices that come together, and what stands for all of them.
type Group[T any] struct {
	IDs   []uint32
	Thing *T
}

// Groups finds what stands for slices, given as Parts.Split does. Call NewGroups.
type Groups[T any] struct {
	low, high memory[T] // by bits of slices, and by a set and bits of its places
	finds     uint64
	by        map[string]*cover[T]
	make      func(ids []uint32) *T
	alone     []*T // scratch of Cover
	// All are the groups of two slices and more.
	All []Group[T]
}

// memory is what was found last: what stands for just these slices, or else their cover, or
// that they were met at all.
type memory[T any] struct {
	things tally.Front[*T]
	covers tally.Front[*cover[T]]
	met    tally.Front[bool]
}

// cover are things each of which stands for others of some slices.
type cover[T any] struct {
	ids    []uint32 // sorted
	things []*T
	found  int // how often
	due    int // when it is to be looked at again
}

// NewGroups makes Groups that know nothing; make gives what stands for slices, by their sorted
// numbers.
func NewGroups[T any](make func(ids []uint32) *T) Groups[T] {
	front := func() memory[T] {
		return memory[T]{tally.NewFront[*T](11), tally.NewFront[*cover[T]](10), tally.NewFront[bool](11)}
	}
	return Groups[T]{low: front(), high: front(), by: map[string]*cover[T]{}, make: make}
}

// Find gives what stands for slices, one or more, and for no others; nil where these are for Cover.
func (g *Groups[T]) Find(places *Set, some uint64) *T {
	g.finds++
	known, key := g.place(places, some)
	return known.things.Get(key)
}

func (g *Groups[T]) place(places *Set, some uint64) (known *memory[T], key uint64) {
	if places == nil {
		return &g.low, some
	}
	return &g.high, uint64(places.Number)<<32 | some
}

// Cover gives things that together stand for slices which Find has nothing for, each for others.
// They are good until the next.
func (g *Groups[T]) Cover(places *Set, some uint64) []*T {
	known, key := g.place(places, some)
	c := known.covers.Get(key)
	if c == nil {
		if len(g.by) >= manyCovers && !known.met.Get(key) { // it may not come again: where tags are many, most do not
			known.met.Put(key, true)
			return g.each(places, some)
		}
		c = g.look(places, some)
		known.covers.Put(key, c)
	}
	if c.found++; c.found >= c.due {
		g.cover(c)
	}
	if len(c.things) == 1 {
		known.things.Put(key, c.things[0])
	}
	return c.things
}

// each gives one thing for each slice.
func (g *Groups[T]) each(places *Set, some uint64) []*T {
	g.alone = g.alone[:0]
	for m := some; m != 0; m &= m - 1 {
		id := [...]uint32{At(places, bits.TrailingZeros64(m))}
		g.alone = append(g.alone, g.make(id[:]))
	}
	return g.alone
}

// look is the cover of slices that were not found of late.
func (g *Groups[T]) look(places *Set, some uint64) *cover[T] {
	var room [64]uint32
	ids := room[:0]
	for m := some; m != 0; m &= m - 1 {
		ids = append(ids, At(places, bits.TrailingZeros64(m)))
	}
	slices.Sort(ids)
	var text [4 * MaxIDs]byte
	key := text[:0]
	for _, id := range ids {
		key = binary.LittleEndian.AppendUint32(key, id)
	}
	c := g.by[string(key)]
	if c == nil {
		if len(g.by) >= maxCovers {
			clear(g.by)
		}
		c = &cover[T]{ids: slices.Clone(ids), due: 1}
		g.by[string(key)] = c
	}
	return c
}

// cover gives slices that are frequent a group of their own, and others the largest groups
// that have none but these.
func (g *Groups[T]) cover(c *cover[T]) {
	if len(c.things) == 1 {
		return
	}
	c.due = 4 * c.found
	all := g.All
	if c.found < 4 { // which may not come again
		all = nil
	}
	if len(c.ids) > 1 && c.found >= 16 && uint64(c.found)*rare >= g.finds && len(g.All) < maxGroups {
		c.things = []*T{g.make(c.ids)}
		g.All = append(g.All, Group[T]{c.ids, c.things[0]})
		return
	}
	left := slices.Clone(c.ids)
	c.things = nil
	for len(left) > 0 {
		best := Group[T]{IDs: left[:1]}
		for _, o := range all {
			if len(o.IDs) > len(best.IDs) && !slices.ContainsFunc(o.IDs, func(id uint32) bool { return !slices.Contains(left, id) }) {
				best = o
			}
		}
		if best.Thing == nil {
			best.Thing = g.make(best.IDs)
		}
		c.things = append(c.things, best.Thing)
		left = slices.DeleteFunc(left, func(id uint32) bool { return slices.Contains(best.IDs, id) })
	}
}
