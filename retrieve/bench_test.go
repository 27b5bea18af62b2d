// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package retrieve_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/callvet/callvet/retrieve"
)

// catalog makes n documents of a name of four words and a description of 15 to 30,
// of a vocabulary of 20,000 words that are as unevenly used as those of a language,
// and questions of eight words, half of them of one document.
func catalog(n int) ([]retrieve.BM25Document, [][]string) {
	r := rand.New(rand.NewPCG(11, uint64(n)))
	zipf := rand.NewZipf(r, 1.15, 4, 19_999)
	word := func() string { return spell(int(zipf.Uint64())) }
	docs := make([]retrieve.BM25Document, n)
	for i := range docs {
		name := []string{spell(r.IntN(10)), spell(200 + r.IntN(4000)), spell(5000 + r.IntN(200)), spell(30_000 + i)}
		var description []string
		for range 15 + r.IntN(16) {
			description = append(description, word())
		}
		docs[i] = retrieve.BM25Document{ID: fmt.Sprint(i), Fields: [][]string{name, description}}
	}
	questions := make([][]string, 200)
	for i := range questions {
		d := docs[r.IntN(n)]
		questions[i] = []string{d.Fields[0][1], d.Fields[0][2]}
		for range 3 {
			questions[i] = append(questions[i], d.Fields[1][r.IntN(len(d.Fields[1]))], word())
		}
	}
	return docs, questions
}

// spell writes a number as syllables.
func spell(i int) string {
	const first, second = "bdfghjklmnprstvwz", "aeiouy"
	var b []byte
	for i += 40; i > 0; i /= len(first) * len(second) {
		b = append(b, first[i%len(first)], second[i/len(first)%len(second)])
	}
	return string(b)
}

func options() retrieve.BM25Options {
	return retrieve.BM25Options{
		K1:     1.2,
		Fields: []retrieve.BM25Field{{Name: "name", Weight: 2, B: 0.5}, {Name: "description", Weight: 1, B: 0.75}},
	}
}

func BenchmarkSearch(b *testing.B) {
	for _, n := range []int{100, 1_000, 10_000, 100_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			docs, questions := catalog(n)
			x, err := retrieve.NewBM25(options())
			if err != nil {
				b.Fatal(err)
			}
			if err := x.Update(docs, nil); err != nil {
				b.Fatal(err)
			}
			groups := make([][]retrieve.TermGroup, len(questions))
			for i, q := range questions {
				groups[i] = retrieve.WordGroups(q)
			}
			i := 0
			for b.Loop() {
				x.Search(groups[i%len(groups)], 10)
				i++
			}
		})
	}
}

func BenchmarkUpdate(b *testing.B) {
	for _, n := range []int{10_000, 100_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			docs, _ := catalog(n)
			b.ReportAllocs()
			for b.Loop() {
				x, err := retrieve.NewBM25(options())
				if err != nil {
					b.Fatal(err)
				}
				if err := x.Update(docs, nil); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
