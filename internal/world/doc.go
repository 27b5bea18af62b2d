// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

// Package world answers one question: what does a tool answer to this call?
//
// Mocks makes a callvet.World from the mock responses of a case and its suite: chosen by tool and
// arguments, in sequence, with errors and latencies. A Tape records the answers of a different
// world, one file for each call, and Recordings replay them. A recording is found by tool, version,
// canonical arguments and the number of the call in its conversation. A call without a recording is
// a MissError, never an answer. Faulty adds faults to a world. None of these executes a tool.
//
// Tools are real tools, over HTTP or as commands: LiveWorld is the world of one attempt. Guards
// decide before a call whether it may be executed, and after it whether the target may see the
// result. Their rules are those of score/safety; a Policy has the action for each.
//
// The package checks no contract and scores nothing.
package world
