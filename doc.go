// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

// Package callvet holds the nouns that every room of callvet shares: Tool,
// Case, Suite, Call, Turn, Trace, Target, Score, Result, and the small
// interfaces through which the evaluation loop reaches models and worlds.
//
// It answers one question: what do the words mean? It imports the standard
// library only, does no I/O and computes no score. Whatever makes a Trace lives
// in internal/run, whatever judges one lives in score, whatever sums them up
// lives in panel.
//
// Invariants kept everywhere: a Score is in [0,1] or explicitly unscored, never
// NaN; an infrastructure error is never a zero; "no trace" is not "no calls";
// "arguments not recorded" is not an empty object.
package callvet
