// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

// Package trace is the contract by which tool-calling steps travel: one JSON
// line per step, and one per task for what a step cannot hold.
//
// It answers one question: what happened, line by line? A Reader walks a file
// of any size in constant memory and gives a View of each line (a handle into
// the line, for scoring) or the Step and Task it holds; a Writer writes them,
// redacted; a Grouper puts the lines of an attempt together into an Attempt
// (a callvet.Trace with what was known about it), and Lines takes it apart.
//
// It knows no foreign format (chats and spans do, chosen by foreign), opens no
// file and judges nothing. A line that is not a record is counted and listed
// with its number and the reason; "arguments not recorded" stays unknown.
package trace
