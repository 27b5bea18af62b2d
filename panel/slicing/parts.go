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
	sets  [maxParted]*Set
	steps [maxParted]uint64
	own   [maxParted]uint32
	list  [MaxIDs]Part // scratch of Split
	// shared remembers which slices of a set are in another.
	shared tally.Front[overlap]
}

// Part is slices of a set, as bits of their places, that hold just these of a task's steps, as
// bits as well.
type Part struct {
	Slices uint32
	Steps  uint64
}

// overlap is which slices of two sets both have, as bits of the places in either.
type overlap struct{ a, b uint32 }

// NewParts makes Parts for one goroutine.
func NewParts() Parts { return Parts{shared: tally.NewFront[overlap](13)} }

// Reset begins another task.
func (p *Parts) Reset() { p.used = 0 }

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
	p.sets[p.used], p.steps[p.used], p.own[p.used] = set, steps, uint32(1<<len(set.IDs)-1)
	p.used++
	return true
}

// Len is how many different sets there are.
func (p *Parts) Len() int { return p.used }

// Split gives a set and the parts of those of its slices that are of no set before it. The
// sets are to be split one after the other, each once; the parts are good until the next.
func (p *Parts) Split(i int) (*Set, []Part) {
	set := p.sets[i]
	if p.own[i] == 0 {
		return set, nil
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
		p.own[k] &^= both.b
		for j := range list {
			e := &list[j]
			in := e.Slices & both.a
			if in == e.Slices {
				e.Steps |= p.steps[k]
			} else if in != 0 {
				e.Slices &^= in
				list = append(list, Part{in, e.Steps | p.steps[k]})
			}
		}
	}
	return set, list
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
