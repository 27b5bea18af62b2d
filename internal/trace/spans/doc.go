// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

// Package spans reads attempts out of distributed traces: OTLP in JSON or
// protobuf (spans, and the log records that are events of them), the dumps of Tempo
// and Jaeger, flat lists of spans as SDKs write them, and the export of OpenAI Agents.
//
// It answers one question: which conversation and which calls do these spans
// tell of? A Gatherer collects spans and gives one attempt per task: a trace, or the
// traces of which one repeats the calls of another. What the SDKs name differently is
// one table (dialects.go); conventions.go reads messages, execution.go what tools did.
//
// Spans of other work are counted and left out. Where a model's answer is not there,
// or not legible, it is never said that nothing was called. It exports nothing.
package spans
