// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

// Package stats answers one question: how certain is a number?
//
// It has intervals for rates, means, ratios and quantiles over observations that are clustered by
// case, and tests for the difference between two runs of the same cases. Interval is an estimate
// with its two ends and its status; Clusters are the mergeable sums for the interval of any rate.
// Kappa, AC1 and Alpha measure agreement between raters. Functions named Draw draw observations for
// plans and simulations.
//
// Everything is deterministic: random numbers come from the seed that is passed. An undefined
// estimate has a Status and is written as null; it is never 0 and never NaN in a file. The package
// does not know calls or models. Package stats/judge estimates true success from a fallible judge,
// stats/gate decides verdicts and sample sizes, and stats/conform compares all with other software.
package stats

// Version names the methods and defaults of this package and of those below it. It goes into every
// report: a different version may decide a gate differently.
const Version = "2"
