// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package match

import (
	"cmp"
	"math"
)

// weight is the value of a match, the most important field first. Weights are added and compared
// field by field: no sum of a later field outweighs an earlier one.
type weight struct {
	names    int64 // number of calls with the right name
	near     int64 // how near the arguments come to passing, in units of share
	score    int64 // the score of the arguments, in units of share
	required int64 // whether the expected call is required
	place    int64 // minus the distance of the positions in both lists
}

// share is the unit of near and score: it means 1. It is a power of two, so that no value below 1
// is rounded up to it.
const share = 1 << 40

// worth is the weight of a pair with agreeing names. Only near = 1 passes.
func worth(near, score float64, required bool) weight {
	w := weight{names: 1, near: int64(near * share), score: int64(score * share)}
	if required {
		w.required = 1
	}
	return w
}

func (w weight) plus(o weight) weight {
	return weight{w.names + o.names, w.near + o.near, w.score + o.score, w.required + o.required, w.place + o.place}
}

func (w weight) minus(o weight) weight {
	return weight{w.names - o.names, w.near - o.near, w.score - o.score, w.required - o.required, w.place - o.place}
}

func (w weight) compare(o weight) int {
	return cmp.Or(cmp.Compare(w.names, o.names), cmp.Compare(w.near, o.near), cmp.Compare(w.score, o.score),
		cmp.Compare(w.required, o.required), cmp.Compare(w.place, o.place))
}

func heavier(a, b weight) weight {
	if a.compare(b) >= 0 {
		return a
	}
	return b
}

// Assignment decides which actual call answers which expected one. Reset it, Set the pairs with
// agreeing names, Solve, and read Of. It may be reused.
type Assignment struct {
	n, m   int
	weight []weight // by expected × actual, without place; zero: the names differ
	// Of is, per expected call, the actual call that answers it; -1: none.
	Of   []int
	best []int
	u, v []weight
	way  []int
	col  []int
	minv []weight
	used []bool
}

// Sequence is the order that answers must keep.
type Sequence struct {
	// Total requires that later expected calls are answered by later actual calls, Strict also
	// that no other call is between them.
	Total, Strict bool
	// After lists, per expected call, the calls that must be answered before it; Topological is
	// an order of the expected calls that respects it.
	After       [][]int
	Topological []int
}

// Free reports that any order is accepted.
func (s *Sequence) Free() bool { return !s.Total && s.After == nil }

// Reset starts again with n expected and m actual calls without a matching pair.
func (a *Assignment) Reset(n, m int) {
	a.n, a.m = n, m
	a.Of = resize(a.Of, n)
	a.none()
}

// Clear prepares the weights for Set. Reset alone is enough where Of is filled in by other means.
func (a *Assignment) Clear() {
	a.weight = zeroed(a.weight, a.n*a.m)
}

func (a *Assignment) none() {
	for i := range a.Of {
		a.Of[i] = -1
	}
}

// Set records that expected call i and actual call j have the same name. near is 1 exactly when the
// arguments pass, score is their score, both in [0,1]. A match of a required call is worth more.
func (a *Assignment) Set(i, j int, near, score float64, required bool) {
	*a.at(i, j) = worth(near, score, required)
}

func (a *Assignment) at(i, j int) *weight { return &a.weight[i*a.m+j] }

// agree reports that expected call i and actual call j have the same name.
func (a *Assignment) agree(i, j int) bool { return a.at(i, j).names > 0 }

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

// reorder looks for an assignment of the same weight that keeps the sequence, and leaves Of
// unchanged when there is none.
func (a *Assignment) reorder(s *Sequence) {
	a.best = append(a.best[:0], a.Of...)
	want := a.total()
	switch {
	case s.Total:
		if a.inOrder(want, s.Strict) && s.Kept(a.Of) {
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

// total is the weight of Of without the places.
func (a *Assignment) total() weight {
	var sum weight
	for i, j := range a.Of {
		if j >= 0 {
			sum = sum.plus(*a.at(i, j))
		}
	}
	return sum
}

// heaviest is the best actual call for a single expected call, the first among equals.
func (a *Assignment) heaviest() int {
	best := -1
	for j := range a.m {
		if a.agree(0, j) && (best < 0 || a.at(0, j).compare(*a.at(0, best)) > 0) {
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
	cost := func(i, j int) weight {
		if flip {
			i, j = j, i
		}
		if !a.agree(i, j) {
			return weight{}
		}
		return weight{place: int64(max(i-j, j-i))}.minus(*a.at(i, j))
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
		if a.agree(e, g) {
			a.Of[e] = g
		}
	}
}

// augment brings row i into the matching along a shortest path. Column 0 is the
// root of the path.
func (a *Assignment) augment(i, cols int, cost func(i, j int) weight) {
	a.col[0] = i
	a.minv, a.used = resize(a.minv, cols+1), zeroed(a.used, cols+1)
	for j := range a.minv {
		a.minv[j] = weight{names: math.MaxInt64}
	}
	j0 := 0
	for {
		a.used[j0] = true
		i0, j1, delta := a.col[j0], 0, weight{names: math.MaxInt64}
		for j := 1; j <= cols; j++ {
			if a.used[j] {
				continue
			}
			if c := cost(i0-1, j-1).minus(a.u[i0]).minus(a.v[j]); c.compare(a.minv[j]) < 0 {
				a.minv[j], a.way[j] = c, j0
			}
			if a.minv[j].compare(delta) < 0 {
				delta, j1 = a.minv[j], j
			}
		}
		for j := 0; j <= cols; j++ {
			if a.used[j] {
				a.u[a.col[j]] = a.u[a.col[j]].plus(delta)
				a.v[j] = a.v[j].minus(delta)
			} else {
				a.minv[j] = a.minv[j].minus(delta)
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
