// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package stats

import (
	"cmp"
	"slices"
)

// Holm adjusts p values: the probability of one or more false claims among all stays below the
// level. The result has the order of the input and is in [0,1]; nil where a p value is not in
// [0,1]. Source: Holm 1979.
func Holm(p []float64) []float64 {
	return stepDown(p, func(rank, m int) float64 { return float64(m - rank) })
}

// Bonferroni multiplies each p value with their number; the result is as of Holm.
func Bonferroni(p []float64) []float64 {
	if !probabilities(p) {
		return nil
	}
	out := make([]float64, len(p))
	for i, x := range p {
		out[i] = min(1, x*float64(len(p)))
	}
	return out
}

// BH adjusts p values for exploration: among the claims at a level, the expected
// share of false ones stays below it. The result is as of Holm.
// Source: Benjamini and Hochberg 1995.
func BH(p []float64) []float64 { return stepUp(p, 1) }

// BY is BH for p values that depend on one another in any way.
// Source: Benjamini and Yekutieli 2001.
func BY(p []float64) []float64 {
	c := 0.0
	for i := range p {
		c += 1 / float64(i+1)
	}
	return stepUp(p, c)
}

// stepDown multiplies the p value of each rank, counted from 0 at the smallest,
// and never lets a later one be smaller.
func stepDown(p []float64, factor func(rank, m int) float64) []float64 {
	if !probabilities(p) {
		return nil
	}
	out, running := make([]float64, len(p)), 0.0
	for r, i := range ascending(p) {
		running = max(running, min(1, p[i]*factor(r, len(p))))
		out[i] = running
	}
	return out
}

func stepUp(p []float64, c float64) []float64 {
	if !probabilities(p) {
		return nil
	}
	at, running := ascending(p), 1.0
	out := make([]float64, len(p))
	for r := len(p) - 1; r >= 0; r-- {
		running = min(running, c*p[at[r]]*float64(len(p))/float64(r+1))
		out[at[r]] = running
	}
	return out
}

func ascending(p []float64) []int {
	at := make([]int, len(p))
	for i := range at {
		at[i] = i
	}
	slices.SortStableFunc(at, func(i, j int) int { return cmp.Compare(p[i], p[j]) })
	return at
}

func probabilities(p []float64) bool {
	for _, x := range p {
		if !(x >= 0 && x <= 1) {
			return false
		}
	}
	return true
}
