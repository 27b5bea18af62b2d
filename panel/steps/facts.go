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

// mootIn are the measurements of a step that do not apply, so that they are unknown although no
// record is missing.
func mootIn(s *callvet.StepScore) (m [moots]bool) {
	no := func(k callvet.StepMetric) bool { return s.Known>>k&1 == 1 && s.True>>k&1 == 0 }
	yes := func(k callvet.StepMetric) bool { return s.Known>>k&1 == 1 && s.True>>k&1 == 1 }
	unneeded, rejected := no(callvet.StepNeeded), yes(callvet.StepRejected)
	if !unneeded && !rejected { // nearly always
		return m
	}
	for i, k := range mootOf {
		m[i] = s.Known>>k&1 == 0 && (unneeded || i != mootArgs)
	}
	return m
}

// quality is how many measurements of steps are known, and how many of them are good.
type quality struct{ measured, good uint32 }

func (q *quality) step(st *callvet.StepScore) {
	q.measured += uint32(bits.OnesCount16(st.Known))
	q.good += uint32(bits.OnesCount16((st.True ^ badWhenTrue) & st.Known))
}

// step adds a step.
func (f *facts) step(st *callvet.StepScore) {
	f.steps++
	f.quality.step(st)
	for i := range f.yes {
		f.yes[i] += uint32(st.True >> i & 1)
		f.known[i] += uint32(st.Known >> i & 1)
	}
	for i, yes := range mootIn(st) {
		f.moot[i] += uint32(one(yes))
	}
	if st.Known&bitArgs == 0 {
		return
	}
	f.args++
	f.keys += share(st)
	m, emitted, expected := int(st.Matched), int(st.Emitted), int(st.Expected)
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
func share(st *callvet.StepScore) int64 {
	if st.Union == 0 {
		return exact.Scale
	}
	return exact.Fraction(int(st.Matched), int(st.Union))
}

// add adds the steps of one task. each has the facts of each attempt at the task, where there are
// several.
func (s *sliceSums) add(f *facts, each []facts) {
	if len(each) == 0 { // nearly always
		s.addTimes(f, 1)
		return
	}
	s.steps += int64(f.steps)
	for i := range s.moot {
		s.moot[i] += int64(f.moot[i])
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

// addTimes adds the steps of times tasks with one attempt and equal facts.
func (s *sliceSums) addTimes(f *facts, times int64) {
	n := uint64(times)
	s.steps += int64(f.steps) * times
	for i := range s.moot {
		s.moot[i] += int64(f.moot[i]) * times
	}
	for i := range s.rates {
		s.rates[i].AddTimes(int(f.yes[i]), int(f.known[i]), n)
	}
	s.keys.AddTimes(f.keys, int(f.args), n)
	s.precision.AddTimes(f.precision, int(f.args), n)
	s.recall.AddTimes(f.recall, int(f.args), n)
	s.f1.AddTimes(f.f1, int(f.args), n)
	s.micro.AddTimes(int(f.hits), int(f.of), n)
}

// attemptsWith are the attempts at a task; they agree where get returns the same share for each.
func attemptsWith(each []facts, get func(*facts) [2]int64) stats.Attempts {
	out := stats.Attempts{N: len(each), Alike: true}
	for i := range each {
		out.Alike = out.Alike && get(&each[i]) == get(&each[0])
	}
	return out
}
