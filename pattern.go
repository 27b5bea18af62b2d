// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package callvet

import (
	"strings"
	"unicode"
)

// NamePattern reports whether a name is a pattern: it contains a *.
func NamePattern(name string) bool { return strings.Contains(name, "*") }

// SameName reports whether two names of tools differ in nothing but letter case and white space.
func SameName(a, b string) bool {
	if a == b || strings.EqualFold(a, b) {
		return true
	}
	x, y := Unspaced(a), Unspaced(b)
	return x != "" && (len(x) != len(a) || len(y) != len(b)) && strings.EqualFold(x, y)
}

// Unspaced is a name without white space.
func Unspaced(name string) string {
	if strings.IndexFunc(name, unicode.IsSpace) < 0 {
		return name
	}
	return strings.Join(strings.Fields(name), "")
}

// Misnamed is the note on a call that spells the tool's name differently; "" where the names are
// equal or belong to two tools.
func Misnamed(called, tool string) string {
	if called == tool || !SameName(called, tool) {
		return ""
	}
	return "called " + ToolName(called) + ": the tool is " + tool
}

// NameFits reports whether a name matches the wanted name. A * matches any text, also the empty
// one. With exact, letter case and white space count.
func NameFits(want, name string, exact bool) bool {
	if want == name || !exact && SameName(want, name) {
		return true
	}
	if !NamePattern(want) {
		return false
	}
	if !exact {
		want, name = strings.ToLower(Unspaced(want)), strings.ToLower(Unspaced(name))
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
