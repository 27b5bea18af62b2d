// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

// Package stale answers one question: has what a case was made for changed since? A State is
// what surrounds cases: the tools with their versions, descriptions and schemas, the system
// prompt and the models. Compare holds the State in which cases were made against that of
// now, and gives Warnings. What was not recorded is told and never warned of.
// Source: Eval Case Interfaces, "metadata", and its envelope of eval files.
//
// It reads no file and asks nobody: which tools overlap is told by its caller.
package suite
