// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package tally

import (
	"math"
	"math/bits"

	"github.com/callvet/callvet/stats/exact"
)

// MaxFew is how many calls a task may have whose times are a Few.
const MaxFew = 64

// Few are the times of the calls of one task, by the call's position. They are put
// in order once, and any of them can be added to Latencies as those of one task.
// The zero value is empty.
type Few struct {
	n     int                // calls
	none  uint64             // the calls that have none, as bits
	odd   bool               // there are others than whole numbers below exact.Wholes
	alone [MaxFew]exact.Part // by position
	// By position and by rank, once they are in order.
	ordered bool
	rank    [MaxFew]uint64
	parts   [MaxFew]exact.Part
}

// Reset makes it the times of n calls, at most MaxFew, each of which is to be Set.
func (f *Few) Reset(n int) { f.n, f.none, f.odd, f.ordered = n, 0, false, false }

// SetWhole sets the time of the call at a position to a number below exact.Wholes.
func (f *Few) SetWhole(i int, x uint32) { f.alone[i&(MaxFew-1)] = exact.Whole(x) }

// Set sets the time of the call at a position; below 0 and what is not finite is none.
func (f *Few) Set(i int, x float64) {
	if x >= 0 && x <= math.MaxFloat64 {
		f.alone[i] = exact.Alone(x)
		f.odd = true
		return
	}
	f.alone[i] = none
	f.none |= 1 << i
}

// none is later than all times.
const none = 1<<63 - 1

// Alone is the time of a call as a task's only one.
func (f *Few) Alone(i int) (p exact.Part, ok bool) {
	p = f.alone[i&(MaxFew-1)]
	return p, p != none
}

// order puts them in order.
func (f *Few) order() {
	f.ordered = true
	keys := f.alone[:f.n]
	if f.odd {
		keys = f.parts[:f.n] // which are written last
		for i, p := range f.alone[:f.n] {
			keys[i] = p
			if p != none {
				keys[i] = p.Order()
			}
		}
	}
	// Each pair is compared without a branch, which would be guessed wrong.
	for i, a := range keys {
		n, before := uint64(i), f.rank[:i]
		for j, b := range keys[:i] {
			less := uint64(a-b) >> 63
			n -= less
			before[j] += less
		}
		f.rank[i] = n
	}
	for i, p := range f.alone[:f.n] {
		f.parts[f.rank[i]&(MaxFew-1)] = p
	}
}

// AddFew adds the times of those calls that have a bit in calls.
func (l *Latencies) AddFew(f *Few, calls uint64) {
	calls &^= f.none
	but := calls & (calls - 1) // the first
	first := f.alone[bits.TrailingZeros64(calls)&(MaxFew-1)]
	if but == 0 {
		if calls != 0 {
			l.One(first)
		}
		return
	}
	if but&(but-1) == 0 && !f.odd {
		second, to := f.alone[bits.TrailingZeros64(but)&(MaxFew-1)], l.room(2)
		to[0], to[1] = min(first, second).Among(0, 2), max(first, second).Among(1, 2)
		return
	}
	if !f.ordered {
		f.order()
	}
	n := bits.OnesCount64(calls)
	to := l.room(n)
	if n == f.n {
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
