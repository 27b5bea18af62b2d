// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package catalog

import (
	"slices"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/score"
)

// Wanted is a case that expects tools of a catalog.
type Wanted struct {
	ID, Question string
	// Want has the expected tools only; Gold are the positions of these and of the acceptable
	// ones in the catalog.
	Want callvet.Selection
	Gold []int
}

// WantedOf is the question of a case; known are the positions of tools in the catalog, by name.
// ok is false where the case has no question, or expects no tool or an unknown one.
func WantedOf(c *callvet.Case, known map[string]int) (*Wanted, bool) {
	want, ok := score.SelectionOf(&c.Expect)
	k := &Wanted{ID: c.ID, Want: callvet.Selection{Tools: want.Tools}, Question: c.Question()}
	if !ok || len(want.Tools) == 0 || k.Question == "" {
		return nil, false
	}
	for _, t := range want.Tools {
		if _, ok := known[t]; !ok {
			return nil, false
		}
	}
	for _, t := range slices.Concat(want.Tools, want.Acceptable) {
		if i, ok := known[t]; ok && !slices.Contains(k.Gold, i) {
			k.Gold = append(k.Gold, i)
		}
	}
	return k, true
}
