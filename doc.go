// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

// Package callvet defines the nouns that all packages share: Tool, Case, Suite, Call, Turn, Trace,
// Target, Score and Result. It also declares the small interfaces through which the evaluation loop
// reaches models and worlds.
//
// It answers one question: what do the words mean? It imports only the standard library, does no
// I/O and computes no score. Package internal/run makes traces, package score judges them, and
// package panel aggregates them.
//
// Invariants: a Score is in [0,1] or explicitly unscored, never NaN. An infrastructure error is
// never a zero. "No trace" is not "no calls", and "arguments not recorded" is not an empty object.
package callvet
