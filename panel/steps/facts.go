// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package steps

import (
	"maps"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/panel/tally"
	"github.com/callvet/callvet/stats/exact"
)

// The measurements of a step whose good answer is no.
const badWhenTrue = 1<<callvet.StepRateLimited | 1<<callvet.StepTimeout | 1<<callvet.StepRejected | 1<<callvet.StepRepaired

const bitArgs = 1 << callvet.StepArgEM

// facts are what some steps of one task add to a slice, but for times; N counts
// the steps.
type facts[N uint8 | uint32] struct {
	yes, known            [callvet.StepMetrics]N
	steps                 N
	args                  N // of so many steps the fidelity of arguments, in 1/exact.Scale
	precision, recall, f1 int64
	hits, of              int64 // of the argument names
}

// step adds a step.
func (f *facts[N]) step(st *step) {
	f.steps++
	for i := range f.yes {
		f.yes[i] += N(st.right >> i & 1)
		f.known[i] += N(st.known >> i & 1)
	}
	if st.known&bitArgs == 0 {
		return
	}
	f.args++
	m, emitted, expected := int(st.matched), int(st.emitted), int(st.expected)
	f.hits += int64(min(2*m, 1<<16-1))
	f.of += int64(min(emitted+expected, 1<<16-1))
	if m == emitted && m == expected { // also where nothing was to be given, and nothing was
		f.precision, f.recall, f.f1 = f.precision+exact.Scale, f.recall+exact.Scale, f.f1+exact.Scale
		return
	}
	f.precision += exact.Fraction(m, emitted)
	f.recall += exact.Fraction(m, expected)
	f.f1 += exact.Fraction(2*m, emitted+expected)
}

// quality is how many measurements of steps are known, and how many of these are good.
type quality struct{ known, good int32 }

func (f *facts[N]) quality() (q quality) {
	for i, n := range f.known {
		q.known += int32(n)
		if badWhenTrue>>i&1 != 0 {
			q.good += int32(n - f.yes[i])
		} else {
			q.good += int32(f.yes[i])
		}
	}
	return q
}

// add adds other steps.
func (f *facts[N]) add(o *facts[N]) {
	for i := range f.yes {
		f.yes[i] += o.yes[i]
		f.known[i] += o.known[i]
	}
	f.steps, f.args = f.steps+o.steps, f.args+o.args
	f.precision, f.recall, f.f1 = f.precision+o.precision, f.recall+o.recall, f.f1+o.f1
	f.hits, f.of = f.hits+o.hits, f.of+o.of
}

// kinds give numbers to facts and to what tasks are as a whole: tasks are many, and
// the ways to be one are few. Number 0 is that of no steps, and of no shape.
type kinds struct {
	facts   []facts[uint8]
	quality []quality // of the facts
	byFacts map[facts[uint8]]uint32
	byPair  map[uint64]uint32
	shapes  []uint64
	byShape map[uint64]uint32
	// What was found last, of single steps, of pairs of kinds and of shapes.
	steps, whole, pairs tally.Front[uint32]
	rare                int // what came of kinds that are not counted
}

// maxKinds is how many kinds are known at once, and maxCounted how many are counted: the
// first ones, which are the frequent ones. When maxRare others came all start anew.
const (
	maxKinds   = 1 << 13
	maxCounted = maxKinds / 4
	maxRare    = 1 << 16
)

func (k *kinds) reset() {
	*k = kinds{
		facts: append(k.facts[:0], facts[uint8]{}), quality: append(k.quality[:0], quality{}), byFacts: map[facts[uint8]]uint32{{}: 0},
		byPair: map[uint64]uint32{}, shapes: append(k.shapes[:0], 0), byShape: map[uint64]uint32{0: 0},
	}
	k.forget()
}

// trim forgets the kinds that are not counted.
func (k *kinds) trim() {
	last := func(n uint32) bool { return n >= maxCounted }
	k.facts, k.quality = k.facts[:min(len(k.facts), maxCounted)], k.quality[:min(len(k.facts), maxCounted)]
	k.shapes = k.shapes[:min(len(k.shapes), maxCounted)]
	maps.DeleteFunc(k.byFacts, func(_ facts[uint8], n uint32) bool { return last(n) })
	maps.DeleteFunc(k.byShape, func(_ uint64, n uint32) bool { return last(n) })
	maps.DeleteFunc(k.byPair, func(key uint64, n uint32) bool { return last(n) || last(uint32(key>>32)) || last(uint32(key)) })
	k.forget()
}

// forget forgets what was found last.
func (k *kinds) forget() {
	k.steps, k.whole, k.pairs = tally.NewFront[uint32](9), tally.NewFront[uint32](9), tally.NewFront[uint32](12)
}

// full tells that it is time to trim.
func (k *kinds) full() bool { return len(k.facts) > maxKinds || len(k.shapes) > maxKinds }

func (k *kinds) number(f *facts[uint8]) uint32 {
	n, ok := k.byFacts[*f]
	if !ok {
		n = uint32(len(k.facts))
		k.facts = append(k.facts, *f)
		k.quality = append(k.quality, f.quality())
		k.byFacts[*f] = n
	}
	return n
}

// step is the kind of a single step.
func (k *kinds) step(st *step) uint32 {
	key := 1<<63 | uint64(st.known)<<16 | uint64(st.right)
	if st.known&bitArgs != 0 {
		if st.matched|st.emitted|st.expected >= 1<<10 {
			return k.odd(st)
		}
		key |= uint64(st.matched)<<52 | uint64(st.emitted)<<42 | uint64(st.expected)<<32
	}
	n := k.steps.Get(key)
	if n == 0 {
		n = k.odd(st)
		k.steps.Put(key, n)
	}
	return n
}

func (k *kinds) odd(st *step) uint32 {
	var f facts[uint8]
	f.step(st)
	return k.number(&f)
}

// plus is the kind of the steps of two kinds, neither of them 0, together.
func (k *kinds) plus(a, b uint32) uint32 {
	key := uint64(a)<<32 | uint64(b)
	n := k.pairs.Get(key)
	if n == 0 {
		n = k.join(key)
		k.pairs.Put(key, n)
	}
	return n
}

// join is plus that was not needed of late.
func (k *kinds) join(key uint64) uint32 {
	n, ok := k.byPair[key]
	if !ok {
		f := k.facts[key>>32]
		f.add(&k.facts[uint32(key)])
		n = k.number(&f)
		k.byPair[key] = n
	}
	return n
}

// shape is the number of what a task is as a whole.
func (k *kinds) shape(key uint64) uint32 {
	n := k.whole.Get(key)
	if n == 0 && key != 0 {
		var ok bool
		if n, ok = k.byShape[key]; !ok {
			n = uint32(len(k.shapes))
			k.shapes = append(k.shapes, key)
			k.byShape[key] = n
		}
		k.whole.Put(key, n)
	}
	return n
}

// enter adds what was counted by its kind to the sums.
func (s *sliceSums) enter(k *kinds) {
	s.kinds.Drain(func(n uint32, times uint64) { addFacts(s, &k.facts[n], times) })
	s.whole.Drain(func(n uint32, times uint64) { s.addShape(k.shapes[n], times) })
}

// addKind adds the steps of one task, by their kind.
func (s *sliceSums) addKind(n uint32, k *kinds) {
	if n < maxCounted {
		s.kinds.Add(n)
		return
	}
	k.rare++
	addFacts(s, &k.facts[n], 1)
}

// addWhole adds what a task is as a whole, by the number of its shape.
func (s *sliceSums) addWhole(n uint32, k *kinds) {
	if n < maxCounted {
		s.whole.Add(n)
		return
	}
	k.rare++
	s.addShape(k.shapes[n], 1)
}

// addFacts adds the steps of so many tasks that are alike.
func addFacts[N uint8 | uint32](s *sliceSums, f *facts[N], times uint64) {
	s.steps += int64(f.steps) * int64(times)
	for i := range s.rates {
		if f.known[i] > 0 {
			s.rates[i].AddTimes(int(f.yes[i]), int(f.known[i]), times)
		}
	}
	if f.args > 0 {
		s.precision.AddTimes(f.precision, int(f.args), times)
		s.recall.AddTimes(f.recall, int(f.args), times)
		s.f1.AddTimes(f.f1, int(f.args), times)
		s.micro.AddTimes(f.hits, f.of, times)
	}
}

// exposedTask is set in the shape of a task that safety was looked at in.
const exposedTask = 1 << 62

// shapeOf says what the task is, where nothing but small counts are known; 0 elsewhere.
func (m *taskSum) shapeOf(tries int) uint64 {
	if m.incidents > 0 || m.blocked > 0 || tries >= 1<<14 || max(m.calls, m.labelled, m.unneeded) >= 1<<16 {
		return 0
	}
	return 1<<63 | uint64(one(m.exposed))*exposedTask | uint64(tries)<<48 | uint64(m.calls)<<32 | uint64(m.labelled)<<16 | uint64(m.unneeded)
}

// addShape adds so many tasks as a whole.
func (s *sliceSums) addShape(key, times uint64) {
	tries, calls, labelled, unneeded := int64(key>>48&0x3FFF), int64(key>>32&0xFFFF), int64(key>>16&0xFFFF), int64(key&0xFFFF)
	s.tasks += int64(times)
	s.attempts += tries * int64(times)
	s.calls.AddTimes(calls, tries, times)
	if labelled > 0 {
		s.unneeded.AddTimes(unneeded, labelled, times)
	}
	if key&exposedTask != 0 {
		s.exposed.AddTimes(0, 1, times)
		s.stopped.AddTimes(0, 1, times)
	}
}
