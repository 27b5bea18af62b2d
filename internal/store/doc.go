// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

// Package store keeps suites, runs and cells in one SQLite file, and answers:
// what was run, with what, and what came out?
//
// DB is the open file. A Run is a row of the list of runs. Cells go in encoded
// (Encode, from many goroutines) and in batches (Append, from one), and are
// durable when Append returns: the write-ahead log is flushed once per batch.
// They come out as streams, so that memory does not grow with a run.
//
// A suite is stored under the hash of its content and never changes: a run keeps its suite, even if
// the file changes. A cell that has a verdict never changes either; only cells that ended in an
// error or were not run may be replaced, which is what resuming a run does.
//
// It computes no score, starts no run and has no default path: the caller passes the path of the
// file.
package store
