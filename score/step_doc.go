// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

// Package step scores one step of a trace file. It answers: did the call keep
// its tool's contract, was it needed and the right one, did it carry the right
// arguments, did it run, and is its result what it should be?
//
// A Scorer is made once from a Config and forked for every goroutine; Score
// fills a callvet.StepScore from handles into the line (Input) and needs no
// memory in the steady state, Explain says in words what Score found, for the
// few steps that are shown. What a line does not tell is unknown, never false.
//
// The rules are those of Evaluating Tool Calling, "Step-level (per call)". The
// room does not read files, does not add up steps, and knows no tasks.
package score
