// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package measure

import (
	"encoding/binary"
	"math/bits"

	"github.com/callvet/callvet/value"
)

// hash tells texts apart; 0 where nothing is recorded.
func hash(v value.Value) uint64 {
	if k := v.Kind(); k == value.Invalid || k == value.Null {
		return 0
	}
	return max(1, hashText(v.Raw()))
}

// hashText is a 64-bit hash that is the same on every machine, because partial
// results hold it. It takes sixteen bytes at a time, the last of them twice where
// they are no multiple; it does not withstand those who look for collisions.
func hashText(s []byte) uint64 {
	const k0, k1 = 0x9E3779B97F4A7C15, 0xD6E8FEB86659FD93
	h := uint64(len(s))*k0 ^ k1
	if len(s) < 16 {
		var pad [16]byte
		copy(pad[:], s)
		return scramble(h, pad[:])
	}
	for rest := s; len(rest) > 16; rest = rest[16:] {
		h = scramble(h, rest[:16])
	}
	return scramble(h^k0, s[len(s)-16:])
}

// scramble takes sixteen bytes in.
func scramble(h uint64, s []byte) uint64 {
	hi, lo := bits.Mul64(binary.LittleEndian.Uint64(s)^h, binary.LittleEndian.Uint64(s[8:])^0xA0761D6478BD642F)
	return hi ^ lo ^ h>>32
}
