// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package steps

import (
	"slices"

	"github.com/callvet/callvet/stats/exact"
)

// mark is the place of a slice's list of steps, if round is the current one.
type mark struct{ round, place uint32 }

// listed are the steps of a slice, by index.
type listed struct {
	id    uint32
	steps []int32
}

// sample is the times of some steps of a task. cut times are lower bounds.
type sample struct{ values, cut []float64 }

func (s *sample) reset() { s.values, s.cut = s.values[:0], s.cut[:0] }

// add adds a time unless it is below 0.
func (s *sample) add(x float64, cut bool) {
	switch {
	case !(x >= 0):
	case cut:
		s.cut = append(s.cut, x)
	default:
		s.values = append(s.values, x)
	}
}

func (s *sample) addTo(q *exact.Quantiles) { q.Add(append(s.values, s.cut...), len(s.cut)) }

// some are the sums of some steps of a task.
type some struct {
	facts               facts
	each                []facts // by attempt, where there are several
	exec, queue, accept sample
}

// read reads the steps with these indices; queue and accept times where waits is set.
func (m *some) read(s *Sums, t *task, steps []int32, waits bool) {
	m.facts = facts{}
	m.exec.reset()
	m.queue.reset()
	m.accept.reset()
	for _, i := range steps {
		st := &t.steps[i]
		m.facts.step(&st.StepScore)
		m.exec.add(st.exec, st.timeout())
		if waits {
			m.queue.add(float64(st.queue), false)
			m.accept.add(float64(st.accept), false)
		}
	}
	m.byAttempt(s, t, steps)
}

// byAttempt sums the steps by attempt, for the attempts that ran.
func (m *some) byAttempt(s *Sums, t *task, steps []int32) {
	m.each = m.each[:0]
	if len(s.tries) == 1 {
		return
	}
	place := make(map[uint32]int, len(s.tries))
	for i := range s.tries {
		if a := &s.tries[i]; a.calls > 0 || a.ran() {
			place[a.attempt] = len(m.each)
			m.each = append(m.each, facts{})
		}
	}
	for _, i := range steps {
		st := &t.steps[i]
		m.each[place[st.attempt]].step(&st.StepScore)
	}
}

// share adds the task to its slices, and returns the quality of all steps. Slices with all steps
// share one sum.
func (s *Sums) share(t *task) quality {
	s.lists, s.every = s.lists[:0], s.every[:0]
	for i := range t.steps {
		s.every = append(s.every, int32(i))
		for _, id := range s.set(&t.steps[i]).Summed {
			l := s.list(id)
			l.steps = append(l.steps, int32(i))
		}
	}
	for i := range t.records {
		for _, id := range t.records[i].set.Summed {
			s.list(id)
		}
	}
	s.all.read(s, t, s.every, true)
	for i := range s.lists {
		l, to := &s.lists[i], s.slice(s.lists[i].id)
		to.addTask(s)
		switch {
		case len(l.steps) == 1 && len(s.tries) == 1 && to.addOnly(s, &t.steps[l.steps[0]]):
		case len(l.steps) == len(t.steps):
			to.addSome(&s.all)
		default:
			s.some.read(s, t, l.steps, to.waits)
			to.addSome(&s.some)
		}
	}
	if len(t.steps) > maxSteps/16 { // which is rare
		s.lists, s.every = nil, nil
	}
	return s.all.facts.quality
}

// list returns the list of steps of a slice.
func (s *Sums) list(id uint32) *listed {
	for int(id) >= len(s.marks) {
		s.marks = append(s.marks, mark{})
	}
	m := &s.marks[id]
	if m.round != s.round {
		*m = mark{s.round, uint32(len(s.lists))}
		s.lists = slices.Grow(s.lists, 1)[:len(s.lists)+1]
		l := &s.lists[m.place]
		l.id, l.steps = id, l.steps[:0]
	}
	return &s.lists[m.place]
}

// addOnly adds the only step of a task, unless its score is of none of the kinds that are counted.
func (s *sliceSums) addOnly(of *Sums, st *step) bool {
	kind := of.scores.number(st.StepScore)
	if kind < 0 {
		return false
	}
	count(&s.only, kind)
	addTime(&s.exec, st.exec, st.timeout())
	if s.waits {
		addTime(&s.queue, float64(st.queue), false)
		addTime(&s.accept, float64(st.accept), false)
	}
	return true
}

// addTime adds the time of the only step of a task unless it is below 0.
func addTime(q *exact.Quantiles, x float64, cut bool) {
	if x >= 0 {
		q.Add([]float64{x}, one(cut))
	}
}

// addSome adds steps of a task.
func (s *sliceSums) addSome(m *some) {
	if m.facts.steps == 0 {
		return
	}
	s.add(&m.facts, m.each)
	m.exec.addTo(&s.exec)
	if s.waits {
		m.queue.addTo(&s.queue)
		m.accept.addTo(&s.accept)
	}
}
