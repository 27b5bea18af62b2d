// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package slicing

import (
	"math/bits"
	"slices"

	"github.com/callvet/callvet/panel/tally"
)

// Bounds on what Parts takes: sets, those that differ where numbers are high, and the slices
// of each.
const (
	maxGiven  = 128
	maxParted = 32
	MaxIDs    = 32
)

// Parts finds which slices of a task hold the same of its steps: the slices of a task are
// many, the ways to take some of its steps are few. Call NewParts.
type Parts struct {
	// The sets as they were added and the steps that have each; when they are different ones,
	// the slices of each that are of no set before it as well, as bits.
	used  int
	sets  [maxGiven]*Set
	steps [maxGiven]uint64
	own   [maxParted]uint64
	high  bool // some set has no Bits
	// Of sets that have: all slices and all steps, as bits, and the steps of each slice by
	// number, 0 between tasks.
	all, every uint64
	of         [64]uint64
	// Scratch of Split, for up to eight steps: the slices by their steps, and the different
	// steps that were found. The parts of one step are before the middle of the list.
	by    [256]uint64
	found [64]uint8
	list  [2 * middle]Part
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

// Reset begins another task.
func (p *Parts) Reset() {
	if p.high {
		clear(p.of[:])
	}
	p.used, p.all, p.every, p.high = 0, 0, 0, false
}

// Add notes that steps, as bits, have a set; none do where a record has it. ok is
// false when there are too many sets, or slices of this one.
func (p *Parts) Add(set *Set, steps uint64) (ok bool) {
	if p.used >= maxGiven || len(set.IDs) > MaxIDs {
		p.high = true
		return false
	}
	p.sets[p.used], p.steps[p.used] = set, steps
	p.used++
	p.all |= set.Bits
	p.every |= steps
	p.high = p.high || set.Bits == 0
	for _, id := range set.IDs {
		p.of[id%64] |= steps
	}
	return true
}

// Len is how often to Split; ok is false when there are too many sets for that.
func (p *Parts) Len() (n int, ok bool) {
	if !p.high {
		return 1, true
	}
	for k, set := range p.sets[:p.used] {
		steps := p.steps[k]
		if i := slices.Index(p.sets[:n], set); i >= 0 {
			p.steps[i] |= steps
			continue
		}
		if n == maxParted {
			return 0, false
		}
		p.sets[n], p.steps[n], p.own[n] = set, steps, 1<<len(set.IDs)-1
		n++
	}
	p.used = n
	return n, true
}

// Split gives some of the parts, all of them when it was called Len times. The bits are those of the
// slices' numbers; where these may be too high for that they are those of the places in a set,
// which is given then. Call it with 0 first, and so on; the parts are good until the next.
func (p *Parts) Split(i int) (places *Set, parts []Part) {
	if p.high {
		return p.sets[i], p.splitPlaces(i)
	}
	if p.every >= uint64(len(p.by)) {
		return nil, p.splitMany()
	}
	return nil, p.split()
}

// split gives all parts. Those of one step come first: what is done with them differs, and so
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
	list[0] = Part{p.own[i], p.steps[i]}
	for k := i + 1; k < p.used; k++ {
		o := p.sets[k]
		key := uint64(set.Number)<<32 | uint64(o.Number)
		both := p.shared.Get(key)
		if both.a == 0 {
			both = overlapOf(set.IDs, o.IDs)
			p.shared.Put(key, both)
		}
		p.own[k] &^= uint64(both.b)
		list = divide(list, uint64(both.a), p.steps[k])
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
