// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

// Package suite answers one question: what does this file of a suite contain, and is the suite
// sound?
//
// Load reads a file, a folder or standard input into a callvet.Suite and reports the rejected parts
// with file, line and column. Open also finds what is readable but wrong (tools that do not exist,
// cases without an assertion, gold that does not pass its own case). Export writes the native
// format without loss. Schema is the published JSON Schema of the native format and Template a
// commented suite to start from.
//
// The smaller files around a suite are here as well. LoadTools reads contracts of tools,
// ReadGates gates, ReadEdits edits of descriptions, Lock the ids and hashes of cases.
// CoverageCounter finds tools without cases. CompareStale finds the changes since a case was
// made. EvalBuilder writes the result of a run in the format of Eval Case Interfaces.
//
// Foreign formats are in internal/suite/dialect. The package runs nothing.
package suite
