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
	odd   bool               // there are others than whole numbers below exact.Wholes, or many calls
	alone [MaxFew]exact.Part // by position
	// Once they are in order: bits for those that are before a call, by position. Of up to
	// fewest whole numbers before has them, a byte for each.
	ordered bool
	before  uint64
	earlier [MaxFew]uint64
}

// fewest is how many calls are put in order all at once, as one word.
const fewest = 8

// Reset makes it the times of n calls, at most MaxFew, each of which is to be Set.
func (f *Few) Reset(n int) { f.n, f.none, f.odd, f.ordered = n, 0, n > fewest, false }

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

// order finds which are before which, of whole numbers: each is compared with all of them at
// once, 16 bits for each and its position in the lowest of them, so that no two are equal.
func (f *Few) order() {
	const (
		lanes = 0x0001000100010001 // times a number: it in each
		tops  = lanes << 15
	)
	even, odd := uint64(0), uint64(0) // by position
	for i := fewest - 2; i >= 0; i -= 2 {
		even = even<<16 | f.number(i)
		odd = odd<<16 | f.number(i+1)
	}
	even, odd = even|tops|0x0006000400020000, odd|tops|0x0007000500030001
	before := uint64(0)
	for i := f.n - 1; i >= 0; i-- {
		this := (f.number(i&(fewest-1)) | uint64(i)) * lanes
		before = before<<1 | (even-this)&tops>>15 | (odd-this)&tops>>7 // in the byte of each that is not before it
	}
	f.before, f.ordered = before&^0x8040201008040201, true // none is before itself
}

// number is 8 times the number at a position.
func (f *Few) number(i int) uint64 { return uint64(f.alone[i]>>37) & 0x3FF8 }

// orderOdd is order for any times.
func (f *Few) orderOdd() {
	f.ordered = true
	var keys [MaxFew]exact.Part
	for i, p := range f.alone[:f.n] {
		keys[i] = p
		if p != none {
			keys[i] = p.Order()
		}
	}
	for i, a := range keys[:f.n] {
		mine := uint64(0)
		for j, b := range keys[:i] {
			less := uint64(a-b) >> 63 // not by a branch, which would be guessed wrong
			mine |= (1 - less) << j
			f.earlier[j] |= less << i
		}
		f.earlier[i] = mine
	}
}

// ranks tells how many of some calls are before each, in the byte of its position.
func (f *Few) ranks(calls uint64) uint64 {
	if !f.ordered {
		f.order()
	}
	r := f.before & (calls * 0x0101010101010101)
	r -= r >> 1 & 0x5555555555555555
	r = r&0x3333333333333333 + r>>2&0x3333333333333333
	return (r + r>>4) & 0x0F0F0F0F0F0F0F0F
}

// AddFew adds the times of those calls that have a bit in calls.
func (l *Latencies) AddFew(f *Few, calls uint64) {
	calls &^= f.none
	if calls == 0 {
		return
	}
	if f.odd {
		l.addOdd(f, calls)
		return
	}
	n := bits.OnesCount8(uint8(calls))
	ranks, to := f.ranks(calls), l.room(n)
	for r := range to {
		i := bits.TrailingZeros64(calls) & (fewest - 1)
		to[r] = f.alone[i].Among(int(ranks>>(8*i)&15), n)
		calls &= calls - 1
	}
}

// addOdd is AddFew for any times and calls.
func (l *Latencies) addOdd(f *Few, calls uint64) {
	if !f.ordered {
		f.orderOdd()
	}
	n, m := bits.OnesCount64(calls), calls
	to := l.room(n)
	for r := range to {
		i := bits.TrailingZeros64(m) & (MaxFew - 1)
		to[r] = f.alone[i].Among(bits.OnesCount64(f.earlier[i]&calls), n)
		m &= m - 1
	}
}

// Trio are times of three kinds of the same calls.
type Trio [3]Few

// AddTo adds each of them to its Latencies, as Latencies.AddFew does: which calls they are
// is looked at once.
func (t *Trio) AddTo(a, b, c *Latencies, calls uint64) {
	if t[0].odd || t[1].odd || t[2].odd || (t[0].none|t[1].none|t[2].none)&calls != 0 || calls == 0 {
		a.AddFew(&t[0], calls)
		b.AddFew(&t[1], calls)
		c.AddFew(&t[2], calls)
		return
	}
	n := bits.OnesCount8(uint8(calls))
	ra, rb, rc := t[0].ranks(calls), t[1].ranks(calls), t[2].ranks(calls)
	toA, toB, toC := a.room(n), b.room(n), c.room(n)
	toB, toC = toB[:len(toA)], toC[:len(toA)]
	for r := range toA {
		i := bits.TrailingZeros64(calls) & (fewest - 1)
		toA[r] = t[0].alone[i].Among(int(ra>>(8*i)&15), n)
		toB[r] = t[1].alone[i].Among(int(rb>>(8*i)&15), n)
		toC[r] = t[2].alone[i].Among(int(rc>>(8*i)&15), n)
		calls &= calls - 1
	}
}
