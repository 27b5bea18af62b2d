// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package plain

import (
	"fmt"
	"strings"
)

// MaxMarkdown bounds a report in Markdown: it is below the 65,536 characters that a comment on
// GitHub may have.
const MaxMarkdown = 60_000

// Markdown escapes a text for Markdown with HTML, on one line and inside a table; it
// also keeps it from naming a user, an issue or an address.
func Markdown(s string) string {
	var b strings.Builder
	s = Line(s)
	for i, r := range s {
		switch r {
		case ':', '.': // no text becomes a link by itself
			if strings.HasPrefix(s[i:], "://") || strings.HasSuffix(strings.ToLower(s[:i]), "www") {
				fmt.Fprintf(&b, "&#%d;", r)
				continue
			}
			b.WriteRune(r)
		case '&':
			b.WriteString("&amp;")
		case '<':
			b.WriteString("&lt;")
		case '>':
			b.WriteString("&gt;")
		case '@', '#': // a space of no width keeps users and issues from being called
			fmt.Fprintf(&b, "&#%d;&#8203;", r)
		case '\\', '`', '*', '_', '{', '}', '[', ']', '(', ')', '!', '|', '~', '+', '-', '$':
			b.WriteByte('\\')
			b.WriteRune(r)
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// HTML escapes a text between tags in Markdown, where Markdown's own escapes would show.
func HTML(s string) string {
	return strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&quot;", "'", "&#39;",
		"@", "&#64;&#8203;", "#", "&#35;&#8203;", "://", "&#58;//").Replace(Line(s))
}
