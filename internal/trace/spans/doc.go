// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

// Package spans reads attempts out of distributed traces: OTLP in JSON or
// protobuf, the dumps of Tempo and Jaeger, and flat lists of spans as SDKs write them.
//
// It answers one question: which conversation and which calls do these spans
// tell of? A Gatherer collects spans and gives one attempt per trace. It knows
// the GenAI conventions of OpenTelemetry (messages in attributes or in one
// event, the older event per message, the oldest numbered attributes), those of
// OpenInference, and what ADK and Traceloop add.
//
// Spans of other work are counted and left out. It exports nothing.
package spans
