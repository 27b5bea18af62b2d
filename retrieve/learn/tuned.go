// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package learn

import "github.com/callvet/callvet/stats"

// Tuned records how weights were chosen, in the file of the weights.
type Tuned struct {
	// Suite and Catalogue are hashes of the suite and the catalogue.
	Suite     string `json:"suite"`
	Catalogue string `json:"catalogue"`
	// Preset, K and Embed are the settings of the search for weights.
	Preset string `json:"preset"`
	K      int    `json:"k"`
	Embed  string `json:"embed,omitempty"`
	Goal   string `json:"goal"`
	// Seed, Holdout and Folds are how the cases were split. With Folds above 0, Train is all
	// cases, and Held counts the cases that were held out in turn.
	Seed    uint64   `json:"seed"`
	Holdout float64  `json:"holdout,omitempty"`
	Folds   int      `json:"folds,omitempty"`
	Train   TunePart `json:"train"`
	Held    TunePart `json:"held_out"`
	// Before and After are the goal's means over the cases held out, under the preset
	// and as tuned; Change is the difference, its interval by sets of right tools.
	Before float64        `json:"preset_mean"`
	After  float64        `json:"tuned_mean"`
	Change stats.Interval `json:"change"`
	P      float64        `json:"p"`
	// Exact is true where P counts all patterns of signs.
	Exact        bool `json:"p_exact"`
	BeyondChance bool `json:"beyond_chance"`
}
