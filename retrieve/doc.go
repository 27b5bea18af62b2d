// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

// Package retrieve answers one question: which tools of a catalogue fit a question?
//
// LoadCatalogue reads a catalogue. An Index is built from its Entries with Options and returns Hits
// with every part of their scores. Explain compares one tool, usually the right one, with the
// winner. RouteRules and LearnedRoutes choose the part of the catalogue that is searched; Pipeline
// combines routes, search and reranking. A service uses the same package as the evaluation, so that
// the measured code is the code in use.
//
// Its parts: Analyzer and Stem split texts into words, BM25Index scores words over the fields of a
// tool, VectorMatrix and NGram score vectors. Preset Default mixes BM25F with vectors; BigTool is
// the arithmetic of the Tool Selection Evaluation System.
//
// The package calls no model over the network and does not judge its results.
package retrieve
