// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

// Package evidence checks how callvet reads answers: every finish reason on every wire, in every
// recording and in every form of trace file, calls that a model wrote as text, and the history that
// a request repeats.
//
// It answers one question: is an answer without a call an abstention only with evidence for it? The
// rules are a small table (rules.go), written independently of the code that decides. All answers are
// read through the binary.
package evidence
