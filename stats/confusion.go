// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package stats

import (
	"math"
	"slices"
)

// Confusion is a confusion matrix with its scores. Slices are by Labels, which
// ascend. A score over nothing is NaN.
type Confusion struct {
	Labels []string
	// Matrix counts by expected (row) and predicted (column) label.
	Matrix [][]int
	// Accuracy is the share of equal pairs.
	Accuracy float64
	// Precision is NaN for a label never predicted, Recall for one never expected;
	// F1 is 0 then.
	Precision, Recall, F1 []float64
	// MacroF1 is the mean of F1 over all labels, WeightedF1 the mean weighted by how often a label
	// was expected, MacroRecall the mean of Recall over expected labels.
	MacroF1, WeightedF1, MacroRecall float64
	// MCC is the correlation of expected and predicted labels, in [-1,1]; 0 where
	// one of them never varies.
	MCC float64
}

// Confuse compares what was expected with what was predicted, case by case. A
// failure of the provider is a label of its own. ok is false for slices of
// different length.
// Source: Gorodkin 2004 (MCC of several labels); Chicco and Jurman 2020.
func Confuse(expected, predicted []string) (c Confusion, ok bool) {
	if len(expected) != len(predicted) {
		return Confusion{}, false
	}
	c.Labels = slices.Compact(slices.Sorted(slices.Values(slices.Concat(expected, predicted))))
	at := make(map[string]int, len(c.Labels))
	c.Matrix = make([][]int, len(c.Labels))
	for i, l := range c.Labels {
		at[l] = i
		c.Matrix[i] = make([]int, len(c.Labels))
	}
	for i := range expected {
		c.Matrix[at[expected[i]]][at[predicted[i]]]++
	}
	c.score(float64(len(expected)))
	return c, true
}

func (c *Confusion) score(n float64) {
	q := len(c.Labels)
	rows, cols := make([]float64, q), make([]float64, q)
	right := 0.0
	for i, row := range c.Matrix {
		for j, x := range row {
			rows[i] += float64(x)
			cols[j] += float64(x)
		}
		right += float64(row[i])
	}
	c.Accuracy = quotient(right, n)
	var f1, weighted, recall, supported, rc, rr, cc float64
	for i := range q {
		hit := float64(c.Matrix[i][i])
		c.Precision = append(c.Precision, quotient(hit, cols[i]))
		c.Recall = append(c.Recall, quotient(hit, rows[i]))
		c.F1 = append(c.F1, 2*hit/(rows[i]+cols[i]))
		f1 += c.F1[i]
		weighted += c.F1[i] * rows[i]
		if rows[i] > 0 {
			recall += c.Recall[i]
			supported++
		}
		rc += rows[i] * cols[i]
		rr += rows[i] * rows[i]
		cc += cols[i] * cols[i]
	}
	c.MacroF1, c.WeightedF1, c.MacroRecall = quotient(f1, float64(q)), quotient(weighted, n),
		quotient(recall, supported)
	c.MCC = math.NaN()
	if n > 0 {
		c.MCC = 0
		if d := (n*n - rr) * (n*n - cc); d > 0 {
			c.MCC = (right*n - rc) / math.Sqrt(d)
		}
	}
}

func quotient(x, n float64) float64 {
	if n == 0 {
		return math.NaN()
	}
	return x / n
}
