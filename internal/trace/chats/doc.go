// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

// Package chats reads attempts out of formats that record a conversation: chat
// transcripts and model answers, trajectories of benchmarks, logs of evaluation
// tools and exports of agent frameworks.
//
// It answers one question: which attempts does this JSON value hold? Formats
// lists them, most telling first; each says whether a value is of its form and
// reads it into a trace.Sink, where it also says what it could not carry.
//
// It opens nothing, follows no spans (spans does) and judges no call.
package chats
