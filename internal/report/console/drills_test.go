// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package console

import (
	"bytes"
	"strings"
	"testing"

	"github.com/callvet/callvet/internal/app/runs"
)

// TestBlockedAttempts: attempts that the provider blocked are reported if there are any.
func TestBlockedAttempts(t *testing.T) {
	t.Parallel()
	for n, want := range map[int]string{
		0: "", 1: "1 attempt was blocked by the provider",
		3: "3 attempts were blocked by the provider",
	} {
		var b bytes.Buffer
		Drills(&b, &runs.DrillsResult{Targets: []runs.DrillsTarget{{Name: "agent", All: runs.DrillsSlice{Refused: n}}}}, 0)
		if s := b.String(); !strings.Contains(s, want) || strings.Contains(s, "by the provider") != (n > 0) {
			t.Errorf("%d:\n%s", n, s)
		}
	}
}
