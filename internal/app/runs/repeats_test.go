// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package runs

import (
	"testing"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/app/results"
)

// TestPlannedPlaces: each attempt that is planned has one place in the order of the rows, also where cases
// have their own repeats.
func TestPlannedPlaces(t *testing.T) {
	t.Parallel()
	m := &results.Manifest{
		Repeats: 2, OwnRepeats: map[int]int{1: 5, 4: 1}, Targets: make([]callvet.Target, 3),
		Cases: []int{7, 4, 1, 2},
	}
	if n := m.Attempts(0); n != 10 {
		t.Errorf("%d attempts", n)
	}
	for _, byCase := range []bool{true, false} {
		g := &results.PlannedGrid{Run: &results.Run{Manifest: m}, ByCase: byCase, Cases: []int{7, 4, 1, 2}}
		g.Plan()
		seen := map[[3]int]bool{}
		for i := range 30 {
			c := g.At(i)
			if at, ok := g.Position(c); !ok || at != i {
				t.Errorf("by case %v: the attempt %+v at %d has the place %d, %v", byCase, c, i, at, ok)
			}
			seen[[3]int{c.Case, c.Target, c.Repeat}] = true
		}
		if len(seen) != 30 {
			t.Errorf("by case %v: %d attempts", byCase, len(seen))
		}
		for _, c := range []callvet.Cell{{Case: 4, Repeat: 1}, {Case: 2, Repeat: 2}, {Case: 8}, {Case: 1, Target: 3}} {
			if _, ok := g.Position(&c); ok {
				t.Errorf("by case %v: %+v was not planned", byCase, c)
			}
		}
	}
	m.Cases = nil
	if n := m.Attempts(10); n != 20+3-1 {
		t.Errorf("%d attempts at all cases", n)
	}
}

// TestRepeatRange: the number of a run counts where a case has no number of its own.
func TestRepeatRange(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		own    map[int]int
		chosen []int
		cases  int
		want   [2]int
	}{
		"no own number":      {cases: 3, want: [2]int{2, 2}},
		"more and fewer":     {own: map[int]int{0: 1, 1: 5}, cases: 3, want: [2]int{1, 5}},
		"the same":           {own: map[int]int{0: 2}, cases: 3, want: [2]int{2, 2}},
		"all have their own": {own: map[int]int{0: 1, 1: 1}, cases: 2, want: [2]int{1, 1}},
		"chosen ones have":   {own: map[int]int{1: 5}, chosen: []int{1}, cases: 1, want: [2]int{5, 5}},
		"no case":            {chosen: []int{}, want: [2]int{2, 2}},
	} {
		m := &results.Manifest{Repeats: 2, OwnRepeats: tc.own, Cases: tc.chosen}
		if least, most := m.RepeatRange(tc.cases); least != tc.want[0] || most != tc.want[1] {
			t.Errorf("%s: %d to %d, want %v", name, least, most, tc.want)
		}
	}
}
