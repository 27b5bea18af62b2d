// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

// Package conform answers one question: do the statistics agree with other software?
//
// Check runs the cases of one file of reference values through the method of that name and compares
// every expected number within the tolerance in the file. Methods lists the methods. A file has
// cases in arrays named after the parts of the reference values; the caller chooses the part.
//
// The package knows the arguments of methods in reference files, but no statistics. It reads no
// files: the caller passes their bytes.
package conform
