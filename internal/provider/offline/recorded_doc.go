// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

// Package recorded answers from outputs that exist already.
//
// It answers one question: what did the target say for this case, at this
// repeat? Open reads a file or a folder (JSON, JSON Lines, gzip) and gives one
// Source per target found in it; Source.Model implements callvet.Model. The form
// of the rows is found by package answer. Rows are checked and indexed once and
// decoded when they are asked for.
//
// Rows are found by case id; those of one id are its repeats, in the order of
// the file unless they carry a "repeat" of their own. Rows of promptfoo and rows
// without an id are found by description, prompt or the last user message. A
// case without a row is a Fault of kind FaultMissing, never an abstention.
//
// It does not judge, and knows no suite: Coverage compares its rows with the
// cases somebody else has.
package offline
