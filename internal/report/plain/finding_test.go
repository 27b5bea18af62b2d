// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package plain_test

import (
	"testing"

	"github.com/callvet/callvet/internal/report/plain"
	"github.com/callvet/callvet/panel"
)

// TestFindingCount: the share of the failing attempts follows the count, unless the finding counts
// those itself or none of them has it.
func TestFindingCount(t *testing.T) {
	t.Parallel()
	for want, f := range map[string]panel.Finding{
		"20 of 1,000 calls; 4 of 5 failing attempts": {Count: 20, Of: 1000, Unit: "calls", Failed: 4, Failing: 5},
		"20 of 1,000 calls":                          {Count: 20, Of: 1000, Unit: "calls", Failing: 5},
		"4 of 5 failing attempts":                    {Count: 4, Of: 5, Unit: panel.UnitFailing, Failed: 4, Failing: 5},
	} {
		if got := plain.FindingCount(&f); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
