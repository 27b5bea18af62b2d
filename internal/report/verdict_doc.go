// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

// Package verdict answers one question: how is the verdict on a build told where
// people look: in a terminal, a comment, a list of tests, beside a line of code? It also
// tells what a verdict will need (Plan), and whether one may rest on a judge (Judge).
//
// Terminal, Markdown, JUnit, Annotations and JSON write one gates.Report; ByPath
// chooses by a file's extension. Words, not colors, carry the verdict. Names and
// texts of others pass through internal/report/plain first.
//
// The package decides nothing: the sentences come from panel/gates.
package report
