// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

// Package stats answers one question: how sure may one be of a number? It
// holds intervals for rates, means, ratios and quantiles over observations that
// are clustered by case, and tests for the difference between two runs of the
// same cases.
//
// The types are Interval, an estimate with its two ends and its status, and
// Clusters, the mergeable sums from which the interval of any rate is computed
// without keeping the observations.
//
// Everything is deterministic: no function draws a random number. An estimate
// that is not defined is told by its Status and written as null; it is never 0
// and never NaN. The package knows nothing of cases, calls or models.
package stats
