// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package safety

import "strings"

// SecretInUse reports whether a secret looks real, not made up for a test. A key of a known service and a
// private key are in use unless they are marked as examples. A password or token is in use when it
// looks random: at least 16 bytes with digits, without words and sequences such as 123, and no
// hash.
func SecretInUse(k DataKind, s string) bool {
	low := strings.ToLower(s)
	if strings.Contains(low, "example") || strings.Contains(low, "xxxx") || strings.Contains(low, "dummy") {
		return false
	}
	if k != KindSecret && k != KindBearer {
		return true
	}
	if i := strings.LastIndexAny(s, ":"); i >= 0 { // user:password of a URL
		s, low = s[i+1:], low[i+1:]
	}
	for _, w := range [...]string{
		"pass", "secret", "token", "test", "user", "admin", "demo", "fake", "sample", "auth",
		"access", "secure", "qwerty", "abc", "changeme",
	} {
		if strings.Contains(low, w) {
			return false
		}
	}
	var n [256]int
	for _, c := range []byte(s) {
		n[c]++
	}
	phrase := run(s, 0, func(c byte) bool { return c > ' ' }) < len(s)
	return len(s) >= 16 && strings.ContainsAny(s, "0123456789") && !phrase && !identifier(s) && !rows(low) &&
		entropy(n[:], len(s)) >= 3.3
}

// rows reports whether at least an eighth of the bytes are in ascending or descending sequences
// of three: abc123def456, 321. A long random text contains such a sequence by chance.
func rows(s string) bool {
	n, up, down := 0, 1, 1
	for i := 1; i <= len(s); i++ {
		rises, falls := i < len(s) && s[i] == s[i-1]+1, i < len(s) && s[i]+1 == s[i-1]
		up, n = follow(rises, up, n)
		down, n = follow(falls, down, n)
	}
	return 8*n >= len(s)
}

// follow returns the length of a sequence after the next byte, and adds a finished sequence to n.
func follow(goes bool, row, n int) (int, int) {
	switch {
	case goes:
		return row + 1, n
	case row >= 3:
		return 1, n + row
	}
	return 1, n
}
