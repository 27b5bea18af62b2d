// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

// Package selector answers one question: what do `callvet select` and the commands
// over catalogs do? Open makes a target of a catalog with Settings; Sweep holds
// configurations and sizes of the catalog against one another, Tuning weights against a
// preset. One question is told in cmd/callvet/query, routes are learned in
// cmd/callvet/teach, and what is to be said of a catalog itself is in cmd/callvet/inspect.
//
// Runs are made by the one evaluation loop; this package has none.
package selector
