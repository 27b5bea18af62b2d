// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package value

import (
	"encoding/binary"
	"math/bits"
	"unsafe"
)

// beyond is how many bytes after its end a padded text has in memory. A label is
// compared from a position in the text, and after it a value is begun with: that
// is less than maxLabel and four times eight bytes.
const beyond = 128

// padded is the start of a text after which there are beyond more bytes in memory,
// of any kind. It is read without a check of each position, by those who look at
// the text's end often enough: a quarter of the time of parsing was checks.
type padded struct{ start unsafe.Pointer }

// at is the byte at i.
func (t padded) at(i int) byte { return *(*byte)(unsafe.Add(t.start, i)) }

// eight are the bytes from i on, the first one lowest.
func (t padded) eight(i int) uint64 {
	return binary.LittleEndian.Uint64((*[8]byte)(unsafe.Add(t.start, i))[:])
}

// four are the bytes from i on, the first one lowest.
func (t padded) four(i int) uint32 {
	return binary.LittleEndian.Uint32((*[4]byte)(unsafe.Add(t.start, i))[:])
}

const ones, ones32, highs = 0x0101010101010101, 0x01010101, 0x8080808080808080

// special has the highest bit set of the first byte of w that is no plain one of a
// string: a quote, a backslash, a control character or part of a code point
// outside ASCII. Of those after it, other bits may be set. Bytes outside ASCII are
// found by w, so that it does not matter that the differences find some of them
// too. That a quote changes places with a space makes it the first one after the
// control characters.
func special(w uint64) uint64 {
	return ((w ^ ones*2 - ones*0x21) | (w ^ ones*'\\' - ones) | w) & highs
}

// digits is how many of eight bytes are digits up to the first that is none, where x
// are the bytes with the bits of '0' turned over.
func digits(x uint64) int {
	return bits.TrailingZeros64((x+ones*(0x80-10)|x)&highs) >> 3
}

// number is the value of the first n of them, one or more.
func number(x uint64, n int) int {
	x <<= 64 - 8*n
	x = x * (10<<8 + 1) >> 8 & 0x00ff00ff00ff00ff
	x = x * (100<<16 + 1) >> 16 & 0x0000ffff0000ffff
	return int(x * (10000<<32 + 1) >> 32)
}

// short is the whole number of one to three digits at i, and how many it has; none where
// there is no such number. What comes after it is not looked at.
func (t padded) short(i int) (n uint32, size int) {
	x := t.four(i) ^ ones32*'0'
	found := (x + ones32*(0x80-10) | x) & (ones32 * 0x80)
	if found == 0 || byte(x) == 0 && found&0x8000 == 0 {
		return 0, 0
	}
	first := bits.TrailingZeros32(found)
	x <<= uint(39-first) & 31
	return (x * (10<<8 + 1) >> 8 & 0x00ff00ff) * (100<<16 + 1) >> 16, first >> 3
}

// plain is the position of the first byte from i on that is no plain one of a string.
func (t padded) plain(i int) int {
	for {
		if found := special(t.eight(i)); found != 0 {
			return i + bits.TrailingZeros64(found)>>3
		}
		i += 8
	}
}

// same reports whether n bytes at i and at j are the same.
func (t padded) same(i, j, n int) bool {
	for ; n > 8; i, j, n = i+8, j+8, n-8 {
		if t.eight(i) != t.eight(j) {
			return false
		}
	}
	return (t.eight(i)^t.eight(j))<<(64-8*n) == 0
}

// repeats is same where most have many bytes.
func (t padded) repeats(i, j, n int) bool {
	if n < 16 {
		return t.same(i, j, n)
	}
	end := i + n - 16
	for j -= i; i < end; i += 16 {
		if (t.eight(i)^t.eight(i+j))|(t.eight(i+8)^t.eight(i+j+8)) != 0 {
			return false
		}
	}
	return (t.eight(end)^t.eight(end+j))|(t.eight(end+8)^t.eight(end+j+8)) == 0
}
