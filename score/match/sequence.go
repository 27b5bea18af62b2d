// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package match

import "slices"

// searchSteps bounds the search for an equally good assignment that keeps a
// partial order; it is reached only by many interchangeable calls in the wrong order.
const searchSteps = 20000

// window looks for a run of adjacent calls that answers the plan one to one.
func (a *Assignment) window(s *Sequence, want int64) bool {
	for start := 0; start+a.n <= a.m; start++ {
		for i := range a.Of {
			if a.Of[i] = start + i; a.weight[i*a.m+start+i] == 0 {
				a.Of[i] = -1
			}
		}
		if a.total() == want && s.Kept(a.Of) {
			return true
		}
	}
	return false
}

// monotone computes the heaviest assignment in which later expected calls are
// answered by later actual ones, and takes it when it is as good as any.
func (a *Assignment) monotone(want int64) bool {
	n, m := a.n, a.m
	sum := make([]int64, (n+1)*(m+1))
	cell := func(i, j int) *int64 { return &sum[i*(m+1)+j] }
	for i := 1; i <= n; i++ {
		for j := 1; j <= m; j++ {
			best := max(*cell(i-1, j), *cell(i, j-1))
			if c := a.weight[(i-1)*m+j-1]; c > 0 {
				best = max(best, *cell(i-1, j-1)+c)
			}
			*cell(i, j) = best
		}
	}
	if *cell(n, m) != want {
		return false
	}
	a.none()
	for i, j := n, m; i > 0 && j > 0; {
		switch *cell(i, j) {
		case *cell(i-1, j):
			i--
		case *cell(i, j-1):
			j--
		default:
			a.Of[i-1] = j - 1
			i, j = i-1, j-1
		}
	}
	return true
}

// search tries assignments of the wanted weight in topological order, with the
// largest weight still reachable as bound.
type search struct {
	a     *Assignment
	s     *Sequence
	reach []int64 // largest weight reachable from each depth
	want  int64
	steps int
}

func (x *search) run() bool {
	a, order := x.a, x.s.Topological
	x.reach = make([]int64, len(order)+1)
	for d := len(order) - 1; d >= 0; d-- {
		var most int64
		for j := range a.m {
			most = max(most, a.weight[order[d]*a.m+j])
		}
		x.reach[d] = x.reach[d+1] + most
	}
	a.none()
	return x.try(0, 0)
}

func (x *search) try(depth int, sum int64) bool {
	a, order := x.a, x.s.Topological
	if x.steps--; x.steps < 0 || sum+x.reach[depth] < x.want {
		return false
	}
	if depth == len(order) {
		return sum == x.want
	}
	i := order[depth]
	after := -1
	for _, b := range x.s.After[i] {
		after = max(after, a.Of[b])
	}
	for j := after + 1; j < a.m; j++ {
		c := a.weight[i*a.m+j]
		if c == 0 || slices.Contains(a.Of, j) {
			continue
		}
		a.Of[i] = j
		if x.try(depth+1, sum+c) {
			return true
		}
		a.Of[i] = -1
	}
	return x.try(depth+1, sum)
}
