// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package doc

import "strings"

// WriteJSON writes a tree indented by two spaces, short lists on one line.
func WriteJSON(b []byte, n *Node, depth int) []byte {
	if n.Kind != List && n.Kind != Map || len(n.Items) == 0 || (depth > 0 && short(n)) {
		return n.AppendJSON(b)
	}
	open, end := byte('['), byte(']')
	if n.Kind == Map {
		open, end = '{', '}'
	}
	b = append(b, open)
	for i := range n.Items {
		if i > 0 {
			b = append(b, ',')
		}
		b = newline(b, depth+1)
		if n.Kind == Map {
			b = append(Quote(b, n.Names[i].Name), ": "...)
		}
		b = WriteJSON(b, &n.Items[i], depth+1)
	}
	return append(newline(b, depth), end)
}

func newline(b []byte, depth int) []byte {
	return append(b, "\n"+strings.Repeat("  ", depth)...)
}

// short lists hold only scalars and fit on a line.
func short(n *Node) bool {
	if n.Kind != List {
		return false
	}
	size := 0
	for i := range n.Items {
		v := &n.Items[i]
		if (v.Kind == List || v.Kind == Map) && !short(v) {
			return false
		}
		size += len(v.AppendJSON(nil)) + 2
		if size > 90 || (v.Kind == String && strings.Contains(string(v.Raw), `\n`)) {
			return false
		}
	}
	return true
}
