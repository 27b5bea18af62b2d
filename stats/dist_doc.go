// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

// Package dist answers one question: what is the probability, or the quantile,
// of a textbook distribution?
//
// It holds the normal, Student t, chi-squared, binomial and beta distributions
// as plain functions of float64. Relative errors are some 1e-13, also for
// counts of millions and tails of 1e-10, which the intervals of package stats
// need at the ends of large samples.
//
// Arguments are the caller's duty: a function given a parameter outside of its
// documented range returns NaN, and nothing here reports errors or statuses.
package stats
