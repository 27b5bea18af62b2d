// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package callvet

import "strings"

// NamePattern reports whether a name stands for several: it has a *.
func NamePattern(name string) bool { return strings.Contains(name, "*") }

// NameFits reports whether a name is the one asked for. A * stands for any text, also for
// none; exact tells names apart that differ in letter case only.
func NameFits(want, name string, exact bool) bool {
	if want == name || !exact && strings.EqualFold(want, name) {
		return true
	}
	if !NamePattern(want) {
		return false
	}
	if !exact {
		want, name = strings.ToLower(want), strings.ToLower(name)
	}
	parts := strings.Split(want, "*")
	rest, ok := strings.CutPrefix(name, parts[0])
	if !ok {
		return false
	}
	last := len(parts) - 1
	for _, p := range parts[1:last] {
		_, after, found := strings.Cut(rest, p)
		if !found {
			return false
		}
		rest = after
	}
	return strings.HasSuffix(rest, parts[last])
}
