// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package steps

import (
	"encoding/binary"
	"math/bits"
	"slices"

	"github.com/callvet/callvet/panel/slicing"
	"github.com/callvet/callvet/panel/tally"
)

// group is slices that come together: what tasks add to all of them alike is kept
// here once, until ungroup.
type group struct {
	ids  []uint32
	sums *sliceSums
}

// groups are those of one worker.
type groups struct {
	last tally.Front[*sliceSums] // by a set and some of its slices
	by   map[string]*sliceSums   // by the slices
	all  []group
}

// maxGroups bounds the groups, each of which has tables of its own.
const maxGroups = 128

// together gives the sums that stand for slices of a set, given as bits; nil when
// there are too many groups already.
func (s *Sums) together(set *slicing.Set, some uint32) *sliceSums {
	key := uint64(set.Number)<<32 | uint64(some)
	to := s.groups.last.Get(key)
	if to == nil {
		if to = s.group(set, some); to != nil {
			s.groups.last.Put(key, to)
		}
	}
	return to
}

// group is together that was not needed of late.
func (s *Sums) group(set *slicing.Set, some uint32) *sliceSums {
	if some&(some-1) == 0 {
		return s.slice(set.IDs[bits.TrailingZeros32(some)])
	}
	var room [4 * slicing.MaxIDs]byte
	key := room[:0]
	for m := some; m != 0; m &= m - 1 {
		key = binary.LittleEndian.AppendUint32(key, set.IDs[bits.TrailingZeros32(m)])
	}
	to := s.groups.by[string(key)]
	if to != nil || len(s.groups.all) >= maxGroups {
		return to
	}
	g := group{sums: &sliceSums{}}
	for m := some; m != 0; m &= m - 1 {
		id := set.IDs[bits.TrailingZeros32(m)]
		g.ids = append(g.ids, id)
		g.sums.waits = g.sums.waits || s.slice(id).waits
	}
	s.groups.by[string(key)] = g.sums
	s.groups.all = append(s.groups.all, g)
	return g.sums
}

// ungroup gives the slices what their groups have, and enters all that was counted.
func (s *Sums) ungroup() {
	s.enter()
	for _, g := range s.groups.all {
		for _, id := range g.ids {
			s.slice(id).merge(g.sums)
		}
	}
	s.groups = groups{last: tally.NewFront[*sliceSums](12), by: map[string]*sliceSums{}}
}

// enter adds what was counted by its kind to the sums.
func (s *Sums) enter() {
	for _, x := range s.slices {
		if x != nil {
			x.enter(s)
		}
	}
	for _, g := range s.groups.all {
		g.sums.enter(s)
	}
	s.kinds.Reset()
	s.shapes.Reset()
}

// ready enters all there is, so that merging groups only reads them.
func (s *Sums) ready() {
	s.enter()
	for _, g := range s.groups.all {
		for _, l := range []*tally.Latencies{&g.sums.exec, &g.sums.queue, &g.sums.accept, &g.sums.toolTime} {
			l.Quantiles()
		}
	}
}

// gather adds what is known of a slice, on its own and in groups, to that at to, and
// uses it up. Slices may be gathered at once; groups are only read.
func (s *Sums) gather(id uint32, to **sliceSums) {
	switch {
	case int(id) >= len(s.slices) || s.slices[id] == nil:
	case *to == nil:
		*to = s.slices[id]
	default:
		(*to).merge(s.slices[id])
	}
	for _, g := range s.groups.all {
		if slices.Contains(g.ids, id) {
			if *to == nil {
				*to = s.newSlice(id)
			}
			(*to).merge(g.sums)
		}
	}
}
