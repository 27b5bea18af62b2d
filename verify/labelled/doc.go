// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

// Package labelled answers one question: does the labelled set of the examples agree with its card?
// It counts the tasks and finds repeated ones. It replays the right attempts through the evaluation
// loop with the fixtures. It also changes each right attempt in all typical wrong ways, one at a
// time: every changed attempt must fail.
package labelled
