// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package match

import (
	"encoding/json"
	"maps"
	"slices"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/value"
)

// composed is v with the names of members in NFC at every depth: one name may be written in
// several ways that look alike. It is v itself where all names are in NFC already, and where two
// names of an object would become equal.
func composed(v value.Value) value.Value {
	if plainASCII(v.Raw()) || composedNames(v) {
		return v
	}
	c, err := value.Parse(appendComposed(nil, v))
	if err != nil { // two names became equal
		return v
	}
	return c
}

// plainASCII reports that a text has nothing but ASCII, escaped or not.
func plainASCII(raw []byte) bool {
	for i, c := range raw {
		if c >= utf8.RuneSelf || c == '\\' && i+1 < len(raw) && raw[i+1] == 'u' {
			return false
		}
	}
	return true
}

func composedNames(v value.Value) bool {
	for e, ok := v.First(); ok; e, ok = v.Next(e) {
		if v.Kind() == value.Object && !norm.NFC.IsNormal(e.KeyBytes()) || !composedNames(e) {
			return false
		}
	}
	return true
}

func appendComposed(b []byte, v value.Value) []byte {
	ends := [...]byte{'{', '}'}
	switch v.Kind() {
	case value.Object:
	case value.Array:
		ends = [...]byte{'[', ']'}
	default:
		return append(b, v.Raw()...)
	}
	b = append(b, ends[0])
	n := 0
	for e, ok := v.First(); ok; e, ok = v.Next(e) {
		if n++; n > 1 {
			b = append(b, ',')
		}
		if v.Kind() == value.Object {
			name, _ := json.Marshal(norm.NFC.String(e.Key())) // no string fails
			b = append(append(b, name...), ':')
		}
		b = appendComposed(b, e)
	}
	return append(b, ends[1])
}

// composedPaths are matchers by names in NFC.
func composedPaths(matchers map[string]callvet.Matcher) map[string]callvet.Matcher {
	if !slices.ContainsFunc(slices.Collect(maps.Keys(matchers)),
		func(path string) bool { return !norm.NFC.IsNormalString(path) }) {
		return matchers
	}
	out := map[string]callvet.Matcher{}
	for path, m := range matchers {
		out[norm.NFC.String(path)] = m
	}
	return out
}
