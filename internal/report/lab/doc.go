// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

// Package lab answers one question: how does the terminal show what was found about catalogues of tools?
//
// Queries, sweeps, curves, tuning, learned routes, coverage, findings of the linter, and edits with their effect.
package lab
