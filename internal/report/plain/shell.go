// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package plain

import "strings"

// ShellQuote quotes a word for a POSIX shell when it needs it.
func ShellQuote(s string) string {
	special := func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') &&
			!strings.ContainsRune("-_./:@=+,~", r)
	}
	if s != "" && !strings.ContainsFunc(s, special) {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
