// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

// Package steps answers one question: what are the metrics, slices and known problems of the steps and
// tasks in trace files?
//
// A Sheet is the table that is being filled. It keeps a window of open tasks, in partitions that
// may be filled at the same time, and folds tasks that had no line for long into Sums. Sums are
// integers, so the order of folding does not matter. A Batch carries the scored lines of one block
// into the Sheet. A Sheet can be written as a partial result, merged with partial results of other
// parts of the same file, and reported as panel.Panels.
//
// SliceNames numbers slices, tools, targets and judges; a SliceSet is the slices of one line.
// SymptomCounts counts the symptoms of the debugging playbook over calls, AttemptSigns the issues of
// whole attempts. SymptomFindings returns those that occur, ordered by the share of failures that they
// explain. Source: Evaluating Tool Calling, §7.
//
// The task is the cluster of every interval: all attempts at it are folded together. The package
// reads no files, scores nothing and starts no goroutines.
package steps
