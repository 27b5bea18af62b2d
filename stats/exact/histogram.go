// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package exact

import (
	"math"
	"math/bits"
	"slices"
)

// A bin holds the values whose first 11 bits, after rounding, are the same: its
// key is the number's exponent and the first 10 bits after the point.
const (
	keyShift = 52 - 10
	maxKey   = 0x7ff<<10 - 1 // the bin of the greatest finite values
	// A slot of the table is a key and, below it, a count.
	countBits = 64 - 21
	countMask = 1<<countBits - 1
)

// keyOf is the bin of a finite x >= 0, whose value is at most 1/2048 away.
func keyOf(x float64) uint32 {
	b := math.Float64bits(x) &^ (1 << 63)
	return min(uint32((b+1<<(keyShift-1))>>keyShift), maxKey)
}

func valueOf(key uint32) float64 { return math.Float64frombits(uint64(key) << keyShift) }

// excess is what tasks add to a bin beyond one for each value, as differences
// between this bin and the one before: of the squared number s of the task's
// values up to the bin, and of s times the number of its values m. It is 0 for a
// task of one value.
type excess struct{ ss, sm uint64 }

// histogram is a hash table of bins with linear probing. A bin's count is never 0,
// so that a slot of 0 is free.
type histogram struct {
	slots  []uint64
	extra  []excess // as slots; nil until a task has two values
	used   int
	hashed uint8 // the hash keeps 32-hashed bits
}

func (h *histogram) at(key uint32) int { return int(key * 0x9e3779b1 >> h.hashed) }

// bump adds n values to a bin and gives its place.
func (h *histogram) bump(key uint32, n uint64) int {
	if len(h.slots) == 0 {
		h.resize(4)
	}
	mask := len(h.slots) - 1
	for i := h.at(key); ; i = (i + 1) & mask {
		s := h.slots[i]
		if s>>countBits == uint64(key) && s != 0 {
			h.slots[i] = s + n
			return i
		}
		if s != 0 {
			continue
		}
		if h.used >= len(h.slots)/4*3 {
			h.resize(2 * len(h.slots))
			return h.bump(key, n)
		}
		h.used++
		h.slots[i] = uint64(key)<<countBits | n
		return i
	}
}

// find is the place of a bin in use.
func (h *histogram) find(key uint32) int {
	i := h.at(key)
	for h.slots[i] == 0 || h.slots[i]>>countBits != uint64(key) {
		i = (i + 1) & (len(h.slots) - 1)
	}
	return i
}

// bumpMore is bump for the values of a task that has others.
func (h *histogram) bumpMore(key uint32, n uint64, x excess) {
	i := h.bump(key, n)
	if h.extra == nil {
		h.extra = make([]excess, len(h.slots))
	}
	h.extra[i].ss += x.ss
	h.extra[i].sm += x.sm
}

// resize makes a table of size slots, a power of two.
func (h *histogram) resize(size int) {
	old := *h
	*h = histogram{slots: make([]uint64, size), hashed: uint8(32 - bits.TrailingZeros(uint(size)))}
	if old.extra != nil {
		h.extra = make([]excess, size)
	}
	for i, s := range old.slots {
		if s == 0 {
			continue
		}
		j := h.bump(uint32(s>>countBits), s&countMask)
		if old.extra != nil {
			h.extra[j] = old.extra[i]
		}
	}
}

func (h *histogram) merge(o *histogram) {
	// Filling a smaller table in the order of a bigger one makes long runs.
	if len(o.slots) > len(h.slots) {
		h.resize(len(o.slots))
	}
	for i, s := range o.slots {
		switch key, n := uint32(s>>countBits), s&countMask; {
		case s == 0:
		case o.extra == nil || o.extra[i] == excess{}:
			h.bump(key, n)
		default:
			h.bumpMore(key, n, o.extra[i])
		}
	}
}

// bin is a bin on its own.
type bin struct {
	key uint32
	n   uint64
	excess
}

// bins are those in use, in ascending order.
func (h *histogram) bins() []bin {
	slots := make([]uint64, 0, h.used)
	for _, s := range h.slots {
		if s != 0 {
			slots = append(slots, s)
		}
	}
	slices.Sort(slots) // by key, which is on top and there once
	out := make([]bin, len(slots))
	for i, s := range slots {
		out[i] = bin{key: uint32(s >> countBits), n: s & countMask}
		if h.extra != nil {
			out[i].excess = h.extra[h.find(out[i].key)]
		}
	}
	return out
}
