// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package score

import (
	"math"
	"math/bits"
	"slices"
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
func (s *scale) of(p *pair, score float64, required bool) int64 {
	near := int64(s.levels)
	if !p.pass {
		near = min(int64(p.near*s.levels), near-1)
	}
	args := int64(score * (s.levels - 1))
	return s.name + near*s.near + (args+int64(truth(required)))*s.args
}

// at prefers pairs that stand at the same place.
func (s *scale) at(i, j int) int64 { return max(0, s.position-int64(max(i-j, j-i))) }

// pairing is the working memory of the assignment. Weights are by expected ×
// actual; 0 means that the names differ.
type pairing struct {
	n, m   int
	scale  scale
	weight []int64
	pairs  []pair
	match  []int // per expected call the actual one, -1: none
	best   []int
	u, v   []int64
	way    []int
	col    []int
	minv   []int64
	used   []bool
}

// assign finds which actual call answers which expected one, so that the sum of
// weights is the largest possible, and among equally good answers one that keeps
// the plan's order if there is one. It fills w.match and w.pairs.
func (w *scratch) assign(p *plan) {
	w.n, w.m = len(p.calls), len(w.calls)
	w.match = resize(w.match, w.n)
	w.pairs = resize(w.pairs, w.n*w.m)
	for i := range w.match {
		w.match[i] = -1
	}
	if w.n == 0 || w.m == 0 || w.diagonal(p) {
		return
	}
	w.weigh(p)
	if w.n == 1 {
		w.match[0] = w.heaviest()
		return
	}
	w.hungarian()
	if p.ordered() && !w.kept(p) {
		w.reorder(p)
	}
}

func resize[T any](s []T, n int) []T {
	if cap(s) < n {
		return make([]T, n)
	}
	return s[:n]
}

// diagonal takes the common case that every call answers the expectation at the
// same place completely; nothing can be better.
func (w *scratch) diagonal(p *plan) bool {
	if w.n != w.m {
		return false
	}
	for i := range p.calls {
		e := &p.calls[i]
		if !w.k.accepts(e, w.calls[i].src.Tool) {
			return false
		}
		for _, j := range e.after {
			if j > i {
				return false
			}
		}
		at := i*w.m + i
		if w.pairs[at] = w.compare(e, &w.calls[i]); !w.pairs[at].pass && w.n > 1 {
			return false
		}
	}
	for i := range w.match {
		w.match[i] = i
	}
	return true
}

func (w *scratch) weigh(p *plan) {
	w.weight = resize(w.weight, w.n*w.m)
	w.scale = newScale(min(w.n, w.m))
	for i := range p.calls {
		e := &p.calls[i]
		for j := range w.calls {
			at := i*w.m + j
			w.weight[at] = 0
			if !w.k.accepts(e, w.calls[j].src.Tool) {
				continue
			}
			w.pairs[at] = w.compare(e, &w.calls[j])
			args := 1.0
			if e.args != nil {
				args = e.accuracy(&w.pairs[at])
			}
			w.weight[at] = w.scale.of(&w.pairs[at], args, !e.src.Optional)
		}
	}
}

// heaviest is the best actual call for a single expected one.
func (w *pairing) heaviest() int {
	best := -1
	for j := range w.m {
		if w.weight[j] > 0 && (best < 0 || w.weight[j] > w.weight[best]) {
			best = j
		}
	}
	return best
}

// hungarian solves the assignment exactly in O(n²m) with n the smaller side, by
// shortest augmenting paths over dual variables (the Kuhn-Munkres method).
func (w *pairing) hungarian() {
	rows, cols := w.n, w.m
	flip := rows > cols
	if flip {
		rows, cols = cols, rows
	}
	cost := func(i, j int) int64 {
		if flip {
			i, j = j, i
		}
		if c := w.weight[i*w.m+j]; c > 0 {
			return -c - w.scale.at(i, j)
		}
		return 0
	}
	w.u, w.v = zeroed(w.u, rows+1), zeroed(w.v, cols+1)
	w.col, w.way = zeroed(w.col, cols+1), zeroed(w.way, cols+1)
	for i := 1; i <= rows; i++ {
		w.augment(i, cols, cost)
	}
	for j := 1; j <= cols; j++ {
		i := w.col[j]
		if i == 0 {
			continue
		}
		e, a := i-1, j-1
		if flip {
			e, a = a, e
		}
		if w.weight[e*w.m+a] > 0 {
			w.match[e] = a
		}
	}
}

func zeroed[T any](s []T, n int) []T {
	s = resize(s, n)
	clear(s)
	return s
}

// augment brings row i into the matching along a shortest path. Column 0 is the
// root of the path.
func (w *pairing) augment(i, cols int, cost func(i, j int) int64) {
	w.col[0] = i
	w.minv, w.used = resize(w.minv, cols+1), zeroed(w.used, cols+1)
	for j := range w.minv {
		w.minv[j] = math.MaxInt64
	}
	j0 := 0
	for {
		w.used[j0] = true
		i0, j1, delta := w.col[j0], 0, int64(math.MaxInt64)
		for j := 1; j <= cols; j++ {
			if w.used[j] {
				continue
			}
			if c := cost(i0-1, j-1) - w.u[i0] - w.v[j]; c < w.minv[j] {
				w.minv[j], w.way[j] = c, j0
			}
			if w.minv[j] < delta {
				delta, j1 = w.minv[j], j
			}
		}
		for j := 0; j <= cols; j++ {
			if w.used[j] {
				w.u[w.col[j]] += delta
				w.v[j] -= delta
			} else {
				w.minv[j] -= delta
			}
		}
		if j0 = j1; w.col[j0] == 0 {
			break
		}
	}
	for j0 != 0 {
		j1 := w.way[j0]
		w.col[j0] = w.col[j1]
		j0 = j1
	}
}

// total is the weight of an assignment without its tie-breaking positions.
func (w *pairing) total(match []int) int64 {
	var sum int64
	for i, j := range match {
		if j >= 0 {
			sum += w.weight[i*w.m+j]
		}
	}
	return sum
}

func (w *pairing) keep() { w.best = append(w.best[:0], w.match...) }

func (w *pairing) taken(j int) bool { return slices.Contains(w.match, j) }
