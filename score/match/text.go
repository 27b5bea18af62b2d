// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package match

import (
	"bytes"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"
)

// Fold appends the form of a string for comparison in exact mode: NFKC, case-folded, trimmed, runs
// of white space as one space.
func Fold(dst, s []byte) []byte {
	if !isASCII(s) {
		s = norm.NFKC.Bytes(cases.Fold().Bytes(norm.NFKC.Bytes(s)))
		return foldSpace(dst, s)
	}
	start := len(dst)
	for _, c := range s {
		if asciiSpace(c) {
			if n := len(dst); n > start && dst[n-1] != ' ' {
				dst = append(dst, ' ')
			}
			continue
		}
		dst = append(dst, lower(c))
	}
	if n := len(dst); n > start && dst[n-1] == ' ' {
		dst = dst[:n-1]
	}
	return dst
}

func foldSpace(dst, s []byte) []byte {
	for i, f := range bytes.FieldsFunc(s, unicode.IsSpace) {
		if i > 0 {
			dst = append(dst, ' ')
		}
		dst = append(dst, f...)
	}
	return dst
}

// foldsTo reports whether s folds to folded; ASCII needs no memory.
func foldsTo(s, folded []byte) bool {
	i, space := 0, false
	for _, c := range s {
		if c >= utf8.RuneSelf {
			return bytes.Equal(Fold(nil, s), folded)
		}
		if asciiSpace(c) {
			space = i > 0
			continue
		}
		if space {
			if i >= len(folded) || folded[i] != ' ' {
				return !isASCII(s) && bytes.Equal(Fold(nil, s), folded)
			}
			i, space = i+1, false
		}
		if i >= len(folded) || folded[i] != lower(c) {
			// A later combining mark can still change an ASCII letter under NFKC.
			return !isASCII(s) && bytes.Equal(Fold(nil, s), folded)
		}
		i++
	}
	return i == len(folded)
}

func isASCII(s []byte) bool {
	for _, c := range s {
		if c >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

func asciiSpace(c byte) bool { return c == ' ' || c >= '\t' && c <= '\r' }

func lower(c byte) byte {
	if c >= 'A' && c <= 'Z' {
		return c + 'a' - 'A'
	}
	return c
}

// caseFold is simple case folding without any other normalization.
func caseFold(s []byte) []byte { return cases.Fold().Bytes(s) }
