// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package plain

import (
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"
)

func TestCleanTextHidesNothing(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.String().Draw(t, "s") + string(rapid.SliceOf(rapid.Byte()).Draw(t, "b"))
		c := Clean(s)
		if !utf8.ValidString(c) || strings.ContainsFunc(c, Hidden) || Clean(c) != c {
			t.Fatalf("Clean(%q) = %q", s, c)
		}
		if l := Line(s); strings.ContainsAny(l, "\n\t") {
			t.Fatalf("Line(%q) = %q", s, l)
		}
		n := rapid.IntRange(0, 50).Draw(t, "n")
		if l := Limited(c, n); !utf8.ValidString(l) || len(c) <= n && l != c {
			t.Fatalf("Limited(%q, %d) = %q", c, n, l)
		}
	})
}

func TestNumbers(t *testing.T) {
	t.Parallel()
	for got, want := range map[string]string{
		ExactPercent(0.95): "95 %", ExactPercent(0.57): "57 %", ExactPercent(0.99995): "99.995 %",
		ExactPercent(1): "100 %", ExactPercent(0.00001): "0.001 %",
		Percent(1): "100.0 %", Percent(0.99999): "99.9 %", Percent(0): "0.0 %", Percent(0.0001): "<0.1 %",
		Percent(0.8249): "82.5 %",
		Millis(9.96):    "10.0 ms", Millis(420.4): "420 ms", Millis(59_900): "59.9 s", Millis(61_000): "1 min 01 s",
		Dollars(0): "$0", Dollars(0.00123): "$0.0012", Dollars(12.5): "$12.50",
		Thousands(-1234567): "-1,234,567", Thousands(999): "999", Count(1, "case", "cases"): "1 case",
		Count(1204, "case", "cases"): "1,204 cases",
	} {
		if got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}
