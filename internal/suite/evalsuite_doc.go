// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

// Package evalsuite answers one question: what is a run in the words of Eval Case
// Interfaces? A Builder takes the attempts of a run and gives one Result for each target,
// tier and tool: the EvalSuiteResult of that document, and further fields where it has no
// word: several attempts at a case, attempts that could not be judged, cases that are new,
// gone or in quarantine.
//
// It computes no statistic: what changed against a baseline is panel's, and is told here
// case by case.
package suite
