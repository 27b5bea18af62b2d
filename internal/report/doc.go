// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

// Package report answers one question: how is a result shown to a person, a build and a program?
//
// A View holds a run, its panels and its attempts; a Face writes it: terminal, HTML, Markdown,
// JUnit, JSON, JSON lines and CSV. ScoresView and its faces show trace files, GatesTerminal and
// its relatives gates, labels and plans, SelectionTables routers and retrievers. A Table is built once for all faces. Lesson, WhatIf,
// Sweep and others write the results of internal/catalog. Progress is the live line on standard
// error.
//
// Every text of a model, a tool or a suite is untrusted: each face makes control characters and
// direction overrides visible and escapes for its own format. Colour never carries a meaning alone,
// and no rate is shown without its interval. The package computes no number, opens no file and
// reads no environment. Attempts are streamed: the memory of a face is bounded.
package report
