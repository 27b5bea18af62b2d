// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

// Package experiment answers one question: which of the configurations that an experiment has
// tried is the best, and may it be called that?
//
// Choose compares lower bounds, so that a lucky small run does not win, and calls a configuration
// confirmed only after a fresh run of it. Where runs and their scores come from is the server's
// matter.
//
// Source: Tool Calling Evaluation, "Experiment Tracking".
package experiment
