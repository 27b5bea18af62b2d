// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

// Package labelled answers one question: is the labelled set of the examples what its card
// says? It counts the tasks, looks for those that repeat one another, replays what is right
// through the evaluation loop against the fixtures, and changes each right attempt in all the
// ways in which targets are wrong, one at a time: every one has to fail.
package labelled
