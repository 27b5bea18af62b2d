// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

// Package panel answers one question: what are the metrics of a run, for each target and slice? It
// turns attempts into tables of metrics, one table per target and slice, each metric with its unit,
// n and interval.
//
// The types are Panels (the tables, which package steps makes from attempts), Ledger (what a
// comparison needs of one run) and Comparison (the paired difference of two ledgers).
//
// A RoutingCollector takes attempts with a callvet.Decision, case by case. Its RoutingSection has the
// layers of a router or retriever with their latency, the classes of matches, tags that fail more than
// others, the failed cases, and what the owner should fix first.
//
// Attempts that ended in an error or did not run are in no mean; they are counted separately. A
// metric without a value in any attempt is undefined, never 0. The package scores nothing and
// prints nothing.
package panel
