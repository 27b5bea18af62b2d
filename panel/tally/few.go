// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package tally

import (
	"math/bits"
	"slices"

	"github.com/callvet/callvet/stats/exact"
)

// MaxFew is how many calls a task may have whose times are a Few.
const MaxFew = 64

// Few are the times of the calls of one task, by the call's position. They are put
// in order once, and any of them can be added to Latencies as those of one task.
// The zero value is empty.
type Few struct {
	told  uint64 // the calls that have one, as bits
	n     int
	keys  [MaxFew]uint32     // where a time is among all there are, and its position
	alone [MaxFew]exact.Part // by position
	// By position and by rank, once they are in order.
	ordered bool
	rank    [MaxFew]uint8
	parts   [MaxFew]exact.Part
}

// Reset forgets all of them.
func (f *Few) Reset() { f.told, f.n, f.ordered = 0, 0, false }

// Set sets the time of the call at a position below MaxFew, which has none yet; it
// is finite, and one below 0 is none.
func (f *Few) Set(i int, x float64) {
	if x >= 0 {
		i &= MaxFew - 1
		p := exact.Alone(x)
		f.told |= 1 << i
		f.alone[i] = p
		f.keys[f.n&(MaxFew-1)] = p.Order()<<6 | uint32(i)
		f.n++
	}
}

// order puts them in order.
func (f *Few) order() {
	f.ordered = true
	keys := f.keys[:f.n]
	if len(keys) > 12 {
		slices.Sort(keys)
		for r, key := range keys {
			f.rank[key&(MaxFew-1)] = uint8(r)
		}
	} else { // most; each pair is compared without a branch, which would be guessed wrong
		var before [MaxFew]uint32
		for i, a := range keys {
			n := uint32(i)
			for j, b := range keys[:i] {
				less := (a - b) >> 31
				n -= less
				before[j&(MaxFew-1)] += less
			}
			before[i&(MaxFew-1)] = n
		}
		for i, key := range keys {
			f.rank[key&(MaxFew-1)] = uint8(before[i&(MaxFew-1)])
		}
	}
	for _, key := range keys {
		i := key & (MaxFew - 1)
		f.parts[f.rank[i]&(MaxFew-1)] = f.alone[i]
	}
}

// AddFew adds the times of those calls that have a bit in calls.
func (l *Latencies) AddFew(f *Few, calls uint64) {
	calls &= f.told
	if calls&(calls-1) == 0 {
		if calls != 0 {
			l.one(f.alone[bits.TrailingZeros64(calls)&(MaxFew-1)])
		}
		return
	}
	if !f.ordered {
		f.order()
	}
	l.tasks++
	n := bits.OnesCount64(calls)
	to := l.room(n)
	if calls == f.told {
		for r := range to {
			to[r] = f.parts[r&(MaxFew-1)].Among(r, n)
		}
		return
	}
	ranks := uint64(0)
	for ; calls != 0; calls &= calls - 1 {
		ranks |= 1 << (f.rank[bits.TrailingZeros64(calls)&(MaxFew-1)] & (MaxFew - 1))
	}
	for r := range to {
		to[r] = f.parts[bits.TrailingZeros64(ranks)&(MaxFew-1)].Among(r, n)
		ranks &= ranks - 1
	}
}
