// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

// Package intake answers one question: which traces did users send, and what do they say together?
//
// A collection is read as one file, in the form that it was begun in. Files are added to it, and
// exports of OpenTelemetry (OTLP). The spans of a trace may come in several of them: the reader of
// trace files puts them together, as it does for a file.
//
//	file ─► File ─┐
//	OTLP ─► OTLP ─┴► Batch ─► Append ─► part of a collection ─► Text ─► the reader of trace files
//
// What Append returned from is on the disk. Nothing is dropped to make room: what has no room is
// refused. Nothing here says what a trace means, and nothing who may do what.
package library
