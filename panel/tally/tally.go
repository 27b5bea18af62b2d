// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

// Package tally answers one question: how does one add millions of small tasks to
// many exact sums quickly? Shapes counts tasks that are alike, so that a sum gets
// them all at once; a Sample is made ready once for all the Latencies it goes to.
// What comes out are the very sums of stats/exact. They know nothing of steps.
package tally

import (
	"math/bits"

	"github.com/callvet/callvet/stats/exact"
)

// Shapes counts tasks by a key that says all there is to them. The zero value is
// ready.
type Shapes struct {
	slots []shape // linear probing
	used  int
}

// shape is a key and how often it came; a key of 0 is free.
type shape struct{ key, times uint64 }

// maxShapes bounds the table of one Shapes, which should stay in the cache.
const maxShapes = 128

// Add counts a key, which is not 0. When it tells that the table is full, the
// caller has to Drain it before the next one.
func (s *Shapes) Add(key uint64) (full bool) {
	if len(s.slots) == 0 {
		s.slots = make([]shape, 8)
	}
	mask := uint64(len(s.slots) - 1)
	for i := spread(key) & mask; ; i = (i + 1) & mask {
		switch at := &s.slots[i]; at.key {
		case key:
			at.times++
			return false
		case 0:
			at.key, at.times = key, 1
			s.used++
			return s.used*4 > 3*len(s.slots) && !s.grow()
		}
	}
}

func spread(key uint64) uint64 {
	hi, lo := bits.Mul64(key, 0x9E3779B97F4A7C15)
	return hi ^ lo>>40
}

func (s *Shapes) grow() bool {
	if len(s.slots) >= maxShapes {
		return false
	}
	old := s.slots
	s.slots = make([]shape, 2*len(old))
	mask := uint64(len(s.slots) - 1)
	for _, x := range old {
		if x.key == 0 {
			continue
		}
		i := spread(x.key) & mask
		for s.slots[i].key != 0 {
			i = (i + 1) & mask
		}
		s.slots[i] = x
	}
	return true
}

// Drain gives all keys with their counts, in no order, and forgets them.
func (s *Shapes) Drain(to func(key, times uint64)) {
	for i := range s.slots {
		if x := &s.slots[i]; x.key != 0 {
			to(x.key, x.times)
			*x = shape{}
		}
	}
	s.used = 0
}

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

// One makes the Sample that of one value, which is finite; of none where it is below 0.
func (s *Sample) One(x float64) {
	s.Reset()
	if x >= 0 {
		s.parts, s.ready = append(s.parts, exact.Alone(x)), true
	}
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
	q       exact.Quantiles
	waiting []exact.Part
}

// Add adds a task's values.
func (l *Latencies) Add(s *Sample) {
	if !s.ready {
		s.prepare()
	}
	if len(s.parts) == 0 {
		l.q.Add(s.values, len(s.cut))
		return
	}
	if len(s.parts) == 1 { // most have one, which is not worth a copy
		l.waiting = append(l.waiting, s.parts[0])
	} else {
		l.waiting = append(l.waiting, s.parts...)
	}
	if len(l.waiting) >= waitingRoom {
		l.enter()
	}
}

func (l *Latencies) enter() {
	l.q.AddParts(l.waiting)
	l.waiting = l.waiting[:0]
}

// Quantiles are those of all values.
func (l *Latencies) Quantiles() *exact.Quantiles {
	l.enter()
	return &l.q
}
