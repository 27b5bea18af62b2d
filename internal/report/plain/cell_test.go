// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package plain

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestCell(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"": "", "t1": "t1", "=1+1": "'=1+1", "-7": "'-7", "@x": "'@x", "\tx": "'\tx", "'quoted'": "'quoted'",
		"'=1": "''=1", "it's": "it's", "ö": "ö",
	} {
		if got := Cell(in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.StringMatching(`'{0,3}[=+@\-\t\r\na]?.{0,5}`).Draw(t, "text")
		c := Cell(s)
		if Uncell(c) != s {
			t.Fatalf("%q became %q and then %q", s, c, Uncell(c))
		}
		if c != "" && strings.IndexByte("=+-@\t\r\n", c[0]) >= 0 {
			t.Fatalf("%q is a formula", c)
		}
	})
}
