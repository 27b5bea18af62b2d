// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package plain

import "strings"

// XML leaves only characters that XML 1.0 allows, after Clean; a CDATA section
// cannot escape the others.
func XML(s string) string {
	return strings.Map(func(r rune) rune {
		if r == '\n' || r == '\t' || (r >= 0x20 && r <= 0xd7ff) || (r >= 0xe000 && r <= 0xfffd) || r >= 0x10000 {
			return r
		}
		return 0xfffd
	}, Clean(s))
}
