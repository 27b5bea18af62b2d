// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

// Package foreign converts recordings of other tools to attempts, and attempts to formats of other
// tools.
//
// It answers one question: what is in this file? Open examines the content, never the name, and
// returns an Importer. Its Attempts yields the attempts one by one; its Report counts them, the
// data that could not be converted, and the bad lines. Export writes a format.
//
// Formats of conversations (chat transcripts and model answers, trajectories of benchmarks, logs of
// evaluation tools, exports of agent frameworks) are listed in Formats, the most specific first.
// Each reports whether a value is of its form, and reads it into a trace.Sink, which also counts
// what could not be converted.
//
// Distributed traces are OTLP in JSON or protobuf (spans, and the log records that are events of
// them), and the dumps of Tempo and Jaeger. Flat lists of spans as SDKs write them and the export
// of OpenAI Agents are such traces, too. A Gatherer collects spans and returns one attempt per
// task: a trace, or several if one repeats the calls of another. The attribute names of SDKs are
// one table (dialects.go). conventions.go reads messages, execution.go reads tools. Other spans are
// counted and left out. If a model's answer is missing or unreadable, the attempt is never an
// abstention.
//
// It opens no file and judges no call.
package foreign
