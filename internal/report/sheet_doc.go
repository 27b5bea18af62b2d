// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

// Package sheet tells what trace files add up to: the step panel, the task
// panel, slices, confusion, findings and examples.
//
// The type is View; Terminal, Markdown, HTML, CSV and JSON are its faces, and
// ByPath chooses one by a file's extension. It computes nothing: every number is
// one of the panels. Texts from traces are made harmless in each face.
package report
