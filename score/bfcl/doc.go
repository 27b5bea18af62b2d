// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

// Package bfcl judges tool calls by the rules of the Berkeley Function Calling
// Leaderboard's AST checker, so that published verdicts can be reproduced.
//
// A Case is compiled once from a callvet case and its tools; Check then returns the leaderboard's
// verdict and error type for the calls of an attempt. An Expectation is one call with its
// acceptable values per parameter.
//
// The rules are the leaderboard's, quirks included (strings compare without
// spaces, letter case and some punctuation; parallel calls are matched
// greedily; a dictionary inside a dictionary is compared literally).
// docs/design/bfcl.md lists every rule. The package does not decode model output,
// normalize arguments or score by any other scheme.
package bfcl
