// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package vector

import (
	"context"
	"crypto/sha256"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
)

// NGram makes vectors of how words are written: every run of 3 to 5 characters of a
// word is hashed to one place of the vector and a sign. Texts that share parts of
// words are near each other, in any language; synonyms are not. Safe for concurrent
// use; the same text always has the same vector.
// Source: Weinberger et al., "Feature Hashing for Large Scale Multitask Learning"
// (2009); Bojanowski et al., "Enriching Word Vectors with Subword Information" (2017).
type NGram struct {
	width  int
	words  func(text string) []string
	weight map[string]float64 // of words, where fitted
	other  float64            // of words that were not seen
	model  string
}

// NGramWidth is the usual width.
const NGramWidth = 384

// NewNGram makes an embedder of vectors of that width, at least 1, in which all words
// weigh the same; words cuts a text into the words that count.
func NewNGram(width int, words func(text string) []string) *NGram {
	width = max(1, width)
	return &NGram{width: width, words: words, other: 1, model: "offline/ngram-" + strconv.Itoa(width)}
}

// FitNGram makes an embedder in which a word weighs the more the fewer of the texts
// have it, by its inverse document frequency. The fit is part of the model's name: to
// embed texts of a catalog that has changed, keep the fit, or embed all of them anew.
func FitNGram(width int, words func(text string) []string, texts []string) *NGram {
	e := NewNGram(width, words)
	e.weight = map[string]float64{}
	for _, t := range texts {
		ws := slices.Clone(words(t))
		slices.Sort(ws)
		for _, w := range slices.Compact(ws) {
			e.weight[w]++
		}
	}
	sum := sha256.New()
	n := float64(len(texts))
	for _, w := range slices.Sorted(maps.Keys(e.weight)) {
		df := e.weight[w]
		fmt.Fprintf(sum, "%s %g\n", w, df)
		e.weight[w] = math.Log(1 + (n-df+0.5)/(df+0.5))
	}
	e.other = math.Log(1 + (n+0.5)/0.5)
	e.model += fmt.Sprintf("-fit-%x", sum.Sum(nil)[:6])
	return e
}

// Model is "offline/ngram" with the width and what it was fitted on.
func (e *NGram) Model() string { return e.model }

// Embed gives a vector of each text. The only error is that of a canceled context.
func (e *NGram) Embed(ctx context.Context, texts []string) ([][]float32, error) {
	out := make([][]float32, len(texts))
	data := make([]float32, len(texts)*e.width)
	for i, t := range texts {
		if i%256 == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		out[i] = data[i*e.width : (i+1)*e.width : (i+1)*e.width]
		for _, w := range e.words(t) {
			e.add(out[i], w, e.weightOf(w))
		}
		dampen(out[i])
		Normalize(out[i])
	}
	return out, nil
}

// shortest and longest are the lengths of the runs, in bytes of UTF-8 with a mark at
// both ends of the word.
const (
	shortest = 3
	longest  = 5
)

func (e *NGram) weightOf(word string) float64 {
	if w, ok := e.weight[word]; ok {
		return w
	}
	return e.other
}

// add adds the runs of a word to v, with a weight that all of them share, so that
// long words do not count more than short ones.
func (e *NGram) add(v []float32, word string, weight float64) {
	var buf [96]byte
	b := append(buf[:0], '<')
	b = append(b, word...)
	b = append(b, '>')
	n := 0
	for k := shortest; k <= longest; k++ {
		n += max(0, len(b)-k+1)
	}
	if n == 0 {
		return
	}
	share := float32(weight / math.Sqrt(float64(n)))
	for i := range b {
		h := uint64(14695981039346656037) // FNV-1a
		for k := 0; k < longest && i+k < len(b); k++ {
			h = (h ^ uint64(b[i+k])) * 1099511628211
			if k+1 < shortest {
				continue
			}
			m := h ^ h>>29
			m *= 0xbf58476d1ce4e5b9
			m ^= m >> 32
			if place := m % uint64(e.width); m>>63 == 0 {
				v[place] += share
			} else {
				v[place] -= share
			}
		}
	}
}

// dampen takes signed square roots, so that what a text repeats does not drown the rest.
func dampen(v []float32) {
	for i, x := range v {
		if x < 0 {
			v[i] = -float32(math.Sqrt(float64(-x)))
		} else {
			v[i] = float32(math.Sqrt(float64(x)))
		}
	}
}
