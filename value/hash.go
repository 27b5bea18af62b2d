// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package value

import (
	"encoding/binary"
	"hash/fnv"
	"math"
	"math/bits"
)

// Hash is a hash of the value's text. It is never 0, and the same on every machine, because partial
// results contain it. It does not resist deliberate collisions. An absent value and null have the
// hash 0.
func (v Value) Hash() uint64 {
	if v.d == nil || v.Kind() == Null {
		return 0
	}
	const k0, k1 = 0x9E3779B97F4A7C15, 0xD6E8FEB86659FD93
	text := v.Raw()
	h := uint64(len(text))*k0 ^ k1
	if len(text) < 16 {
		var all [16]byte
		copy(all[:], text)
		return max(1, scramble(h, all[:]))
	}
	rest := text
	for ; len(rest) > 16; rest = rest[16:] {
		h = scramble(h, rest)
	}
	return max(1, scramble(h^k0, text[len(text)-16:])) // the last sixteen bytes, some of them twice
}

// scramble adds the first sixteen bytes of text to a hash.
func scramble(h uint64, text []byte) uint64 {
	return mix(h, binary.LittleEndian.Uint64(text), binary.LittleEndian.Uint64(text[8:]))
}

func mix(h, low, high uint64) uint64 {
	hi, lo := bits.Mul64(low^h, high^0xA0761D6478BD642F)
	return hi ^ lo ^ h>>32
}

// Sum is a hash that is equal for all values that are Equal, however they are written. An absent
// value has the Sum of null.
func (v Value) Sum() uint64 {
	const k0 = 0x9E3779B97F4A7C15
	sum := uint64(v.Kind())
	switch v.Kind() {
	case Invalid, Null:
		return uint64(Null)
	case Bool:
		if v.Bool() {
			sum ^= k0
		}
	case Number:
		f, _ := v.Float()
		sum ^= math.Float64bits(f + 0) // -0 is 0
	case String:
		sum ^= sumBytes(v.Bytes())
	case Array:
		for e, ok := v.First(); ok; e, ok = v.Next(e) {
			sum = mix(sum, e.Sum(), k0)
		}
	case Object:
		for e, ok := v.First(); ok; e, ok = v.Next(e) {
			sum += mix(k0, sumBytes(e.KeyBytes()), e.Sum()) // in any order
		}
	}
	return sum
}

// Scattered mixes the bits of a hash (SplitMix64; Steele and others 2014). The high bits of FNV change little with
// the last bytes of a text: without this, draws for similar texts would be similar.
func Scattered(h uint64) uint64 {
	h = (h ^ h>>30) * 0xbf58476d1ce4e5b9
	h = (h ^ h>>27) * 0x94d049bb133111eb
	return h ^ h>>31
}

// Fraction is a hash as a number in [0,1).
func Fraction(h uint64) float64 { return float64(h>>11) / (1 << 53) }

func sumBytes(b []byte) uint64 {
	h := fnv.New64a()
	h.Write(b)
	return h.Sum64()
}
