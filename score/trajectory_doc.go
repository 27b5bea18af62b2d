// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

// Package trajectory answers one question about an attempt at a task that is
// known to need certain calls: which of them were made, and was the user told
// what had to be told?
//
// Gold is what the task needs, Check holds a callvet.Trace against it, and the
// Outcome says for every gold step which call answers it, or which came nearest.
// Rules are callvet's own (every call answers one step) or those of the τ-bench
// family, under which recorded verdicts come out again.
//
// It does not order the calls (a task may be done in several orders), does not
// look into the state that the calls left behind, and does not decide whether
// the attempt passed: Reward multiplies parts that others have decided.
package score
