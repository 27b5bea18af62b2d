// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package callvet

import "strings"

// maxNear is the longest name that Nearest compares, in bytes.
const maxNear = 64

// Nearest returns the known name with the smallest edit distance to s, for a hint such as "did you
// mean …?". It is "" when no name is close enough to be a typing mistake: about one edit in three
// bytes. Letter case, spaces and word separators do not count; the first of equally close names
// wins. A name longer than 64 bytes has no nearest one.
func Nearest(s string, known []string) string {
	if len(s) > maxNear {
		return ""
	}
	best, limit := "", (len(s)+2)/3+1
	s = foldName(s)
	for _, k := range known {
		if len(k) > maxNear {
			continue
		}
		if d := edits(s, foldName(k)); d < limit {
			best, limit = k, d
		}
	}
	return best
}

// foldName removes what separates spellings of one name.
func foldName(s string) string {
	return strings.Map(func(c rune) rune {
		if c == '_' || c == '-' || c == '.' || c == ' ' {
			return -1
		}
		return c
	}, strings.ToLower(s))
}

// edits is the Levenshtein distance between two short texts, in bytes.
func edits(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diagonal
			if a[i] != b[j] {
				cost++
			}
			diagonal = row[j+1]
			row[j+1] = min(cost, row[j]+1, diagonal+1)
		}
	}
	return row[len(b)]
}

// Unprefixed returns the known name that is left when a prefix of an MCP client or agent is
// removed: mcp__server__tool, server.tool, server/tool, functions.tool. It is "" when there is
// none. It is for hints only: the two names may be different tools.
func Unprefixed(name string, known []string) string {
	for _, k := range known {
		at := len(name) - len(k)
		if at <= 0 || k == "" || !strings.EqualFold(name[at:], k) {
			continue
		}
		before := name[:at]
		for _, sep := range []string{"__", ".", "/", ":"} {
			if len(before) > len(sep) && strings.HasSuffix(before, sep) {
				return k
			}
		}
	}
	return ""
}
