// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

// Package replay holds the worlds that answer a target's calls without doing
// anything: what would the tool have said?
//
// Mocks makes a callvet.World from the mock responses of a case and its suite:
// chosen by tool and arguments, given in sequence, with errors and latencies. The
// same calls in the same order always get the same answers.
//
// It calls no tool, checks no contract (the caller does that before it asks) and
// scores nothing.
package replay
