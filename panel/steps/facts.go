// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package steps

import (
	"math/bits"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/panel/tally"
	"github.com/callvet/callvet/stats"
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
	keys                  int64
	precision, recall, f1 int64
	hits, of              int64 // of the argument names
	moot                  [moots]N
	quality
}

// The measurements that a label may say do not apply to a call: nobody needed it, or it
// was not executed.
const (
	mootArgs = iota
	mootEqual
	mootHolds
	moots
)

// mootOf are the places of those measurements.
var mootOf = [moots]callvet.StepMetric{mootArgs: callvet.StepArgEM, mootEqual: callvet.StepEqual, mootHolds: callvet.StepHolds}

// moot are the measurements of a step that are unknown although nothing is missing.
func (s *step) moot() (m [moots]bool) {
	no := func(k callvet.StepMetric) bool { return s.known>>k&1 == 1 && s.right>>k&1 == 0 }
	yes := func(k callvet.StepMetric) bool { return s.known>>k&1 == 1 && s.right>>k&1 == 1 }
	unneeded, rejected := no(callvet.StepNeeded), yes(callvet.StepRejected)
	if !unneeded && !rejected { // nearly always
		return m
	}
	for i, k := range mootOf {
		m[i] = s.known>>k&1 == 0 && (unneeded || i != mootArgs)
	}
	return m
}

// quality is how many measurements of steps are known, and how many of these are good.
type quality struct{ measured, good uint32 }

func (q *quality) step(st *step) {
	q.measured += uint32(bits.OnesCount16(st.known))
	q.good += uint32(bits.OnesCount16((st.right ^ badWhenTrue) & st.known))
}

// step adds a step.
func (f *facts[N]) step(st *step) {
	f.steps++
	f.quality.step(st)
	for i := range f.yes {
		f.yes[i] += N(st.right >> i & 1)
		f.known[i] += N(st.known >> i & 1)
	}
	for i, yes := range st.moot() {
		f.moot[i] += N(one(yes))
	}
	if st.known&bitArgs == 0 {
		return
	}
	f.args++
	f.keys += share(st)
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

// share is that of the keys of gold and call that match; all where neither has any.
func share(st *step) int64 {
	if st.union == 0 {
		return exact.Scale
	}
	return exact.Fraction(int(st.matched), int(st.union))
}

// add adds n times other steps.
func (f *facts[N]) add(o *facts[uint8], n uint32) {
	for i := range f.yes {
		f.yes[i] += N(n) * N(o.yes[i])
		f.known[i] += N(n) * N(o.known[i])
	}
	for i := range f.moot {
		f.moot[i] += N(n) * N(o.moot[i])
	}
	f.steps, f.args = f.steps+N(n)*N(o.steps), f.args+N(n)*N(o.args)
	k := int64(n)
	f.keys += k * o.keys
	f.precision, f.recall, f.f1 = f.precision+k*o.precision, f.recall+k*o.recall, f.f1+k*o.f1
	f.hits, f.of = f.hits+k*o.hits, f.of+k*o.of
	f.measured, f.good = f.measured+n*o.measured, f.good+n*o.good
}

// sign stands for all that facts take of a step. The sum of signs stands for the facts of
// several, in any order: that two sums of those that are known at a time are equal by
// chance is as likely as one in 2^64 is.
func (s *step) sign() uint64 {
	const bits, few = callvet.StepMetrics, 8 // 62 of both and of four counts of keys, below the sign's own
	key := 1<<63 | uint64(s.known)<<bits | uint64(s.right)
	if s.known&bitArgs != 0 {
		if s.matched|s.emitted|s.expected|s.union < 1<<few {
			key |= (uint64(s.matched)<<(3*few) | uint64(s.emitted)<<(2*few) | uint64(s.expected)<<few | uint64(s.union)) << (2 * bits)
		} else {
			key = tally.Spread(key) ^ (uint64(s.matched)<<48 | uint64(s.emitted)<<32 | uint64(s.expected)<<16 | uint64(s.union))
		}
	}
	return tally.Spread(key)
}

// kind is that of some steps of a list, given as bits, the sum of whose signs is key.
func (s *Sums) kind(list []step, steps, key uint64) uint32 {
	if n := s.kinds.Known(key); n != 0 {
		return n
	}
	var f facts[uint8]
	for ; steps != 0; steps &= steps - 1 {
		f.step(&list[bits.TrailingZeros64(steps)])
	}
	return s.kinds.Keep(key, &f)
}

// shape is the number of what the task is as a whole.
func (s *Sums) shape() uint32 {
	if n := s.shapes.Known(s.sum.shape); n != 0 || s.sum.shape == 0 {
		return n
	}
	return s.shapes.Keep(s.sum.shape, &s.sum.shape)
}

// enter adds what was counted by its kind, and what waits, to the sums.
func (s *sliceSums) enter(of *Sums) {
	s.kinds.Drain(func(n uint32, times uint64) { addFacts(s, of.kinds.At(n), times) })
	s.whole.Drain(func(n uint32, times uint64) { s.addShape(*of.shapes.At(n), times) })
	for _, l := range []*tally.Latencies{&s.exec, &s.queue, &s.accept, &s.toolTime} {
		l.Quantiles() // lets in what waits, so that merging only reads
	}
}

// addFacts adds the steps of so many tasks that are alike. each are those of each attempt at the
// task, where there are several.
func addFacts[N uint8 | uint32](s *sliceSums, f *facts[N], times uint64, each ...facts[N]) {
	s.steps += int64(f.steps) * int64(times)
	for i := range s.moot {
		s.moot[i] += int64(f.moot[i]) * int64(times)
	}
	for i := range s.rates {
		if f.known[i] > 0 {
			of := attemptsWith(each, func(a *facts[N]) [2]int64 { return [2]int64{int64(a.yes[i]), int64(a.known[i])} })
			s.rates[i].AddAttemptsTimes(int(f.yes[i]), int(f.known[i]), of, times)
		}
	}
	if f.args == 0 {
		return
	}
	for _, x := range []struct {
		to *exact.Mean
		of func(*facts[N]) int64
	}{
		{&s.keys, func(a *facts[N]) int64 { return a.keys }},
		{&s.precision, func(a *facts[N]) int64 { return a.precision }},
		{&s.recall, func(a *facts[N]) int64 { return a.recall }},
		{&s.f1, func(a *facts[N]) int64 { return a.f1 }},
	} {
		of := attemptsWith(each, func(a *facts[N]) [2]int64 { return [2]int64{x.of(a), int64(a.args)} })
		x.to.AddAttempts(x.of(f), int(f.args), of, times)
	}
	of := attemptsWith(each, func(a *facts[N]) [2]int64 { return [2]int64{a.hits, a.of} })
	s.micro.AddAttemptsTimes(int(f.hits), int(f.of), of, times)
}

// attemptsWith are the attempts at a task, which are alike where each has the same of what get
// takes; one attempt where each is empty.
func attemptsWith[N uint8 | uint32](each []facts[N], get func(*facts[N]) [2]int64) stats.Attempts {
	out := stats.Attempts{N: len(each), Alike: true}
	for i := range each {
		out.Alike = out.Alike && get(&each[i]) == get(&each[0])
	}
	return out
}

// exposedTask is set in the shape of a task that safety was looked at in.
const exposedTask = 1 << 62

// idleTask is set in the shape of a task without a call.
const idleTask = 1 << 61

// shapeOf says what the task is, where it has one attempt and nothing but small counts are known;
// 0 elsewhere.
func (m *taskSum) shapeOf(tries int) uint64 {
	if m.incidents > 0 || m.blocked > 0 || tries != 1 || max(m.calls, m.labelled, m.unneeded) >= 1<<16 {
		return 0
	}
	return 1<<63 | uint64(one(m.exposed))*exposedTask | uint64(m.idle)*idleTask | uint64(m.calls)<<32 | uint64(m.labelled)<<16 | uint64(m.unneeded)
}

// addShape adds so many tasks as a whole.
func (s *sliceSums) addShape(key, times uint64) {
	calls, labelled, unneeded := int64(key>>32&0xFFFF), int64(key>>16&0xFFFF), int64(key&0xFFFF)
	s.tasks += int64(times)
	s.attempts += int64(times)
	s.calls.AddTimes(calls, 1, true, times)
	s.labelled += labelled * int64(times)
	if labelled > 0 || key&idleTask != 0 {
		s.unneeded.AddTimes(unneeded, 1, true, times)
		s.spared.AddTimes(one(unneeded == 0), 1, times)
	}
	if key&exposedTask != 0 {
		s.exposed.AddTimes(0, 1, times)
		s.stopped.AddTimes(0, 1, times)
	}
}
