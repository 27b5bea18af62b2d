// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

// Package score turns a trace into a result. It answers: did this attempt do
// what its case expects, how far off is it, and why?
//
// New makes the Scorer of a suite, Scorer.Compile makes a case ready, and
// Compiled.Score judges one attempt at that case: its outcome first, then which
// call answers which expectation (an optimal assignment), arguments, order,
// contract, multi-turn components, response assertions, and last the one error
// class that applies. The names, units and empty cases of all scores stand with the
// Score* constants. A measure that can never apply to a case is absent from the
// result; one that applies but could not be taken is unscored with a reason.
//
// It does not run models or tools, keep results, or average anything over
// cases. Comparing single arguments is the work of score/match.
package score
