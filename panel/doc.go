// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

// Package panel answers one question: what do all the results of a run add up
// to, and for whom? It turns attempts into tables of metrics, one table per
// target and slice, each metric with its unit, n and interval.
//
// The types are Accumulator, which takes attempts one by one and keeps sums
// only; Panels, the tables it gives; and Comparison, the paired difference of
// two runs of the same cases.
//
// Attempts that ended in an error or did not run are in no mean; they are
// counted beside it. A metric that no attempt carries is undefined, never 0.
// The package scores nothing and prints nothing.
package panel
