// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package report

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/callvet/callvet/panel"
)

// TestTargetWarnings: the same warning of several targets is one warning with all their names.
func TestTargetWarnings(t *testing.T) {
	t.Parallel()
	target := func(name string, warnings ...string) panel.TargetPanel {
		return panel.TargetPanel{Name: name, Overall: panel.Slice{Warnings: warnings}}
	}
	v := &View{Panels: &panel.Panels{Warnings: []string{"of all"}, Targets: []panel.TargetPanel{
		target("a", "4 of 4 attempts have no known cost", "2 of 4 attempts did not run"), target("b"), target("c",
			"4 of 4 attempts have no known cost"),
	}}}
	want := []string{"of all", "each of a, c: 4 of 4 attempts have no known cost", "a: 2 of 4 attempts did not run"}
	if d := cmp.Diff(want, v.warnings()); d != "" {
		t.Error(d)
	}
}
