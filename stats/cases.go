// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package stats

import (
	"math"
	"slices"
)

// Match is how selected tools match the expected ones.
type Match string

// The matches, best first.
const (
	Exact      Match = "exact"
	Acceptable Match = "acceptable"
	Partial    Match = "partial"
	None       Match = "none"
)

// Compare is the best match of a selection: exactly the expected set, only acceptable tools (the
// expected ones always are), some of these with others, or none. Order and repetition do not count.
// Source: Tool Selection Evaluation System.
func Compare(expected, acceptable, selected []string) Match {
	want, got := set(expected), set(selected)
	fit := shared(got, set(slices.Concat(expected, acceptable)))
	switch {
	case slices.Equal(want, got):
		return Exact
	case fit > 0 && fit == len(got):
		return Acceptable
	case fit > 0:
		return Partial
	}
	return None
}

// Jaccard is the size of the intersection of two sets divided by that of their union, in [0,1]; 1
// for two empty sets.
func Jaccard(a, b []string) float64 {
	x, y := set(a), set(b)
	both := shared(x, y)
	if union := len(x) + len(y) - both; union > 0 {
		return float64(both) / float64(union)
	}
	return 1
}

// set is the sorted distinct members.
func set(xs []string) []string {
	return slices.Compact(slices.Sorted(slices.Values(xs)))
}

func shared(xs, ys []string) int {
	n := 0
	for _, x := range xs {
		if _, ok := slices.BinarySearch(ys, x); ok {
			n++
		}
	}
	return n
}

// Ranking scores the first k tools of a retrieved list. All are in [0,1].
type Ranking struct {
	// Recall is over the expected tools, Precision over k, also when fewer were
	// retrieved. MRR is one over the rank of the first hit.
	Recall, Precision, MRR float64
	// NDCG discounts hits by the logarithm of their rank; AP averages the precision
	// at each hit, over the smaller of k and the expected.
	NDCG, AP float64
	Hit      bool
}

// Rank scores a list against the expected tools; repeated tools count once. ok is
// false when nothing is expected or k is below 1.
// Source: Manning, Raghavan and Schütze 2008; Järvelin and Kekäläinen 2002.
func Rank(expected, retrieved []string, k int) (r Ranking, ok bool) {
	want := set(expected)
	if len(want) == 0 || k < 1 {
		return Ranking{}, false
	}
	seen, hits, rank := map[string]bool{}, 0.0, 0
	for _, tool := range retrieved {
		if seen[tool] || rank == k {
			continue
		}
		seen[tool] = true
		rank++
		if _, hit := slices.BinarySearch(want, tool); !hit {
			continue
		}
		hits++
		if hits == 1 {
			r.MRR = 1 / float64(rank)
		}
		r.AP += hits / float64(rank)
		r.NDCG += discount(rank)
	}
	best, ideal := min(k, len(want)), 0.0
	for i := range best {
		ideal += discount(i + 1)
	}
	r.Recall, r.Precision, r.Hit = hits/float64(len(want)), hits/float64(k), hits > 0
	r.AP, r.NDCG = r.AP/float64(best), r.NDCG/ideal
	return r, true
}

func discount(rank int) float64 { return 1 / math.Log2(float64(rank)+1) }

// Composite is the weighted mean of the scores that are not NaN, and the weight
// they have. Without weight the mean is NaN. ok is false for another number of
// weights than scores or a negative weight.
// Source: Tool Selection Evaluation System.
func Composite(weights, scores []float64) (mean, used float64, ok bool) {
	if len(weights) != len(scores) {
		return math.NaN(), 0, false
	}
	total := 0.0
	for i, s := range scores {
		if !(weights[i] >= 0) {
			return math.NaN(), 0, false
		}
		if math.IsNaN(s) {
			continue
		}
		total += weights[i] * s
		used += weights[i]
	}
	return quotient(total, used), used, true
}

// MultiTurn is the score of a conversation with its two factors, all in [0,1].
type MultiTurn struct {
	Completion, Efficiency, Overall float64
}

// ScoreTurns is the weighted mean of tools (0.6) and parameters (0.4), or tools alone where
// parameters is NaN. It is multiplied by optimal ÷ actual hops, and 0.1 is subtracted for each
// redundant call and each detour. No hop at all is efficient only where none was needed. Source:
// Tool Calling Evaluation.
func ScoreTurns(tools, parameters float64, optimalHops, actualHops, redundant, detours int) MultiTurn {
	m := MultiTurn{Completion: 0.6*tools + 0.4*parameters}
	if math.IsNaN(parameters) {
		m.Completion = tools
	}
	switch {
	case actualHops > 0:
		m.Efficiency = min(1, float64(optimalHops)/float64(actualHops))
	case optimalHops == 0:
		m.Efficiency = 1
	}
	m.Overall = min(1, max(0, m.Completion*m.Efficiency-0.1*float64(redundant)-0.1*float64(detours)))
	return m
}
