// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package labels

import (
	"maps"
	"slices"

	"github.com/callvet/callvet/stats"
)

// byTask are shares by task, and within a task by attempt: attempts at a task that agree count as
// one, and calls or turns of one attempt are correlated.
type byTask map[string]map[attemptOf]*portion

type attemptOf struct {
	target  string
	attempt int
}

// portion is how many of n things are a yes.
type portion struct{ yes, n int }

func (b byTask) add(k Key, yes bool) {
	task := b[k.TaskID]
	if task == nil {
		task = map[attemptOf]*portion{}
		b[k.TaskID] = task
	}
	of := attemptOf{k.Target, k.Attempt}
	p := task[of]
	if p == nil {
		p = &portion{}
		task[of] = p
	}
	if p.n++; yes {
		p.yes++
	}
}

// clusters are the tasks in the form of the estimators.
func (b byTask) clusters() (c stats.Clusters) {
	for _, id := range slices.Sorted(maps.Keys(b)) { // floating sums depend on their order
		var all portion
		var one *portion
		alike := true
		for _, p := range b[id] {
			alike = alike && (one == nil || *one == *p)
			one = p
			all.yes, all.n = all.yes+p.yes, all.n+p.n
		}
		c.AddAttempts(float64(all.yes), all.n, true, stats.Attempts{N: len(b[id]), Alike: alike})
	}
	return c
}
