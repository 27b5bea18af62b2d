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
	attempts     int
}

func (r *ranking) task(t *task, m *taskSum, good, known int) {
	at := ranked{good: int64(good + m.passes), of: int64(known + m.trials), calls: m.calls}
	if at.of == 0 {
		return
	}
	top := len(r.strongest) < maxRanked || at.compare(&r.strongest[maxRanked-1]) >= 0
	low := len(r.weakest) < maxRanked || at.compare(&r.weakest[maxRanked-1]) <= 0
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
	if !top || len(r.strongest) == maxRanked && at.equal(&r.strongest[maxRanked-1]) && string(t.id) > r.strongest[maxRanked-1].task {
		top = false
	}
	if !low || len(r.weakest) == maxRanked && at.equal(&r.weakest[maxRanked-1]) && string(t.id) > r.weakest[maxRanked-1].task {
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
			return cmp.Or(b.compare(&a), cmp.Compare(a.calls, b.calls), cmp.Compare(a.task, b.task), cmp.Compare(a.target, b.target), cmp.Compare(a.line, b.line))
		})
		r.strongest = r.strongest[:min(len(r.strongest), maxRanked)]
	}
	if low {
		r.weakest = append(r.weakest, at)
		slices.SortFunc(r.weakest, func(a, b ranked) int {
			return cmp.Or(a.compare(&b), cmp.Compare(a.calls, b.calls), cmp.Compare(a.task, b.task), cmp.Compare(a.target, b.target), cmp.Compare(a.line, b.line))
		})
		r.weakest = r.weakest[:min(len(r.weakest), maxRanked)]
	}
}

// compare orders by the share of good measurements.
func (a *ranked) compare(b *ranked) int { return cmp.Compare(a.good*b.of, b.good*a.of) }

func (a *ranked) equal(b *ranked) bool { return a.compare(b) == 0 && a.calls == b.calls }

func (r *ranking) merge(o *ranking) {
	for _, at := range o.strongest {
		r.keep(at, true, false)
	}
	for _, at := range o.weakest {
		r.keep(at, false, true)
	}
}
