// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

// Package doc answers one question: which values does this text contain, at which places, and do
// they have the required form?
//
// Unpack, ReadAll and ReadFile read bytes within a limit, compressed or not. Read parses JSON
// (comments and trailing commas allowed) or YAML into a File of Nodes, which keep line, column,
// order and the spelling of numbers; WriteYAML and WriteJSON write a tree back.
//
// Of compiles the form of a Go type from its tags; DecodeJSON fills a value with it. A mistake is
// a Wrong: the key with its path, the value found, the value expected, and the known key that was
// probably meant. It contains no name of a Go type. Tag json is the name of a field. Tag form
// lists "required", "whole" (implied by integer types), "min=N", "max=N", "words=a|b|c", "full"
// (not empty) and "scalar" (a number or boolean is accepted as text). Null is an absent value
// where a Go value can be nil, and a mistake elsewhere, unless WithNulls is set.
//
// Format compiles the Shapes of a JSON Schema for Go types: a Reader reads a tree by them and
// continues after a problem, a Builder writes values. The files that people write use these.
//
// Rules between several fields are checked by the caller. The package does not know what a suite
// is.
package doc
