// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

// Package console answers one question: how does the terminal show what a command found, and what to type next?
//
// Each function writes one result of internal/app or internal/catalog as lines of text: searches
// and sweeps of catalogues, tuning, judgings, drills, variance, estimates, new cases. Hints
// writes an app.Action as a command line. Parts that other faces show too are drawn by
// internal/report.
package console
