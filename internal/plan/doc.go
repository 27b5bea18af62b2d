// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

// Package plan answers one question: how many tasks and labels are needed before a gate on a
// metric can decide?
//
// Ask holds the request; Make returns a Plan, or the settings that do not apply to the metric. It
// reads no files: the caller passes the figures of a pilot. The arithmetic is in stats/gate and
// panel/gates.
//
// ExperimentCandidates chooses which run of each configuration of an experiment is compared. It
// does not choose the run with the highest score, because that would choose luck, and reports a
// fresh run as a confirmation. Source: Tool Calling Evaluation, "Experiment Tracking".
package plan
