// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package app

import (
	"testing"

	"github.com/callvet/callvet"
)

// TestPlannedPlaces: each attempt that is planned has one place in the order of the rows, also where cases
// have their own repeats.
func TestPlannedPlaces(t *testing.T) {
	t.Parallel()
	m := &Manifest{Repeats: 2, OwnRepeats: map[int]int{1: 5, 4: 1}, Targets: make([]callvet.Target, 3), Cases: []int{7, 4, 1, 2}}
	if n := m.attempts(0); n != 10 || m.mostRepeats() != 5 {
		t.Errorf("%d attempts, at most %d at a case", n, m.mostRepeats())
	}
	for _, byCase := range []bool{true, false} {
		g := &plannedGrid{run: &Run{Manifest: m}, byCase: byCase, cases: []int{7, 4, 1, 2}}
		g.layOut()
		seen := map[[3]int]bool{}
		for i := range 30 {
			c := g.at(i)
			if at, ok := g.position(c); !ok || at != i {
				t.Errorf("by case %v: the attempt %+v at %d has the place %d, %v", byCase, c, i, at, ok)
			}
			seen[[3]int{c.Case, c.Target, c.Repeat}] = true
		}
		if len(seen) != 30 {
			t.Errorf("by case %v: %d attempts", byCase, len(seen))
		}
		for _, c := range []callvet.Cell{{Case: 4, Repeat: 1}, {Case: 2, Repeat: 2}, {Case: 8}, {Case: 1, Target: 3}} {
			if _, ok := g.position(&c); ok {
				t.Errorf("by case %v: %+v was not planned", byCase, c)
			}
		}
	}
	if text := m.repeatsText(); !m.uneven() || text != "2, and 1 to 5 at 2 cases" {
		t.Errorf("repeats: %s", text)
	}
	if even := (&Manifest{Repeats: 2, OwnRepeats: map[int]int{1: 2}}); even.uneven() || even.repeatsText() != "2" {
		t.Errorf("a case with as many as all others: %s", even.repeatsText())
	}
	m.Cases = nil
	if n := m.attempts(10); n != 20+3-1 || m.mostRepeats() != 5 {
		t.Errorf("%d attempts, at most %d at a case", n, m.mostRepeats())
	}
}
