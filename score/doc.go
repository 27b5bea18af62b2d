// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

// Package score answers one question: did this attempt do what its case expects, how far off is
// it, and why?
//
// New makes the Scorer of a suite, Scorer.Compile prepares a case, and Compiled.Score judges one
// attempt. It decides the outcome first, then which call answers which expectation (an optimal
// assignment), arguments, order, contract, multi-turn components, response assertions, and last
// the one error class that applies. The names, units and empty cases of all scores are documented
// at the Score* constants. A measure that can never apply to a case is absent; a measure that
// applies but could not be taken is unscored with a reason.
//
// StepScorer scores one step of a trace file, JudgeSelection the decision of a router or retriever
// layer by layer, CheckTrajectory the calls and facts that a task needs.
//
// The package runs no model and no tool, and averages nothing over cases. Single arguments are
// compared by score/match.
package score
