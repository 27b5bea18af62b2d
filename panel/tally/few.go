// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package tally

import (
	"math/bits"

	"github.com/callvet/callvet/stats/exact"
)

// MaxFew is how many calls a task may have whose times are a Few.
const MaxFew = 64

// Few are the times of the calls of one task, by the call's position. They are put
// in order once, and any of them can be added to Latencies as those of one task.
// The zero value is empty.
type Few struct {
	told    uint64 // the calls that have one, as bits
	ordered bool
	keys    [MaxFew]uint64     // a call's time, its place among the times of the task, and its position
	alone   [MaxFew]exact.Part // by position
	rank    [MaxFew]uint8      // by position
	parts   [MaxFew]exact.Part // by rank
}

// Reset forgets all of them.
func (f *Few) Reset() { f.told, f.ordered = 0, false }

// Set sets the time of the call at a position below MaxFew; it is finite, and one below 0
// is none.
func (f *Few) Set(i int, x float64) {
	if x >= 0 {
		f.told |= 1 << (i & (MaxFew - 1))
		f.alone[i&(MaxFew-1)] = exact.Alone(x)
	}
}

// order puts them in order by insertion: most tasks have a few calls.
func (f *Few) order() {
	f.ordered = true
	n := 0
	for m := f.told; m != 0; m &= m - 1 {
		i := bits.TrailingZeros64(m)
		key, j := f.alone[i].Order()<<8|uint64(i), n
		for ; j > 0 && f.keys[j-1] > key; j-- {
			f.keys[j] = f.keys[j-1]
		}
		f.keys[j] = key
		n++
	}
	for r, key := range f.keys[:n] {
		i := key & (MaxFew - 1)
		f.rank[i], f.parts[r] = uint8(r), f.alone[i]
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
