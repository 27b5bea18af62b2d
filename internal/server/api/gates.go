// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package api

import (
	"github.com/callvet/callvet/panel/gates"
)

// GateVerdict is the verdict of gates on a run.
type GateVerdict struct {
	Report *gates.Report `json:"report"`
	// Incomplete: the run is not over, and the verdict may change.
	Incomplete bool `json:"incomplete,omitempty"`
}
