// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package match

import (
	"bytes"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/value"
)

// RateLimited reports whether a call failed because of a rate limit: its error or its result names
// a rate limit or the status 429.
func RateLimited(c *callvet.Call) bool {
	if Failure(c) == "" {
		return false
	}
	if isRateLimit([]byte(c.Error)) {
		return true
	}
	v, err := value.Parse(c.Result)
	return err == nil && len(c.Result) > 0 && NamesRateLimit(v)
}

// NamesRateLimit reports whether an error, a text, a code or a message in it, names a rate
// limit or the status 429.
func NamesRateLimit(v value.Value) bool { return namesLimit(v, maxErrorDepth) }

// maxErrorDepth is the depth in a result to which a code or message is searched.
const maxErrorDepth = 4

func namesLimit(v value.Value, depth int) bool {
	switch v.Kind() {
	case value.String:
		return isRateLimit(v.Bytes())
	case value.Object, value.Array:
		for e, ok := v.First(); ok && depth > 0; e, ok = v.Next(e) {
			if e.Kind() == value.Number && string(e.Raw()) == "429" && isStatusKey(e.KeyBytes()) ||
				namesLimit(e, depth-1) {
				return true
			}
		}
	}
	return false
}

// isStatusKey reports whether a member of that name contains the status of an HTTP answer.
func isStatusKey(k []byte) bool {
	switch string(k) {
	case "code", "status", "status_code", "statusCode", "http", "http_status", "httpStatus", "http_code", "error_code",
		"errorCode":
		return true
	}
	return false
}

// isRateLimit looks for the names of a rate limit in a text, letters and digits
// only: "rate_limit_exceeded", "Rate limit", "RateLimitError".
func isRateLimit(s []byte) bool {
	for i := 0; i+1 < len(s); i++ {
		next := s[i+1] | 0x20
		switch s[i] | 0x20 {
		case 'r':
			if goesOn(next, 'a', 'e') && (reads(s[i:], "ratelimit") || reads(s[i:], "resourceexhausted")) {
				return true
			}
		case 't':
			if goesOn(next, 'o', 'h') && (reads(s[i:], "toomanyrequests") || reads(s[i:], "throttl")) {
				return true
			}
		case '4':
			if s[i] == '4' && bytes.HasPrefix(s[i:], []byte("429")) && alone(s, i, i+3) && isStatus(s, i) {
				return true
			}
		}
	}
	return false
}

// goesOn reports whether a byte with its sixth bit set may be one of two letters or a mark, so
// that reading on can find a match.
func goesOn(c, one, other byte) bool {
	return c == one || c == other || c < '0' || c == '_'|0x20
}

// reads reports whether s starts with the lower-case letters and digits of
// word, whatever single mark or space stands between them.
func reads(s []byte, word string) bool {
	j, gap := 0, false
	for _, c := range s {
		if c >= 'A' && c <= 'Z' {
			c |= 0x20
		}
		switch {
		case c == word[j]:
			if j, gap = j+1, false; j == len(word) {
				return true
			}
		case gap || c != ' ' && c != '_' && c != '-' && c != '.':
			return false
		default:
			gap = true
		}
	}
	return false
}

// alone reports that no letter or digit is directly next to s[from:to].
func alone(s []byte, from, to int) bool {
	word := func(c byte) bool { return c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'z' }
	return (from == 0 || !word(s[from-1])) && (to >= len(s) || !word(s[to]))
}

// isStatus reports that a number at i is a status: it begins the text, or one of the usual words
// is before it.
func isStatus(s []byte, i int) bool {
	for i > 0 && (s[i-1] == ' ' || s[i-1] == ':' || s[i-1] == '=' || s[i-1] == '(' || s[i-1] == '"') {
		i--
	}
	if i == 0 {
		return true
	}
	for _, word := range [...]string{"http", "status", "code", "error", "http/1.1", "http/2"} {
		if n := len(word); i >= n && reads(s[i-n:i], word) {
			return true
		}
	}
	return false
}
