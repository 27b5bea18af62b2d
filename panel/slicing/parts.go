// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package slicing

import (
	"math/bits"
	"slices"

	"github.com/callvet/callvet/panel/tally"
)

// Bounds on what Parts takes where numbers of slices are high: different sets, and the slices
// of each.
const (
	maxParted = 32
	MaxIDs    = 32
)

// Parts finds which slices of a task hold the same of its steps: the slices of a task are
// many, the ways to take some of its steps are few. Call NewParts.
type Parts struct {
	// The slices as bits, and the steps of each by number, 0 between tasks.
	all uint64
	of  [64]uint64
	// Scratch of split: the slices by their steps, and the different steps that were found. The
	// parts of one step are before the middle of the list.
	by    [256]uint64
	found [64]uint8
	list  [2 * middle]Part
	steps int
	// Where some set has no Bits: the different sets, the steps that have each, and which of its
	// slices, as bits, are of no set before it.
	high bool
	used int
	sets [maxParted]*Set
	with [maxParted]uint64
	own  [maxParted]uint64
	// shared remembers which slices of a set are in another.
	shared tally.Front[overlap]
}

// middle is above the number of parts on either side of it, of which each has a slice of its own.
const middle = 64

// Part is slices, as bits, that hold just these of a task's steps, as bits as well.
type Part struct{ Slices, Steps uint64 }

// overlap is which slices of two sets both have, as bits of the places in either.
type overlap struct{ a, b uint32 }

// NewParts makes Parts for one goroutine.
func NewParts() Parts { return Parts{shared: tally.NewFront[overlap](13)} }

// Take begins another task, of up to 64 steps whose sets these are; others are those of its
// records. It gives how often to Split; ok is false when there are too many sets, or slices of one.
func (p *Parts) Take(steps, others []*Set) (times int, ok bool) {
	all, bit := uint64(0), uint64(1)
	p.high, p.steps = false, len(steps)
	for _, set := range steps {
		if set.Bits == 0 {
			return p.takeHigh(steps, others)
		}
		all |= set.Bits
		for _, id := range set.IDs {
			p.of[id%64] |= bit
		}
		bit <<= 1
	}
	for _, set := range others {
		if set.Bits == 0 {
			return p.takeHigh(steps, others)
		}
		all |= set.Bits
	}
	p.all = all
	return 1, true
}

func (p *Parts) takeHigh(steps, others []*Set) (times int, ok bool) {
	clear(p.of[:])
	p.high, p.used = true, 0
	for i, set := range steps {
		if !p.add(set, 1<<i) {
			return 0, false
		}
	}
	for _, set := range others {
		if !p.add(set, 0) {
			return 0, false
		}
	}
	return p.used, true
}

// add notes that steps, as bits, have a set.
func (p *Parts) add(set *Set, steps uint64) (ok bool) {
	if i := slices.Index(p.sets[:p.used], set); i >= 0 {
		p.with[i] |= steps
		return true
	}
	if p.used == maxParted || len(set.IDs) > MaxIDs {
		return false
	}
	p.sets[p.used], p.with[p.used], p.own[p.used] = set, steps, 1<<len(set.IDs)-1
	p.used++
	return true
}

// Split gives some of the parts, all of them when it was called as often as Take says. The bits are
// those of the slices' numbers; where these may be too high for that they are those of the places
// in a set, which is given then. Call it with 0 first, and so on; the parts are good until the next.
func (p *Parts) Split(i int) (places *Set, parts []Part) {
	switch {
	case p.high:
		return p.sets[i], p.splitPlaces(i)
	case p.steps > 8:
		return nil, p.splitMany()
	}
	return nil, p.split()
}

// split gives all parts of up to eight steps. Those of one step come first: what is done with them differs, and so
// the processor guesses what is next. Where slices are, or their steps, takes no branch either.
func (p *Parts) split() []Part {
	n := uint(0)
	for m := p.all; m != 0; m &= m - 1 {
		id := bits.TrailingZeros64(m) % 64
		steps := p.of[id]
		p.of[id] = 0
		had := &p.by[uint8(steps)]
		p.found[n%64] = uint8(steps)
		if *had == 0 {
			n++
		}
		*had |= m & -m
	}
	from, to := uint(middle), uint(middle)
	for _, steps := range p.found[:n] {
		at, single := to, uint(0)
		if steps&(steps-1) == 0 {
			single = 1
		}
		from -= single
		if single != 0 {
			at = from
		}
		to += 1 - single
		e, had := &p.list[at%(2*middle)], &p.by[steps]
		e.Slices, e.Steps = *had, uint64(steps)
		*had = 0
	}
	return p.list[from:to]
}

// splitMany is split for any steps.
func (p *Parts) splitMany() []Part {
	list := p.list[:0]
	for m := p.all; m != 0; m &= m - 1 {
		steps := &p.of[bits.TrailingZeros64(m)]
		i := slices.IndexFunc(list, func(e Part) bool { return e.Steps == *steps })
		if i < 0 {
			i = len(list)
			list = append(list, Part{Steps: *steps})
		}
		list[i].Slices |= m & -m
		*steps = 0
	}
	return list
}

func (p *Parts) splitPlaces(i int) []Part {
	set := p.sets[i]
	if p.own[i] == 0 {
		return nil
	}
	list := p.list[:1]
	list[0] = Part{p.own[i], p.with[i]}
	for k := i + 1; k < p.used; k++ {
		o := p.sets[k]
		key := uint64(set.Number)<<32 | uint64(o.Number)
		both := p.shared.Get(key)
		if both.a == 0 {
			both = overlapOf(set.IDs, o.IDs)
			p.shared.Put(key, both)
		}
		p.own[k] &^= uint64(both.b)
		list = divide(list, uint64(both.a), p.with[k])
	}
	return list
}

// divide adds steps to those slices of a list of parts that have them.
func divide(list []Part, have, steps uint64) []Part {
	for j := range list {
		e := &list[j]
		in := e.Slices & have
		if in == e.Slices {
			e.Steps |= steps
		} else if in != 0 {
			e.Slices &^= in
			list = append(list, Part{in, e.Steps | steps})
		}
	}
	return list
}

// At is the slice of a bit that Split gave with these places.
func At(places *Set, bit int) uint32 {
	if places == nil {
		return uint32(bit)
	}
	return places.IDs[bit]
}

func overlapOf(a, b []uint32) (both overlap) {
	for i, x := range a {
		for k, y := range b {
			if x == y {
				both.a, both.b = both.a|1<<i, both.b|1<<k
			}
		}
	}
	return both
}
