// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package main

import (
	"math"
	"slices"
	"testing"

	"github.com/callvet/callvet/internal/tune"
)

// TestScriptSurfacesAreSearched: the true means are those of the surfaces, the budget is kept, and a full search finds
// a good combination.
func TestScriptSurfacesAreSearched(t *testing.T) {
	t.Parallel()
	for _, s := range scriptSurfaces() {
		m, err := newResponse(s.surface)
		if err != nil {
			t.Fatal(err)
		}
		best := slices.Max(m.truth)
		if s.name == "flat" {
			if slices.Min(m.truth) != best {
				t.Errorf("%s: from %g to %g", s.name, slices.Min(m.truth), best)
			}
			continue
		}
		if best < m.truth[0]+0.05 || best > 0.95 {
			t.Errorf("%s: the base has %g, the best %g", s.name, m.truth[0], best)
		}
		got, err := m.search(tune.SearchConfig{
			Mode: tune.Random, Trials: 40, Race: tune.RaceConfig{Tasks: 60},
		}, 41*60)
		if err != nil || got.calls > 41*60 || got.gain < 0.3*(best-m.truth[0]) {
			t.Errorf("%s: %+v of %g, %v", s.name, got, best-m.truth[0], err)
		}
	}
	flat := scriptSurfaces()[0].surface
	m, err := newResponse(flat)
	if err != nil || math.Abs(m.truth[0]-flat.Base) > 0.03 {
		t.Errorf("the base of the flat surface has %g, %v", m.truth[0], err)
	}
	if got, err := m.search(tune.SearchConfig{Race: tune.RaceConfig{Tasks: 60}}, 100); err != nil || got.calls > 100 {
		t.Errorf("%+v, %v", got, err)
	}
}
