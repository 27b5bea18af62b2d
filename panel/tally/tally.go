// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

// Package tally answers one question: how does one add millions of small tasks to
// exact sums quickly? Rate, Share and Latencies hold back what many tasks have in
// common and give the very sums of stats/exact. They know nothing of steps.
package tally

import "github.com/callvet/callvet/stats/exact"

// Rate is an exact.Rate that counts tasks of few steps by what they are.
type Rate struct {
	small [36]uint64 // of n steps yes were: at n(n+1)/2+yes, for n up to 7
	rest  exact.Rate
}

// Add adds a task with n steps, yes of which were.
func (t *Rate) Add(yes, n int) {
	if n < 8 {
		t.small[n*(n+1)/2+yes]++
		return
	}
	t.rest.Add(yes, n)
}

// Singles adds tasks with one step that are alike.
func (t *Rate) Singles(yes bool, times uint64) {
	if yes {
		t.small[2] += times
		return
	}
	t.small[1] += times
}

// Merge adds the tasks of o.
func (t *Rate) Merge(o *Rate) {
	for i, n := range o.small {
		t.small[i] += n
	}
	t.rest.Merge(&o.rest)
}

// Sum is the sum behind it, to be read into.
func (t *Rate) Sum() *exact.Rate { return &t.rest }

// Rate is all of it.
func (t *Rate) Rate() exact.Rate {
	r := t.rest
	for n := 1; n < 8; n++ {
		for yes := 0; yes <= n; yes++ {
			times := t.small[n*(n+1)/2+yes]
			if times == 0 {
				continue
			}
			var one exact.Rate
			one.Add(yes, n)
			for ; times > 0; times >>= 1 {
				if times&1 == 1 {
					r.Merge(&one)
				}
				twice := one
				one.Merge(&twice)
			}
		}
	}
	return r
}

// Share is an exact.Mean that counts tasks whose few values are all 1.
type Share struct {
	full [8]uint64
	rest exact.Mean
}

// Add adds a task with n values, in 1/exact.Scale.
func (s *Share) Add(sum int64, n int) {
	if n < 8 && sum == int64(n)*exact.Scale {
		s.full[n]++
		return
	}
	s.rest.Add(sum, n)
}

// Singles adds tasks whose one value is 1.
func (s *Share) Singles(times uint64) { s.full[1] += times }

// Merge adds the tasks of o.
func (s *Share) Merge(o *Share) {
	for i, n := range o.full {
		s.full[i] += n
	}
	s.rest.Merge(&o.rest)
}

// Sum is the sum behind it, to be read into.
func (s *Share) Sum() *exact.Mean { return &s.rest }

// Mean is all of it.
func (s *Share) Mean() exact.Mean {
	m := s.rest
	for n := 1; n < 8; n++ {
		var one exact.Mean
		one.Add(int64(n)*exact.Scale, n)
		for times := s.full[n]; times > 0; times >>= 1 {
			if times&1 == 1 {
				m.Merge(&one)
			}
			twice := one
			one.Merge(&twice)
		}
	}
	return m
}

// waitingRoom is how many values wait before they enter their histogram.
const waitingRoom = 512

// Latencies are exact.Quantiles whose values enter in groups: the histograms of
// all slices together are larger than the processor's cache, and going into one
// of them for a single value costs more than all else that is done with it.
type Latencies struct {
	q      exact.Quantiles
	values []float64
	ends   []waitingTask // of tasks with more than one value, or one cut off
	single []float64
}

// waitingTask ends before values[end]; its last cut values were cut off.
type waitingTask struct{ end, cut int32 }

// Add adds a task's values, the last cut of which were cut off.
func (l *Latencies) Add(values []float64, cut int) {
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

func (l *Latencies) enterSingle() {
	for i := range l.single {
		l.q.Add(l.single[i:i+1], 0)
	}
	l.single = l.single[:0]
}

func (l *Latencies) enterTasks() {
	from := int32(0)
	for _, t := range l.ends {
		l.q.Add(l.values[from:t.end], int(t.cut))
		from = t.end
	}
	l.values, l.ends = l.values[:0], l.ends[:0]
}

// Quantiles are those of all values.
func (l *Latencies) Quantiles() *exact.Quantiles {
	l.enterSingle()
	l.enterTasks()
	return &l.q
}
