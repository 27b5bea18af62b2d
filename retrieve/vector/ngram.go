// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package vector

import (
	"context"
	"math"
	"strconv"
)

// NGram makes vectors of how words are written: every run of 3 to 5 characters of a
// word is hashed to one place of the vector and a sign. Texts that share parts of
// words are near each other, in any language; synonyms are not. Safe for concurrent
// use; the same text always has the same vector.
// Source: Weinberger et al., "Feature Hashing for Large Scale Multitask Learning"
// (2009); Bojanowski et al., "Enriching Word Vectors with Subword Information" (2017).
type NGram struct {
	width int
	words func(text string) []string
}

// NGramWidth is the usual width.
const NGramWidth = 384

// NewNGram makes an embedder of vectors of that width, at least 1; words cuts a text
// into the words that count.
func NewNGram(width int, words func(text string) []string) *NGram {
	return &NGram{width: max(1, width), words: words}
}

// Model is "offline/ngram" with the width.
func (e *NGram) Model() string { return "offline/ngram-" + strconv.Itoa(e.width) }

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
			e.AddWord(out[i], w, 1)
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

// AddWord adds the runs of a word to v, with a weight that all of them share, so that
// long words do not count more than short ones.
func (e *NGram) AddWord(v []float32, word string, weight float64) {
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
