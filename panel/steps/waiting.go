// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package steps

import "github.com/callvet/callvet/stats/exact"

// waitingRoom is how many values wait before they enter their histogram.
const waitingRoom = 512

// latencies are exact.Quantiles whose values enter in groups: the histograms of
// all slices together are larger than the processor's cache, and going into one
// of them for a single value costs more than all else that is done with it.
type latencies struct {
	q      exact.Quantiles
	values []float64
	ends   []waitingTask // of tasks with more than one value, or one cut off
	single []float64
}

// waitingTask ends before values[end]; its last cut values were cut off.
type waitingTask struct{ end, cut int32 }

// add adds a task's values, the last cut of which were cut off.
func (l *latencies) add(values []float64, cut int) {
	switch {
	case len(values) == 0:
		return
	case len(values) == 1 && cut == 0:
		if l.single = append(l.single, values[0]); len(l.single) >= waitingRoom {
			l.enterSingle()
		}
		return
	}
	l.values = append(l.values, values...)
	l.ends = append(l.ends, waitingTask{int32(len(l.values)), int32(cut)})
	if len(l.values) >= waitingRoom {
		l.enterTasks()
	}
}

func (l *latencies) enterSingle() {
	for i := range l.single {
		l.q.Add(l.single[i:i+1], 0)
	}
	l.single = l.single[:0]
}

func (l *latencies) enterTasks() {
	from := int32(0)
	for _, t := range l.ends {
		l.q.Add(l.values[from:t.end], int(t.cut))
		from = t.end
	}
	l.values, l.ends = l.values[:0], l.ends[:0]
}

// quantiles are those of all values.
func (l *latencies) quantiles() *exact.Quantiles {
	l.enterSingle()
	l.enterTasks()
	return &l.q
}
