// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

// Package evals answers one question: what can a client do with evaluations?
//
// Runs and their results, judgings, comparisons, gates, drills, experiments with timelines and trends, schedules with
// webhooks. ToolEval, ToolEvalShard and Judge are the jobs behind them.
package evals
