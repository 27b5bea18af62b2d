// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package text

import "slices"

// Analyzer turns texts into terms: folded words without function words, stemmed.
type Analyzer struct {
	// function has the languages in which a word is a function word, one bit each.
	function map[string]uint8
	// known remembers words of documents.
	known map[string]*known
}

// known is what was found out about a word; stems are empty until they are needed.
type known struct {
	function uint8
	stems    [numLanguages]string
}

// maxKnown bounds the memory of words: a catalog of 100,000 tools has some 30,000
// words of language, and numbers and names besides.
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

// Fork gives an analyzer of the same languages that remembers words of its own, for
// another goroutine.
func (a *Analyzer) Fork() *Analyzer {
	return &Analyzer{function: a.function, known: map[string]*known{}}
}

// Detect names the language of a text from its folded words: the one with most
// function words, the first of Languages when two are even. ok is false when no
// word tells.
func (a *Analyzer) Detect(words []string) (l Language, ok bool) {
	var counts [8]int
	for _, w := range words {
		for bits, i := a.function[w], 0; bits > 0; bits, i = bits>>1, i+1 {
			counts[i] += int(bits & 1)
		}
	}
	best := 0
	for i := range Languages() {
		if counts[i] > counts[best] {
			best = i
		}
	}
	return Languages()[best], counts[best] > 0
}

// Document appends to terms the terms of the folded words of a document in
// language l: for each word that is no function word the stem in l, and the
// English one where that differs, since names of tools are often English. It
// remembers stems and must not be called by two goroutines at once.
func (a *Analyzer) Document(terms []string, l Language, words []string) []string {
	at := slices.Index(Languages(), l)
	for _, w := range words {
		k := a.know(w)
		if k.function&(1<<at) != 0 {
			continue
		}
		s := k.stem(at, w)
		terms = append(terms, s)
		if l == English {
			continue
		}
		if e := k.stem(0, w); e != s {
			terms = append(terms, e)
		}
	}
	return terms
}

func (a *Analyzer) know(w string) *known {
	k, ok := a.known[w]
	if !ok {
		k = &known{function: a.function[w]}
		if len(a.known) < maxKnown {
			a.known[w] = k
		}
	}
	return k
}

// stem gives the word's stem in the language of that number.
func (k *known) stem(at int, w string) string {
	if k.stems[at] == "" {
		k.stems[at] = Stem(Languages()[at], w)
	}
	return k.stems[at]
}

// Query gives the terms of a question: for each word that is no function word its
// stems in the given languages, without repetition, in the order of the languages.
// When all words are function words, all of them are kept. Which words are function
// words is decided by the language that the question is in; languages must not be
// empty.
func (a *Analyzer) Query(s string, languages []Language) [][]string {
	words := Words(s)
	l, ok := a.Detect(words)
	if !ok || !slices.Contains(languages, l) {
		l = languages[0]
	}
	out := make([][]string, 0, len(words))
	for _, all := range []bool{false, true} {
		for _, w := range words {
			if !all && a.isFunction(l, w) {
				continue
			}
			out = append(out, stemsOf(w, languages))
		}
		if len(out) > 0 {
			break
		}
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

// Content gives the folded words of a text that are no function words of the
// language it is in, or all of them when there are no others. Safe for concurrent
// use.
func (a *Analyzer) Content(s string) []string { return a.ContentOf(Words(s)) }

// ContentOf is Content of a text that was cut into Words before, which are not
// changed. Safe for concurrent use.
func (a *Analyzer) ContentOf(words []string) []string {
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
