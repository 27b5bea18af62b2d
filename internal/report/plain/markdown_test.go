// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package plain_test

import (
	"testing"

	"github.com/callvet/callvet/internal/report/plain"
)

// TestMarkdownCode: commands stay as they are typed, and the text around them is escaped.
func TestMarkdownCode(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"run `callvet run S --system @p.txt`, *then* more": "run `callvet run S --system @p.txt`, \\*then\\* more",
		"`callvet show last`":                              "`callvet show last`",
		"one ` alone_":                                     "one \\` alone\\_",
		"":                                                 "",
	} {
		if got := plain.MarkdownCode(in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}
