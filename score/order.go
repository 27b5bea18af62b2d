// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package score

import "github.com/callvet/callvet"

// searchSteps bounds the search for an equally good assignment that keeps a
// partial order; it is reached only by many interchangeable calls in the wrong order.
const searchSteps = 20000

// ordered reports whether the plan asks for any order. The order of calls is
// the order in which the target emitted them, whether it batched them into
// parallel turns or not: a strict or in_order plan and an after entry state a
// dependency, which emission order has to keep; any_order and calls without
// after between them are free.
func (p *plan) ordered() bool { return p.total() || p.deps }

func (p *plan) total() bool {
	return p.src.Order == callvet.OrderStrict || p.src.Order == callvet.OrderInOrder
}

// kept reports whether w.match keeps the plan's order. Calls that are missing
// constrain nothing.
func (w *scratch) kept(p *plan) bool {
	if p.total() {
		last, first := -1, -1
		for _, j := range w.match {
			if j < 0 {
				continue
			}
			if j < last {
				return false
			}
			if first < 0 {
				first = j
			}
			last = j
		}
		if p.src.Order == callvet.OrderStrict && first >= 0 && last-first+1 != paired(w.match) {
			return false
		}
	}
	for i := range p.calls {
		if w.match[i] < 0 {
			continue
		}
		for _, before := range p.calls[i].after {
			if w.match[before] > w.match[i] {
				return false
			}
		}
	}
	return true
}

func paired(match []int) int {
	n := 0
	for _, j := range match {
		if j >= 0 {
			n++
		}
	}
	return n
}

// reorder looks for an assignment of the same weight that keeps the order, and
// leaves w.match as it was when there is none.
func (w *scratch) reorder(p *plan) {
	w.keep()
	want := w.total(w.match)
	if p.total() {
		if w.window(p, want) || w.monotone(want) && w.kept(p) {
			return
		}
	} else if order := p.topological(); order != nil {
		s := search{w: w, p: p, order: order, want: want, steps: searchSteps}
		if s.run() {
			return
		}
	}
	copy(w.match, w.best)
}

// window looks for a run of adjacent calls that answers the plan one to one.
func (w *scratch) window(p *plan, want int64) bool {
	for start := 0; start+w.n <= w.m; start++ {
		for i := range w.match {
			if w.match[i] = start + i; w.weight[i*w.m+start+i] == 0 {
				w.match[i] = -1
			}
		}
		if w.total(w.match) == want && w.kept(p) {
			return true
		}
	}
	return false
}

// monotone computes the heaviest assignment in which later expected calls are
// answered by later actual ones, and takes it when it is as good as any.
func (w *scratch) monotone(want int64) bool {
	n, m := w.n, w.m
	sum := make([]int64, (n+1)*(m+1))
	at := func(i, j int) *int64 { return &sum[i*(m+1)+j] }
	for i := 1; i <= n; i++ {
		for j := 1; j <= m; j++ {
			best := max(*at(i-1, j), *at(i, j-1))
			if c := w.weight[(i-1)*m+j-1]; c > 0 {
				best = max(best, *at(i-1, j-1)+c)
			}
			*at(i, j) = best
		}
	}
	if *at(n, m) != want {
		return false
	}
	for i := range w.match {
		w.match[i] = -1
	}
	for i, j := n, m; i > 0 && j > 0; {
		switch *at(i, j) {
		case *at(i-1, j):
			i--
		case *at(i, j-1):
			j--
		default:
			w.match[i-1] = j - 1
			i, j = i-1, j-1
		}
	}
	return true
}

// search tries assignments of the wanted weight in topological order, with the
// largest weight still reachable as bound.
type search struct {
	w     *scratch
	p     *plan
	order []int
	reach []int64 // largest weight reachable from each depth
	want  int64
	steps int
}

func (s *search) run() bool {
	w := s.w
	s.reach = make([]int64, len(s.order)+1)
	for d := len(s.order) - 1; d >= 0; d-- {
		var most int64
		for j := range w.m {
			most = max(most, w.weight[s.order[d]*w.m+j])
		}
		s.reach[d] = s.reach[d+1] + most
	}
	for i := range w.match {
		w.match[i] = -1
	}
	return s.try(0, 0)
}

func (s *search) try(depth int, sum int64) bool {
	w := s.w
	if s.steps--; s.steps < 0 || sum+s.reach[depth] < s.want {
		return false
	}
	if depth == len(s.order) {
		return sum == s.want
	}
	i := s.order[depth]
	after := -1
	for _, b := range s.p.calls[i].after {
		after = max(after, w.match[b])
	}
	for j := after + 1; j < w.m; j++ {
		c := w.weight[i*w.m+j]
		if c == 0 || w.taken(j) {
			continue
		}
		w.match[i] = j
		if s.try(depth+1, sum+c) {
			return true
		}
		w.match[i] = -1
	}
	return s.try(depth+1, sum)
}
