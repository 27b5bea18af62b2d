// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

// Package panel answers one question: what do all the results of a run add up
// to, and for whom? It turns attempts into tables of metrics, one table per
// target and slice, each metric with its unit, n and interval.
//
// The types are Panels, the tables, which package steps makes of attempts; Ledger,
// what a comparison needs of one side; and Comparison, the paired difference of two
// of them.
//
// Attempts that ended in an error or did not run are in no mean; they are
// counted beside it. A metric that no attempt carries is undefined, never 0.
// The package scores nothing and prints nothing.
package panel
