// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package retrieve

import (
	"context"
	"crypto/sha256"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
)

// NGram makes vectors of the spelling of words: every run of 3 to 5 characters of a word is hashed
// to one position of the vector and a sign. Texts with common parts of words are near each other,
// in any language; synonyms are not. Safe for concurrent use; the same text always has the same
// vector. Source: Weinberger et al., "Feature Hashing for Large Scale Multitask Learning" (2009);
// Bojanowski et al., "Enriching Word Vectors with Subword Information" (2017).
type NGram struct {
	width  int
	words  func(text string) []string
	weight map[string]float64 // of words, where fitted
	other  float64            // of words that were not seen
	model  string
}

// NGramWidth is the usual width.
const NGramWidth = 384

// NewNGram makes an embedder of vectors of that width, at least 1, with equal weights of all words;
// words splits a text into the words that count.
func NewNGram(width int, words func(text string) []string) *NGram {
	width = max(1, width)
	return &NGram{width: width, words: words, other: 1, model: "offline/ngram-" + strconv.Itoa(width)}
}

// FitNGram makes an embedder that weighs words by their inverse document frequency in texts. The
// fit is part of the model's name: to embed texts of a changed catalog, keep the fit, or embed all
// of them again.
func FitNGram(width int, words func(text string) []string, texts []string) *NGram {
	cut := make([][]string, len(texts))
	for i, t := range texts {
		cut[i] = words(t)
	}
	return FitNGramWords(width, words, cut)
}

// FitNGramWords is FitNGram for texts that are already split into words.
func FitNGramWords(width int, words func(text string) []string, texts [][]string) *NGram {
	e := NewNGram(width, words)
	e.weight = map[string]float64{}
	for _, t := range texts {
		ws := slices.Clone(t)
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

// Embed returns a vector of each text. The only error is the error of a canceled context.
func (e *NGram) Embed(ctx context.Context, texts []string) ([][]float32, error) {
	b, numbers, known := e.Batch(), []int(nil), map[string]int{}
	out := make([][]float32, len(texts))
	data := make([]float32, len(texts)*e.width)
	for i, t := range texts {
		if i%256 == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		out[i] = data[i*e.width : (i+1)*e.width : (i+1)*e.width]
		words := e.words(t)
		numbers = numbers[:0]
		for _, w := range words {
			n, ok := known[w]
			if !ok {
				n = len(known)
				known[w] = n
			}
			numbers = append(numbers, n)
		}
		b.Embed(out[i], words, numbers)
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

// Width is the length of the vectors.
func (e *NGram) Width() int { return e.width }

// VectorBatch makes vectors of many texts that are already split into words. It caches the
// positions of a word's runs, and is not safe for concurrent use.
type VectorBatch struct {
	e     *NGram
	known []spelling // by the numbers of words
	room  []int32    // for runs of cached words
	last  []int32    // the runs of a word that is not cached
}

// Batch begins a batch.
func (e *NGram) Batch() *VectorBatch { return &VectorBatch{e: e} }

// maxSpellings bounds the cache of a batch; runsRoom is how many runs are allocated at once.
const (
	maxSpellings = 1 << 17
	runsRoom     = 1 << 14
)

// spelling has the positions of a word's runs: twice the position, plus 1 for a negative sign.
// share is the weight of each run, so that long words do not count more than short ones.
type spelling struct {
	runs  []int32
	share float32
	done  bool
}

// Embed writes into v, zeros of the embedder's width, the vector of a text of those words, equal to
// that of the embedder's Embed. Each word has a constant number, small ones first; -1 for words
// that are not cached.
func (b *VectorBatch) Embed(v []float32, words []string, numbers []int) {
	for i, w := range words {
		s := b.spell(w, numbers[i])
		share := [2]float32{s.share, -s.share}
		for _, r := range s.runs {
			v[r>>1] += share[r&1]
		}
	}
	dampen(v)
	NormalizeVector(v)
}

func (b *VectorBatch) spell(word string, number int) spelling {
	keep := number >= 0 && number < maxSpellings
	if keep && number < len(b.known) && b.known[number].done {
		return b.known[number]
	}
	if most := (len(word) + 2) * (longest - shortest + 1); keep && cap(b.room)-len(b.room) < most {
		b.room = make([]int32, 0, max(runsRoom, most))
	}
	room := b.last[:0]
	if keep {
		room = b.room[len(b.room):]
	}
	s := spelling{runs: b.e.runs(room, word), done: true}
	if n := len(s.runs); n > 0 {
		s.share = float32(b.e.weightOf(word) / math.Sqrt(float64(n)))
	}
	if !keep {
		b.last = s.runs
		return s
	}
	b.room = b.room[:len(b.room)+len(s.runs)]
	if number >= len(b.known) {
		b.known = append(b.known, make([]spelling, number+1-len(b.known))...)
	}
	b.known[number] = s
	return s
}

// runs appends the positions of a word's runs.
func (e *NGram) runs(out []int32, word string) []int32 {
	var buf [96]byte
	b := append(buf[:0], '<')
	b = append(b, word...)
	b = append(b, '>')
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
			out = append(out, int32(m%uint64(e.width))<<1|int32(m>>63))
		}
	}
	return out
}

// dampen takes signed square roots, so that repetitions do not dominate.
func dampen(v []float32) {
	for i, x := range v {
		if x < 0 {
			v[i] = -float32(math.Sqrt(float64(-x)))
		} else {
			v[i] = float32(math.Sqrt(float64(x)))
		}
	}
}
