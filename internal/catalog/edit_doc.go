// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

// Package edit answers one question: what becomes of a catalog when its texts are
// changed? WhatIf compares edits with the catalog as it is, case by case; Suggest asks a
// model for descriptions and measures them on questions that it has not seen; Apply
// writes a catalog with the edits that a person accepted.
//
// It stands on package catalog, which reads, searches and asks. Edits and their checks are
// package retrieve/revise's, the comparison is package effect's.
package catalog
