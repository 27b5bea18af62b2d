// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

// Package retrieve answers one question: which tools of a catalog fit a question, and
// why not the others?
//
// An Index is built of Entries (tools with keywords, example questions and a
// namespace) under Options, and gives Hits with every part of their scores. Explain
// holds one tool, typically the right one, against the winner. The same package runs
// in a service and under evaluation: what is measured is what is used.
//
// Presets: Default is BM25F over the fields of a tool, with stemming and matching of
// compounds, mixed with vectors; BigTool is the arithmetic of the Tool Selection
// Evaluation System. It does not route questions, choose agents, call models over the
// network or judge its own results.
package retrieve
