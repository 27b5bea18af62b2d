// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package dialect

import (
	"bytes"
	"strings"
)

// yamlText writes a JSON value as YAML in block style. Strings keep their JSON
// quotes, which YAML reads the same, so that nothing is taken for a number, a
// boolean or a comment.
func yamlText(n node) []byte {
	return append(bytes.TrimLeft(appendYAML(nil, n, 0), "\n"), '\n')
}

func appendYAML(out []byte, n node, depth int) []byte {
	indent := "\n" + strings.Repeat("  ", depth)
	switch {
	case n.kind() == '{' && len(n.members(nil)) > 0:
		for _, m := range n.members(nil) {
			out = append(append(append(out, indent...), yamlKey(m.name)...), ':')
			out = appendYAMLItem(out, m.val, depth+1)
		}
	case n.kind() == '[' && len(n.elements()) > 0:
		for _, e := range n.elements() {
			out = append(append(out, indent...), '-')
			out = appendYAMLItem(out, e, depth+1)
		}
	default:
		out = append(out, compact(n.raw)...)
	}
	return out
}

func appendYAMLItem(out []byte, n node, depth int) []byte {
	k := n.kind()
	if k != '{' && k != '[' || len(n.members(nil))+len(n.elements()) == 0 {
		out = append(out, ' ')
	}
	return appendYAML(out, n, depth)
}

// yamlKey leaves plain words as they are and quotes everything else.
func yamlKey(s string) []byte {
	word := s != ""
	for i, c := range []byte(s) {
		letter := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '_'
		word = word && (letter || i > 0 && (c >= '0' && c <= '9' || c == '-'))
	}
	switch strings.ToLower(s) {
	case "y", "n", "yes", "no", "on", "off", "true", "false", "null":
		word = false
	}
	if word {
		return []byte(s)
	}
	return quote(s)
}
