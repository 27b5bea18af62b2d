// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

// Package calibrate holds a judge against what people said: may it be believed, how
// many tasks truly passed, and what is worth labelling next?
//
// Calibrate joins labels with a judge's verdicts and gives a Report, BySlice the same
// for each value of a slice key; Calibration is the part of a report that travels to
// another run, in a file. TrueSuccess corrects a judged share by it. Queue draws what
// to label, at random or so that the run at hand gets the narrowest interval.
//
// The room counts and chooses; every formula is in stats and the rooms below it. It
// asks nobody anything and opens no file.
package labels
