// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package match

import (
	"bytes"
	"iter"
	"math"
	"slices"
	"strconv"
	"unicode/utf8"

	"github.com/callvet/callvet/value"
)

// Corpus is text that argument values may come from: folded as exact mode
// compares strings, with its numbers.
type Corpus struct {
	text    []byte
	numbers []float64
	sorted  int // how many of the numbers are sorted; the newest are not
}

const (
	// maxCorpus bounds the text searched for sources.
	maxCorpus = 1 << 20
	// maxUnsorted is how many numbers of a corpus may be unsorted.
	maxUnsorted = 256
	// searchAll bounds the text that a Grounder searches for words, one by one. Then it
	// makes a list of them.
	searchAll = 8 << 20
)

// Empty reports that there is nothing to search.
func (s *Corpus) Empty() bool { return len(s.text) == 0 }

// Set makes s a copy of o, in memory of its own.
func (s *Corpus) Set(o *Corpus) {
	s.text = append(s.text[:0], o.text...)
	s.numbers = append(s.numbers[:0], o.numbers...)
	s.sorted = o.sorted
}

// Numbers are the magnitudes of the numbers in the corpus, in any order.
func (s *Corpus) Numbers() []float64 { return s.numbers }

// counts reports whether the corpus has a number.
func (s *Corpus) counts(f float64) bool {
	_, found := slices.BinarySearch(s.numbers[:s.sorted], f)
	return found || slices.Contains(s.numbers[s.sorted:], f)
}

// Add adds a text; texts beyond a megabyte in total are left out.
func (s *Corpus) Add(text []byte) {
	if len(text) == 0 || len(s.text)+len(text) > maxCorpus {
		return
	}
	if len(s.text) > 0 {
		s.text = append(s.text, '\n')
	}
	s.text = Fold(s.text, text)
	if s.numbers = Numbers(s.numbers, text); len(s.numbers)-s.sorted > maxUnsorted {
		slices.Sort(s.numbers)
		s.sorted = len(s.numbers)
	}
}

// Grounder counts which string and number values occur in a corpus, to which texts may be added
// meanwhile. Its zero value with Sources set is ready.
type Grounder struct {
	Sources      *Corpus
	Found, Total int
	buf          []byte
	searched     int                 // bytes of text, for words
	words        map[string]struct{} // nil: they are searched for
	listed       int                 // bytes of the text with listed words
}

// Begin prepares the Grounder for the values of another attempt.
func (g *Grounder) Begin(sources *Corpus) { *g = Grounder{Sources: sources, buf: g.buf} }

// Walk checks every string and number inside v; empty strings do not count.
func (g *Grounder) Walk(v value.Value) {
	switch v.Kind() {
	case value.String, value.Number:
		if v.Kind() == value.String && len(v.Bytes()) == 0 {
			return
		}
		g.Total++
		if g.has(v) {
			g.Found++
		}
	case value.Object, value.Array:
		for e, ok := v.First(); ok; e, ok = v.Next(e) {
			g.Walk(e)
		}
	}
}

// has reports whether a string occurs as whole words (all of them, anywhere), or
// a number as a number.
func (g *Grounder) has(v value.Value) bool {
	if v.Kind() == value.Number {
		if f, ok := v.Float(); ok && g.Sources.counts(math.Abs(f)) { // the cheaper question first
			return true
		}
		words, all := g.holdsWords(v.Raw())
		return words > 0 && all && holds(g.Sources.text, v.Raw())
	}
	g.buf = Fold(g.buf[:0], v.Bytes())
	words, all := g.holdsWords(g.buf)
	if words == 0 {
		return len(g.buf) == 0 || holds(g.Sources.text, g.buf)
	}
	return all
}

// holdsWords counts the words of a text up to the first word that the corpus does not contain. If
// the corpus contains the whole text, it contains all its words.
func (g *Grounder) holdsWords(text []byte) (words int, all bool) {
	for word := range wordsOf(text) {
		words++
		if !g.holdsWord(word) {
			return words, false
		}
	}
	return words, true
}

func (g *Grounder) holdsWord(word []byte) bool {
	text := g.Sources.text
	if g.words == nil {
		if g.searched += len(text); g.searched <= searchAll {
			return holds(text, word)
		}
		g.words = map[string]struct{}{}
	}
	for w := range wordsOf(text[g.listed:]) {
		g.words[string(w)] = struct{}{}
	}
	g.listed = len(text)
	_, ok := g.words[string(word)]
	return ok
}

// wordsOf yields the longest runs of letters and digits.
func wordsOf(text []byte) iter.Seq[[]byte] {
	return bytes.FieldsFuncSeq(text, func(r rune) bool { return r < utf8.RuneSelf && !wordByte(byte(r)) })
}

// holds reports whether needle occurs in text without a letter or digit directly next to it.
func holds(text, needle []byte) bool {
	for at := 0; ; {
		i := bytes.Index(text[at:], needle)
		if i < 0 {
			return false
		}
		start, end := at+i, at+i+len(needle)
		left := start == 0 || !wordByte(needle[0]) || !wordByte(text[start-1])
		right := end == len(text) || !wordByte(needle[len(needle)-1]) || !wordByte(text[end])
		if left && right {
			return true
		}
		at = start + 1
	}
}

// wordByte counts every byte of a letter outside ASCII as part of a word.
func wordByte(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= '0' && c <= '9' || c >= 'A' && c <= 'Z' || c >= 0x80
}

// Numbers appends the magnitudes of the numbers in a text: digits with
// decimals and thousands separators. Digits inside words (B12), and the numbers
// that only count the lines of a list, are left out.
func Numbers(dst []float64, s []byte) []float64 {
	for i := 0; i < len(s); {
		if !digit(s[i]) {
			i++
			continue
		}
		start := i
		i = numberEnd(s, i)
		if start > 0 && (wordByte(s[start-1]) || s[start-1] == '_') || listNumber(s, start, i) {
			continue
		}
		f, err := strconv.ParseFloat(string(bytes.ReplaceAll(s[start:i], []byte(","), nil)), 64)
		if err == nil {
			dst = append(dst, f)
		}
	}
	return dst
}

func digit(c byte) bool { return c >= '0' && c <= '9' }

// numberEnd is the end of the number that starts at i.
func numberEnd(s []byte, i int) int {
	for i < len(s) && digit(s[i]) {
		i++
	}
	for i+3 < len(s) && s[i] == ',' && digit(s[i+1]) && digit(s[i+2]) && digit(s[i+3]) &&
		(i+4 == len(s) || !digit(s[i+4])) {
		i += 4
	}
	if i+1 < len(s) && s[i] == '.' && digit(s[i+1]) {
		for i++; i < len(s) && digit(s[i]); i++ {
		}
	}
	return i
}

func listNumber(s []byte, start, end int) bool {
	if end+1 >= len(s) || s[end] != '.' && s[end] != ')' || s[end+1] != ' ' {
		return false
	}
	for start > 0 && (s[start-1] == ' ' || s[start-1] == '\t') {
		start--
	}
	return start == 0 || s[start-1] == '\n'
}
