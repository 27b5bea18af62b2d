// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package match

import (
	"math"
	"math/bits"
)

// scale lays out the weight of a pair, most significant field first: that the
// names agree, how near the arguments come to passing, their score (and that the
// expected call is required), the position. Each field has room for the sum over
// all pairs, so that the sums compare field by field.
type scale struct {
	name, near, args int64 // weight of one unit
	levels           float64
	position         int64 // largest position weight
}

func newScale(pairs int) scale {
	carry := bits.Len(uint(pairs))
	s := scale{position: 1023}
	low := 10 + carry
	if carry > 10 {
		s.position, low = 0, 0
	}
	level := min(20, max(1, (61-low-3*carry)/2))
	s.levels = float64(int64(1)<<level - 1)
	s.args = 1 << low
	s.near = s.args << (level + carry)
	s.name = s.near << (level + carry)
	return s
}

// of gives the weight of a pair without position; above 0.
func (s *scale) of(near, score float64, required bool) int64 {
	level := int64(s.levels)
	if near < 1 {
		level = min(int64(near*s.levels), level-1)
	}
	args := int64(score * (s.levels - 1))
	if required {
		args++
	}
	return s.name + level*s.near + args*s.args
}

// at prefers pairs that stand at the same place.
func (s *scale) at(i, j int) int64 { return max(0, s.position-int64(max(i-j, j-i))) }

// Assignment decides which actual call answers which expected one. Reset it, Set
// the pairs whose names agree, Solve, and read Of. It may be reused.
type Assignment struct {
	n, m   int
	scale  scale
	weight []int64 // by expected × actual; 0: the names differ
	// Of is, per expected call, the actual one that answers it; -1: none.
	Of   []int
	best []int
	u, v []int64
	way  []int
	col  []int
	minv []int64
	used []bool
}

// Sequence is the order that answers have to keep.
type Sequence struct {
	// Total wants later expected calls answered by later actual ones, Strict
	// also that nothing stands between them.
	Total, Strict bool
	// After lists per expected call those that have to be answered before it;
	// Topological is an order of the expected calls that respects it.
	After       [][]int
	Topological []int
}

// Free reports that any order will do.
func (s *Sequence) Free() bool { return !s.Total && s.After == nil }

// Reset starts anew with n expected and m actual calls, of which no pair agrees.
func (a *Assignment) Reset(n, m int) {
	a.n, a.m = n, m
	a.Of = resize(a.Of, n)
	a.none()
}

// Clear makes the weights ready for Set. Reset alone is enough where Of is
// filled in by other means.
func (a *Assignment) Clear() {
	a.weight = zeroed(a.weight, a.n*a.m)
	a.scale = newScale(min(a.n, a.m))
}

func (a *Assignment) none() {
	for i := range a.Of {
		a.Of[i] = -1
	}
}

// Set says that expected call i and actual call j agree by name: near is 1
// exactly when the arguments pass, score their score, both in [0,1]; an answer
// to a required call is worth more.
func (a *Assignment) Set(i, j int, near, score float64, required bool) {
	a.weight[i*a.m+j] = a.scale.of(near, score, required)
}

// Solve fills Of so that the sum of weights is the largest possible, and among
// equally good answers takes one that keeps the sequence if there is one.
func (a *Assignment) Solve(s *Sequence) {
	if a.n == 0 || a.m == 0 {
		return
	}
	if a.n == 1 {
		a.Of[0] = a.heaviest()
		return
	}
	a.hungarian()
	if !s.Free() && !s.Kept(a.Of) {
		a.reorder(s)
	}
}

// Kept reports whether an assignment keeps the sequence. Calls without answer
// constrain nothing.
func (s *Sequence) Kept(of []int) bool {
	if s.Total {
		last, first, n := -1, -1, 0
		for _, j := range of {
			if j < 0 {
				continue
			}
			if j < last {
				return false
			}
			if first < 0 {
				first = j
			}
			last, n = j, n+1
		}
		if s.Strict && n > 0 && last-first+1 != n {
			return false
		}
	}
	for i, before := range s.After {
		for _, b := range before {
			if of[i] >= 0 && of[b] > of[i] {
				return false
			}
		}
	}
	return true
}

// reorder looks for an assignment of the same weight that keeps the sequence,
// and leaves Of as it was when there is none.
func (a *Assignment) reorder(s *Sequence) {
	a.best = append(a.best[:0], a.Of...)
	want := a.total()
	switch {
	case s.Total:
		if a.window(s, want) || a.monotone(want) && s.Kept(a.Of) {
			return
		}
	case s.Topological != nil:
		x := search{a: a, s: s, want: want, steps: searchSteps}
		if x.run() {
			return
		}
	}
	copy(a.Of, a.best)
}

// total is the weight of Of without its tie-breaking positions.
func (a *Assignment) total() int64 {
	var sum int64
	for i, j := range a.Of {
		if j >= 0 {
			sum += a.weight[i*a.m+j]
		}
	}
	return sum
}

// heaviest is the best actual call for a single expected one.
func (a *Assignment) heaviest() int {
	best := -1
	for j := range a.m {
		if a.weight[j] > 0 && (best < 0 || a.weight[j] > a.weight[best]) {
			best = j
		}
	}
	return best
}

// hungarian solves the assignment exactly in O(n²m) with n the smaller side, by
// shortest augmenting paths over dual variables (the Kuhn-Munkres method).
func (a *Assignment) hungarian() {
	rows, cols := a.n, a.m
	flip := rows > cols
	if flip {
		rows, cols = cols, rows
	}
	cost := func(i, j int) int64 {
		if flip {
			i, j = j, i
		}
		if c := a.weight[i*a.m+j]; c > 0 {
			return -c - a.scale.at(i, j)
		}
		return 0
	}
	a.u, a.v = zeroed(a.u, rows+1), zeroed(a.v, cols+1)
	a.col, a.way = zeroed(a.col, cols+1), zeroed(a.way, cols+1)
	for i := 1; i <= rows; i++ {
		a.augment(i, cols, cost)
	}
	for j := 1; j <= cols; j++ {
		i := a.col[j]
		if i == 0 {
			continue
		}
		e, g := i-1, j-1
		if flip {
			e, g = g, e
		}
		if a.weight[e*a.m+g] > 0 {
			a.Of[e] = g
		}
	}
}

// augment brings row i into the matching along a shortest path. Column 0 is the
// root of the path.
func (a *Assignment) augment(i, cols int, cost func(i, j int) int64) {
	a.col[0] = i
	a.minv, a.used = resize(a.minv, cols+1), zeroed(a.used, cols+1)
	for j := range a.minv {
		a.minv[j] = math.MaxInt64
	}
	j0 := 0
	for {
		a.used[j0] = true
		i0, j1, delta := a.col[j0], 0, int64(math.MaxInt64)
		for j := 1; j <= cols; j++ {
			if a.used[j] {
				continue
			}
			if c := cost(i0-1, j-1) - a.u[i0] - a.v[j]; c < a.minv[j] {
				a.minv[j], a.way[j] = c, j0
			}
			if a.minv[j] < delta {
				delta, j1 = a.minv[j], j
			}
		}
		for j := 0; j <= cols; j++ {
			if a.used[j] {
				a.u[a.col[j]] += delta
				a.v[j] -= delta
			} else {
				a.minv[j] -= delta
			}
		}
		if j0 = j1; a.col[j0] == 0 {
			break
		}
	}
	for j0 != 0 {
		j1 := a.way[j0]
		a.col[j0] = a.col[j1]
		j0 = j1
	}
}

func resize[T any](s []T, n int) []T {
	if cap(s) < n {
		return make([]T, n)
	}
	return s[:n]
}

func zeroed[T any](s []T, n int) []T {
	s = resize(s, n)
	clear(s)
	return s
}
