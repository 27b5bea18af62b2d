// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package steps

import (
	"cmp"
	"slices"
)

// ranking keeps the strongest and weakest tasks.
type ranking struct{ strongest, weakest []ranked }

const maxRanked = 3

// ranked is a task with how many of its measurements are good.
type ranked struct {
	good, of     int64
	calls        int64
	line         int64
	target, task string
}

func (r *ranking) task(t *task, m *taskSum, good, known int) {
	at := ranked{good: int64(good + m.passes), of: int64(known + m.trials + m.hidden), calls: m.calls}
	if at.of == 0 {
		return
	}
	top := len(r.strongest) < maxRanked || at.stronger(&r.strongest[maxRanked-1]) <= 0
	low := len(r.weakest) < maxRanked || at.weaker(&r.weakest[maxRanked-1]) <= 0
	if !top && !low {
		return
	}
	if len(t.steps) > 0 {
		at.line = t.steps[0].line
	}
	for i := range t.records {
		if l := t.records[i].line; at.line == 0 || l < at.line {
			at.line = l
		}
	}
	if !top || len(r.strongest) == maxRanked && at.stronger(&r.strongest[maxRanked-1]) == 0 && string(t.id) > r.strongest[maxRanked-1].task {
		top = false
	}
	if !low || len(r.weakest) == maxRanked && at.weaker(&r.weakest[maxRanked-1]) == 0 && string(t.id) > r.weakest[maxRanked-1].task {
		low = false
	}
	if top || low {
		at.target, at.task = string(t.target), string(t.id)
		r.keep(at, top, low)
	}
}

func (r *ranking) keep(at ranked, top, low bool) {
	if top {
		r.strongest = append(r.strongest, at)
		slices.SortFunc(r.strongest, func(a, b ranked) int {
			return cmp.Or(a.stronger(&b), cmp.Compare(a.task, b.task), cmp.Compare(a.target, b.target), cmp.Compare(a.line, b.line))
		})
		r.strongest = r.strongest[:min(len(r.strongest), maxRanked)]
	}
	if low {
		r.weakest = append(r.weakest, at)
		slices.SortFunc(r.weakest, func(a, b ranked) int {
			return cmp.Or(a.weaker(&b), cmp.Compare(a.task, b.task), cmp.Compare(a.target, b.target), cmp.Compare(a.line, b.line))
		})
		r.weakest = r.weakest[:min(len(r.weakest), maxRanked)]
	}
}

// compare orders by the share of good measurements.
func (a *ranked) compare(b *ranked) int { return cmp.Compare(a.good*b.of, b.good*a.of) }

// stronger sorts the strongest first: of equal shares the one with more good
// measurements, 12 of 12 before 1 of 1, then the one with fewer calls.
func (a *ranked) stronger(b *ranked) int {
	return cmp.Or(b.compare(a), cmp.Compare(b.good, a.good), cmp.Compare(a.calls, b.calls))
}

// weaker sorts the weakest first: of equal shares the one with more bad measurements.
func (a *ranked) weaker(b *ranked) int {
	return cmp.Or(a.compare(b), cmp.Compare(b.of-b.good, a.of-a.good), cmp.Compare(a.calls, b.calls))
}

func (r *ranking) merge(o *ranking) {
	for _, at := range o.strongest {
		r.keep(at, true, false)
	}
	for _, at := range o.weakest {
		r.keep(at, false, true)
	}
}
