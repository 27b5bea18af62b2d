// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package plain

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// TestWriter: JSON stays the same value, has no hidden character from DEL on, and does not depend
// on the sizes of the writes.
func TestWriter(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.StringOf(
			rapid.RuneFrom([]rune("aé\u009b\u202e\u200b\x7f\ufeff👩‍💻\U000e0041\U000f0000\"\\\n\x1b"))).Draw(t, "text")
		text, err := json.Marshal(map[string]string{s: s})
		if err != nil {
			t.Fatal(err)
		}
		var out bytes.Buffer
		w := Writer{W: &out}
		for rest := text; len(rest) > 0; {
			n := rapid.IntRange(1, len(rest)).Draw(t, "cut")
			if k, err := w.Write(rest[:n]); err != nil || k != n {
				t.Fatal(k, err)
			}
			rest = rest[n:]
		}
		if err := w.Flush(); err != nil || !bytes.Equal(out.Bytes(), Visible(text)) {
			t.Fatalf("%q and %q: %v", out.String(), Visible(text), err)
		}
		if strings.ContainsFunc(out.String(), func(r rune) bool { return r >= 0x7f && Hidden(r) }) {
			t.Fatalf("%q", out.String())
		}
		var back map[string]string
		if err := json.Unmarshal(out.Bytes(), &back); err != nil || len(back) != 1 || back[s] != s {
			t.Fatalf("%q became %q: %v", s, back, err)
		}
	})
	var out bytes.Buffer
	w := Writer{W: &out}
	_, _ = w.Write([]byte("a\xc2"))
	_, _ = w.Write([]byte("b\x9bc\xe2\x80"))
	if err := w.Flush(); err != nil || out.String() != "a\uFFFDb\uFFFDc\uFFFD" {
		t.Errorf("%q, %v", out.String(), err)
	}
}
