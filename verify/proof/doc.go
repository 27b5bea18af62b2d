// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

// Package proof answers one question: did a check compare everything in its data, and did all of it
// agree?
//
// A Check is given the number of due comparisons from the index of the data (Figures, a Readme, a count
// of rows), and then each comparison. It fails if fewer were made than are due, if one disagrees
// without an entry in Explained, if an explanation is no longer needed, and if nothing was due. Its last
// line is one figure: how many of how many agree.
//
// Data is the folder of public test data together with the part of it that is read.
// No file name and no count that belongs to one part is in code: names come from the
// index of a set or from a pattern.
package proof
