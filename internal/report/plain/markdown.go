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

// MarkdownCode is Markdown of a text with commands in backquotes, which stay as they are typed.
func MarkdownCode(s string) string {
	parts := strings.Split(Line(s), "`")
	if len(parts)%2 == 0 { // the last one is not closed
		return Markdown(s)
	}
	for i, p := range parts {
		if i%2 == 0 {
			text := strings.Trim(p, " ")
			before, after, _ := strings.Cut(p, text)
			parts[i] = before + Markdown(text) + after
		}
	}
	return strings.Join(parts, "`")
}

// HTML escapes a text between tags in Markdown, where Markdown's own escapes would show.
func HTML(s string) string {
	return strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&quot;", "'", "&#39;",
		"@", "&#64;&#8203;", "#", "&#35;&#8203;", "://", "&#58;//").Replace(Line(s))
}
