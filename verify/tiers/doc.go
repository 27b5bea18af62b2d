// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

// Package tiers compares what callvet does with golden, labeled, regression and rubric cases
// with what Eval Case Interfaces says of them: each assertion and each trap of it in one
// trial, its own weather cases with a scripted agent and mock tools, and what keeps
// regression cases as they were.
package tiers
