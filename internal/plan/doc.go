// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

// Package plan answers one question: how many tasks and labels are needed before a gate on a
// metric can decide?
//
// Ask holds the request; Make returns a Plan, or the settings that the metric has no use for. It
// reads nothing: figures of a pilot are handed to it. The arithmetic is in stats/gate and
// panel/gates.
//
// ExperimentCandidates chooses which run of each configuration of an experiment is compared. It
// never takes the run with the highest score, so that luck is not chosen, and reports a fresh run
// as one that confirms. Source: Tool Calling Evaluation, "Experiment Tracking".
package plan
