// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package stats

import (
	"math"
)

// NoVariation means that only one category occurs, so that agreement by chance
// is certain: the coefficient is undefined.
const NoVariation Status = "undefined_no_variation"

// RatingTable counts tasks by the categories two raters gave them: rows are the first
// rater's (the person's), columns the second's (the judge's). It is square.
type RatingTable [][]int

// total is the number of tasks; ok is false for a table that is not square or a
// negative count.
func (t RatingTable) total() (n float64, ok bool) {
	for _, row := range t {
		if len(row) != len(t) {
			return 0, false
		}
		for _, x := range row {
			if x < 0 {
				return 0, false
			}
			n += float64(x)
		}
	}
	return n, len(t) > 0
}

// margins are the shares of each category by rater.
func (t RatingTable) margins(n float64) (rows, cols []float64) {
	rows, cols = make([]float64, len(t)), make([]float64, len(t))
	for i, row := range t {
		for j, x := range row {
			rows[i] += float64(x) / n
			cols[j] += float64(x) / n
		}
	}
	return rows, cols
}

// Agreement is a coefficient of agreement corrected for chance, with its normal
// or t interval clipped to [-1,1]. Members that are not defined are NaN.
type Agreement struct {
	// Observed and Chance are shares of agreeing tasks.
	Observed, Chance float64
	Point, SE        float64
	// SENull is the standard error if raters agreed by chance only; 0 for AC1.
	SENull       float64
	Lower, Upper float64
	N            int
	Status       Status
}

func undefined(status Status, n float64) Agreement {
	nan := math.NaN()
	return Agreement{
		Observed: nan, Chance: nan, Point: nan, SE: nan, SENull: nan, Lower: -1, Upper: 1, N: int(n),
		Status: status,
	}
}

func (a *Agreement) limits(h float64) {
	a.Lower, a.Upper = max(-1, a.Point-h), min(1, a.Point+h)
}

// Weights is how much a disagreement between categories i and j of q counts as agreement, in [0,1].
type Weights func(i, j, q int) float64

// Unweighted counts only equal categories.
func Unweighted(i, j, _ int) float64 {
	if i == j {
		return 1
	}
	return 0
}

// Quadratic falls with the squared distance of ordered categories.
func Quadratic(i, j, q int) float64 {
	if q < 2 {
		return 1
	}
	d := float64(i-j) / float64(q-1)
	return 1 - d*d
}

// Kappa is Cohen's kappa, weighted for ordered categories. No task:
// StatusNoData; one category only: NoVariation; a table that is not square, or a
// negative count: StatusInvalid.
// Source: Cohen 1960, 1968; Fleiss, Cohen and Everitt 1969.
func Kappa(t RatingTable, w Weights, conf float64) Agreement {
	n, ok := t.total()
	switch {
	case !ok || !(conf > 0 && conf < 1):
		return undefined(StatusInvalid, 0)
	case n == 0:
		return undefined(StatusNoData, 0)
	}
	rows, cols := t.margins(n)
	q := len(t)
	byRow, byCol := make([]float64, q), make([]float64, q) // mean weight of a row, of a column
	out := Agreement{N: int(n), Status: StatusOK}
	for i := range q {
		for j := range q {
			out.Observed += w(i, j, q) * float64(t[i][j]) / n
			out.Chance += w(i, j, q) * rows[i] * cols[j]
			byRow[i] += w(i, j, q) * cols[j]
			byCol[j] += w(i, j, q) * rows[i]
		}
	}
	if 1-out.Chance < 1e-12 {
		u := undefined(NoVariation, n)
		u.Observed, u.Chance = out.Observed, out.Chance
		return u
	}
	out.Point = (out.Observed - out.Chance) / (1 - out.Chance)
	var spread, null float64
	for i := range q {
		for j := range q {
			d := w(i, j, q) - (byRow[i]+byCol[j])*(1-out.Point)
			spread += float64(t[i][j]) / n * d * d
			e := w(i, j, q) - (byRow[i] + byCol[j])
			null += rows[i] * cols[j] * e * e
		}
	}
	c := out.Point - out.Chance*(1-out.Point)
	out.SE = math.Sqrt(difference(spread, c*c)/n) / (1 - out.Chance)
	out.SENull = math.Sqrt(difference(null, out.Chance*out.Chance)/n) / (1 - out.Chance)
	out.limits(NormalQuantile(1-(1-conf)/2) * out.SE)
	return out
}

// difference is a-b of two sums, 0 where they are equal but for rounding.
func difference(a, b float64) float64 {
	if d := a - b; d > 1e-14*(a+b) {
		return d
	}
	return 0
}

// AC1 is Gwet's coefficient, which stays near the observed agreement where one
// category is rare, with the t interval of n-1 degrees of freedom. One task has no
// interval: [-1,1] and StatusTooFew. Other statuses are as of Kappa, but one
// category of several is defined.
// Source: Gwet 2008.
func AC1(t RatingTable, conf float64) Agreement {
	n, ok := t.total()
	q := float64(len(t))
	switch {
	case !ok || !(conf > 0 && conf < 1):
		return undefined(StatusInvalid, 0)
	case n == 0:
		return undefined(StatusNoData, 0)
	case q < 2:
		return undefined(NoVariation, n)
	}
	rows, cols := t.margins(n)
	out := Agreement{N: int(n), Status: StatusOK}
	either := make([]float64, len(t)) // mean share of a category over both raters
	for i := range t {
		either[i] = (rows[i] + cols[i]) / 2
		out.Observed += float64(t[i][i]) / n
		out.Chance += either[i] * (1 - either[i]) / (q - 1)
	}
	out.Point = (out.Observed - out.Chance) / (1 - out.Chance)
	if n < 2 {
		out.SE, out.Lower, out.Upper, out.Status = math.NaN(), -1, 1, StatusTooFew
		return out
	}
	spread := 0.0
	for i := range t {
		for j, x := range t[i] {
			d := Unweighted(i, j, 0) - 2*(1-out.Point)*(1-(either[i]+either[j])/2)/(q-1)
			spread += float64(x) / n * d * d
		}
	}
	c := out.Observed - 2*(1-out.Point)*out.Chance
	out.SE = math.Sqrt(difference(spread, c*c)/(n-1)) / (1 - out.Chance)
	out.limits(TQuantile(n-1, 1-(1-conf)/2) * out.SE)
	return out
}
