// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package doc

import (
	"strconv"
	"strings"
)

// Find walks a path such as expect.calls[0].tool; full is false when the walk ended early, at the
// returned node.
func (n *Node) Find(path string) (at int, full bool) {
	at = n.At
	for path != "" {
		if path[0] == '[' {
			end := strings.IndexByte(path, ']')
			i, err := strconv.Atoi(path[1:max(end, 1)])
			if err != nil {
				return at, false
			}
			if n.Kind != List && i == 0 { // a single value means a list of one
				path = path[end+1:]
				continue
			}
			if i >= len(n.Items) || n.Lazy {
				return at, false
			}
			n, path = &n.Items[i], path[end+1:]
			at = n.At
			continue
		}
		path = strings.TrimPrefix(path, ".")
		i, rest := n.key(path)
		if i < 0 {
			return at, false
		}
		at, n, path = n.Names[i].At, &n.Items[i], rest
	}
	return at, true
}

// key finds the longest key that path begins with: keys may contain dots.
func (n *Node) key(path string) (i int, rest string) {
	i = -1
	for j := range n.Names {
		r, ok := strings.CutPrefix(path, n.Names[j].Name)
		if ok && (r == "" || r[0] == '.' || r[0] == '[') && (i < 0 || len(r) < len(rest)) {
			i, rest = j, r
		}
	}
	return i, rest
}
