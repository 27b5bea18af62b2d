// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package learn

import (
	"cmp"
	"fmt"
	"hash/fnv"
	"math"
	"slices"
	"strings"

	"github.com/callvet/callvet/value"
)

// SplitQuestions decides for each question whether it is held out: not used for writing
// descriptions, but for measuring them. An edit of a tool needs questions for that tool in both
// halves. Questions with the same right tools are therefore divided one by one, by a hash of their
// words and the seed; for a single question the hash alone decides. Questions with the same words
// are never in both halves. share is in [0,1]; of n questions share·n are held out, with an error
// below one.
func SplitQuestions(questions []Question, share float64, seed int64) []bool {
	type unit struct {
		hash uint64
		text string
		at   []int
	}
	groups := map[string]map[string]*unit{}
	of := map[string]string{} // the group of a text is the group of its first question
	for i, q := range questions {
		text := normal(q.Text)
		right := slices.Compact(slices.Sorted(slices.Values(q.Right)))
		group, known := of[text]
		if !known {
			group = strings.Join(right, "\x00")
			of[text] = group
		}
		if groups[group] == nil {
			groups[group] = map[string]*unit{}
		}
		u := groups[group][text]
		if u == nil {
			u = &unit{hash: hash(seed, group, text), text: text}
			groups[group][text] = u
		}
		u.at = append(u.at, i)
	}
	out := make([]bool, len(questions))
	for group, units := range groups {
		ordered := make([]*unit, 0, len(units))
		for _, u := range units {
			ordered = append(ordered, u)
		}
		slices.SortFunc(ordered,
			func(a, b *unit) int { return cmp.Or(cmp.Compare(a.hash, b.hash), strings.Compare(a.text, b.text)) })
		held := int(math.Floor(share*float64(len(ordered)) + value.Fraction(hash(seed, group, ""))))
		for _, u := range ordered[:min(held, len(ordered))] {
			for _, i := range u.at {
				out[i] = true
			}
		}
	}
	return out
}

func hash(seed int64, parts ...string) uint64 {
	h := fnv.New64a()
	fmt.Fprintf(h, "%d", seed)
	for _, p := range parts {
		fmt.Fprintf(h, "\x01%s", p)
	}
	return value.Scattered(h.Sum64())
}
