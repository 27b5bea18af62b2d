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
	n     int                // calls, those without a time included
	told  uint64             // the calls that have one, as bits
	any   exact.Part         // bits that any of them has
	alone [MaxFew]exact.Part // by position
	// By position and by rank, once they are in order.
	ordered bool
	rank    [MaxFew]uint64
	parts   [MaxFew]exact.Part
}

// Reset forgets all of them.
func (f *Few) Reset() { f.n, f.told, f.any, f.ordered = 0, 0, 0, false }

// Append appends the time of one more call, of at most MaxFew; it is finite, and one
// below 0 is none.
func (f *Few) Append(x float64) {
	p := exact.Part(none)
	if x >= 0 {
		p = exact.Alone(x)
		f.told |= 1 << (f.n & (MaxFew - 1))
	}
	f.any |= p
	f.alone[f.n&(MaxFew-1)] = p
	f.n++
}

// none is later than all times.
const none = 1<<63 - 1

// order puts them in order.
func (f *Few) order() {
	f.ordered = true
	keys := f.alone[:f.n]
	if !f.any.Small() {
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
	calls &= f.told
	if calls&(calls-1) == 0 {
		if calls != 0 {
			l.One(f.alone[bits.TrailingZeros64(calls)&(MaxFew-1)])
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
