// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

// Package editfile answers one question: which edits of a catalog does this file
// hold? Read turns YAML or JSON into a File of learn.Edit, strictly: an unknown key
// or a value of the wrong kind is a problem with its line and its column. Write writes
// such a file, with what was measured.
//
// The package knows no catalog: learn.ApplyEdits says which edits belong to one.
package suite
