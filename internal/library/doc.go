// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

// Package library answers one question: which suites has a user, and what were they before?
//
// A suite is kept as a text that the loader of suites reads: the import file of Tool Calling
// Evaluation, or callvet's own form as JSON. An edit changes that text, has it read and linted as a
// run would, and keeps it as a new version. What was not edited stays byte for byte.
//
//	text of a version ─► Document ─► edit ─► Read (loader and linter) ─► next version
//
// Nothing here decides who may do what: the server does, before it calls.
package library
