// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

// Package assets answers one question: what can a client do with the stored objects of a user?
//
// Suites and their cases, catalogues of tools with searches and edits, traces with their scores,
// labels and gold sheets.
package assets
