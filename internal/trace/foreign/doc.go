// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

// Package foreign turns recordings of other tools into attempts, and attempts
// into what other tools read.
//
// It answers one question: what is in this file? Open looks at the content,
// never at the name, and gives an Importer whose Attempts come one after the
// other and whose Report says what was read, what could not be carried and
// which lines were no records; Export writes a format.
//
// Formats of conversations (chat transcripts and model answers, trajectories of benchmarks, logs of
// evaluation tools, exports of agent frameworks) are listed in Formats, most telling first: each
// reports whether a value is of its form and reads it into a trace.Sink, with what it could not carry.
//
// Distributed traces are OTLP in JSON or protobuf (spans, and the log records that are events of
// them), the dumps of Tempo and Jaeger, flat lists of spans as SDKs write them, and the export of
// OpenAI Agents. A Gatherer collects spans and gives one attempt per task: a trace, or several where
// one repeats the calls of another. What SDKs name differently is one table (dialects.go);
// conventions.go reads messages, execution.go what tools did. Spans of other work are counted and left
// out. Where a model's answer is missing or not legible, the attempt is never an abstention.
//
// It opens no file and judges no call.
package foreign
