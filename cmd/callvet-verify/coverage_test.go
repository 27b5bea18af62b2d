// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package main

import (
	"testing"

	"github.com/callvet/callvet/stats/conform"
)

// TestSizedFinds: of gates that decide with a chance of n in 1,000, 800 keep a promise of
// 0.8. Fewer break it, and many more are not the fewest. What keeps it says so whatever the
// seed.
func TestSizedFinds(t *testing.T) {
	t.Parallel()
	for n, want := range map[int][2]bool{800: {true, true}, 740: {false, true}, 900: {true, false}, 0: {false, true}} {
		studies := sized("n in 1,000", n, 1, 0.8, func(t *trialRun, n int) bool { return t.Float64() < float64(n)/1000 })
		for i, s := range studies {
			if o := s.Run(coverageTrials, coverageSeed); o.OK != want[i] || o.Trials != 2000 {
				t.Errorf("%d, study %d: %+v, want %v", n, i, o, want[i])
			}
		}
	}
	chance := promised("a half", 0.5, func(t *trialRun) bool { return t.Float64() < 0.55 })
	if o := chance.Run(coverageTrials, coverageSeed); o.OK {
		t.Errorf("a chance of 0.55 was taken for 0.5: %+v", o)
	}
}

// TestStudiesAreNamed: the name is part of a study's seed and of what is compared.
func TestStudiesAreNamed(t *testing.T) {
	t.Parallel()
	all, err := coverageStudies()
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for _, s := range all {
		if s.Name == "" || seen[s.Name] {
			t.Errorf("two studies are called %q", s.Name)
		}
		seen[s.Name] = true
	}
}
