// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

// Package gatefile answers one question: which gates does this file ask for?
//
// Read turns YAML or JSON into a File of gates.Gate, strictly: an unknown key, a
// bound that is no number or a gate that contradicts itself is a problem with its
// line, its column and what was probably meant. Template is a file to start from,
// Schema its JSON Schema for editors.
//
// The package does not know which metrics, slices and targets there are:
// gates.Evaluate says that, once there are panels.
package suite
