// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

// Package value answers one question: what does a JSON text contain, and are two JSON values equal?
//
// A Doc is a reusable parser with a flat tape of values. A Value is a small handle into it; a
// Member is a handle during a walk over an object. Names finds the name of a member, or the text of
// a string, in a list. Parsing is strict, because a judge of arguments must not accept more than
// the tool: duplicate keys, invalid UTF-8, lone surrogates, raw control characters and trailing
// data are errors. Numbers keep their literal text, so that 2^53+1 is not 2^53 and 5 equals 5.0.
//
// A Template is a text with placeholders {{NAME}}, which FillJSON fills in the texts of a value.
//
// It does not know schemas, matching modes or tools.
package value
