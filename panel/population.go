// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package panel

import (
	"fmt"

	"github.com/callvet/callvet/stats"
)

// Population is the population that a number describes. Source: Statistics specification, section
// 16.7.
type Population string

// The populations. The zero value is TasksLikeThese.
const (
	// TasksLikeThese: the tasks are a sample of others.
	TasksLikeThese Population = "tasks like these"
	// ThisSuite: the tasks are fixed, and only their attempts vary.
	ThisSuite Population = "this suite"
)

// Populations are all of them.
func Populations() []string { return []string{string(TasksLikeThese), string(ThisSuite)} }

// Or is the population, or TasksLikeThese where none is named.
func (p Population) Or() Population {
	if p == "" {
		return TasksLikeThese
	}
	return p
}

// Sentence describes what the numbers of a report estimate.
func (p Population) Sentence() string {
	if p == ThisSuite {
		return "Numbers are about this suite: its tasks are fixed, and only the attempts at them vary by chance."
	}
	return "Numbers are about tasks like these: the tasks here are a sample of them, and intervals have room for others."
}

// attemptsOfCase are the attempts at a case in a comparison about this suite.
type attemptsOfCase struct{ before, after moment }

// finishSuite compares the tasks of this suite only. It needs one yes or no for each attempt, and
// two attempts a side where attempts can vary.
func (d *Difference) finishSuite(conf float64) {
	var tasks, fixed []stats.Sides
	d.Test = "attempts_permutation"
	whole := !d.relative && !d.counted && len(d.byCall) == 0
	for _, s := range d.sides {
		if !whole || s.before.fractional || s.after.fractional || !s.before.each || !s.after.each {
			d.Change, d.P = stats.Interval{
				Lower: -1, Upper: 1, N: d.Cases, Clusters: d.Cases, Confidence: conf,
				Status: stats.StatusNotByAttempt,
			}, 1
			return
		}
		t := stats.Sides{Passed: int(s.before.sum), N: s.before.n, NowPassed: int(s.after.sum), NowN: s.after.n}
		if (s.before.fact || d.fixed[0]) && (s.after.fact || d.fixed[1]) {
			fixed = append(fixed, t)
		} else {
			tasks = append(tasks, t)
		}
	}
	d.Change, d.P = stats.WithinTasks(tasks, fixed, conf)
}

// about makes a difference one about this suite, where this is requested.
func (d *Difference) about(base, cand *Ledger, t [2]int, cfg *DiffConfig) {
	fixed := func(l *Ledger, target int) bool { return target < len(l.fixed) && l.fixed[target] }
	d.suite, d.fixed = cfg.Population == ThisSuite, [2]bool{fixed(base, t[0]), fixed(cand, t[1])}
}

// suiteWarning is why a comparison about this suite has no interval; "" where it has one.
func (d *Difference) suiteWarning(what string) string {
	switch d.Change.Status {
	case stats.StatusFewAttempts:
		return fmt.Sprintf(
			"%s: a comparison about this suite needs two attempts at each task on both sides: callvet run --repeat 2",
			what)
	case stats.StatusNotByAttempt:
		return fmt.Sprintf(
			"%s: a comparison about this suite needs one yes or no for each attempt, and this metric has other values",
			what)
	}
	return ""
}
