// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

// Package evidence checks how callvet reads answers: every finish reason on every wire, in every
// recording and in every form of trace file, calls that a model wrote as text, and the history that
// a request repeats.
//
// It answers one question: is an answer without a call an abstention only where it shows one?
// The rules are a small table here (rules.go), written down without a look at the code that
// decides. All is read through the binary.
package evidence
