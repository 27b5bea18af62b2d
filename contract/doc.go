// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

// Package contract answers one question: do a tool's arguments keep the tool's JSON Schema, and
// if not, where and why?
//
// A Schema is one compiled tool contract; a Set holds the contracts of a
// toolset by name. Valid answers yes or no from a tape without allocation for
// the keywords that tools really use; Check gives every violation. The JSON
// Schema library stays the authority: it compiles every schema, decides what
// the fast checker does not cover, and words the reasons.
//
// Drafts 4 to 2020-12 are understood (by $schema, 2020-12 otherwise), formats
// are asserted, patterns follow ECMA-262 as far as a linear-time engine can.
// Nothing is ever fetched: a $ref that leaves the schema is an error. The
// package does not repair arguments, coerce types or fill in defaults.
package contract
