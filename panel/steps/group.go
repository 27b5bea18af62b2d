// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package steps

import "slices"

// group is slices that come together: what tasks add to all of them alike is kept
// here once, until ungroup.
type group struct {
	ids  []uint32
	sums *sliceSums
}

// maxGroups bounds the groups, each of which has tables of its own; groupSlots is
// where they are looked for.
const (
	maxGroups  = 128
	groupSlots = 4 * maxGroups
)

// together gives the sums that stand for slices; nil when there are too many
// groups already.
func (s *Sums) together(ids []uint32) *sliceSums {
	if len(ids) == 1 {
		return s.slice(ids[0])
	}
	h := uint32(0)
	for _, id := range ids {
		h = (h ^ id) * 0x9E3779B1
		h ^= h >> 15
	}
	if s.groups == nil {
		s.groups = make([]group, groupSlots)
	}
	i := h % groupSlots
	for ; s.groups[i].sums != nil; i = (i + 1) % groupSlots {
		if slices.Equal(s.groups[i].ids, ids) {
			return s.groups[i].sums
		}
	}
	if s.grouped >= maxGroups {
		return nil
	}
	s.grouped++
	g := group{slices.Clone(ids), &sliceSums{}}
	for _, id := range ids {
		g.sums.waits = g.sums.waits || s.slice(id).waits
	}
	s.groups[i] = g
	return g.sums
}

// ungroup gives the slices what their groups have.
func (s *Sums) ungroup() {
	for _, g := range s.groups {
		for _, id := range g.ids {
			s.slice(id).merge(g.sums)
		}
	}
	s.groups, s.grouped = nil, 0
}
