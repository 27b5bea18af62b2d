// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

// Package stats answers one question: how sure may one be of a number?
//
// It has intervals for rates, means, ratios and quantiles over observations that are clustered by
// case, and tests for the difference between two runs of the same cases. Interval is an estimate
// with its two ends and its status; Clusters are the mergeable sums from which the interval of any
// rate is computed. Tally counts what becomes rates, Kappa, AC1 and Alpha are agreement between
// raters, BetaQuantile and its relatives the distributions, and functions named Draw draw
// observations for plans and simulations.
//
// Everything is deterministic: random numbers come from the seed that is passed. An estimate that
// is not defined has a Status and is written as null; it is never 0 and never NaN in a file. The
// package knows nothing of cases, calls or models. stats/judge has true success behind a fallible
// judge, stats/gate verdicts and sample sizes, and stats/conform compares all with other software.
package stats

// Version names the methods and defaults of this package and of those below it.
// It goes into every report: another version may decide a gate otherwise.
const Version = "2"
