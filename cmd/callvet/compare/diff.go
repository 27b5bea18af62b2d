// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package compare

import (
	"github.com/callvet/callvet/panel"
	"github.com/callvet/callvet/stats"
)

// Diff compares two ledgers as panel.Diff does at its own confidence, and adjusts the
// p values of the slices under each metric together (Holm), as those of the pass rate
// are: among many slices some differ by chance.
func Diff(base, cand *panel.Ledger) *panel.Comparison {
	c := panel.Diff(base, cand, 0)
	for i := range c.Targets {
		for j := range c.Targets[i].Measured {
			adjust(c.Targets[i].Measured[j].Slices)
		}
	}
	return c
}

// adjust takes the slices as one family.
func adjust(of []panel.Difference) {
	p := make([]float64, len(of))
	for i := range of {
		p[i] = of[i].P
	}
	for i, q := range stats.Holm(p) {
		of[i].PHolm = &q
	}
}
