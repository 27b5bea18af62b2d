// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

// Package gate answers one question: is a number good enough, is it not, or is
// there too little data to decide?
//
// Rule is a bound with what must be known before it may decide; Decide holds an
// estimate's interval against it: PASS and FAIL each need an end of the interval
// beyond the bound, everything else is INCONCLUSIVE, with the number of cases that
// would settle it. Combine makes one Verdict of many. PassProbability,
// SampleSize and their like plan how many cases a gate needs; EValue and
// ConfidenceSequence may be looked at after every case.
//
// The package decides about numbers. Which metric of which slice a gate is about,
// and what a build does with the verdict, the caller knows.
package gate
