// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package steps

import "github.com/callvet/callvet/panel/tally"

// group is slices that come together: what tasks add to all of them alike is kept
// here once, until ungroup. They are found one slice after the other: a group is
// that of all its slices but the last, and the last.
type group struct {
	number uint32 // from 1; 0: of no slice
	id     uint32 // the last slice
	but    *group // the others; of number 0 for a single slice
	sums   *sliceSums
}

// groups are those of one worker.
type groups struct {
	none    group
	crowd   group // stands for those above the limit, with a number that none has
	known   []*group
	by      map[uint64]*group
	last    tally.Front[*group]
	summing []*group // those of several slices that have sums
}

// maxGroups bounds the groups that have tables of their own, and maxKnown all.
const (
	maxGroups = 128
	maxKnown  = 1 << 12
)

// with gives the group with one more slice.
func (s *groups) with(g *group, id uint32) *group {
	key := uint64(g.number)<<32 | uint64(id) + 1
	if to := s.last.Get(key); to != nil {
		return to
	}
	to := s.by[key]
	switch {
	case to != nil:
	case g == &s.crowd || len(s.known) >= maxKnown:
		to = &s.crowd
	default:
		if s.by == nil {
			s.by = map[uint64]*group{}
		}
		to = &group{number: uint32(len(s.known) + 1), id: id, but: g}
		s.known = append(s.known, to)
		s.by[key] = to
	}
	s.last.Put(key, to)
	return to
}

// together gives the sums that stand for the slices of a group; nil when there
// are too many groups already.
func (s *Sums) together(g *group) *sliceSums {
	if g.sums != nil {
		return g.sums
	}
	switch {
	case g.but == &s.groups.none:
		g.sums = s.slice(g.id)
	case g != &s.groups.crowd && len(s.groups.summing) < maxGroups:
		s.groups.summing = append(s.groups.summing, g)
		g.sums = &sliceSums{}
		for o := g; o.number > 0; o = o.but {
			g.sums.waits = g.sums.waits || s.slice(o.id).waits
		}
	}
	return g.sums
}

// ungroup gives the slices what their groups have, and enters all that was counted.
func (s *Sums) ungroup() {
	s.enter()
	for _, g := range s.groups.summing {
		for o := g; o.number > 0; o = o.but {
			s.slice(o.id).merge(g.sums)
		}
	}
	s.groups = groups{crowd: group{number: 1<<32 - 1}}
}

// enter adds what was counted by its kind to the sums.
func (s *Sums) enter() {
	for _, x := range s.slices {
		if x != nil {
			x.enter(&s.kinds)
		}
	}
	for _, g := range s.groups.summing {
		g.sums.enter(&s.kinds)
	}
	s.kinds.reset()
}
