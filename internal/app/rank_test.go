// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package app

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/callvet/callvet/panel"
)

// TestFirst: one alone is the first only where its rank is certain.
func TestFirst(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		ranks []panel.Rank
		want  []int
	}{
		"none":      {nil, nil},
		"one":       {[]panel.Rank{{Best: 1, Worst: 1}}, []int{0}},
		"certain":   {[]panel.Rank{{Best: 2, Worst: 3}, {Best: 1, Worst: 1}, {Best: 2, Worst: 3}}, []int{1}},
		"two alike": {[]panel.Rank{{Best: 1, Worst: 2}, {Best: 3, Worst: 3}, {Best: 1, Worst: 2}}, []int{0, 2}},
		"no other may be the first, and its rank is not certain": {
			[]panel.Rank{{Best: 1, Worst: 2}, {Best: 2, Worst: 3}, {Best: 3, Worst: 3}}, []int{0, 1},
		},
	} {
		if d := cmp.Diff(tt.want, (&Ranking{Ranks: tt.ranks}).First()); d != "" {
			t.Errorf("%s: %s", name, d)
		}
	}
}
