// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

// Package figure answers one question: how is a metric with its interval written
// and drawn, alike in all reports?
//
// Amount, Rate, Change and P write numbers; Bar is an interval as a drawing;
// Style is the look of every page; Markdown and HTML escape a text of nobody's for a
// comment. It prints nothing.
package plain
