// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package labelled

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode"

	"github.com/callvet/callvet/internal/suite"
	"github.com/callvet/callvet/verify/proof"
)

// Limits of the likeness of two tasks of one language: of their runs of three letters, and of their
// words, unchanged and with names, numbers and ids masked.
const (
	mostLetters = 0.5
	mostWords   = 0.5
)

// pairs compares the users' texts in all pairs of tasks of one language, and returns the number of
// pairs with a likeness above 0.40.
func (s *set) pairs(c *proof.Check) (near int) {
	for _, language := range slices.Sorted(maps.Keys(languages())) {
		var ids, texts []string
		for i := range s.suite.Cases {
			if k := &s.suite.Cases[i]; k.Fields["language"] == language {
				ids, texts = append(ids, k.ID), append(texts, userText(k))
			}
		}
		subject := "pairs of " + language
		c.Due(subject, len(ids)*(len(ids)-1)/2, "the tasks")
		type pair struct {
			likeness
			names string
		}
		var all []pair
		for i := range texts {
			for j := range i {
				p := pair{like(texts[i], texts[j]), ids[j] + " and " + ids[i]}
				all = append(all, p)
				c.Compare(subject, p.names, p.letters <= mostLetters && p.words <= mostWords, "%s", p.likeness)
			}
		}
		slices.SortFunc(all,
			func(a, b pair) int { return cmp.Or(cmp.Compare(b.most(), a.most()), cmp.Compare(a.names, b.names)) })
		above := func(bound float64) int {
			n, _ := slices.BinarySearchFunc(all, bound, func(p pair, b float64) int { return cmp.Compare(b, p.most()) })
			return n
		}
		c.Printf("%s: %d pairs; above 0.50: %d, above 0.40: %d, above 0.30: %d; the most alike are\n", language,
			len(all), above(0.5), above(0.4), above(0.3))
		for _, p := range all[:min(3, len(all))] {
			c.Printf("  %s: %s\n", p.names, p.likeness)
		}
		near += above(0.4)
	}
	return near
}

// likeness of two texts, by letters and by words; each is the greater value of the unchanged and the
// masked texts.
type likeness struct{ letters, words float64 }

func (l likeness) most() float64 { return max(l.letters, l.words) }

// String writes both.
func (l likeness) String() string {
	return fmt.Sprintf("%.2f by letters, %.2f by words", l.letters, l.words)
}

func like(a, b string) likeness {
	x, y := masked(a), masked(b)
	return likeness{max(suite.Likeness(a, b), suite.Likeness(x, y)), max(wordLikeness(a, b), wordLikeness(x, y))}
}

// masked replaces numbers, words with a digit, and capitalised words inside a sentence by N: the
// parts that a machine would fill into a template.
func masked(text string) string {
	words := strings.Fields(text)
	begins := true
	for i, w := range words {
		bare := strings.TrimLeftFunc(w, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
		first := []rune(bare + " ")[0]
		if strings.ContainsFunc(w, unicode.IsDigit) || !begins && unicode.IsUpper(first) {
			words[i] = "N"
		}
		begins = strings.ContainsAny(w, ".?!")
	}
	return strings.Join(words, " ")
}

// wordLikeness is the Jaccard index of the words of two texts.
func wordLikeness(a, b string) float64 {
	x, y := words(a), words(b)
	both := 0
	for w := range x {
		if y[w] {
			both++
		}
	}
	if all := len(x) + len(y) - both; all > 0 {
		return float64(both) / float64(all)
	}
	return 1
}

func words(text string) map[string]bool {
	out := map[string]bool{}
	for _, w := range strings.FieldsFunc(strings.ToLower(text),
		func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }) {
		out[w] = true
	}
	return out
}
