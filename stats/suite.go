// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package stats

import (
	"math"
)

// Sides are the attempts at one task before and after a change, and how many of each passed.
type Sides struct{ Passed, N, NowPassed, NowN int }

// change is the share of passes now minus before.
func (s Sides) change() float64 {
	return float64(s.NowPassed)/float64(s.NowN) - float64(s.Passed)/float64(s.N)
}

// mixed reports whether some attempts passed and others did not.
func (s Sides) mixed() bool {
	k := s.Passed + s.NowPassed
	return k > 0 && k < s.N+s.NowN
}

// WithinTasks is the mean change of the tasks of this suite, with the p value of no change. Only
// the attempts vary by chance. The attempts of fixed tasks do not vary: their change is a fact. The
// half-width of the interval comes from a permutation of the attempts within their tasks, so that
// it contains 0 unless p is below 1 - conf. Each of tasks needs two attempts a side. Source:
// Statistics specification, section 16.7; Fisher 1935.
func WithinTasks(tasks, fixed []Sides, conf float64) (Interval, float64) {
	g := len(tasks) + len(fixed)
	iv := Interval{
		N: g, Clusters: g, Confidence: conf, Method: "within_tasks_permutation", Status: StatusOK,
		Lower: -1, Upper: 1,
	}
	if g == 0 {
		iv.Status = StatusNoData
		return iv, 1
	}
	total := 0.0
	for _, s := range fixed {
		total += s.change()
	}
	var mixed []Sides
	for _, s := range tasks {
		if s.N < 2 || s.NowN < 2 {
			iv.Status = StatusFewAttempts
		}
		total += s.change()
		if s.mixed() {
			mixed = append(mixed, s)
		}
	}
	iv.Point = total / float64(g)
	if iv.Status == StatusFewAttempts {
		return iv, 1
	}
	reach, p, se := permuted(mixed, total, conf)
	iv.SE = se / float64(g)
	iv.Lower, iv.Upper = max(-1, iv.Point-reach/float64(g)), min(1, iv.Point+reach/float64(g))
	return iv, p
}

// Bounds of the exact distribution: beyond them a normal one is used.
const (
	mostParts = 2520
	mostSteps = 50_000_000
)

// permuted computes the distribution of the sum of the changes when attempts are permuted within
// their tasks. It returns the distance from 0 that the sum exceeds with probability at most 1 -
// conf, the probability to be as far from 0 as total, and the standard deviation.
func permuted(tasks []Sides, total, conf float64) (reach, p, sd float64) {
	parts, size, steps := 1, 0, 0
	for _, s := range tasks {
		n, m := s.N, s.NowN
		k := float64(s.Passed+s.NowPassed) / float64(n+m)
		one := 1/float64(n) + 1/float64(m)
		sd += float64(m) * k * (1 - k) * float64(n) / float64(n+m-1) * one * one
		if parts <= mostParts {
			parts = lcm(lcm(parts, n), m)
		}
	}
	sd = math.Sqrt(sd)
	for _, s := range tasks {
		size += 2 * parts
		steps += size * (min(s.N, s.NowN) + 1)
		if parts > mostParts || steps > mostSteps {
			z := math.Abs(total) / sd
			return NormalQuantile(0.5+conf/2) * sd, 2 * Normal(-z), sd
		}
	}
	// chance[i] is the probability of a sum of i - zero parts.
	chance, zero := []float64{1}, 0
	for _, s := range tasks {
		k := s.Passed + s.NowPassed
		next := make([]float64, len(chance)+2*parts)
		for now := max(0, k-s.N); now <= min(k, s.NowN); now++ {
			by := now*(parts/s.NowN) - (k-now)*(parts/s.N)
			q := hypergeometric(now, s.NowN, s.N, k)
			for i, c := range chance {
				next[i+parts+by] += c * q
			}
		}
		chance, zero = next, zero+parts
	}
	beyond := 0.0
	seen := int(math.Round(math.Abs(total) * float64(parts)))
	for far := max(zero, seen); far >= 0; far-- {
		if far <= zero {
			beyond += chance[zero+far]
			if far > 0 {
				beyond += chance[zero-far]
			}
		}
		if far == seen {
			p = min(1, beyond)
		}
		if reach == 0 && beyond > 1-conf+1e-12 {
			reach = float64(far) / float64(parts) * (1 + 1e-9) // an end at 0 is not rounded beyond it
		}
	}
	return reach, p, sd
}

func lcm(a, b int) int {
	x, y := a, b
	for y != 0 {
		x, y = y, x%y
	}
	return a / x * b
}
