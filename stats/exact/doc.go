// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

// Package exact answers one question: what are the sums over parts of a big file, independent of
// the order of the parts? It keeps sums over tasks as integers, so that merging parts gives the
// same bits in any order and grouping, and takes the intervals from package stats.
//
// The types are Rate (yes and no), Mean (fractions), Ratio (totals over totals), Count (events by
// attempt) and Quantiles (a histogram with the correlation of values within tasks). Each is ready
// to use when zero, takes one task per Add, and is written by AppendBinary and read by Decode.
//
// A task must be whole when it is added: two parts of one task are not two tasks. The package has
// no formulas for intervals, no rounding of results and no names of metrics.
package exact

// Scale is the number of units in 1: fractions are kept in units of 1/720720. It is the least
// common multiple of 1 to 16, so that fractions with these denominators are exact.
const Scale = 720_720

// Fraction is num/den in units of 1/Scale, rounded to the nearest, limited to 0..Scale; 0 for a den
// of 0 or less.
func Fraction(num, den int) int64 {
	if den <= 0 {
		return 0
	}
	q := mul(int64(min(max(num, 0), den)), 2*Scale)
	q.add(integer(int64(den)))
	return q.over(2 * uint64(den))
}
