// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package pii

import "strings"

// InUse tells a secret that opens a door from one that a test made up. A key of a known service
// and a private key are in use unless they say that they are examples; a password or token is when it
// looks drawn: 16 bytes and more with digits among them, without words and rows such as 123,
// and no hash.
func InUse(k Kind, s string) bool {
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
	for _, w := range [...]string{"pass", "secret", "token", "test", "user", "admin", "demo", "fake", "sample", "auth", "access", "secure", "qwerty", "abc", "changeme"} {
		if strings.Contains(low, w) {
			return false
		}
	}
	var n [256]int
	for _, c := range []byte(s) {
		n[c]++
	}
	return len(s) >= 16 && strings.ContainsAny(s, "0123456789") && !identifier(s) && !rows(low) && entropy(n[:], len(s)) >= 3.3 && sorts(s) >= 2
}

// rows reports whether three bytes follow one another, up or down: 123, cba.
func rows(s string) bool {
	up, down := 1, 1
	for i := 1; i < len(s); i++ {
		if s[i] == s[i-1]+1 {
			up++
		} else {
			up = 1
		}
		if s[i]+1 == s[i-1] {
			down++
		} else {
			down = 1
		}
		if up >= 3 || down >= 3 {
			return true
		}
	}
	return false
}

// sorts counts those of small letters, large letters, digits and others that s has.
func sorts(s string) int {
	var small, large, digit, other int
	for _, c := range []byte(s) {
		switch {
		case c >= 'a' && c <= 'z':
			small = 1
		case c >= 'A' && c <= 'Z':
			large = 1
		case c >= '0' && c <= '9':
			digit = 1
		case c <= ' ':
			return 0 // a phrase
		default:
			other = 1
		}
	}
	return small + large + digit + other
}
