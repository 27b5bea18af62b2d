// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

// Package replay holds the worlds that answer a target's calls without doing
// anything: what would the tool have said?
//
// Mocks makes a callvet.World from the mock responses of a case and its suite:
// chosen by tool and arguments, given in sequence, with errors and latencies. The
// same calls in the same order always get the same answers.
//
// A Tape records what another world answers, one file for each call, and Recordings
// answer the same calls again. A recording is found by tool, version, canonical arguments
// and the number of the call in its conversation; of its case, or for tools that only
// read of any. What was not recorded is a MissError, never an answer. Recordings have no
// tool to execute.
//
// Faulty lays faults over another world.
//
// It calls no tool, checks no contract (the caller does that before it asks) and
// scores nothing. It writes no file itself.
package world
