// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package plain

import "strings"

// formula are the bytes that make a spreadsheet read a cell as a formula, or as
// several cells.
// Source: OWASP, CSV Injection.
const formula = "=+-@\t\r\n"

// Cell prevents that a spreadsheet reads a text as a formula: it puts an apostrophe before such a
// text, and before a text that begins like a result of Cell. Uncell removes it.
func Cell(s string) string {
	if guarded(s) {
		return "'" + s
	}
	return s
}

// Uncell is the inverse of Cell; texts that Cell never returns stay unchanged.
func Uncell(s string) string {
	if rest, ok := strings.CutPrefix(s, "'"); ok && guarded(rest) {
		return rest
	}
	return s
}

// guarded reports whether a text begins with a byte of a formula, apostrophes aside.
func guarded(s string) bool {
	s = strings.TrimLeft(s, "'")
	return s != "" && strings.IndexByte(formula, s[0]) >= 0
}
