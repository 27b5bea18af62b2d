// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

// Package run carries out a run: it turns cells (case × target × repeat) into
// traces, has them scored and makes each result durable before it counts.
//
// Config has what to run and through which ports; Run does it; an Event reports what became
// durable. This package has the only turn loop of the project, so the only code that makes a
// callvet.Trace. Retries, time limits, rate limits, budgets, the response cache and resuming are
// around that loop and nowhere else.
//
// Providers run side by side, each with its own concurrency, which falls when the
// provider says "too many requests" and recovers slowly. One goroutine stores
// what the workers finish, in batches; only then is it counted and shown. Nothing
// grows with the number of cells except one bit for each when a run is resumed.
//
// It knows no provider, no database and no flag: those are handed in. It computes
// no score and no rate.
package run
