// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package steps

import "github.com/callvet/callvet/panel/tally"

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
	exec, queue, accept tally.Sample
}

func (m *many) reset() {
	m.facts = facts[uint32]{}
	m.exec.Reset()
	m.queue.Reset()
	m.accept.Reset()
}

func (m *many) step(st *step) {
	m.facts.step(st)
	m.exec.Time(st.time())
	m.queue.Time(float64(st.queue), false)
	m.accept.Time(float64(st.accept), false)
}

// shareLong is share for such a task: slices that have all of the steps are alike.
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
	var all, some many
	for i := range t.steps {
		all.step(&t.steps[i])
	}
	for i := range s.lists {
		l, m := &s.lists[i], &all
		if len(l.steps) != len(t.steps) {
			m = &some
			m.reset()
			for _, i := range l.steps {
				m.step(&t.steps[i])
			}
		}
		s.slice(l.id).addMany(s, m, shape)
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
		if len(s.lists) < cap(s.lists) {
			s.lists = s.lists[:len(s.lists)+1]
		} else {
			s.lists = append(s.lists, listed{})
		}
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
	addFacts(s, &m.facts, 1)
	s.exec.Add(&m.exec)
	if s.waits {
		s.queue.Add(&m.queue)
		s.accept.Add(&m.accept)
	}
}
