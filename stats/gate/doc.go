// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

// Package gate answers one question: does a number pass, does it fail, or are there too few data to
// decide?
//
// Rule is a bound with the least data that it needs. Decide compares an estimate's interval with
// it: PASS and FAIL each need an end of the interval beyond the bound; everything else is
// INCONCLUSIVE. NeededCases is how many cases would settle it. Combine makes one Verdict of many.
// PassProbability, SampleSize and similar functions plan how many cases a gate needs. Sequence
// decides task by task and may be looked at after each; EValue and ConfidenceSequence are for counts.
//
// The package decides about numbers. The caller knows the metric and the slice, and what a build
// does with the verdict.
package gate
