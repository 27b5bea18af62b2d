// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package tune

import (
	"cmp"
	"slices"
)

// eta is a factor: each rung of halving has 1/eta of the candidates of the previous one, and eta
// times its tasks. fewestTasks is the least number of tasks of a rung: fewer do not rank
// candidates.
const (
	eta         = 3
	fewestTasks = 5
)

// rungsOf returns the number of tasks of each rung for a number of candidates; the last rung has
// all tasks. Source: Jamieson and Talwalkar 2016.
func rungsOf(candidates, tasks int) []int {
	rungs := []int{tasks}
	for n := candidates; n > eta && rungs[0]/eta >= fewestTasks; n = (n + eta - 1) / eta {
		rungs = slices.Insert(rungs, 0, (rungs[0]+eta-1)/eta)
	}
	return rungs
}

// cut ends a rung: the best third continues, and in addition the base.
func (s *Search) cut() {
	var left []int
	for i := 1; i < len(s.race.all); i++ {
		if s.race.in(i) {
			left = append(left, i)
		}
	}
	n, lead := s.rungs[0], s.race.Leader()
	slices.SortStableFunc(left, func(i, j int) int { return cmp.Compare(s.race.mean(j, n), s.race.mean(i, n)) })
	for _, i := range left[(len(left)+eta-1)/eta:] {
		s.race.all[i].dropped = &Drop{By: lead, After: n, Ranked: true}
	}
	s.rungs = s.rungs[1:]
}
