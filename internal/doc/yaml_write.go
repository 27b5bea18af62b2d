// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package doc

import (
	"strings"
	"unicode"
)

// WriteYAML writes a tree in block style.
func WriteYAML(n *Node) []byte {
	w := yamlWriter{}
	w.value(n, 0, false)
	return w.out
}

type yamlWriter struct{ out []byte }

// value writes n after its key or dash. inline: it may begin on the same line (the first key of a
// mapping after a dash).
func (w *yamlWriter) value(n *Node, depth int, inline bool) {
	switch {
	case n.Kind == Map && len(n.Items) > 0:
		for i := range n.Items {
			if i > 0 || !inline {
				w.indent(depth)
			}
			w.out = append(w.out, plainOrQuoted(n.Names[i].Name, false)...)
			w.out = append(w.out, ':')
			w.child(&n.Items[i], depth)
		}
	case n.Kind == List && len(n.Items) > 0:
		for i := range n.Items {
			if i > 0 || !inline {
				w.indent(depth)
			}
			w.out = append(w.out, '-')
			if v := &n.Items[i]; v.Kind == Map && len(v.Items) > 0 || v.Kind == List && len(v.Items) > 0 && !short(v) {
				w.out = append(w.out, ' ')
				w.value(v, depth+1, true)
				continue
			}
			w.child(&n.Items[i], depth)
		}
	default:
		w.out = append(append(w.out, w.flow(n)...), '\n')
	}
}

// child writes the value of a key or the element after a dash.
func (w *yamlWriter) child(n *Node, depth int) {
	switch {
	case (n.Kind == Map || n.Kind == List && !short(n)) && len(n.Items) > 0:
		w.out = append(w.out, '\n')
		w.value(n, depth+1, false)
	case n.Kind == String && blockable(n.Text()):
		w.block(n.Text(), depth+1)
	default:
		w.out = append(append(append(w.out, ' '), w.flow(n)...), '\n')
	}
}

func (w *yamlWriter) indent(depth int) {
	w.out = append(w.out, strings.Repeat("  ", depth)...)
}

// block writes text of several lines unchanged.
func (w *yamlWriter) block(s string, depth int) {
	w.out = append(w.out, " |"...)
	if !strings.HasSuffix(s, "\n") {
		w.out = append(w.out, '-')
	}
	w.out = append(w.out, '\n')
	for line := range strings.SplitSeq(strings.TrimSuffix(s, "\n"), "\n") {
		if line != "" {
			w.indent(depth)
			w.out = append(w.out, line...)
		}
		w.out = append(w.out, '\n')
	}
}

// blockable texts have several lines and no characters that a block would change.
func blockable(s string) bool {
	if !strings.Contains(strings.TrimSuffix(s, "\n"), "\n") || strings.HasSuffix(s, "\n\n") || s[0] == ' ' ||
		s[0] == '\n' || s[0] == '\t' {
		return false
	}
	for line := range strings.SplitSeq(s, "\n") {
		if strings.HasSuffix(line, " ") || strings.HasPrefix(line, "\t") || line == "---" || line == "..." {
			return false
		}
	}
	return printable(s)
}

func printable(s string) bool {
	return !strings.ContainsFunc(s, func(c rune) bool {
		return c != '\n' && c != ' ' && (!unicode.IsPrint(c) || c == unicode.ReplacementChar)
	})
}

// flow writes a scalar, an empty collection or a short list.
func (w *yamlWriter) flow(n *Node) []byte {
	switch n.Kind {
	case String:
		return plainOrQuoted(n.Text(), false)
	case List:
		b := []byte{'['}
		for i := range n.Items {
			if i > 0 {
				b = append(b, ", "...)
			}
			if v := &n.Items[i]; v.Kind == String {
				b = append(b, plainOrQuoted(v.Text(), true)...)
			} else {
				b = append(b, w.flow(v)...)
			}
		}
		return append(b, ']')
	default:
		return n.AppendJSON(nil)
	}
}

func plainOrQuoted(s string, inList bool) []byte {
	if plain(s) && (!inList || !strings.ContainsAny(s, ",'")) {
		return []byte(s)
	}
	return Quote(nil, s)
}

// plain reports whether s reads back as the same text without quotes, under every YAML version.
func plain(s string) bool {
	if s == "" || strings.TrimSpace(s) != s {
		return false
	}
	switch strings.ToLower(s) {
	case "null", "true", "false", "yes", "no", "on", "off", "y", "n":
		return false
	}
	for i, c := range s {
		switch {
		case unicode.IsLetter(c), c == '_':
		case i > 0 && (c >= '0' && c <= '9' || strings.ContainsRune(" -./()+%$@,'?!;", c)):
		default:
			return false
		}
	}
	return true
}
