// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package retrieve

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// Expansion has the weights of similar words: which words of documents match a word of a question.
// The weights are in [0,1]; 0 turns that kind of similarity off.
type Expansion struct {
	// Inflection is for terms that share all but their last letters: one begins
	// with the other and is at most three bytes longer.
	Inflection float64
	// Compound is for terms where one begins or ends with the other (for Swedish and German, and
	// for names written in one word).
	Compound float64
	// Misspelling is for terms that share at least half of their pairs of letters;
	// only for words that no document has in any other form.
	Misspelling float64
	// MinPart is the shortest part of a compound, in bytes; Max the most forms added
	// to one word, those nearest in length first.
	MinPart, Max int
}

// vocabulary finds terms by how they begin, end and are spelled.
type vocabulary struct {
	forward  []string // sorted
	backward []string // sorted, letters reversed
	// pairs are the terms with each pair of bytes, as indices into forward: those of pair p are at
	// starts[p] to starts[p+1].
	pairs  []int32
	starts []int32
}

func newVocabulary(lists []list) vocabulary {
	v := vocabulary{
		forward: make([]string, len(lists)), backward: make([]string, len(lists)),
		starts: make([]int32, 1<<16+1),
	}
	for i := range lists {
		v.forward[i] = lists[i].term
		v.backward[i] = reverse(lists[i].term)
	}
	slices.Sort(v.forward)
	slices.Sort(v.backward)
	var buf [][2]byte
	for _, t := range v.forward {
		buf = pairsOf(buf[:0], t)
		for _, p := range buf {
			v.starts[place(p)+1]++
		}
	}
	for p := 1; p < len(v.starts); p++ {
		v.starts[p] += v.starts[p-1]
	}
	v.pairs = make([]int32, v.starts[len(v.starts)-1])
	next := slices.Clone(v.starts)
	for i, t := range v.forward {
		buf = pairsOf(buf[:0], t)
		for _, p := range buf {
			v.pairs[next[place(p)]] = int32(i)
			next[place(p)]++
		}
	}
	return v
}

func place(p [2]byte) int { return int(p[0])<<8 | int(p[1]) }

// Has reports whether a document has the term.
func (x *BM25Index) Has(term string) bool {
	_, ok := x.terms[term]
	return ok
}

// Expand returns the forms of a word: its stems that occur in documents, with weight 1, and the
// similar terms that e allows. Empty when no document has any.
func (x *BM25Index) Expand(stems []string, e Expansion) TermGroup {
	var g TermGroup
	for _, s := range stems {
		if x.Has(s) {
			g = g.add(s, 1)
		}
	}
	own := len(g)
	for _, s := range stems {
		if e.Inflection > 0 || e.Compound > 0 {
			g = x.words.related(g, s, e)
		}
	}
	if len(g) == 0 && e.Misspelling > 0 {
		for _, s := range stems {
			g = x.words.misspelled(g, s, e)
		}
	}
	if e.Max > 0 && len(g) > own+e.Max {
		slices.SortStableFunc(g[own:], func(a, b Term) int {
			return cmpFar(a, b, len(stems[0]))
		})
		g = g[:own+e.Max]
	}
	return g
}

func cmpFar(a, b Term, n int) int {
	if a.Weight != b.Weight {
		if a.Weight > b.Weight {
			return -1
		}
		return 1
	}
	return max(len(a.Text)-n, n-len(a.Text)) - max(len(b.Text)-n, n-len(b.Text))
}

// add adds a term, or raises its weight.
func (g TermGroup) add(t string, weight float64) TermGroup {
	if weight <= 0 {
		return g
	}
	for i := range g {
		if g[i].Text == t {
			g[i].Weight = max(g[i].Weight, weight)
			return g
		}
	}
	return append(g, Term{Text: t, Weight: weight})
}

// inflected is how many bytes longer an inflection may be.
const inflected = 3

// maxScan bounds how many neighbors of a word in the sorted vocabulary are compared.
const maxScan = 256

func (v *vocabulary) related(g TermGroup, s string, e Expansion) TermGroup {
	if len(s) < e.MinPart || s[0] >= '0' && s[0] <= '9' {
		return g
	}
	// Terms that begin or end with s.
	i, _ := slices.BinarySearch(v.forward, s)
	for n := 0; i < len(v.forward) && n < maxScan && strings.HasPrefix(v.forward[i], s); i, n = i+1, n+1 {
		if t := v.forward[i]; t != s {
			g = g.add(t, likeness(len(t)-len(s), e))
		}
	}
	r := reverse(s)
	i, _ = slices.BinarySearch(v.backward, r)
	for n := 0; i < len(v.backward) && n < maxScan && strings.HasPrefix(v.backward[i], r); i, n = i+1, n+1 {
		if t := v.backward[i]; t != r {
			g = g.add(reverse(t), e.Compound)
		}
	}
	// Terms that are a prefix or suffix of s.
	for n := e.MinPart; n < len(s); n++ {
		if utf8.RuneStart(s[n]) && v.has(s[:n]) {
			g = g.add(s[:n], likeness(len(s)-n, e))
		}
		if m := len(s) - n; utf8.RuneStart(s[m]) && v.has(s[m:]) {
			g = g.add(s[m:], e.Compound)
		}
	}
	return g
}

// likeness is the weight of a term that is another term plus more bytes.
func likeness(more int, e Expansion) float64 {
	if more <= inflected {
		return max(e.Inflection, e.Compound)
	}
	return e.Compound
}

func (v *vocabulary) has(s string) bool {
	_, ok := slices.BinarySearch(v.forward, s)
	return ok
}

// misspelled adds the terms that share at least half of their pairs of letters with
// s (Dice), weighted by how many they share.
func (v *vocabulary) misspelled(g TermGroup, s string, e Expansion) TermGroup {
	if len(s) < e.MinPart {
		return g
	}
	own := pairsOf(nil, s)
	shared := map[int32]int{}
	for _, p := range own {
		for _, t := range v.pairs[v.starts[place(p)]:v.starts[place(p)+1]] {
			shared[t]++
		}
	}
	for t, n := range shared {
		w := v.forward[t]
		if dice := 2 * float64(n) / float64(len(own)+len(w)+1); dice >= 0.6 {
			g = g.add(w, e.Misspelling*dice)
		}
	}
	slices.SortFunc(g, func(a, b Term) int {
		if a.Weight != b.Weight {
			if a.Weight > b.Weight {
				return -1
			}
			return 1
		}
		return strings.Compare(a.Text, b.Text)
	})
	return g[:min(len(g), max(1, e.Max))]
}

// pairsOf appends the distinct pairs of neighboring bytes of a word with its ends.
func pairsOf(out [][2]byte, s string) [][2]byte {
	before := byte(0)
	for i := 0; i <= len(s); i++ {
		c := byte(0)
		if i < len(s) {
			c = s[i]
		}
		if p := [2]byte{before, c}; !slices.Contains(out, p) {
			out = append(out, p)
		}
		before = c
	}
	return out
}

func reverse(s string) string {
	b := []byte(s)
	slices.Reverse(b)
	return string(b)
}
