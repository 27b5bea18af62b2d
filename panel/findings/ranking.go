// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package findings

import (
	"cmp"
	"slices"
)

// Ranking keeps the strongest and weakest tasks, the first of each first.
type Ranking struct{ Strongest, Weakest []Ranked }

const maxRanked = 3

// Ranked is a task: Good of so many of its measurements are good, in so many calls.
// Line is its first one.
type Ranked struct {
	Good, Of, Calls int64
	// Failed is how many of its Judged attempts did not pass: such a task is never strong.
	Failed, Judged int64
	Line           int64
	Target, Task   string
}

// Candidate tells whether a task with these counts is among the strongest or the
// weakest, as far as its name has no say.
func (r *Ranking) Candidate(at *Ranked) bool {
	if len(r.Strongest) < maxRanked || len(r.Weakest) < maxRanked {
		return true
	}
	top, low := &r.Strongest[maxRanked-1], &r.Weakest[maxRanked-1]
	if at.Failed == 0 && at.Good*top.Of < top.Good*at.Of && at.Good*low.Of > low.Good*at.Of { // as most are: in between
		return false
	}
	return at.Failed == 0 && at.stronger(top) <= 0 || at.weaker(low) <= 0
}

// Offer keeps a Candidate with its name if it still is among them then: of tasks
// that are equal the first by name counts.
func (r *Ranking) Offer(at Ranked, target, task []byte) {
	among := func(list []Ranked, order func(*Ranked) int) bool {
		if len(list) < maxRanked {
			return true
		}
		last := &list[maxRanked-1]
		o := order(last)
		return o < 0 || o == 0 && string(task) <= last.Task
	}
	top, low := at.Failed == 0 && among(r.Strongest, at.stronger), among(r.Weakest, at.weaker)
	if top || low {
		at.Target, at.Task = string(target), string(task)
		r.Keep(at, top, low)
	}
}

// Keep keeps a task if it is among the strongest, where top, or the weakest, where low.
func (r *Ranking) Keep(at Ranked, top, low bool) {
	if top {
		r.Strongest = append(r.Strongest, at)
		slices.SortFunc(r.Strongest, func(a, b Ranked) int {
			return cmp.Or(a.stronger(&b), cmp.Compare(a.Task, b.Task), cmp.Compare(a.Target, b.Target), cmp.Compare(a.Line, b.Line))
		})
		r.Strongest = r.Strongest[:min(len(r.Strongest), maxRanked)]
	}
	if low {
		r.Weakest = append(r.Weakest, at)
		slices.SortFunc(r.Weakest, func(a, b Ranked) int {
			return cmp.Or(a.weaker(&b), cmp.Compare(a.Task, b.Task), cmp.Compare(a.Target, b.Target), cmp.Compare(a.Line, b.Line))
		})
		r.Weakest = r.Weakest[:min(len(r.Weakest), maxRanked)]
	}
}

// compare orders by the share of good measurements.
func (a *Ranked) compare(b *Ranked) int { return cmp.Compare(a.Good*b.Of, b.Good*a.Of) }

// stronger sorts the strongest first: of equal shares the one with more good
// measurements, 12 of 12 before 1 of 1, then the one with fewer calls.
func (a *Ranked) stronger(b *Ranked) int {
	if c := b.compare(a); c != 0 {
		return c
	}
	if a.Good != b.Good {
		return cmp.Compare(b.Good, a.Good)
	}
	return cmp.Compare(a.Calls, b.Calls)
}

// weaker sorts the weakest first: the one that failed a larger share of its attempts, then the one
// with a smaller share of good measurements, and of equal shares the one with more bad measurements.
func (a *Ranked) weaker(b *Ranked) int {
	if c := cmp.Compare(b.Failed*max(a.Judged, 1), a.Failed*max(b.Judged, 1)); c != 0 {
		return c
	}
	if c := a.compare(b); c != 0 {
		return c
	}
	if c := cmp.Compare(b.Of-b.Good, a.Of-a.Good); c != 0 {
		return c
	}
	return cmp.Compare(a.Calls, b.Calls)
}

// Merge adds the tasks of o.
func (r *Ranking) Merge(o *Ranking) {
	for _, at := range o.Strongest {
		r.Keep(at, true, false)
	}
	for _, at := range o.Weakest {
		r.Keep(at, false, true)
	}
}
