// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

// Package labels answers one question: what did people decide about tasks and calls, and is a
// judge reliable?
//
// A Label is one verdict of one person, with how the task was drawn and which verdicts judges
// gave. Read and Appender are its file, Import and Export other forms, Latest the last verdict of
// each person.
//
// Calibrate joins labels with the verdicts of a judge into a CalibrationReport; BySlice does the
// same for each value of a slice key. Calibration is the part of a report that goes to another
// run, in a file. TrueSuccess corrects a judged share with it. Queue draws what to label next, at
// random or for the narrowest interval.
//
// The package counts and draws; every formula is in stats. It opens no trace file and never shows
// the verdict of a judge to a labeller.
package labels
