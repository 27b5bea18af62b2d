// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

// Package conform answers one question: do the statistics give the values that
// other people's software gives?
//
// Check runs the cases of one file of reference values through the method of
// that name and compares every expected number to the tolerance the file states.
// Methods lists the methods. A file holds cases in arrays named after the parts of
// the reference values; the caller says which part.
//
// The package knows how a reference file spells the arguments of a method, and
// nothing of statistics. It reads no files: the caller brings their bytes.
package conform
