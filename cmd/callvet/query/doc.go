// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

// Package query is `callvet select query`. It answers: what does a catalogue, or a
// service, make of this one question, and why? An Answer has the decision, what decided
// the route, the words that question and tools share, and what is to be said of the tools
// that were expected.
//
// It keeps nothing: a question that counts is a case of a suite.
package query
