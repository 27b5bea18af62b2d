// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

// Package tally answers one question: how does one add millions of small tasks to
// many exact sums quickly? Counts are of tasks that are alike, so that a sum gets them all
// at once; a Sample or a Few is made ready once for all the Latencies it goes to; a Window,
// a Slab and Boxes keep the tasks that may still grow in little memory, of which little is
// looked at. What comes out are the very sums of stats/exact. They know nothing of steps.
package tally

import (
	"math"

	"github.com/callvet/callvet/stats/exact"
)

// Sample is the values of one task. The zero value is empty.
type Sample struct {
	values, cut []float64
	parts       []exact.Part
	ready       bool
}

// Reset empties the Sample and keeps its memory.
func (s *Sample) Reset() {
	s.values, s.cut, s.parts, s.ready = s.values[:0], s.cut[:0], s.parts[:0], false
}

// Add adds a value.
func (s *Sample) Add(x float64) { s.values = append(s.values, x) }

// Time adds a value unless it is below 0; cut tells that it was cut off.
func (s *Sample) Time(x float64, cut bool) {
	switch {
	case !(x >= 0):
	case cut:
		s.AddCut(x)
	default:
		s.Add(x)
	}
}

// Alone is the Sample's only value; ok is false where it has none or others.
func (s *Sample) Alone() (p exact.Part, ok bool) {
	if len(s.values) != 1 || len(s.cut) > 0 || !(s.values[0] >= 0 && s.values[0] <= math.MaxFloat64) {
		return 0, false
	}
	return exact.Alone(s.values[0]), true
}

// AddCut adds a value that was cut off: the truth is at least that.
func (s *Sample) AddCut(x float64) { s.cut = append(s.cut, x) }

// prepare makes the parts, if the values allow that.
func (s *Sample) prepare() {
	s.ready = true
	if len(s.cut) == 0 {
		s.parts, _ = exact.AppendParts(s.parts, s.values)
	}
	if len(s.parts) == 0 {
		s.values = append(s.values, s.cut...)
	}
}

// waitingRoom is how many values wait before they enter their histogram.
const waitingRoom = 512

// Latencies are exact.Quantiles whose values enter in groups: the histograms of
// all slices together are larger than the processor's cache, and going into one
// of them for a single value costs more than all else that is done with it.
type Latencies struct {
	waiting []exact.Part // room for them
	n       int32        // so many wait
	others  int32        // of these, beyond one a task
	q       *exact.Quantiles
}

// entered are those that do not wait. They are apart, so that what is looked at for each
// value of a slice is in few lines of the cache.
func (l *Latencies) entered() *exact.Quantiles {
	if l.q == nil {
		l.q = new(exact.Quantiles)
	}
	return l.q
}

// Add adds a task's values.
func (l *Latencies) Add(s *Sample) {
	if !s.ready {
		s.prepare()
	}
	if len(s.parts) == 0 {
		l.entered().Add(s.values, len(s.cut))
		return
	}
	copy(l.room(len(s.parts)), s.parts)
}

// One adds a task of a single value, made by exact.Alone.
func (l *Latencies) One(p exact.Part) {
	if int(l.n) == len(l.waiting) {
		l.grow(1)
	}
	l.waiting[l.n] = p
	l.n++
}

// room is where the n values of a task are to be written.
func (l *Latencies) room(n int) []exact.Part {
	if n > len(l.waiting)-int(l.n) {
		l.grow(n)
	}
	to := l.waiting[l.n:]
	l.n += int32(n)
	l.others += int32(n - 1)
	return to[:n]
}

// grow makes room for n more: few values wait in many slices, many in some.
func (l *Latencies) grow(n int) {
	size := max(8, len(l.waiting))
	for size < int(l.n)+n && size < waitingRoom {
		size *= 2
	}
	if size < int(l.n)+n {
		l.enter()
	}
	if size > len(l.waiting) {
		l.waiting = append(make([]exact.Part, 0, size), l.waiting...)[:size]
	}
}

// enter lets what waits into the histogram.
func (l *Latencies) enter() {
	l.entered().AddParts(l.waiting[:l.n], int(l.n-l.others))
	l.n, l.others = 0, 0
}

// Quantiles are those of all values. Called again, where none wait, it only reads.
func (l *Latencies) Quantiles() *exact.Quantiles {
	if l.n > 0 {
		l.enter()
	}
	return l.entered()
}
