// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package value

import (
	"bytes"
	"encoding/binary"
	"math/bits"
	"testing"
)

// plainHash is the first version of hash.
func plainHash(s []byte) uint64 {
	const k0, k1 = 0x9E3779B97F4A7C15, 0xD6E8FEB86659FD93
	take := func(h uint64, s []byte) uint64 {
		hi, lo := bits.Mul64(binary.LittleEndian.Uint64(s)^h, binary.LittleEndian.Uint64(s[8:])^0xA0761D6478BD642F)
		return hi ^ lo ^ h>>32
	}
	h := uint64(len(s))*k0 ^ k1
	if len(s) < 16 {
		return take(h, append(s[:len(s):len(s)], make([]byte, 16-len(s))...))
	}
	for rest := s; len(rest) > 16; rest = rest[16:] {
		h = take(h, rest[:16])
	}
	return take(h^k0, s[len(s)-16:])
}

// TestHash: texts that differ in a length or in one bit have hashes of their own,
// wherever the bit is; the hash is that of partial results written before.
func TestHash(t *testing.T) {
	t.Parallel()
	seen := map[uint64]string{}
	see := func(s []byte) {
		d := Doc{src: s, nodes: []node{{end: int32(len(s)), form: form(String)}}}
		h := d.Root().Hash()
		if was, ok := seen[h]; ok && was != string(s) {
			t.Fatalf("%q and %q have one hash", was, s)
		}
		if h != plainHash(s) {
			t.Fatalf("the hash of %q is %#x, not %#x", s, h, plainHash(s))
		}
		seen[h] = string(s)
	}
	for n := range 70 {
		for _, fill := range []byte{0, 'a', 0xFF} {
			s := bytes.Repeat([]byte{fill}, n)
			see(s)
			for bit := range 8 * n {
				s[bit/8] ^= 1 << (bit % 8)
				see(s)
				s[bit/8] ^= 1 << (bit % 8)
			}
		}
	}
	for text, want := range map[string]uint64{
		`{"query":"low","lang":"42"}`: 0x7c76726dcbfcda4c, ` "a" `: plainHash([]byte(`"a"`)), `null`: 0,
		`[null]`: plainHash([]byte(`[null]`)),
	} {
		v, err := Parse([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		if got := v.Hash(); got != want {
			t.Errorf("the hash of %s is %#x now, not %#x", text, got, want)
		}
	}
	if got := (Value{}).Hash(); got != 0 {
		t.Errorf("what is absent has the hash %#x", got)
	}
}
