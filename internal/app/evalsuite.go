// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package app

import (
	"github.com/callvet/callvet"
)

// EvalSuiteRequest asks for a run in the words of Eval Case Interfaces.
type EvalSuiteRequest struct {
	Run string `json:"run"`
	// Baseline is an earlier run; "": none.
	Baseline string `json:"baseline,omitempty"`
	// Target and Tier choose among several; "": all.
	Target string       `json:"target,omitempty"`
	Tier   callvet.Tier `json:"tier,omitempty"`
	Keep   []string     `json:"keep,omitempty"`
	// Gates is a gate file, for its quarantine; "": none.
	Gates string `json:"gates,omitempty"`
}
