// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package retrieve

import (
	"strings"
	"unicode"
)

// Reference returns the terms of the bm25s library's default tokenizer. It lowers the text and
// takes runs of two or more letters, digits, marks of numbers and underscores, without its list of
// 33 English function words. Repeated words are kept. Source: bm25s, tokenization of the recorded
// scores of the ToolRet subsets.
func Reference(s string) []string {
	var out []string
	for _, w := range strings.FieldsFunc(strings.ToLower(s), notWord) {
		if len(w) > 1 && (len(w) >= 5 || len([]rune(w)) > 1) && !isReferenceStop(w) {
			out = append(out, w)
		}
	}
	return out
}

// notWord is the complement of Python's \w.
func notWord(r rune) bool {
	return !unicode.IsLetter(r) && !unicode.IsNumber(r) && r != '_'
}

func isReferenceStop(w string) bool {
	switch w {
	case "a", "an", "and", "are", "as", "at", "be", "but", "by", "for", "if", "in", "into", "is", "it", "no",
		"not", "of",
		"on", "or", "such", "that", "the", "their", "then", "there", "these", "they", "this", "to", "was",
		"will", "with":
		return true
	}
	return false
}
