// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package judge

import (
	"cmp"
	"math"
	"slices"

	"github.com/callvet/callvet/stats"
)

// The statuses of an AUC.
const (
	// SingleClass: only passes or only fails; undefined.
	SingleClass stats.Status = "single_class"
	// TooFewInClass: one task in a class; an estimate without an interval.
	TooFewInClass stats.Status = "too_few_in_class"
)

// Area is the probability that a true pass has a higher score than a true fail; ties count half.
// Variance is NaN where it is not defined.
type Area struct {
	AUC, Variance, Lower, Upper float64
	Status                      stats.Status
}

// AUC measures how well scores rank true passes above true fails, with DeLong's
// interval clipped to [0,1]. Labels are true for a pass. Slices of different
// length: StatusInvalid; no data: StatusNoData.
// Source: DeLong, DeLong and Clarke-Pearson 1988.
func AUC(labels []bool, scores []float64, conf float64) Area {
	out := Area{AUC: math.NaN(), Variance: math.NaN(), Upper: 1, Status: stats.StatusNoData}
	if len(labels) != len(scores) || !(conf > 0 && conf < 1) || slices.ContainsFunc(scores, math.IsNaN) {
		out.Status = stats.StatusInvalid
		return out
	}
	if len(labels) == 0 {
		return out
	}
	var pass, fail []float64
	for i, l := range labels {
		if l {
			pass = append(pass, scores[i])
		} else {
			fail = append(fail, scores[i])
		}
	}
	if len(pass) == 0 || len(fail) == 0 {
		out.Status = SingleClass
		return out
	}
	above := placements(pass, fail)
	out.AUC, _ = moments(above)
	if len(pass) < 2 || len(fail) < 2 {
		out.Status = TooFewInClass
		return out
	}
	_, v10 := moments(above)
	_, v01 := moments(placements(fail, pass))
	out.Variance = v10/float64(len(pass)-1) + v01/float64(len(fail)-1)
	h := stats.NormalQuantile(1-(1-conf)/2) * math.Sqrt(out.Variance)
	out.Lower, out.Upper, out.Status = clip(out.AUC-h), clip(out.AUC+h), stats.StatusOK
	return out
}

// placements is, for each x, the share of ys below it.
func placements(xs, ys []float64) []float64 {
	sorted := slices.Sorted(slices.Values(ys))
	out := make([]float64, len(xs))
	for i, x := range xs {
		below, _ := slices.BinarySearch(sorted, x)
		upTo, _ := slices.BinarySearchFunc(sorted, x, func(y, x float64) int {
			if y <= x {
				return -1
			}
			return 1
		})
		out[i] = (float64(below) + float64(upTo)) / 2 / float64(len(ys))
	}
	return out
}

// Brier returns the mean squared distance of probabilities from the labels, and the expected
// calibration error over equally wide bins (k/bins, (k+1)/bins], the first closed at 0. Both are in
// [0,1]. ok is false for no data, slices of different length, a probability outside of [0,1], or no
// bin. Source: Brier 1950; Guo et al. 2017.
func Brier(labels []bool, probabilities []float64, bins int) (brier, ece float64, ok bool) {
	n := len(labels)
	if n == 0 || n != len(probabilities) || bins < 1 || !rates(probabilities) {
		return 0, 0, false
	}
	gap := make([]float64, bins)
	for i, p := range probabilities {
		y := 0.0
		if labels[i] {
			y = 1
		}
		brier += (p - y) * (p - y)
		k := 0
		for p > float64(k+1)/float64(bins) {
			k++
		}
		gap[k] += p - y
	}
	for _, g := range gap {
		ece += math.Abs(g)
	}
	return brier / float64(n), ece / float64(n), true
}

// Step is one score of an isotonic map with its probability.
type Step struct {
	Score, P float64
}

// Isotonic maps scores to the probability of a pass by the best non-decreasing function; equal
// scores are averaged first. The steps ascend by score. Slices of different length, or NaN: nil.
// Source: Barlow et al. 1972; Zadrozny and Elkan 2002.
func Isotonic(scores []float64, labels []bool) []Step {
	if len(scores) != len(labels) || slices.ContainsFunc(scores, math.IsNaN) {
		return nil
	}
	at := make([]int, len(scores))
	for i := range at {
		at[i] = i
	}
	slices.SortFunc(at, func(i, j int) int { return cmp.Compare(scores[i], scores[j]) })
	type block struct{ sum, n, steps float64 }
	var blocks []block
	steps := []Step{}
	for i := 0; i < len(at); {
		b := block{steps: 1}
		score := scores[at[i]]
		for ; i < len(at) && scores[at[i]] == score; i++ {
			b.n++
			if labels[at[i]] {
				b.sum++
			}
		}
		steps = append(steps, Step{Score: score})
		for len(blocks) > 0 && blocks[len(blocks)-1].sum*b.n >= b.sum*blocks[len(blocks)-1].n {
			last := blocks[len(blocks)-1]
			blocks = blocks[:len(blocks)-1]
			b = block{b.sum + last.sum, b.n + last.n, b.steps + last.steps}
		}
		blocks = append(blocks, b)
	}
	i := 0
	for _, b := range blocks {
		for range int(b.steps) {
			steps[i].P = b.sum / b.n
			i++
		}
	}
	return steps
}
