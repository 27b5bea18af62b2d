// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package suite

import (
	"encoding/json"
	"fmt"
	"hash/fnv"
	"slices"
	"strings"
	"unicode"

	"github.com/callvet/callvet"
)

// Bounds of the look for near-duplicates. A suite beyond them is compared as far as they go,
// so that lint takes a bounded time (docs/reference/limits.md).
const (
	// alikeFrom is the likeness from which two prompts are reported as nearly the same.
	alikeFrom = 0.9
	// alikeCases is how many cases are compared, alikeRunes how much of each.
	alikeCases, alikeRunes = 20_000, 1_000
	// alikeSteps bounds the pieces that are compared: about one second of work.
	alikeSteps = 200_000_000
	// alikeNamed is how many near-duplicates are named; the rest is counted.
	alikeNamed = 20
)

// Likeness is how much of two texts is the same, in [0,1]: the Jaccard index of their sets of
// three letters in a row. Letter case and punctuation do not count, and all numbers are equal.
// Two texts without letters and digits are alike.
func Likeness(a, b string) float64 { return jaccard(pieces(a), pieces(b)) }

// pieces are the hashes of all runs of three characters of a text, sorted, each once. A text
// stands between blanks, so that a short one has some.
func pieces(text string) []uint32 {
	runes := plainRunes(text)
	out := make([]uint32, 0, len(runes))
	for i := 0; i+3 <= len(runes); i++ {
		h := uint32(2166136261) // FNV-1a, over code points
		for _, r := range runes[i : i+3] {
			h = (h ^ uint32(r)) * 16777619
		}
		out = append(out, h)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// plainRunes are the small letters of a text, a 0 for each number, and one blank for all else.
func plainRunes(text string) []rune {
	out := make([]rune, 1, min(len(text), alikeRunes)+2)
	out[0] = ' '
	for _, r := range text {
		last := out[len(out)-1]
		switch {
		case unicode.IsDigit(r):
			if r = '0'; last == '0' {
				continue
			}
		case unicode.IsLetter(r), unicode.IsMark(r):
			r = unicode.ToLower(r)
		default:
			if r = ' '; last == ' ' {
				continue
			}
		}
		if out = append(out, r); len(out) > alikeRunes {
			break
		}
	}
	if len(out) > 1 && out[len(out)-1] != ' ' {
		out = append(out, ' ')
	}
	return out
}

// jaccard is the share of equal values of two sorted sets; 1 when both are empty.
func jaccard(a, b []uint32) float64 {
	both := 0
	for i, j := 0, 0; i < len(a) && j < len(b); {
		switch {
		case a[i] < b[j]:
			i++
		case a[i] > b[j]:
			j++
		default:
			both, i, j = both+1, i+1, j+1
		}
	}
	if all := len(a) + len(b) - both; all > 0 {
		return float64(both) / float64(all)
	}
	return 1
}

// asked is the part of a case that is kept to find cases with the same question.
type asked struct {
	id     string
	at     callvet.Position
	pieces []uint32
	// setting distinguishes the same words with different tools or a different context.
	setting uint64
}

// remember stores the question of the case.
func (l *linter) remember(c *callvet.Case) {
	if c.Skip != "" || l.s.Dialect == "bfcl" { // a published benchmark is run as it is
		return
	}
	if len(l.asked) >= alikeCases {
		l.unasked++
		return
	}
	var text strings.Builder
	for i := range c.Input {
		text.WriteString(c.Input[i].Content)
		text.WriteByte('\n')
	}
	if strings.TrimSpace(text.String()) == "" {
		return
	}
	h := fnv.New64a()
	enc := json.NewEncoder(h)
	for _, v := range []any{c.ToolNames, c.Tools, c.ToolChoice, c.Context} {
		if enc.Encode(v) != nil { // a schema that is no JSON, which has a problem of its own
			return
		}
	}
	l.asked = append(l.asked, asked{id: c.ID, at: c.Position, pieces: pieces(text.String()), setting: h.Sum64()})
}

// alike warns of cases with nearly the same question as an earlier case.
func (l *linter) alike() {
	pairs, compared := nearPairs(l.asked, alikeSteps)
	if compared < len(l.asked) {
		l.keep(callvet.Problem{
			Code: "near-duplicate", Position: callvet.Position{File: l.file}, Warning: true,
			Message: fmt.Sprintf(
				"the prompts share so much that the look for near-duplicates ended after %d of %d cases", compared,
				len(l.asked)),
		})
	}
	if l.unasked > 0 {
		l.keep(callvet.Problem{
			Code: "near-duplicate", Position: callvet.Position{File: l.file}, Warning: true,
			Message: fmt.Sprintf("the look for near-duplicates compared the first %d of %d cases only", alikeCases,
				alikeCases+l.unasked),
			Fix: "divide the suite: each part is compared by itself",
		})
	}
	more := 0
	for _, p := range pairs {
		if more++; more > alikeNamed {
			continue
		}
		first, second := &l.asked[p.first], &l.asked[p.second]
		what := "says the same as"
		if p.likeness < 1 {
			what = fmt.Sprintf("is %.0f %% like", 100*p.likeness)
		}
		l.keep(callvet.Problem{
			Code: "near-duplicate", Case: second.id, Position: second.at, Warning: true,
			Message: fmt.Sprintf("the prompt %s that of the case %q on line %d, numbers and punctuation aside", what,
				first.id, first.at.Line),
			Fix: "ask something else, or drop one: cases that repeat one another make a result look surer than it is",
		})
	}
	if more > alikeNamed {
		l.keep(callvet.Problem{
			Code: "near-duplicate", Position: callvet.Position{File: l.file}, Warning: true,
			Message: fmt.Sprintf("the prompts of %d more cases are nearly the same as others", more-alikeNamed),
		})
	}
}

// nearPair is a case and the first similar case.
type nearPair struct {
	first, second int
	likeness      float64
}

// nearPairs finds for each case the most similar earlier one, with a likeness of alikeFrom or
// more, among cases without such an earlier case. It compares at most steps pieces; compared is
// the number of cases that it reached.
//
// Two sets of a likeness t share one of the rarest pieces of each, so only the (1-t) part has to be
// looked up. This is prefix filtering: S. Chaudhuri, V. Ganti, R. Kaushik, "A Primitive Operator
// for Similarity Joins in Data Cleaning", ICDE 2006.
func nearPairs(list []asked, steps int) (pairs []nearPair, compared int) {
	often := map[uint32]uint32{}
	for i := range list {
		for _, p := range list[i].pieces {
			often[p]++
		}
	}
	holders := map[uint32][]int32{} // by a rare piece: the cases without a similar earlier case
	seen := make([]int, len(list))  // the case that was compared with this one last, from 1
	var rare []uint64               // how often, and the piece
	for i := range list {
		a := &list[i]
		rare = rare[:0]
		for _, p := range a.pieces {
			rare = append(rare, uint64(often[p])<<32|uint64(p))
		}
		slices.Sort(rare)
		rare = rare[:len(rare)-least(len(rare))+min(1, len(rare))]
		best := nearPair{first: -1, second: i}
		for _, p := range rare {
			for _, j := range holders[uint32(p)] {
				b := &list[j]
				if steps--; steps < 0 {
					return pairs, i
				}
				if seen[j] == i+1 || a.setting != b.setting ||
					min(len(a.pieces), len(b.pieces)) < least(max(len(a.pieces), len(b.pieces))) {
					continue
				}
				seen[j] = i + 1
				steps -= len(a.pieces) + len(b.pieces)
				if like := jaccard(a.pieces, b.pieces); like >= alikeFrom && like > best.likeness {
					best.first, best.likeness = int(j), like
				}
			}
		}
		if best.first >= 0 {
			pairs = append(pairs, best)
			continue
		}
		for _, p := range rare {
			holders[uint32(p)] = append(holders[uint32(p)], int32(i))
		}
	}
	return pairs, len(list)
}

// least is the number of its n pieces that a set must share with another set to be similar to it.
func least(n int) int {
	share := int(alikeFrom * float64(n))
	if float64(share) < alikeFrom*float64(n) {
		share++
	}
	return share
}
