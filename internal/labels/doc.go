// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

// Package labels keeps what people said about tasks and calls.
//
// A Label is one verdict of one person, with how the task was drawn and what judges
// said of it; Read and Appender are its file, Import and Export other forms of it, and
// Latest the last word of everybody. What labels say of a judge is the matter of
// internal/calibrate.
//
// The room asks nobody anything, opens no trace file and never shows a judge's verdict
// to a labeller.
package labels
