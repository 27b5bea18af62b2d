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
	low  tally.Front[*sliceSums] // by slices as bits
	last tally.Front[*sliceSums] // by a set and some of its slices
	by   map[string]*sliceSums   // by the slices
	all  []group
}

// maxGroups bounds the groups, each of which has tables of its own.
const maxGroups = 128

// together gives the sums that stand for slices, given as slicing.Parts.Split does; nil
// when there are too many groups already.
func (s *Sums) together(places *slicing.Set, some uint64) *sliceSums {
	last, key := &s.groups.low, some
	if places != nil {
		last, key = &s.groups.last, uint64(places.Number)<<32|some
	}
	to := last.Get(key)
	if to == nil {
		if to = s.group(places, some); to != nil {
			last.Put(key, to)
		}
	}
	return to
}

// group is together that was not needed of late.
func (s *Sums) group(places *slicing.Set, some uint64) *sliceSums {
	if some&(some-1) == 0 {
		return s.slice(slicing.At(places, bits.TrailingZeros64(some)))
	}
	var ids [slicing.MaxIDs]uint32
	var room [4 * slicing.MaxIDs]byte
	n, key := 0, room[:0]
	for m := some; m != 0; m &= m - 1 {
		ids[n] = slicing.At(places, bits.TrailingZeros64(m))
		n++
	}
	slices.Sort(ids[:n])
	for _, id := range ids[:n] {
		key = binary.LittleEndian.AppendUint32(key, id)
	}
	to := s.groups.by[string(key)]
	if to != nil || len(s.groups.all) >= maxGroups {
		return to
	}
	g := group{ids: slices.Clone(ids[:n]), sums: &sliceSums{}}
	for _, id := range g.ids {
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
	s.groups = groups{low: tally.NewFront[*sliceSums](9), last: tally.NewFront[*sliceSums](12), by: map[string]*sliceSums{}}
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
