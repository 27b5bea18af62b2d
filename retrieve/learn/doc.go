// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

// Package learn answers one question: which weights or descriptions find the right tools more
// often, also for new questions?
//
// A Search changes one Knob after the other and keeps the changes that improve a goal. A Trial
// searches on one part of the questions, and compares the outcome with the preset once, on the
// held-out part or by folds. Questions with the same right tools are never in both parts.
//
// CandidatesOf chooses tools with poor descriptions from the outcomes of questions; RewritePrompt
// asks a model for a better one, ReadAnswer reads it, ApplyEdits writes it. Leaks finds questions
// that a description repeats.
//
// The package judges no answers, opens no file and decides nothing.
package learn
