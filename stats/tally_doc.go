// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

// Package tally answers one question: what do counts of right and wrong choices
// come to?
//
// Confusion is the matrix of expected against predicted labels with the scores of
// each label; Selection counts decisions to call a tool or not; Ranking scores a
// list of retrieved tools. Smaller scores of one case (sets, weighted layers,
// several turns) are plain functions.
//
// A score over nothing is NaN, never 0 or 1. The package makes points; their
// intervals come from package stats, over cases.
package stats
