// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package steps

import (
	"cmp"
	"math"
	"slices"

	"github.com/callvet/callvet/stats"
)

// Ranking keeps the strongest and weakest tasks of a target, in order. It also counts all judged
// tasks by their passes and attempts, from which StandOut decides.
type Ranking struct {
	Strongest, Weakest []Ranked
	tasks              map[stats.Count]int64
}

const (
	maxRanked = 3
	// maxAttempts bounds the attempts at a task that count in the comparison of tasks; more count in
	// proportion.
	maxAttempts = 32
)

// Ranked is a task: Good of Of measurements are good, in Calls calls. Line is its first line.
type Ranked struct {
	Good, Of, Calls int64
	// Failed is how many of its Judged attempts did not pass.
	Failed, Judged int64
	// Seen are its judged attempts and passes without copies.
	Seen         stats.Count
	Line         int64
	Target, Task string
}

// SeenOf is how many attempts at a task passed, of at most maxAttempts.
func SeenOf(passed, judged int) stats.Count {
	c := stats.Count{Passed: float64(passed), N: float64(judged)}
	if c.N > maxAttempts {
		c.Passed, c.N = math.Round(c.Passed*maxAttempts/c.N), maxAttempts
	}
	return c
}

// strong reports whether the task may be among the strongest: no attempt failed, and something is
// good. weak is the opposite; a judged task is weak by its verdicts alone.
func (a *Ranked) strong() bool { return a.Failed == 0 && a.Good > 0 }

func (a *Ranked) weak() bool { return a.Failed > 0 || a.Judged == 0 && a.Good < a.Of }

// Add counts n judged tasks.
func (r *Ranking) Add(c stats.Count, n int64) {
	if r.tasks == nil {
		r.tasks = map[stats.Count]int64{}
	}
	r.tasks[c] += n
}

// Candidate reports whether a task with these counts may be among the strongest or the weakest,
// before names are compared.
func (r *Ranking) Candidate(at *Ranked) bool {
	among := func(list []Ranked, order func(*Ranked) int) bool {
		return len(list) < maxRanked || order(&list[maxRanked-1]) <= 0
	}
	return at.strong() && among(r.Strongest, at.stronger) || at.weak() && among(r.Weakest, at.weaker)
}

// Offer keeps a Candidate if it is also among them by its name: of equal tasks the first by name
// counts.
func (r *Ranking) Offer(at Ranked, target, task []byte) {
	among := func(list []Ranked, order func(*Ranked) int) bool {
		if len(list) < maxRanked {
			return true
		}
		last := &list[maxRanked-1]
		o := order(last)
		return o < 0 || o == 0 && string(task) <= last.Task
	}
	top, low := at.strong() && among(r.Strongest, at.stronger), at.weak() && among(r.Weakest, at.weaker)
	if top || low {
		at.Target, at.Task = string(target), string(task)
		r.Keep(at, top, low)
	}
}

// Keep keeps a task if it is among the strongest, where top, or the weakest, where low.
func (r *Ranking) Keep(at Ranked, top, low bool) {
	if top {
		r.Strongest = kept(r.Strongest, at, (*Ranked).stronger)
	}
	if low {
		r.Weakest = kept(r.Weakest, at, (*Ranked).weaker)
	}
}

func kept(list []Ranked, at Ranked, order func(a, b *Ranked) int) []Ranked {
	list = append(list, at)
	slices.SortFunc(list, func(a, b Ranked) int {
		return cmp.Or(order(&a, &b), cmp.Compare(a.Task, b.Task), cmp.Compare(a.Target, b.Target),
			cmp.Compare(a.Line, b.Line))
	})
	return list[:min(len(list), maxRanked)]
}

// compare orders by the share of good measurements.
func (a *Ranked) compare(b *Ranked) int { return cmp.Compare(a.Good*b.Of, b.Good*a.Of) }

// stronger sorts the strongest first: by the share of good measurements, then more good
// measurements (12 of 12 before 1 of 1), then fewer calls.
func (a *Ranked) stronger(b *Ranked) int {
	if c := b.compare(a); c != 0 {
		return c
	}
	if a.Good != b.Good {
		return cmp.Compare(b.Good, a.Good)
	}
	return cmp.Compare(a.Calls, b.Calls)
}

// weaker sorts the weakest first: by a larger share of failed attempts, more failed attempts, a
// smaller share of good measurements, more bad measurements.
func (a *Ranked) weaker(b *Ranked) int {
	if c := cmp.Compare(b.Failed*max(a.Judged, 1), a.Failed*max(b.Judged, 1)); c != 0 {
		return c
	}
	if c := cmp.Compare(b.Failed, a.Failed); c != 0 {
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
	for c, n := range o.tasks {
		r.Add(c, n)
	}
}

// StandOut reports whether the interval of the task lies below or above the mean of all other tasks.
// Attempts that agree in every task may be copies of one: then no task stands out.
// Source: Statistics specification, sections 16.1 and 16.5.
func (r *Ranking) StandOut(at *Ranked, conf float64) (below, above bool) {
	if at.Judged == 0 {
		return false, false
	}
	for c := range r.tasks {
		if c.Passed > 0 && c.Passed < c.N {
			return stats.Apart(r.tasks, at.Seen, conf)
		}
	}
	return false, false
}
