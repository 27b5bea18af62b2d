// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

// Package value reads one JSON value into a flat tape and compares values
// exactly as JSON defines them.
//
// A Doc is a reusable parser with its tape; a Value is a small handle into it, a
// Member is one on a walk over an object. Names find the name of a member, or the text
// of a string, among many.
// Parsing is strict, because an argument judge must not be kinder than the tool
// that would have been called: duplicate keys, invalid UTF-8, lone surrogates,
// raw control characters and trailing data are errors. Numbers keep their
// literal text, so that 2^53+1 is not 2^53 and 5 equals 5.0.
//
// It does not know schemas, matching modes or tools.
package value
