// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

// Package results answers one question: what does a stored run contain?
//
//	Open ─► Run ─► Panels, View, Attempts, NewGrid, ShowCase, Rank, NewFeed
//
// A Run is a stored run with its suite and its Manifest. The verdicts of judges and the labels of
// people are added to its attempts (OpinionIndex) before they are summed. Runs and trace files are
// summed by the same code (Summing), which package traces uses too. Calibrate compares judges with
// people.
package results
