// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package retrieve

import "slices"

// Analyzer turns texts into terms: folded words without function words, stemmed.
type Analyzer struct {
	// function maps a function word to its languages, one bit each.
	function map[string]uint8
	// known is a cache of words of documents.
	known map[string]*known
}

// known is the cached data of a word; stems are empty until they are needed.
type known struct {
	number   int
	function uint8
	stems    [numLanguages]string
}

// TextWord is a folded word of a document with the analyzer's cached data.
type TextWord struct {
	Text string
	// Number identifies the word in the analyzer, from 0; -1 for a word that is not cached.
	Number int
	known  *known
}

// maxKnown bounds the cache of words: a catalog of 100,000 tools has about 30,000 words of
// language, plus numbers and names.
const maxKnown = 200_000

// NewAnalyzer makes an analyzer of all Languages.
func NewAnalyzer() *Analyzer {
	a := &Analyzer{function: map[string]uint8{}, known: map[string]*known{}}
	for i, l := range Languages() {
		for _, w := range Words(functionWords(l)) {
			a.function[w] |= 1 << i
		}
	}
	return a
}

// Fork returns an analyzer of the same languages with its own cache, for another goroutine.
func (a *Analyzer) Fork() *Analyzer {
	return &Analyzer{function: a.function, known: map[string]*known{}}
}

// Detect names the language of a text from its folded words: the one with most function words, the
// first of Languages when two have equally many. ok is false without a function word.
func (a *Analyzer) Detect(words []string) (l Language, ok bool) {
	var counts [8]int
	for _, w := range words {
		count(&counts, a.function[w])
	}
	return most(&counts)
}

// DetectOf is Detect of words that were looked up.
func (a *Analyzer) DetectOf(words []TextWord) (l Language, ok bool) {
	var counts [8]int
	for i := range words {
		count(&counts, words[i].known.function)
	}
	return most(&counts)
}

func count(counts *[8]int, bits uint8) {
	for i := 0; bits > 0; bits, i = bits>>1, i+1 {
		counts[i] += int(bits & 1)
	}
}

func most(counts *[8]int) (l Language, ok bool) {
	best := 0
	for i := range Languages() {
		if counts[i] > counts[best] {
			best = i
		}
	}
	return Languages()[best], counts[best] > 0
}

// Look appends to out the folded words of a document with their cached data. It writes the cache
// and is not safe for concurrent use.
func (a *Analyzer) Look(out []TextWord, words []string) []TextWord {
	for _, w := range words {
		k, ok := a.known[w]
		if !ok {
			k = &known{number: -1, function: a.function[w]}
			if len(a.known) < maxKnown {
				k.number = len(a.known)
				a.known[w] = k
			}
		}
		out = append(out, TextWord{Text: w, Number: k.number, known: k})
	}
	return out
}

// Document appends to terms the terms of a document in language l. For each word that is no
// function word these are its stem in l, and its English stem where that differs, since names of
// tools are often English. It writes the cache and is not safe for concurrent use.
func (a *Analyzer) Document(terms []string, l Language, words []TextWord) []string {
	at := slices.Index(Languages(), l)
	for i := range words {
		w := &words[i]
		if w.known.function&(1<<at) != 0 {
			continue
		}
		s := w.known.stem(at, w.Text)
		terms = append(terms, s)
		if l == English {
			continue
		}
		if e := w.known.stem(0, w.Text); e != s {
			terms = append(terms, e)
		}
	}
	return terms
}

// stem returns the word's stem in the language of that number.
func (k *known) stem(at int, w string) string {
	if k.stems[at] == "" {
		k.stems[at] = Stem(Languages()[at], w)
	}
	return k.stems[at]
}

// Query returns the terms of a question: for each word that is no function word its stems in the
// given languages, without repetition, in the order of the languages. When all words are function
// words, all are kept. The detected language of the question decides which words are function
// words; languages must not be empty.
func (a *Analyzer) Query(s string, languages []Language) [][]string {
	asked := a.Asked(s, languages)
	out := make([][]string, len(asked))
	for i, w := range asked {
		out[i] = stemsOf(w, languages)
	}
	return out
}

// Asked returns the folded words of the stems of Query, in the same order.
func (a *Analyzer) Asked(s string, languages []Language) []string {
	words := Words(s)
	l, ok := a.Detect(words)
	if !ok || !slices.Contains(languages, l) {
		l = languages[0]
	}
	out := make([]string, 0, len(words))
	for _, w := range words {
		if !a.isFunction(l, w) {
			out = append(out, w)
		}
	}
	if len(out) == 0 {
		return words
	}
	return out
}

func stemsOf(w string, languages []Language) []string {
	stems := make([]string, 0, len(languages))
	for _, l := range languages {
		if s := Stem(l, w); !slices.Contains(stems, s) {
			stems = append(stems, s)
		}
	}
	return stems
}

func (a *Analyzer) isFunction(l Language, w string) bool {
	return a.function[w]&(1<<slices.Index(Languages(), l)) != 0
}

// Content returns the folded words of a text that are no function words of its language, or all of
// them when there are no others. Safe for concurrent use.
func (a *Analyzer) Content(s string) []string {
	words := Words(s)
	l, _ := a.Detect(words)
	bit := uint8(1) << slices.Index(Languages(), l)
	kept := make([]string, 0, len(words))
	for _, w := range words {
		if a.function[w]&bit == 0 {
			kept = append(kept, w)
		}
	}
	if len(kept) == 0 {
		return words
	}
	return kept
}

// ContentOf appends to out the words that Content keeps.
func (a *Analyzer) ContentOf(out, words []TextWord) []TextWord {
	l, _ := a.DetectOf(words)
	bit := uint8(1) << slices.Index(Languages(), l)
	n := len(out)
	for _, w := range words {
		if w.known.function&bit == 0 {
			out = append(out, w)
		}
	}
	if len(out) == n {
		return append(out, words...)
	}
	return out
}
