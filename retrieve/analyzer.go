// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package retrieve

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
	number   int
	function uint8
	stems    [numLanguages]string
}

// TextWord is a folded word of a document with what an analyzer remembers of it.
type TextWord struct {
	Text string
	// Number is one for each word of the analyzer, from 0; -1 for a word that it does
	// not remember.
	Number int
	known  *known
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

// Look appends to out the folded words of a document with what is known of them. It
// remembers words and must not be called by two goroutines at once.
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

// Document appends to terms the terms of the words of a document in language l: for
// each word that is no function word the stem in l, and the English one where that
// differs, since names of tools are often English. It remembers stems and must not be
// called by two goroutines at once.
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
	asked := a.Asked(s, languages)
	out := make([][]string, len(asked))
	for i, w := range asked {
		out[i] = stemsOf(w, languages)
	}
	return out
}

// Asked gives the folded words whose stems Query gives, in the same order.
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

// Content gives the folded words of a text that are no function words of the
// language it is in, or all of them when there are no others. Safe for concurrent
// use.
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

// ContentOf appends to out what Content keeps of a text of those words.
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
