// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package dialect

import (
	"bytes"
	"strings"
)

// YAML writes a JSON value as YAML in block style. Strings keep their JSON quotes, which YAML
// reads the same, so that no string is read as a number, a boolean or a comment.
func YAML(n Node) []byte {
	return append(bytes.TrimLeft(appendYAML(nil, n, 0), "\n"), '\n')
}

func appendYAML(out []byte, n Node, depth int) []byte {
	indent := "\n" + strings.Repeat("  ", depth)
	switch {
	case n.Kind() == '{' && len(n.Members(nil)) > 0:
		for _, m := range n.Members(nil) {
			out = append(append(append(out, indent...), yamlKey(m.Name)...), ':')
			out = appendYAMLItem(out, m.Val, depth+1)
		}
	case n.Kind() == '[' && len(n.Elements()) > 0:
		for _, e := range n.Elements() {
			out = append(append(out, indent...), '-')
			out = appendYAMLItem(out, e, depth+1)
		}
	default:
		out = append(out, Compact(n.Raw)...)
	}
	return out
}

func appendYAMLItem(out []byte, n Node, depth int) []byte {
	k := n.Kind()
	if k != '{' && k != '[' || len(n.Members(nil))+len(n.Elements()) == 0 {
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
	return Quote(s)
}
