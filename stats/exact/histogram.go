// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package exact

import (
	"cmp"
	"math"
	"math/bits"
	"slices"
)

// A bin holds the values whose first 11 bits, after rounding, are the same: its
// key is the number's exponent and the first 10 bits after the point.
const (
	keyShift = 52 - 10
	maxKey   = 0x7ff<<10 - 1 // the bin of the greatest finite values
	maxBin   = 1<<43 - 1     // values of a bin that are read
)

// keyOf is the bin of a finite x >= 0, whose value is at most 1/2048 away.
func keyOf(x float64) uint32 {
	b := math.Float64bits(x) &^ (1 << 63)
	return min(uint32((b+1<<(keyShift-1))>>keyShift), maxKey)
}

func valueOf(key uint32) float64 { return math.Float64frombits(uint64(key) << keyShift) }

// Bins go by codes: whole numbers up to wholes, which most latencies are, have
// codes side by side, although their keys lie far apart.
const wholes = 1 << 11

func codeOf(x float64) uint32 {
	if v := uint32(int32(x)); v < wholes && float64(v) == x { // nearly always
		return v
	}
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

// excess is what tasks add to a bin beyond one for each value, as differences
// between this bin and the one before: of the squared number s of the task's
// values up to the bin, and of s times the number of its values m. The value with
// r others of its task before it adds 2r to the one and m-1 to the other,
// wherever the bins end; so both are 0 for a task of one value.
type excess struct{ ss, sm uint64 }

// A word is a bin while it is small: how many values, and the sums of r and of
// m-1, of which each value may add up to maxOthers.
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

// histogram is a hash table, with linear probing, of lines of eight neighboring
// codes: values of a kind lie close together, so that most of a line is in use,
// and a line is what the processor's cache loads at once.
type histogram struct {
	tags   []uint32 // 1 + the line's number; 0 is free
	lines  [][1 << lineBits]uint64
	used   int
	hashed uint8          // the hash keeps 32-hashed bits
	big    map[uint32]bin // what bins have beyond their words
}

// at is the bin's word.
func (h *histogram) at(code uint32) *uint64 {
	tag := code>>lineBits + 1
	mask := uint32(len(h.tags) - 1)
	i := tag * 0x9e3779b1 >> h.hashed & mask
	for ; int(i) < len(h.tags); i = (i + 1) & mask {
		if h.tags[i] == tag {
			return &h.lines[i][code&(1<<lineBits-1)]
		}
		if h.tags[i] == 0 {
			break
		}
	}
	if h.used >= len(h.tags)/4*3 {
		h.resize(max(4, 2*len(h.tags)))
		return h.at(code)
	}
	h.used++
	h.tags[i] = tag
	return &h.lines[i][code&(1<<lineBits-1)]
}

// bump adds a value of a task that has r values before it, and others beside it.
func (h *histogram) bump(code uint32, r, others uint64) {
	var w *uint64
	tag := code>>lineBits + 1
	if i := uint64(tag * 0x9e3779b1 >> h.hashed); i < uint64(len(h.tags)) && h.tags[i] == tag { // nearly always
		w = &h.lines[i][code&(1<<lineBits-1)]
	} else {
		w = h.at(code)
	}
	if others > maxOthers {
		h.spill(code, bin{n: 1, excess: excess{ss: 2 * r, sm: others}})
		return
	}
	if *w += word(1, r, others); *w >= maxWord<<(2*wordShift) { // it could not take another value
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
	h.hashed = uint8(32 - bits.TrailingZeros(uint(size)))
	for i, t := range old.tags {
		if t != 0 {
			h.at((t - 1) << lineBits)
			*h.line(t) = old.lines[i]
		}
	}
}

// line is that of a tag in use.
func (h *histogram) line(tag uint32) *[1 << lineBits]uint64 {
	mask := uint32(len(h.tags) - 1)
	i := tag * 0x9e3779b1 >> h.hashed
	for h.tags[i&mask] != tag {
		i++
	}
	return &h.lines[i&mask]
}

func (h *histogram) merge(o *histogram) {
	// Filling a smaller table in the order of a bigger one makes long runs.
	if len(o.tags) > len(h.tags) {
		h.resize(len(o.tags))
	}
	for i, t := range o.tags {
		if t == 0 {
			continue
		}
		h.at((t - 1) << lineBits)
		to := h.line(t)
		for j, w := range o.lines[i] {
			switch sum := to[j]>>(2*wordShift) + w>>(2*wordShift); {
			case sum < maxWord:
				to[j] += w
			default:
				h.spill((t-1)<<lineBits+uint32(j), unpack(w))
			}
		}
	}
	for code, b := range o.big {
		h.spill(code, b)
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
	type place struct{ tag, at uint32 }
	order := make([]place, 0, h.used)
	for i, t := range h.tags {
		if t != 0 {
			order = append(order, place{t, uint32(i)})
		}
	}
	slices.SortFunc(order, func(a, b place) int { return cmp.Compare(a.tag, b.tag) })
	out, whole := make([]bin, 0, 4*h.used), 0
	for _, p := range order {
		for j, w := range h.lines[p.at] {
			code := (p.tag-1)<<lineBits + uint32(j)
			b := unpack(w)
			if h.big != nil {
				more := h.big[code]
				b.n, b.ss, b.sm = b.n+more.n, b.ss+more.ss, b.sm+more.sm
			}
			if b.n == 0 {
				continue
			}
			b.key = keyAt(code)
			if out = append(out, b); code < wholes {
				whole = len(out)
			}
		}
	}
	return merged(out[:whole], out[whole:])
}

// merged is two ascending lists as one.
func merged(a, b []bin) []bin {
	if len(b) == 0 {
		return a
	}
	out := make([]bin, 0, len(a)+len(b))
	for len(a) > 0 && len(b) > 0 {
		from := &a
		if b[0].key < a[0].key {
			from = &b
		}
		out, *from = append(out, (*from)[0]), (*from)[1:]
	}
	return append(append(out, a...), b...)
}
