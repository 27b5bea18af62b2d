// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

// Package experiment answers one question: by which of its runs is each configuration of an
// experiment compared with the others?
//
// Candidates never takes the run with the highest score, so that luck is not chosen, and reports a
// fresh run as one that confirms. Where runs and their scores are stored, and which configuration is
// the best, is decided in the server.
//
// Source: Tool Calling Evaluation, "Experiment Tracking".
package plan
