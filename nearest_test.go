// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package callvet_test

import (
	"strings"
	"testing"

	"github.com/callvet/callvet"
)

func TestNearest(t *testing.T) {
	t.Parallel()
	known := []string{"expect", "expected_tool", "id", "tags", "multi_turn"}
	for s, want := range map[string]string{
		"expcet": "expect", "expectedTool": "expected_tool", "Multi-Turn": "multi_turn", "tag": "tags", "idd": "id",
		"weather": "", "": "", "x": "", strings.Repeat("expect", 100): "", "\xff\xfe": "",
	} {
		if got := callvet.Nearest(s, known); got != want {
			t.Errorf("%.20q: %q, want %q", s, got, want)
		}
	}
	if got := callvet.Nearest("a", nil); got != "" {
		t.Errorf("nothing is known, yet %q", got)
	}
}
