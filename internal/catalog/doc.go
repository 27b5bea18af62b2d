// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

// Package catalog does the work on catalogues of tools that `select` and `tools` are asked
// for. A request is a plain struct, and what comes out is data: a command line, a server
// and a worker call the same functions.
//
//	Search (what is searched, and how) ─► Open ─► a retriever
//	Query       one question ─► Answer
//	SweepAsk    sizes and settings, of retrievers ─► Sweep; of models ─► Curve
//	TuneAsk     weights looked for on one part of a suite, compared on the other ─► Tuning
//	LearnAsk    routes from examples ─► Lesson
//	Lint, ConfusableAsk   a catalogue by itself ─► Findings, Confusable
//	VectorsAsk  what is kept of models ─► Vectors
//
// Edits of catalogues are package revise's.
//
// It reads and writes by way of Env alone: it knows no flag, no terminal, no environment
// and no path of the machine that it runs on. Runs are made by the one evaluation loop.
package catalog
