// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package retrieve

import (
	"cmp"
	"math"
	"slices"
)

// feature is a word, a pair of words or a part of a word, by its hash bucket.
type feature struct {
	bucket int
	value  float32
}

// features makes vectors of length 1 from questions: the count of each feature times its rarity in
// the examples.
type features struct {
	rarity []float32 // of each bucket; 0 for a bucket without an example
}

func newFeatures(examples []RouteExample, buckets int) features {
	has := make([]int, buckets)
	for _, e := range examples {
		found := hashes(e.Text, buckets)
		slices.Sort(found)
		for _, b := range slices.Compact(found) {
			has[b]++
		}
	}
	f := features{rarity: make([]float32, buckets)}
	for b, n := range has {
		if n > 0 {
			f.rarity[b] = float32(1 + math.Log(float64(len(examples))/float64(n)))
		}
	}
	return f
}

// of returns the vector of a question; empty when it has no feature of any example.
func (f features) of(question string) []feature {
	found := hashes(question, len(f.rarity))
	slices.Sort(found)
	var out []feature
	norm := 0.0
	for i := 0; i < len(found); {
		end := i + 1
		for end < len(found) && found[end] == found[i] {
			end++
		}
		if x := f.rarity[found[i]] * float32(math.Sqrt(float64(end-i))); x > 0 {
			out = append(out, feature{found[i], x})
			norm += float64(x) * float64(x)
		}
		i = end
	}
	scale := float32(1 / math.Sqrt(cmp.Or(norm, 1)))
	for i := range out {
		out[i].value *= scale
	}
	return out
}

// Parts of words that count: 3 to 5 letters, the ends of the word included.
const (
	shortestPart = 3
	longestPart  = 5
)

func hashes(question string, buckets int) []int {
	if len(question) > maxQuestion {
		question = question[:maxQuestion]
	}
	words := Words(question)
	var out []int
	add := func(kind byte, parts ...string) {
		h := uint64(14695981039346656037) ^ uint64(kind)
		for _, s := range parts {
			for i := range len(s) {
				h = (h ^ uint64(s[i])) * 1099511628211
			}
			h = (h ^ 0x1f) * 1099511628211
		}
		out = append(out, int((h^h>>29)%uint64(buckets)))
	}
	before := "^"
	for _, w := range words {
		add('w', w)
		add('p', before, w)
		before = w
		marked := []rune("_" + w + "_")
		for n := shortestPart; n <= longestPart; n++ {
			for i := 0; i+n <= len(marked); i++ {
				add('c', string(marked[i:i+n]))
			}
		}
	}
	if len(words) > 0 {
		add('p', before, "$")
	}
	return out
}
