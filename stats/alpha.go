// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package stats

import (
	"math"
	"slices"
)

// Level is the level of measurement of a rating.
type Level string

// The levels of measurement.
const (
	Nominal       Level = "nominal"
	Ordinal       Level = "ordinal"
	IntervalLevel Level = "interval"
	RatioLevel    Level = "ratio"
)

// Ratings are the ratings of tasks by raters: Ratings[rater][task], NaN where there is none. All
// rows have the same length.
type Ratings [][]float64

// units are the ratings by task, for tasks with at least two raters.
func (r Ratings) units() (units [][]float64, ok bool) {
	if len(r) == 0 {
		return nil, true
	}
	for task := range r[0] {
		var u []float64
		for _, row := range r {
			if len(row) != len(r[0]) {
				return nil, false
			}
			if !math.IsNaN(row[task]) {
				u = append(u, row[task])
			}
		}
		if len(u) > 1 {
			units = append(units, u)
		}
	}
	return units, true
}

// Alpha is Krippendorff's coefficient: 1 is full agreement, 0 agreement by chance, at least -1. It
// is NaN with NoVariation where no pair of ratings could differ, and with StatusNoData where no
// task has two ratings. StatusInvalid: rows of different length, an unknown level, or ratings below
// 0 at level Ratio. Source: Krippendorff 2011.
func Alpha(r Ratings, level Level) (float64, Status) {
	units, ok := r.units()
	if !ok || !level.known() || (level == RatioLevel && slices.ContainsFunc(units, negative)) {
		return math.NaN(), StatusInvalid
	}
	if len(units) == 0 {
		return math.NaN(), StatusNoData
	}
	return alpha(units, level)
}

func (l Level) known() bool {
	return l == Nominal || l == Ordinal || l == IntervalLevel || l == RatioLevel
}

func negative(u []float64) bool {
	return slices.ContainsFunc(u, func(x float64) bool { return x < 0 })
}

func alpha(units [][]float64, level Level) (float64, Status) {
	counts := map[float64]float64{}
	n := 0.0
	for _, u := range units {
		for _, v := range u {
			counts[v]++
			n++
		}
	}
	values := make([]float64, 0, len(counts))
	for v := range counts {
		values = append(values, v)
	}
	slices.Sort(values)
	distance := level.distance(values, counts)
	observed := 0.0
	for _, u := range units {
		for i, a := range u {
			for _, b := range u[i+1:] {
				observed += 2 * distance(a, b) / float64(len(u)-1)
			}
		}
	}
	expected := 0.0
	for i, a := range values {
		for _, b := range values[i+1:] {
			expected += 2 * counts[a] * counts[b] * distance(a, b)
		}
	}
	if expected == 0 {
		return math.NaN(), NoVariation
	}
	return 1 - (n-1)*observed/expected, StatusOK
}

// distance is the squared difference of two ratings at a level.
func (l Level) distance(values []float64, counts map[float64]float64) func(a, b float64) float64 {
	switch l {
	case Ordinal:
		upTo, rank := 0.0, make(map[float64]float64, len(values))
		for _, v := range values {
			rank[v] = upTo + counts[v]/2
			upTo += counts[v]
		}
		return func(a, b float64) float64 { d := rank[a] - rank[b]; return d * d }
	case IntervalLevel:
		return func(a, b float64) float64 { return (a - b) * (a - b) }
	case RatioLevel:
		return func(a, b float64) float64 {
			if a == b {
				return 0
			}
			d := (a - b) / (a + b)
			return d * d
		}
	default:
		return func(a, b float64) float64 {
			if a == b {
				return 0
			}
			return 1
		}
	}
}

// AlphaInterval is Alpha with its BCa interval over resampled tasks, in [-1,1].
// Resamples without variation count as full agreement. The same seed gives the
// same interval; the status is that of Alpha, or StatusDegenerate.
// Source: Statistics specification, section 5; Efron 1987.
func AlphaInterval(r Ratings, level Level, conf float64, seed [2]uint64) Agreement {
	point, status := Alpha(r, level)
	if status != StatusOK {
		return undefined(status, 0)
	}
	units, _ := r.units()
	b := Bootstrap(len(units), Replicates, conf, seed, func(drawn []int) float64 {
		pick := make([][]float64, len(drawn))
		for i, u := range drawn {
			pick[i] = units[u]
		}
		a, status := alpha(pick, level)
		if status != StatusOK {
			return 1
		}
		return a
	})
	out := undefined(b.Status, float64(len(units)))
	out.Point, out.Lower, out.Upper = point, max(-1, b.Lower), min(1, b.Upper)
	if b.Status != StatusOK {
		out.Lower, out.Upper = -1, 1
	}
	return out
}
