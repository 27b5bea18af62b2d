// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

// Package source answers: what values does this text hold, and where does each
// stand?
//
// Read parses JSON (comments and trailing commas allowed) or YAML into a File
// of Nodes, which know their line and column, keep numbers as they are written
// and maps in the order of the file. WriteYAML and WriteJSON write a tree back.
//
// The package gives values no meaning: it does not know what a suite is.
package doc
