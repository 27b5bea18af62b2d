// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package results

import (
	"github.com/callvet/callvet/internal/app"
)

// RanWorld is what a manifest keeps of who answered calls.
type RanWorld struct {
	app.WorldRequest
	// Hash is that of the recordings.
	Hash string `json:"hash,omitempty"`
}
