// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package traces

import (
	"testing"

	"github.com/callvet/callvet/panel"
	"github.com/callvet/callvet/panel/gates"
)

// TestComparedFor: differences about this suite are computed if a gate against a baseline needs
// them.
func TestComparedFor(t *testing.T) {
	t.Parallel()
	led := panel.NewLedger("r", []string{"agent"}, []string{})
	for name, tc := range map[string]struct {
		gate gates.Gate
		want bool
	}{
		"this suite":           {gates.Gate{Kind: gates.Regression, Population: panel.ThisSuite}, true},
		"tasks like these":     {gates.Gate{Kind: gates.Regression, Population: panel.TasksLikeThese}, false},
		"a bound on the suite": {gates.Gate{Kind: gates.Bound, Population: panel.ThisSuite}, false},
	} {
		got := comparedFor([]gates.Gate{{Kind: gates.Zero}, tc.gate}, led, led, panel.DiffConfig{})
		if (got.Suite != nil) != tc.want || got.Suite != nil && got.Suite.Population != panel.ThisSuite {
			t.Errorf("%s: %+v", name, got.Suite)
		}
	}
}
