// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package bfcl

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// dropped reports the characters that the leaderboard ignores in strings.
func dropped(c byte) bool {
	switch c {
	case ' ', ',', '.', '/', '-', '_', '*', '^':
		return true
	}
	return false
}

// standardize is the leaderboard's form of a string: without spaces and ,./-_*^,
// lower case, single quotes as double ones.
func standardize(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if !dropped(s[i]) {
			b.WriteByte(s[i])
		}
	}
	return strings.ReplaceAll(lower(b.String()), "'", `"`)
}

// lower is Python's str.lower: like Unicode's simple mapping but for dotted
// capital I, which becomes two characters, and a sigma that ends a word.
func lower(s string) string {
	if !strings.ContainsAny(s, "İΣ") {
		return strings.Map(unicode.ToLower, s)
	}
	rs := []rune(s)
	var b strings.Builder
	for i, r := range rs {
		switch r {
		case 'İ':
			b.WriteString("i̇")
		case 'Σ':
			if i > 0 && unicode.IsLetter(rs[i-1]) && (i+1 == len(rs) || !unicode.IsLetter(rs[i+1])) {
				b.WriteRune('ς')
			} else {
				b.WriteRune('σ')
			}
		default:
			b.WriteRune(unicode.ToLower(r))
		}
	}
	return b.String()
}

// sameText reports whether want is the standard form of got, without building it.
func sameText(got []byte, want string) bool {
	k := 0
	for i := 0; i < len(got); {
		c := got[i]
		if c >= utf8.RuneSelf {
			r, n := utf8.DecodeRune(got[i:])
			if r == 'İ' || r == 'Σ' {
				return standardize(string(got)) == want
			}
			w, m := utf8.DecodeRuneInString(want[k:])
			if m == 0 || unicode.ToLower(r) != w {
				return false
			}
			i, k = i+n, k+m
			continue
		}
		i++
		if dropped(c) {
			continue
		}
		if c >= 'A' && c <= 'Z' {
			c += 'a' - 'A'
		} else if c == '\'' {
			c = '"'
		}
		if k >= len(want) || want[k] != c {
			return false
		}
		k++
	}
	return k == len(want)
}
