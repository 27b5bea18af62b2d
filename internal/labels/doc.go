// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

// Package labels keeps what people said about tasks and calls, and what becomes
// of it: it answers whether a judge may be believed, and how many tasks truly
// passed.
//
// A Label is one verdict of one person, with how the task was drawn and what
// judges said of it; Read and Appender are its file, Import and Export other
// forms of it. Calibrate holds a judge against labels and gives a Report;
// Calibration is the part that travels to another run. Queue chooses what to
// label next.
//
// The room counts and chooses; every formula is in stats and the rooms below it.
// It asks nobody anything, opens no trace file and never shows a judge's verdict
// to a labeller.
package labels
