// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

// Package agree answers one question: do raters, people or judges, say the same?
//
// Table counts how two raters sorted the same tasks, for Kappa (plain and
// weighted) and AC1; Ratings holds any number of raters with gaps, for Alpha. Print
// AC1 next to kappa: where nearly all tasks pass, kappa collapses though raters
// agree.
//
// A coefficient that is not defined, because only one category occurs, is told by
// its Status and is never 0 or 1. The package knows neither raters nor labels.
package stats
