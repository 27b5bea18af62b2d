// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

// Package library answers one question: which suites and traces does a user have on a server, and
// what were their earlier versions?
//
// A suite is stored as a text that the loader of suites reads. An edit changes that text, reads and
// lints it as a run would, and stores it as a new version. Unedited parts stay unchanged.
//
//	text of a version ─► Document ─► edit ─► Read (loader and linter) ─► next version
//	file, OTLP export ─► Batch ─► Intake.Append ─► part of a collection ─► Text ─► the reader of trace files
//
// A collection of traces has the form of its first part. Spans of one trace may come in several
// exports. When Append returns without an error, the batch is on the disk. A batch without room is
// refused.
//
// The package does not decide who may do what: the server does, before it calls.
package library
