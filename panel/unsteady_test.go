// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package panel

import (
	"strings"
	"testing"
)

// TestUnsteadyTools: calls that both sides make at a case with the same arguments, and that give other
// results, are counted and their tools named.
func TestUnsteadyTools(t *testing.T) {
	t.Parallel()
	results := func(of ...uint64) map[Asked]uint64 {
		return map[Asked]uint64{{"weather", 1}: of[0], {"weather", 2}: of[1], {"time", 1}: of[2]}
	}
	only := map[Asked]uint64{{"weather", 3}: 1, {"time", 1}: 7}
	for name, c := range map[string]struct {
		target      int
		id          string
		before, now map[Asked]uint64
		want        string // part of the warning; "": there is none
	}{
		"the same results": {1, "c0", results(1, 2, 3), results(1, 2, 3), ""},
		"two of three differ": {
			1, "c0", results(1, 2, 3), results(5, 6, 3),
			"in 2 of 3 calls that both sides make at a case (tools hit most: weather (2))",
		},
		"one tool of two": {
			0, "c0", results(1, 2, 3), results(1, 6, 9),
			"in 2 of 3 calls that both sides make at a case (tools hit most: time (1), weather (1))",
		},
		"one call is on both sides": {
			0, "c0", results(1, 2, 3), only,
			"in 1 of 1 call that both sides make at a case (tools hit most: time (1))",
		},
		"no result on one side":       {0, "c0", results(1, 2, 3), nil, ""},
		"a case that is not there":    {0, "c9", results(1, 2, 3), results(4, 5, 6), ""},
		"a target that is not there":  {2, "c0", results(1, 2, 3), results(4, 5, 6), ""},
		"no target, as of other runs": {-1, "c0", results(1, 2, 3), results(4, 5, 6), ""},
	} {
		sides := [2]*Ledger{}
		for i, r := range []map[Asked]uint64{c.before, c.now} {
			l := judgedLedger("r", []string{"m", "n"}, 2, 1, false, func(int, int) int { return 1 })
			l.Answered(c.target, c.id, r)
			l.Answered(0, "c1", map[Asked]uint64{})
			sides[i] = l
		}
		got := strings.Join(Diff(sides[0], sides[1], 0).Warnings, "\n")
		if (got == "") != (c.want == "") || !strings.Contains(got, c.want) {
			t.Errorf("%s: %q", name, got)
		}
	}
	l := judgedLedger("r", []string{"m"}, 2, 1, false, func(int, int) int { return 1 })
	l.Answered(0, "c0", results(1, 2, 3))
	l.Answered(0, "c1", results(4, 5, 6))
	l.Answered(0, "c1", nil)
	if len(l.answers) != 2 {
		t.Errorf("answers at %d cases, want 2: those of a case stay when those of another come", len(l.answers))
	}
}
