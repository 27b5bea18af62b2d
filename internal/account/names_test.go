// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package account

import (
	"strings"
	"testing"
)

// TestLongNames: the longest name of each kind is taken, and one byte more is refused.
func TestLongNames(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		kind  string
		most  int
		check func(string) error
	}{
		{"user", 64, func(s string) error { _, err := named(s); return err }},
		{"host", 253, func(s string) error { _, err := Host(s); return err }},
		{"variable", 100, func(s string) error { return ofVariable(strings.ToUpper(s) + "_KEY") }},
	} {
		for _, n := range []int{1, c.most} {
			if n > 1 && c.kind == "variable" {
				n -= len("_KEY")
			}
			if err := c.check(strings.Repeat("a", n)); err != nil {
				t.Errorf("%s of %d bytes: %v", c.kind, n, err)
			}
		}
		if err := c.check(strings.Repeat("a", c.most+1)); err == nil {
			t.Errorf("%s of %d bytes is taken", c.kind, c.most+1)
		}
	}
}
