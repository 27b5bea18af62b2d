// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

// Package disk keeps vectors between processes, so that a text is embedded once.
//
// A Cache is one file of records that are appended and never changed, each with a
// checksum: what a crash left half-written, or a disk damaged, is passed over, and the
// next good record counts. Any number of goroutines and processes may use a file at
// once. A file that outgrows its bound is replaced by one with the newer half of it.
//
// It does not know what makes vectors or how they are compared, and forgets nothing
// because of age: a changed text has another key, and Remove and Clear are for models
// that changed under their name.
package disk
