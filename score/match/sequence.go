// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package match

import "slices"

// searchSteps bounds the search for an equally good assignment that keeps a
// partial order; it is reached only by many interchangeable calls in the wrong order.
const searchSteps = 20000

// inOrder searches for an assignment of the wanted weight that matches later expected calls with
// later actual ones (adjacent ones where no call may be between), and takes it.
//
// best[i][j] is the heaviest assignment of the first i expected and the first j actual calls.
// When no call may be between, it ends at actual call j, and j = 0 means none at all.
func (a *Assignment) inOrder(want weight, adjacent bool) bool {
	n, m := a.n, a.m
	best := make([]weight, (n+1)*(m+1))
	at := func(i, j int) *weight { return &best[i*(m+1)+j] }
	end := m
	for i := 1; i <= n; i++ {
		for j := 1; j <= m; j++ {
			w := *at(i-1, j)
			if !adjacent {
				w = heavier(w, *at(i, j-1))
			}
			if a.agree(i-1, j-1) {
				w = heavier(w, at(i-1, j-1).plus(*a.at(i-1, j-1)))
			}
			if *at(i, j) = w; i == n && w == want {
				end = j
			}
		}
	}
	if *at(n, end) != want {
		return false
	}
	a.none()
	for i, j := n, end; i > 0 && j > 0; {
		switch {
		case *at(i, j) == *at(i-1, j):
			i--
		case !adjacent && *at(i, j) == *at(i, j-1):
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
	reach []weight // largest weight reachable from each depth
	want  weight
	steps int
}

func (x *search) run() bool {
	a, order := x.a, x.s.Topological
	x.reach = make([]weight, len(order)+1)
	for d := len(order) - 1; d >= 0; d-- {
		var most weight
		for j := range a.m {
			most = heavier(most, *a.at(order[d], j))
		}
		x.reach[d] = x.reach[d+1].plus(most)
	}
	a.none()
	return x.try(0, weight{})
}

func (x *search) try(depth int, sum weight) bool {
	a, order := x.a, x.s.Topological
	if x.steps--; x.steps < 0 || sum.plus(x.reach[depth]).compare(x.want) < 0 {
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
		if !a.agree(i, j) || slices.Contains(a.Of, j) {
			continue
		}
		a.Of[i] = j
		if x.try(depth+1, sum.plus(*a.at(i, j))) {
			return true
		}
		a.Of[i] = -1
	}
	return x.try(depth+1, sum)
}
