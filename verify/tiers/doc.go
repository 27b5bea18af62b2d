// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

// Package tiers compares callvet with Eval Case Interfaces on golden, labeled, regression and
// rubric cases. It tries each assertion and each trap of that document, its own weather cases with
// a scripted agent and mock tools, and the lock of regression cases.
package tiers
