// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

// Package steps answers one question: what do the steps and tasks of trace files
// add up to?
//
// A Sheet is the table being filled: it keeps the tasks that are still open (a
// window of them, in partitions that may be filled at the same time) and folds
// those that were silent for long. What is folded lies in Sums, which are made
// of integers, so that it does not matter who folded what, and when. A Batch
// carries the scored lines of one block into the Sheet. A Sheet can be written
// as a partial result, merged with those of other parts of the same file, and
// told as panel.Panels.
//
// The task is the cluster of every interval: all attempts at it are folded
// together. The package reads no files, scores nothing and starts nothing.
package steps
