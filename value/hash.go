// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package value

import (
	"math/bits"
	"unsafe"
)

// Hash tells values apart by their texts: a number that is never 0, and the same on
// every machine, because partial results hold it. It does not withstand those who look
// for texts that share one. What is absent or null has 0.
func (v Value) Hash() uint64 {
	if v.d == nil {
		return 0
	}
	n := v.node()
	if n.kind() <= Null {
		return 0
	}
	return max(1, hash(unsafe.Add(unsafe.Pointer(unsafe.SliceData(v.d.src)), n.start), int(n.end-n.start)))
}

// hash takes in n bytes from text on, sixteen at a time, the last of them twice where
// they are no multiple.
func hash(text unsafe.Pointer, n int) uint64 {
	const k0, k1 = 0x9E3779B97F4A7C15, 0xD6E8FEB86659FD93
	h := uint64(n)*k0 ^ k1
	if n < 16 {
		low, high := ends(text, n, false)
		return scramble(h, low, high>>(8*(16-n))) // without what low has of it
	}
	last := unsafe.Add(text, n-16)
	for ; n > 16; n -= 16 {
		h = scramble(h, eight(text), eight(unsafe.Add(text, 8)))
		text = unsafe.Add(text, 16)
	}
	return scramble(h^k0, eight(last), eight(unsafe.Add(last, 8)))
}

// scramble takes sixteen bytes in.
func scramble(h, low, high uint64) uint64 {
	hi, lo := bits.Mul64(low^h, high^0xA0761D6478BD642F)
	return hi ^ lo ^ h>>32
}
