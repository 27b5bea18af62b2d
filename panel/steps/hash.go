// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package steps

import (
	"encoding/binary"
	"math/bits"
)

// hash is a 64-bit hash of a text that is the same on every machine, so that partial results can
// contain it; seed chains several texts. It does not resist deliberate collisions.
func hash(seed uint64, s []byte) uint64 {
	const k0, k1 = 0x9E3779B97F4A7C15, 0xD6E8FEB86659FD93
	h := seed ^ uint64(len(s))*k0
	for len(s) >= 8 {
		hi, lo := bits.Mul64(h^binary.LittleEndian.Uint64(s), k1)
		h = hi ^ lo + k0
		s = s[8:]
	}
	var tail uint64
	for i, c := range s {
		tail |= uint64(c) << (8 * i)
	}
	hi, lo := bits.Mul64(h^tail^k0, k1)
	h = hi ^ lo
	return h ^ h>>29
}

// spread is a bijection of 64-bit numbers: every bit of the input affects the result.
func spread(x uint64) uint64 {
	x = (x ^ x>>32) * 0xD6E8FEB86659FD93
	x = (x ^ x>>32) * 0x9E3779B97F4A7C15
	return x ^ x>>32
}
