// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

// Package native answers: how is a suite written in callvet's own format?
//
// The JSON Schema lists the keys once: forms are compiled from it and from the json tags of the
// nouns. Read decodes a parsed file and reports the rejected parts. Export writes a suite so that
// Read returns the same suite, Schema publishes the format and Template starts a suite.
//
// The package reads no files and judges no suite: internal/suite finds, reads
// and lints them.
package native
