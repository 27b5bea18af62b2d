// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

// Package plain answers one question: how is a text that nobody vouches for, or
// a number, written so that a reader sees what it is?
//
// Clean and Line make texts harmless and visible, Limited bounds them, Percent,
// Millis, Dollars and Thousands write numbers. They escape for no format: each face
// of package report does that for its own. A Writer comes after them: it escapes, as
// JSON does, what no terminal is to get from any of them.
package plain
