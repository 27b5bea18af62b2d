// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package results

import (
	"testing"

	"github.com/callvet/callvet"
)

// TestRulesNote: numbers by earlier rules are named with the versions of the attempts.
func TestRulesNote(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name   string
		byCell map[int]int
		want   string
	}{
		{"no attempt", map[int]int{}, ""},
		{"all by the rules of this version", map[int]int{3: 5}, ""},
		{
			"an earlier run",
			map[int]int{1: 5},
			"verdicts by earlier rules: 5 attempts by version 1; what is measured of calls is computed by version 3",
		},
		{
			"a run that was resumed",
			map[int]int{3: 1, 1: 5},
			"verdicts by earlier rules: 5 attempts by version 1, 1 attempt by version 3; what is measured of calls is computed by version 3",
		},
	} {
		if got := rulesNote(tt.byCell); got != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
	if got := []int{
		(&Manifest{}).ChangedRules(),
		(&Manifest{Rules: callvet.RulesVersion}).ChangedRules(),
	}; got[0] != callvet.RulesVersion || got[1] != 0 {
		t.Errorf("attempts are marked with %v", got)
	}
}
