// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package steps

import (
	"math/bits"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/stats"
	"github.com/callvet/callvet/stats/exact"
)

// The measurements of a step where "no" is good.
const badWhenTrue = 1<<callvet.StepRateLimited | 1<<callvet.StepTimeout | 1<<callvet.StepRejected | 1<<callvet.StepRepaired

const bitArgs = 1 << callvet.StepArgEM

// facts are what some steps of one task add to a slice, except times; N counts the steps.
type facts struct {
	yes, known            [callvet.StepMetrics]uint32
	steps                 uint32
	args                  uint32 // the number of steps, and their argument fidelity in 1/exact.Scale
	keys                  int64
	precision, recall, f1 int64
	hits, of              int64 // of the argument names
	moot                  [moots]uint32
	quality
}

// The measurements that a label may mark as not applicable to a call, because it was not needed or
// not executed.
const (
	mootArgs = iota
	mootEqual
	mootHolds
	moots
)

// mootOf lists these measurements.
var mootOf = [moots]callvet.StepMetric{
	mootArgs: callvet.StepArgEM, mootEqual: callvet.StepEqual,
	mootHolds: callvet.StepHolds,
}

// moot are the measurements of a step that do not apply, so that they are unknown although no
// record is missing.
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

// quality is how many measurements of steps are known, and how many of them are good.
type quality struct{ measured, good uint32 }

func (q *quality) step(st *step) {
	q.measured += uint32(bits.OnesCount16(st.known))
	q.good += uint32(bits.OnesCount16((st.right ^ badWhenTrue) & st.known))
}

// step adds a step.
func (f *facts) step(st *step) {
	f.steps++
	f.quality.step(st)
	for i := range f.yes {
		f.yes[i] += uint32(st.right >> i & 1)
		f.known[i] += uint32(st.known >> i & 1)
	}
	for i, yes := range st.moot() {
		f.moot[i] += uint32(one(yes))
	}
	if st.known&bitArgs == 0 {
		return
	}
	f.args++
	f.keys += share(st)
	m, emitted, expected := int(st.matched), int(st.emitted), int(st.expected)
	f.hits += int64(min(2*m, 1<<16-1))
	f.of += int64(min(emitted+expected, 1<<16-1))
	if m == emitted && m == expected { // also where no argument was expected and none was given
		f.precision, f.recall, f.f1 = f.precision+exact.Scale, f.recall+exact.Scale, f.f1+exact.Scale
		return
	}
	f.precision += exact.Fraction(m, emitted)
	f.recall += exact.Fraction(m, expected)
	f.f1 += exact.Fraction(2*m, emitted+expected)
}

// share is the share of the keys of gold and call that match; 1 where neither has keys.
func share(st *step) int64 {
	if st.union == 0 {
		return exact.Scale
	}
	return exact.Fraction(int(st.matched), int(st.union))
}

// add adds the steps of one task. each has the facts of each attempt at the task, where there are
// several.
func (s *sliceSums) add(f *facts, each []facts) {
	s.steps += int64(f.steps)
	for i := range s.moot {
		s.moot[i] += int64(f.moot[i])
	}
	if len(each) == 0 { // nearly always
		s.addOne(f)
		return
	}
	with := func(get func(*facts) [2]int64) stats.Attempts { return attemptsWith(each, get) }
	for i := range s.rates {
		of := with(func(a *facts) [2]int64 { return [2]int64{int64(a.yes[i]), int64(a.known[i])} })
		s.rates[i].AddAttempts(int(f.yes[i]), int(f.known[i]), of)
	}
	if f.args == 0 {
		return
	}
	for _, x := range []struct {
		to *exact.Mean
		of func(*facts) int64
	}{
		{&s.keys, func(a *facts) int64 { return a.keys }},
		{&s.precision, func(a *facts) int64 { return a.precision }},
		{&s.recall, func(a *facts) int64 { return a.recall }},
		{&s.f1, func(a *facts) int64 { return a.f1 }},
	} {
		x.to.AddAttempts(x.of(f), int(f.args),
			with(func(a *facts) [2]int64 { return [2]int64{x.of(a), int64(a.args)} }), 1)
	}
	s.micro.AddAttempts(int(f.hits), int(f.of), with(func(a *facts) [2]int64 { return [2]int64{a.hits, a.of} }))
}

// addOne is add for the steps of one attempt.
func (s *sliceSums) addOne(f *facts) {
	for i := range s.rates {
		s.rates[i].Add(int(f.yes[i]), int(f.known[i]))
	}
	s.keys.Add(f.keys, int(f.args))
	s.precision.Add(f.precision, int(f.args))
	s.recall.Add(f.recall, int(f.args))
	s.f1.Add(f.f1, int(f.args))
	s.micro.Add(int(f.hits), int(f.of))
}

// attemptsWith are the attempts at a task; they agree where get returns the same share for each.
func attemptsWith(each []facts, get func(*facts) [2]int64) stats.Attempts {
	out := stats.Attempts{N: len(each), Alike: true}
	for i := range each {
		out.Alike = out.Alike && get(&each[i]) == get(&each[0])
	}
	return out
}
