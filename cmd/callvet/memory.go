// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package main

import "runtime/debug"

// gcPercent is how far the heap of a run may grow before it is collected. A run
// keeps little and allocates much: with Go's 100 % a tenth more of its time goes
// into collecting; with 200 % a run of 5,000 cases comes near 64 MB (measured).
const gcPercent = 175

// tuneMemory sets gcPercent unless $GOGC says otherwise; Go reads $GOMEMLIMIT itself.
func (a *app) tuneMemory() {
	if a.getenv("GOGC") == "" {
		debug.SetGCPercent(gcPercent)
	}
}
