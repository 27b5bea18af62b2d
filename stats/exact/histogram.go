// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package exact

import (
	"cmp"
	"math"
	"math/bits"
	"slices"
)

// A bin contains the values with the same first 11 bits, after rounding: its
// key is the number's exponent and the first 10 bits after the point.
const (
	keyShift = 52 - 10
	maxKey   = 0x7ff<<10 - 1 // the bin of the greatest finite values
	maxBin   = 1<<43 - 1     // values of a bin that are read
)

// keyOf is the bin of a finite x >= 0; the bin's value differs by at most 1/2048 of x.
func keyOf(x float64) uint32 {
	b := math.Float64bits(x) &^ (1 << 63)
	return min(uint32((b+1<<(keyShift-1))>>keyShift), maxKey)
}

func valueOf(key uint32) float64 { return math.Float64frombits(uint64(key) << keyShift) }

// Bins are ordered by codes. Whole numbers up to wholes, which most latencies are, have adjacent
// codes, although their keys are far apart.
const wholes = 1 << 11

func codeOf(x float64) uint32 {
	if v := uint32(int32(x)); v < wholes && float64(v) == x { // nearly always
		return v
	}
	return oddCode(x)
}

func oddCode(x float64) uint32 {
	key := keyOf(x)
	if v := valueOf(key); v < wholes && v == float64(uint32(v)) {
		return uint32(v)
	}
	return wholes + key
}

// keyAt is the key of a code.
func keyAt(code uint32) uint32 {
	if code < wholes {
		return keyOf(float64(code))
	}
	return code - wholes
}

// excess is what tasks with several values add to the sums of a bin beyond one for each value. Let
// s be the number of the task's values up to the bin and m the number of all its values. ss and sm
// are the differences of s*s and s*m between this bin and the one before. A value with r others of
// its task before it adds 2r to ss and m-1 to sm, wherever the bins end. Both are 0 for a task of
// one value.
type excess struct{ ss, sm uint64 }

// A word is a small bin: the number of values, and the sums of r and of m-1. Each value may add at
// most maxOthers to a sum.
const (
	lineBits  = 3
	wordShift = 24
	wordMask  = 1<<wordShift - 1
	maxWord   = 1<<(64-2*wordShift) - 1
	maxOthers = 1<<8 - 1
)

func word(n, r, others uint64) uint64 { return n<<(2*wordShift) | r<<wordShift | others }

func unpack(w uint64) bin {
	return bin{n: w >> (2 * wordShift), excess: excess{ss: 2 * (w >> wordShift & wordMask), sm: w & wordMask}}
}

// histogram counts small whole numbers, which most latencies are, in a list, and other numbers in a
// hash table with linear probing. An entry of the table is a line of eight adjacent codes, which is
// one cache line: similar values are close together, so that most of a line is used.
type histogram struct {
	low    []uint64 // words by code; short where there are no larger codes
	tags   []uint32 // 1 + the line's number; 0 is free
	lines  [][1 << lineBits]uint64
	used   int
	hashed uint8          // the hash keeps 32-hashed bits
	big    map[uint32]bin // counts of bins beyond their words
}

// at is the bin's word.
func (h *histogram) at(code uint32) *uint64 {
	if code < wholes {
		return h.lowAt(code)
	}
	return &h.line(code>>lineBits + 1)[code&(1<<lineBits-1)]
}

// line is the line of a tag; a new one if it has none.
func (h *histogram) line(tag uint32) *[1 << lineBits]uint64 {
	mask := uint32(len(h.tags) - 1)
	i := tag * 0x9e3779b1 >> h.hashed & mask
	for ; len(h.tags) > 0 && h.tags[i] != 0; i = (i + 1) & mask {
		if h.tags[i] == tag {
			return &h.lines[i]
		}
	}
	if h.used >= len(h.tags)/4*3 {
		h.resize(max(4, 2*len(h.tags)))
		return h.line(tag)
	}
	h.used++
	h.tags[i] = tag
	return &h.lines[i]
}

// lowAt is the word of a small whole number.
func (h *histogram) lowAt(code uint32) *uint64 {
	if int(code) >= len(h.low) {
		size := 64
		for size <= int(code) {
			size *= 2
		}
		grown := make([]uint64, size)
		for i := 0; i < size; i += pageSize / 8 {
			grown[i] = 0
		}
		copy(grown, h.low)
		h.low = grown
	}
	return &h.low[code]
}

// pageSize is the size of a memory page. If a new page is read before it is written, the kernel
// maps it twice, and the second mapping interrupts all processors. Tables that would be read first
// are therefore written first.
const pageSize = 4 << 10

// bump adds a value of a task with r values before it; others is m-1.
func (h *histogram) bump(code uint32, r, others uint64) {
	w := h.at(code)
	if others > maxOthers {
		h.spill(code, bin{n: 1, excess: excess{ss: 2 * r, sm: others}})
		return
	}
	if *w += word(1, r, others); *w >= maxWord<<(2*wordShift) { // the word has no room for another value
		h.spill(code, unpack(*w))
		*w = 0
	}
}

func (h *histogram) spill(code uint32, b bin) {
	if h.big == nil {
		h.big = map[uint32]bin{}
	}
	o := h.big[code]
	h.big[code] = bin{n: o.n + b.n, excess: excess{o.ss + b.ss, o.sm + b.sm}}
}

// add adds what a bin has.
func (h *histogram) add(b bin) {
	code := codeOf(valueOf(b.key))
	w := h.at(code)
	if n := *w >> (2 * wordShift); n+b.n >= maxWord || b.ss&1 == 1 || b.ss > 2*maxOthers*b.n || b.sm > maxOthers*b.n {
		h.spill(code, b)
		return
	}
	*w += word(b.n, b.ss/2, b.sm)
}

// resize makes a table of size lines, a power of two.
func (h *histogram) resize(size int) {
	old := *h
	h.tags, h.lines, h.used = make([]uint32, size), make([][1 << lineBits]uint64, size), 0
	for i := 0; i < size; i += pageSize / 64 {
		h.tags[i], h.lines[i][0] = 0, 0
	}
	h.hashed = uint8(32 - bits.TrailingZeros(uint(size)))
	for i, t := range old.tags {
		if t != 0 {
			*h.line(t) = old.lines[i]
		}
	}
}

func (h *histogram) merge(o *histogram) {
	if len(o.low) > 0 {
		h.lowAt(uint32(len(o.low) - 1))
	}
	low := h.low[:len(o.low)]
	for code, w := range o.low {
		// All three sums at once. Where the first one would be too large, w is kept separately.
		if sum, over := bits.Add64(low[code], w, 0); over == 0 && sum < maxWord<<(2*wordShift) {
			low[code] = sum
		} else {
			h.spill(uint32(code), unpack(w))
		}
	}
	// Filling a smaller table in the order of a bigger one makes long runs.
	if len(o.tags) > len(h.tags) {
		h.resize(len(o.tags))
	}
	for i, t := range o.tags {
		if t == 0 {
			continue
		}
		to := h.line(t)
		for j, w := range o.lines[i] {
			h.mergeWord((t-1)<<lineBits+uint32(j), &to[j], w)
		}
	}
	for code, b := range o.big {
		h.spill(code, b)
	}
}

func (h *histogram) mergeWord(code uint32, to *uint64, w uint64) {
	if *to>>(2*wordShift)+w>>(2*wordShift) < maxWord {
		*to += w
		return
	}
	h.spill(code, unpack(w))
}

// bin is a bin with its sums.
type bin struct {
	key uint32
	n   uint64
	excess
}

// bins are the bins in use, in ascending order.
func (h *histogram) bins() []bin {
	out := make([]bin, 0, h.size())
	h.ascending(func(b bin) { out = append(out, b) })
	return out
}

// size is at least the number of bins in use.
func (h *histogram) size() int {
	n := len(h.big)
	for _, w := range h.low {
		n += int((w | -w) >> 63)
	}
	for i := range h.lines {
		for _, w := range h.lines[i] {
			n += int((w | -w) >> 63)
		}
	}
	return n
}

// ascending calls give with the bins in use in the order of their keys, merging whole numbers from
// the list with the others from the table.
func (h *histogram) ascending(give func(bin)) {
	type place struct{ tag, at uint32 }
	order := make([]place, 0, h.used)
	for i, t := range h.tags {
		if t != 0 {
			order = append(order, place{t, uint32(i)})
		}
	}
	slices.SortFunc(order, func(a, b place) int { return cmp.Compare(a.tag, b.tag) })
	code := 0
	wholesBelow := func(key uint32) {
		for ; code < len(h.low); code++ {
			if w := h.low[code]; w != 0 || h.big != nil {
				b, used := h.bin(uint32(code), w)
				if used && b.key > key {
					return
				}
				if used {
					give(b)
				}
			}
		}
	}
	for _, p := range order {
		for j, w := range h.lines[p.at] {
			if b, used := h.bin((p.tag-1)<<lineBits+uint32(j), w); used {
				wholesBelow(b.key)
				give(b)
			}
		}
	}
	wholesBelow(maxKey)
}

// bin is the bin of a word, including its counts in big.
func (h *histogram) bin(code uint32, w uint64) (b bin, used bool) {
	b = unpack(w)
	if h.big != nil {
		more := h.big[code]
		b.n, b.ss, b.sm = b.n+more.n, b.ss+more.ss, b.sm+more.sm
	}
	if b.n == 0 {
		return b, false
	}
	b.key = keyAt(code)
	return b, true
}
