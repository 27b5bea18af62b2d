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
// Everything is deterministic: only Bootstrap draws random numbers, from the seed
// it is given. An estimate that is not defined is told by its Status and written
// as null; it is never 0 and never NaN in a file. The package knows nothing of
// cases, calls or models. Next to it, stats/dist has the distributions, stats/judge
// true success behind a fallible judge, stats/agree agreement between raters,
// stats/gate verdicts and planning, stats/tally scores made of counts, and
// stats/conform holds them all against other people's software.
package stats

// Version names the methods and defaults of this package and of those below it.
// It goes into every report: another version may decide a gate otherwise.
const Version = "2"
