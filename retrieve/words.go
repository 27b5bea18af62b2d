// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package retrieve

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// maxWord is the longest word that is kept, in runes; the rest of a longer one
// (base64, hashes) is cut off, so that one field cannot fill the vocabulary.
const maxWord = 64

// Fold returns the form for comparing letters: NFKC, lower case, without accents of Latin, Greek
// and Cyrillic letters, ß as ss. Folding twice changes nothing.
func Fold(s string) string {
	if lowerASCII(s) {
		return s
	}
	var b strings.Builder
	b.Grow(len(s))
	for _, r := range norm.NFKD.String(s) {
		if !isAccent(r) {
			foldRune(&b, r)
		}
	}
	return norm.NFC.String(b.String())
}

func foldRune(b *strings.Builder, r rune) {
	switch r {
	case 'ß', 'ẞ':
		b.WriteString("ss")
	case 'æ', 'Æ':
		b.WriteString("ae")
	case 'ø', 'Ø':
		b.WriteByte('o')
	case 'ς':
		b.WriteRune('σ')
	default:
		b.WriteRune(unicode.ToLower(r))
	}
}

func isAccent(r rune) bool { return r >= 0x300 && r <= 0x36f }

func lowerASCII(s string) bool {
	for i := range len(s) {
		if c := s[i]; c >= utf8.RuneSelf || c >= 'A' && c <= 'Z' {
			return false
		}
	}
	return true
}

// class is the class of a rune for splitting words.
type class uint8

const (
	other class = iota
	lower       // letters without case too
	upper
	digit
	han // written without spaces: Han, Hiragana, Katakana, Thai
)

func classOf(r rune) class {
	switch {
	case r < utf8.RuneSelf:
		switch {
		case r >= 'a' && r <= 'z':
			return lower
		case r >= 'A' && r <= 'Z':
			return upper
		case r >= '0' && r <= '9':
			return digit
		}
		return other
	case unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai):
		return han
	case unicode.IsUpper(r) || unicode.IsTitle(r):
		return upper
	case unicode.IsLetter(r), unicode.Is(unicode.M, r):
		return lower
	case unicode.IsNumber(r):
		return digit
	}
	return other
}

// Words splits a text or an identifier into folded words. It splits at everything but letters,
// marks and digits, before a capital that begins a word (getHTTPPage: get, http, page) and between
// letters and digits. A run of letters and digits that was split also appears whole, after its
// parts (JavaScript: java, script, javascript). Scripts without spaces give pairs of neighboring
// characters.
func Words(s string) []string { return AppendWords(make([]string, 0, len(s)/6+1), s) }

// AppendWords appends the Words of a text to out.
func AppendWords(out []string, s string) []string {
	for len(s) > 0 {
		r, n := utf8.DecodeRuneInString(s)
		c := classOf(r)
		if c == other {
			s = s[n:]
			continue
		}
		end := n
		for end < len(s) {
			r, n := utf8.DecodeRuneInString(s[end:])
			if k := classOf(r); k == other || (k == han) != (c == han) {
				break
			}
			end += n
		}
		if c == han {
			out = pairs(out, s[:end])
		} else {
			out = run(out, s[:end])
		}
		s = s[end:]
	}
	return out
}

// run splits one run of letters and digits.
func run(out []string, s string) []string {
	from, parts := 0, 0
	var before class
	for i, r := range s {
		c := classOf(r)
		if i > from && (c == digit) != (before == digit) || i > from && c == upper &&
			(before == lower || nextLower(s[i:])) {
			out = emit(out, s[from:i])
			from = i
			parts++
		}
		before = c
	}
	out = emit(out, s[from:])
	if parts > 0 {
		out = emit(out, s)
	}
	return out
}

func nextLower(s string) bool {
	_, n := utf8.DecodeRuneInString(s)
	r, m := utf8.DecodeRuneInString(s[n:])
	return m > 0 && classOf(r) == lower && r != 's' // URLs, APIs
}

func emit(out []string, w string) []string {
	if w = clip(Fold(w)); w != "" {
		out = append(out, w)
	}
	return out
}

func clip(w string) string {
	if len(w) <= maxWord {
		return w
	}
	n := 0
	for i := range w {
		if n == maxWord {
			return w[:i]
		}
		n++
	}
	return w
}

// pairs returns the pairs of neighboring characters of a script without spaces, or a single
// character.
func pairs(out []string, s string) []string {
	rs := []rune(Fold(s))
	if len(rs) == 1 {
		return append(out, string(rs))
	}
	for i := 0; i+1 < len(rs); i++ {
		out = append(out, string(rs[i:i+2]))
	}
	return out
}
