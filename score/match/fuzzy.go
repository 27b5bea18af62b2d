// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package match

import (
	"bytes"
	"slices"
	"strings"
)

// maxFuzzy bounds the text lengths compared by edit distance; longer texts are
// compared by their words alone, so that hostile input stays cheap.
const maxFuzzy = 2048

// TextSimilarity is the similarity of two folded texts in [0,1]: the larger of normalized
// Levenshtein, 1 - distance ÷ longer length in code points, and the token-set ratio. 1 only for
// equal texts or equal token sets; an empty text is only similar to an empty one.
func TextSimilarity(a, b []byte) float64 {
	if bytes.Equal(a, b) {
		return 1
	}
	if len(a) == 0 || len(b) == 0 {
		return 0
	}
	return max(editSimilarity(a, b), tokenSetRatio(a, b))
}

func editSimilarity(a, b []byte) float64 {
	if len(a) > maxFuzzy || len(b) > maxFuzzy {
		return 0
	}
	x, y := []rune(string(a)), []rune(string(b))
	return 1 - float64(levenshtein(x, y))/float64(max(len(x), len(y)))
}

func levenshtein(a, b []rune) int {
	if len(a) < len(b) {
		a, b = b, a
	}
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i, c := range a {
		diag := row[0]
		row[0] = i + 1
		for j, d := range b {
			cost := diag
			if c != d {
				cost = 1 + min(diag, row[j], row[j+1])
			}
			diag, row[j+1] = row[j+1], cost
		}
	}
	return row[len(b)]
}

// tokenSetRatio compares the texts as sets of words: the edit similarity of
// their sorted distinct words, so that order and repeats do not count. Unlike
// the ratio of that name elsewhere, a subset is not a match: "Paris" is not
// "Paris Texas".
func tokenSetRatio(a, b []byte) float64 {
	x, y := tokens(a), tokens(b)
	if len(x) == 0 || len(y) == 0 {
		return 0
	}
	s, t := strings.Join(x, " "), strings.Join(y, " ")
	if s == t {
		return 1
	}
	if len(s) > maxFuzzy || len(t) > maxFuzzy {
		return jaccard(x, y)
	}
	return editSimilarity([]byte(s), []byte(t))
}

func tokens(s []byte) []string {
	f := strings.FieldsFunc(string(s), func(r rune) bool { return strings.ContainsRune(" ,.;:!?-_/()[]\"'", r) })
	slices.Sort(f)
	return slices.Compact(f)
}

// jaccard is the Jaccard index of two sorted lists without repeats.
func jaccard(x, y []string) float64 {
	both := 0
	for _, w := range x {
		if _, ok := slices.BinarySearch(y, w); ok {
			both++
		}
	}
	return float64(both) / float64(len(x)+len(y)-both)
}
