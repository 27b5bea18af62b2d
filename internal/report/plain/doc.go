// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

// Package plain answers one question: how are untrusted texts, numbers and metrics written so that
// a reader sees what they are?
//
// Clean and Line make texts harmless and visible, and Limited shortens them. Percent, Millis,
// Dollars and Thousands write numbers. Rate, Change, Amount and P write estimates with their
// intervals, and Bar draws one. They escape for no format: each face of package report does that
// for its own. A Writer comes after them. It escapes, as JSON does, the characters that no terminal
// may receive.
package plain
