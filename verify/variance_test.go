// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package main

import (
	"io"
	"math"
	"testing"

	"github.com/callvet/callvet/verify/proof"
)

// TestNestedReferences: the references agree with values computed by hand, and with each other.
func TestNestedReferences(t *testing.T) {
	t.Parallel()
	single := nested{{{1, 1}}, {{0, 0}}, {{1, 0}}}
	all := [componentCount]bool{true, true, true}
	for name, x := range map[string]struct {
		ys    nested
		known [componentCount]bool
		want  components
	}{
		"two levels":   {nested{{{1}, {1}}, {{1}, {0}}}, [componentCount]bool{true, true, false}, components{0, 0.25, 0}},
		"one attempt":  {single, [componentCount]bool{true, false, true}, components{1.0 / 6, 0, 1.0 / 6}},
		"three levels": {nested{{{1, 1}, {0, 0}}, {{1, 1}, {1, 0}}}, all, components{-0.125, 0.25, 0.125}},
	} {
		for by, got := range map[string]components{
			"mean squares": x.ys.meanSquares(x.known), "pairs": x.ys.pairs(x.known),
		} {
			for l := range got {
				if math.Abs(got[l]-x.want[l]) > 1e-12 {
					t.Errorf("%s by %s: %v, want %v", name, by, got, x.want)
				}
			}
		}
	}
	for l, got := range single.reml([componentCount]bool{true, false, true}) {
		if want := (components{1.0 / 6, 0, 1.0 / 6})[l]; math.Abs(got-want) > 1e-6 {
			t.Errorf("component %d by REML: %g, want %g", l, got, want)
		}
	}
	c := proof.New(io.Discard, "variance", part, nil)
	compareNested(c, "small", single, true)
	for _, by := range []string{byMeanSquares, byPairs, byREML} {
		if agree, compared, due := c.Tally(by); agree != 1 || compared != 1 || due != 1 {
			t.Errorf("%s: %d of %d agree, %d due", by, agree, compared, due)
		}
	}
}
