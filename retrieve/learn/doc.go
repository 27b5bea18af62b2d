// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

// Package tune answers one question: are there weights that find the right tools of
// this catalog more often than those of the preset, and would they on other questions?
//
// A Search turns one Knob after the other and keeps what makes a goal larger; a Trial
// does so on one part of the questions and holds the outcome against the preset once,
// on the part that it has not seen, or by folds. Questions of the same right tools are
// never in both parts.
//
// It judges no answers itself, knows no files and decides nothing: that a gain is not
// beyond chance is said, and the weights are the caller's to take or leave.
package learn
