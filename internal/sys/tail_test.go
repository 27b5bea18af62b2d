// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package sys

import (
	"strings"
	"testing"
)

// TestTail: no half of a word is left, and a text without words is cut all the same.
func TestTail(t *testing.T) {
	t.Parallel()
	const text = "the key is sk-Zx81kQp02LmVt7RbYc45 and no more"
	for most := range len(text) + 2 {
		got := tail(text, most)
		if len(got) > max(most, 0) || strings.Contains(got, "Zx8") != strings.Contains(got, "c45") {
			t.Errorf("%d: %q", most, got)
		}
	}
	long := strings.Repeat("é", 1000)
	if got := tail(long, 801); len(got) != 800 {
		t.Errorf("%d bytes", len(got))
	}
}
