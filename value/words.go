// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package value

import (
	"encoding/binary"
	"math"
)

// words are the names of members that earlier texts of a Doc had. Most lines of a file have the same names
// in the same order. So the name that came next last time is compared as two numbers, instead of searching
// for its end. Names of more than longWord bytes, and those beyond maxWords, have no number.
type words struct {
	list   [maxWords]word // by number; 0 is none
	count  int
	places [1 << placeBits]uint8 // numbers by the hash of the name
}

const (
	maxWords  = 256
	longWord  = 14 // with its quotes it fits in two numbers
	placeBits = 10
	// maxProbes is how many places a name is looked for at. One that finds them all taken has no number.
	maxProbes = 4
)

// word is a name with its quotes, and masks of its bytes.
type word struct {
	low, high         uint64
	lowMask, highMask uint64
	size              int32
	form              form  // of all members of that name
	next              uint8 // the name that came after it last
	inside            uint8 // the first name of an object that it named last
}

// newWords begins with the names of a list.
func newWords(names *Names) *words {
	w := &words{count: 1}
	for i, name := range names.texts {
		if n := w.number([]byte(`"`+name+`"`), key{1, int32(len(name) + 1), 0, 0}); n > 0 {
			w.list[n].form = form(i+1) << listed
		}
	}
	return w
}

// number is the number of a name without escapes, new or not; 0 where it has none.
func (w *words) number(src []byte, k key) uint8 {
	n := k.end - k.start
	if n > longWord {
		return 0
	}
	lowMask, highMask := masksOf(int(n) + 2)
	low, high := sixteen(src[k.start-1:])
	low, high = low&lowMask, high&highMask
	place := mix(uint64(n), low, high)
	for range maxProbes {
		number := &w.places[place%(1<<placeBits)]
		if x := &w.list[*number]; *number == 0 {
			if w.count == maxWords {
				return 0
			}
			*number = uint8(w.count)
			x = &w.list[w.count]
			x.low, x.high, x.lowMask, x.highMask, x.size = low, high, lowMask, highMask, n+2
			w.count++
			return *number
		} else if x.low == low && x.high == high {
			return *number
		}
		place++
	}
	return 0
}

// sixteen are the first sixteen bytes of a text, with zeros after a shorter one.
func sixteen(src []byte) (low, high uint64) {
	if len(src) < 16 {
		var own [16]byte
		copy(own[:], src)
		src = own[:]
	}
	return binary.LittleEndian.Uint64(src), binary.LittleEndian.Uint64(src[8:])
}

// masksOf have the bits of the first n of sixteen bytes.
func masksOf(n int) (low, high uint64) {
	return math.MaxUint64 >> (64 - 8*min(n, 8)), 1<<(8*max(n-8, 0)) - 1
}
