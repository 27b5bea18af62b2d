// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package steps

import (
	"math/bits"
	"slices"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/panel/tally"
	"github.com/callvet/callvet/stats/exact"
)

// The measurements of a step whose good answer is no.
const badWhenTrue = 1<<callvet.StepRateLimited | 1<<callvet.StepTimeout | 1<<callvet.StepRejected | 1<<callvet.StepRepaired

const bitArgs = 1 << callvet.StepArgEM

// cell is which steps of a task are in a slice; it is scratch.
type cell struct {
	id    uint32
	sign  uint64  // of the steps, so that cells are told apart quickly
	steps []int32 // by index
}

func (c *cell) add(i int) {
	c.steps = append(c.steps, int32(i))
	c.sign = (c.sign + uint64(i) + 1) * 0x9E3779B97F4A7C15
}

// extent is what certain steps of a task add to every slice that has just these:
// the slices of a task are many, the ways to take some of its steps are few.
type extent struct {
	sign  uint64
	steps []int32
	ids   []uint32 // of the slices
	// shape is the measurements that are the same in all steps, mixed are the others.
	shape uint64
	mixed uint16
	// Counts of the mixed measurements.
	yes, known [callvet.StepMetrics]int
	// Argument fidelity, in 1/exact.Scale, of so many steps; those in shape aside.
	args                  int
	precision, recall, f1 int64
	// keys is the shape of hits of the argument names; 0: none, or too many.
	keys     uint64
	hits, of int64
	exec     tally.Sample
	// queue and accept are for few slices, and read when one asks for them.
	queue, accept tally.Sample
	waits         bool
}

// A shape is a number of steps, what is known of each of them, with allExact on
// top, and what is true.
const allExact = 1 << 15

func shapeOf(n int, known, right uint16) uint64 {
	return uint64(n)<<32 | uint64(known)<<16 | uint64(right)
}

// read sums up the steps of a cell.
func (e *extent) read(t *task, c *cell) {
	e.sign, e.steps, e.shape, e.mixed, e.args, e.keys, e.waits = c.sign, c.steps, 0, 0, 0, 0, false
	e.ids = e.ids[:0]
	switch len(c.steps) {
	case 0:
		e.exec.Reset()
		return
	case 1: // most
		e.one(t, &t.steps[c.steps[0]])
		return
	}
	e.exec.Reset()
	first := &t.steps[c.steps[0]]
	every, all := [2]uint16{first.known, first.right}, [2]uint16{first.known, first.right}
	for _, i := range c.steps {
		st := &t.steps[i]
		every[0], every[1] = every[0]&st.known, every[1]&st.right
		all[0], all[1] = all[0]|st.known, all[1]|st.right
		switch {
		case !(st.exec >= 0):
		case st.timeout:
			e.exec.AddCut(st.exec)
		default:
			e.exec.Add(st.exec)
		}
	}
	e.mixed = all[0]&^every[0] | all[1]&^every[1]
	known := every[0] &^ e.mixed
	for m := e.mixed; m != 0; m &= m - 1 {
		e.count(t, bits.TrailingZeros16(m))
	}
	if all[0]&bitArgs != 0 && e.fidelity(t) && every[0]&bitArgs != 0 {
		known |= allExact
		e.args = 0
	}
	e.shape = shapeOf(len(c.steps), known, every[1]&^e.mixed)
}

// one is read for a single step.
func (e *extent) one(t *task, st *step) {
	known := st.known
	if known&bitArgs != 0 {
		if st.matched == st.emitted && st.matched == st.expected && st.matched < 1<<14 {
			known |= allExact
			e.keys = 1<<63 | uint64(st.matched)<<32 | uint64(st.matched)<<1
		} else if e.fidelity(t) {
			known |= allExact
			e.args = 0
		}
	}
	e.shape = shapeOf(1, known, st.right)
	if st.timeout && st.exec >= 0 {
		e.exec.Reset()
		e.exec.AddCut(st.exec)
		return
	}
	e.exec.One(st.exec)
}

// count counts a measurement that steps differ in.
func (e *extent) count(t *task, m int) {
	e.yes[m], e.known[m] = 0, 0
	for _, i := range e.steps {
		st := &t.steps[i]
		e.yes[m] += int(st.right >> m & 1)
		e.known[m] += int(st.known >> m & 1)
	}
}

// fidelity sums up how close the arguments come, and tells whether all are equal.
func (e *extent) fidelity(t *task) (equal bool) {
	e.precision, e.recall, e.f1, e.hits, e.of = 0, 0, 0, 0, 0
	equal = true
	for _, i := range e.steps {
		st := &t.steps[i]
		if st.known&bitArgs == 0 {
			continue
		}
		e.args++
		m, emitted, expected := int(st.matched), int(st.emitted), int(st.expected)
		e.hits += int64(min(2*m, 1<<16-1))
		e.of += int64(min(emitted+expected, 1<<16-1))
		if m == emitted && m == expected { // also where nothing was to be given, and nothing was
			e.precision, e.recall, e.f1 = e.precision+exact.Scale, e.recall+exact.Scale, e.f1+exact.Scale
			continue
		}
		equal = false
		e.precision += exact.Fraction(m, emitted)
		e.recall += exact.Fraction(m, expected)
		e.f1 += exact.Fraction(2*m, emitted+expected)
	}
	if e.of < 1<<31 {
		e.keys = 1<<63 | uint64(e.hits)<<31 | uint64(e.of)
	}
	return equal
}

// wait reads the times that only some slices tell.
func (e *extent) wait(t *task) {
	if e.waits {
		return
	}
	e.waits = true
	if len(e.steps) == 1 {
		st := &t.steps[e.steps[0]]
		e.queue.One(float64(st.queue))
		e.accept.One(float64(st.accept))
		return
	}
	e.queue.Reset()
	e.accept.Reset()
	for _, i := range e.steps {
		st := &t.steps[i]
		if st.queue >= 0 {
			e.queue.Add(float64(st.queue))
		}
		if st.accept >= 0 {
			e.accept.Add(float64(st.accept))
		}
	}
}

// maxExtents bounds how many extents of a task are looked through.
const maxExtents = 64

// extent gives that of a cell; nil when the task has too many.
func (s *Sums) extent(t *task, c *cell) *extent {
	for i := range s.extents[:s.read] {
		if e := &s.extents[i]; e.sign == c.sign && slices.Equal(e.steps, c.steps) {
			return e
		}
	}
	if s.read == maxExtents {
		return nil
	}
	if s.read == len(s.extents) {
		s.extents = append(s.extents, extent{})
	}
	e := &s.extents[s.read]
	s.read++
	e.read(t, c)
	return e
}

// add adds what a task has in this slice.
func (s *sliceSums) add(t *task, e *extent, m *taskSum, tries []try) {
	s.tasks++
	s.tell(m, tries)
	s.steps += int64(len(e.steps))
	if e.shape == 0 {
		return
	}
	if s.shapes.Add(e.shape) {
		s.enterShapes()
	}
	for m := e.mixed; m != 0; m &= m - 1 {
		i := bits.TrailingZeros16(m)
		s.rates[i].Add(e.yes[i], e.known[i])
	}
	if e.args > 0 {
		s.precision.Add(e.precision, e.args)
		s.recall.Add(e.recall, e.args)
		s.f1.Add(e.f1, e.args)
	}
	switch {
	case e.keys != 0:
		if s.keys.Add(e.keys) {
			s.enterKeys()
		}
	case e.args > 0 || e.shape>>16&allExact != 0:
		s.micro.Add(e.hits, e.of)
	}
	s.exec.Add(&e.exec)
	if s.waits {
		e.wait(t)
		s.queue.Add(&e.queue)
		s.accept.Add(&e.accept)
	}
}

// enter adds what was counted by its shape to the sums.
func (s *sliceSums) enter() {
	s.enterShapes()
	s.enterKeys()
	s.enterTasks()
}

func (s *sliceSums) enterShapes() {
	s.shapes.Drain(func(key, times uint64) {
		n, known, right := int(key>>32), uint16(key>>16), uint16(key)
		for i := range s.rates {
			if known>>i&1 == 1 {
				s.rates[i].AddTimes(n*int(right>>i&1), n, times)
			}
		}
		if known&allExact != 0 {
			for _, m := range []*exact.Mean{&s.precision, &s.recall, &s.f1} {
				m.AddTimes(int64(n)*exact.Scale, n, times)
			}
		}
	})
}

func (s *sliceSums) enterKeys() {
	s.keys.Drain(func(key, times uint64) { s.micro.AddTimes(int64(key>>31&(1<<31-1)), int64(key&(1<<31-1)), times) })
}

func (s *sliceSums) enterTasks() {
	s.whole.Drain(func(key, times uint64) {
		tries, calls, labelled, unneeded := int64(key>>48&0x3FFF), int64(key>>32&0xFFFF), int64(key>>16&0xFFFF), int64(key&0xFFFF)
		s.calls.AddTimes(calls, tries, times)
		if labelled > 0 {
			s.unneeded.AddTimes(unneeded, labelled, times)
		}
		if key&exposedTask != 0 {
			s.exposed.AddTimes(0, 1, times)
			s.stopped.AddTimes(0, 1, times)
		}
	})
}

// exposedTask is set in the shape of a task that safety was looked at in.
const exposedTask = 1 << 62

// shape says what the task is, where nothing but small counts are known; 0 elsewhere.
func (m *taskSum) shapeOf(tries int) uint64 {
	if m.incidents > 0 || m.blocked > 0 || tries >= 1<<14 || max(m.calls, m.labelled, m.unneeded) >= 1<<16 {
		return 0
	}
	return 1<<63 | uint64(one(m.exposed))*exposedTask | uint64(tries)<<48 | uint64(m.calls)<<32 | uint64(m.labelled)<<16 | uint64(m.unneeded)
}
