// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package steps

import (
	"slices"

	"github.com/callvet/callvet/panel/tally"
)

// mark is where the steps of a slice are listed, if it is of this round.
type mark struct{ round, place uint32 }

// listed are the steps of a slice, by index.
type listed struct {
	id    uint32
	steps []int32
}

// many sums up steps of a task with more of them, or of sets, than bits.
type many struct {
	facts               facts[uint32]
	each                []facts[uint32] // by attempt, where there are several
	exec, queue, accept tally.Sample
	// Scratch: how often each kind of step came, and the kinds that came.
	times []uint32
	came  []uint32
}

// read reads the steps with these indices; queue and accept where they are asked for.
func (m *many) read(s *Sums, t *task, steps []int32, waits bool) {
	m.facts, m.came = facts[uint32]{}, m.came[:0]
	m.exec.Reset()
	m.queue.Reset()
	m.accept.Reset()
	for _, i := range steps {
		st, kind := &t.steps[i], s.long[i]
		for int(kind) >= len(m.times) {
			m.times = append(m.times, 0)
		}
		if kind == 0 {
			m.facts.step(st)
		} else if m.times[kind]++; m.times[kind] == 1 {
			m.came = append(m.came, kind)
		}
		m.exec.Time(st.exec, st.timeout())
		if waits {
			m.queue.Time(float64(st.queue), false)
			m.accept.Time(float64(st.accept), false)
		}
	}
	for _, kind := range m.came {
		m.facts.add(s.kinds.At(kind), m.times[kind])
		m.times[kind] = 0
	}
	m.apart(s, t, steps)
}

// apart sums the steps up by attempt, for those attempts that ran.
func (m *many) apart(s *Sums, t *task, steps []int32) {
	m.each = m.each[:0]
	if len(s.tries) == 1 {
		return
	}
	place := make(map[uint32]int, len(s.tries))
	for i := range s.tries {
		if a := &s.tries[i]; a.calls > 0 || a.ran() {
			place[a.attempt] = len(m.each)
			m.each = append(m.each, facts[uint32]{})
		}
	}
	for _, i := range steps {
		st := &t.steps[i]
		m.each[place[st.attempt]].step(st)
	}
}

// shareLong is share for such a task, and for one of several attempts: slices that have all of the steps are alike.
func (s *Sums) shareLong(t *task, shape uint32) quality {
	s.lists = s.lists[:0]
	for i := range t.steps {
		for _, id := range s.set(&t.steps[i]).IDs {
			l := s.list(id)
			l.steps = append(l.steps, int32(i))
		}
	}
	for i := range t.records {
		for _, id := range t.records[i].set.IDs {
			s.list(id)
		}
	}
	s.long = s.long[:0]
	every := make([]int32, len(t.steps))
	for i := range t.steps {
		kind := s.kind(t.steps[i:], 1, t.steps[i].sign())
		if !s.kinds.Kept(kind) {
			kind = 0
		}
		s.long = append(s.long, kind)
		every[i] = int32(i)
	}
	var all, some many
	all.read(s, t, every, true)
	for i := range s.lists {
		l, m, to := &s.lists[i], &all, s.slice(s.lists[i].id)
		if len(l.steps) != len(t.steps) {
			m = &some
			m.read(s, t, l.steps, to.waits)
		}
		to.addMany(s, m, shape)
	}
	if len(t.steps) > maxSteps/16 { // which is rare
		s.lists = nil
	}
	return all.facts.quality
}

// list gives that of a slice which the task is in.
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

// addMany adds steps of such a task, and the task as a whole.
func (s *sliceSums) addMany(of *Sums, m *many, shape uint32) {
	s.tell(of, shape)
	if m.facts.steps == 0 {
		return
	}
	addFacts(s, &m.facts, 1, m.each...)
	s.exec.Add(&m.exec)
	if s.waits {
		s.queue.Add(&m.queue)
		s.accept.Add(&m.accept)
	}
}
