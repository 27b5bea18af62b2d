// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package slicing

import "github.com/callvet/callvet/panel/tally"

// Bounds on what Parts takes: different sets, and the slices of each.
const (
	maxParted = 32
	MaxIDs    = 32
)

// Parts finds which slices of a task hold the same of its steps: the slices of a task are
// many, the ways to take some of its steps are few. Call NewParts.
type Parts struct {
	// The different sets, the steps that have each, and which of its slices, as bits, are
	// of no set before it.
	used  int
	high  bool // some set has no Bits
	sets  [maxParted]*Set
	steps [maxParted]uint64
	own   [maxParted]uint64
	list  [MaxIDs]Part // scratch of Split
	// shared remembers which slices of a set are in another.
	shared tally.Front[overlap]
}

// Part is slices, as bits, that hold just these of a task's steps, as bits as well.
type Part struct{ Slices, Steps uint64 }

// overlap is which slices of two sets both have, as bits of the places in either.
type overlap struct{ a, b uint32 }

// NewParts makes Parts for one goroutine.
func NewParts() Parts { return Parts{shared: tally.NewFront[overlap](13)} }

// Reset begins another task.
func (p *Parts) Reset() { p.used, p.high = 0, false }

// Add notes that steps, as bits, have a set; none do where a record has it. ok is
// false when there are too many sets, or slices of this one.
func (p *Parts) Add(set *Set, steps uint64) (ok bool) {
	for i, o := range p.sets[:p.used] {
		if o == set {
			p.steps[i] |= steps
			return true
		}
	}
	if p.used == maxParted || len(set.IDs) > MaxIDs {
		return false
	}
	p.sets[p.used], p.steps[p.used], p.own[p.used] = set, steps, set.Bits
	p.high = p.high || set.Bits == 0
	p.used++
	return true
}

// Len is how many different sets there are.
func (p *Parts) Len() int { return p.used }

// Split gives the parts of those slices of a set that are of no set before it. The bits are
// those of the slices' numbers; where these may be too high for that they are those of the
// places in the set, which is given then. The sets are to be split one after the other, each
// once; the parts are good until the next.
func (p *Parts) Split(i int) (places *Set, parts []Part) {
	if p.high {
		return p.sets[i], p.splitPlaces(i)
	}
	own := p.own[i]
	if own == 0 {
		return nil, nil
	}
	list := p.list[:1]
	list[0] = Part{own, p.steps[i]}
	for k := i + 1; k < p.used; k++ {
		both := p.sets[k].Bits & own
		if both == 0 {
			continue
		}
		p.own[k] &^= both
		list = divide(list, both, p.steps[k])
	}
	return nil, list
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

func (p *Parts) splitPlaces(i int) []Part {
	set := p.sets[i]
	if i == 0 {
		for k, o := range p.sets[:p.used] {
			p.own[k] = 1<<len(o.IDs) - 1
		}
	}
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
