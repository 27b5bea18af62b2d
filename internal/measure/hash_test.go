// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package measure

import (
	"bytes"
	"testing"
)

// TestHashText: texts that differ in a length or in one bit have hashes of their
// own, wherever the bit is; the hash is that of partial results written before.
func TestHashText(t *testing.T) {
	t.Parallel()
	seen := map[uint64]string{}
	see := func(s []byte) {
		h := hashText(s)
		if was, ok := seen[h]; ok && was != string(s) {
			t.Fatalf("%q and %q have one hash", was, s)
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
	if got := hashText([]byte(`{"query":"low","lang":"42"}`)); got != 0x7c76726dcbfcda4c {
		t.Errorf("the hash is %#x now", got)
	}
}
