// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

// Package trace is the contract of tool-calling traces: one JSON line per step, and one per task
// for the rest.
//
// It answers one question: what happened, line by line? A Reader reads a file of any size in
// constant memory and returns a View of each line (handles into the line, for scoring) or its Step
// or Task. A Writer writes them, redacted. A Grouper joins the lines of an attempt to an Attempt (a
// callvet.Trace with further data), and Lines splits it again.
//
// It does not know other formats (package foreign does), opens no file and judges nothing. A line
// that is not a record is counted and listed with its number and the reason; "arguments not
// recorded" stays unknown.
package trace
